"""From what a person says to a plan: which notes, which questions, who takes part."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from notewell.backends.registry import STAND_IN, policy_class, targets
from notewell.bench.contenders import Entrant, UserSettings, read_entrants
from notewell.bench.known_items import Gap, known_items, left_out_queries
from notewell.bench.queries import JudgedQuery, line_reader, misplaced, read_queries
from notewell.bench.results import Origin
from notewell.bench.sets import SETS, bundled_set
from notewell.errors import UsageError
from notewell.workspace import Workspace, scan

_USUAL_SAMPLE: Final = 100
"""Queries that are made from the notes when nobody says how many."""

_TOLD: Final = 3
"""Misplaced judgements that are named one by one."""

_KNOWN_ITEMS: Final = (
    "Nobody judged these queries: each was made from a place in the notes and asks for"
    " that place, which favours engines that match words."
)
_WITHOUT_WORDS: Final = (
    "For the questions left-out, some words of a line were taken out of the copy of the"
    " notes and asked for: no search for words can find that line by them."
)
_LEFT_OUT: Final = 3
"""One question in so many is made of words that the notes lack then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchOptions:
    """What a person asks for; see `notewell bench --help`."""

    workspace: str | None = None
    config: str | None = None
    agent: str | None = None
    backends: Sequence[str] = ()
    queries: Path | None = None
    bundled: str | None = None
    seed: int = 1
    sample: int | None = None
    rounds: int = 3
    limit: int = 20
    cold: int = 5
    cold_code: str | None = None
    state: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchPlan:
    """What is to be run.

    Attributes:
        user: Whose settings, and the environment of all that is started.
        workspace: The folder of notes.
        entrants: Who takes part, at least one.
        queries: What is asked, at least one.
        origin: Who says what is right.
        queries_from: The queries' file, or how they were made.
        limit: Results that are asked for.
        rounds: How often every query is asked; the first answer is the one scored.
        cold: How many searches begin with a new process, for each contender.
        cold_code: Python that makes such a search: it reads a Place from standard input
            and has the query as its second argument.
        state: A folder to keep indexes in; None: a temporary one.
        remarks: What a reader has to know.
        gaps: Words that the copy of the notes lacks.
    """

    user: UserSettings
    workspace: Path
    entrants: Sequence[Entrant]
    queries: Sequence[JudgedQuery]
    origin: Origin
    queries_from: str
    limit: int = 20
    rounds: int = 3
    cold: int = 5
    cold_code: str | None = None
    state: Path | None = None
    remarks: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Questions:
    queries: tuple[JudgedQuery, ...]
    origin: Origin
    source: str
    remarks: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()


def make_plan(options: BenchOptions, environ: Mapping[str, str]) -> BenchPlan:
    """Find the notes, the queries and the contenders.

    Raises:
        ConfigError: a setting makes no sense.
        UsageError: there is no workspace, no query, or no such contender.
    """
    user = UserSettings(
        environ=environ,
        workspace=None if options.workspace is None else Path(options.workspace),
        config=options.config,
        agent=options.agent,
    )
    workspace, asked = _notes_and_questions(options, user)
    user = replace(user, workspace=workspace)
    remarks = asked.remarks
    if options.backends:
        taking_part = read_entrants(options.backends, user)
    else:
        taking_part, lacking = _usual(user)
        remarks += lacking
    return BenchPlan(
        user=user,
        workspace=workspace,
        entrants=taking_part,
        queries=asked.queries,
        origin=asked.origin,
        queries_from=asked.source,
        limit=options.limit,
        rounds=options.rounds,
        cold=options.cold,
        cold_code=options.cold_code,
        state=options.state,
        remarks=remarks,
        gaps=asked.gaps,
    )


def _notes_and_questions(
    options: BenchOptions, user: UserSettings
) -> tuple[Path, _Questions]:
    name = options.bundled or _bundled_by_default(options, user)
    if name is not None:
        found = bundled_set(name)
        workspace = found.notes
        asked = _judged(
            found.queries, workspace, options, origin="bundled", source=name
        )
    else:
        setup = user.prepared({})
        workspace = setup.workspace.root / (setup.within or "")
        asked = _asked(workspace, options)
    if options.state is not None and options.state.resolve().is_relative_to(workspace):
        raise UsageError(
            f"{options.state} lies in the workspace, and its copies would be notes there",
            remedy="name a folder elsewhere with --state",
        )
    return workspace, asked


def _bundled_by_default(options: BenchOptions, user: UserSettings) -> str | None:
    """Return the set for who names nothing, in a folder without notes."""
    if options.workspace is not None or options.queries is not None:
        return None
    try:
        setup = user.prepared({})
    except UsageError:
        return SETS[0]
    nobody_named_it = bool(setup.notices)
    folder = setup.workspace.root / (setup.within or "")
    if nobody_named_it and not scan(Workspace(root=folder)).notes:
        return SETS[0]
    return None


def _asked(workspace: Path, options: BenchOptions) -> _Questions:
    if options.queries is not None:
        return _judged(
            options.queries,
            workspace,
            options,
            origin="judged",
            source=options.queries.name,
        )
    read = line_reader(workspace)
    notes = {
        note.path: read(note.path) for note in scan(Workspace(root=workspace)).notes
    }
    count = options.sample or _USUAL_SAMPLE
    without = left_out_queries(notes, count=count // _LEFT_OUT, seed=options.seed)
    for gap in without.gaps:
        lines = list(notes[gap.path])
        lines[gap.line - 1] = ""  # nothing else asks for a line that is not whole
        notes[gap.path] = lines
    made = known_items(notes, count=count - len(without.queries), seed=options.seed)
    if not made and not without.queries:
        raise UsageError(
            f"no question can be made from the notes in {workspace}",
            remedy="name judged queries with --queries, or use --set example",
        )
    return _Questions(
        queries=(*made, *without.queries),
        origin="known-item",
        source=f"the notes, seed {options.seed}",
        remarks=(_KNOWN_ITEMS, *((_WITHOUT_WORDS,) if without.queries else ())),
        gaps=without.gaps,
    )


def _judged(
    file: Path, workspace: Path, options: BenchOptions, *, origin: Origin, source: str
) -> _Questions:
    queries = read_queries(file)
    if options.sample is not None and options.sample < len(queries):
        chosen = sorted(
            random.Random(options.seed).sample(range(len(queries)), options.sample)
        )
        source += f", {options.sample} of {len(queries)}, seed {options.seed}"
        queries = tuple(queries[at] for at in chosen)
    wrong = list(misplaced(queries, line_reader(workspace)))
    more = len(wrong) - _TOLD
    remarks = [f"A judgement is not there: {each}." for each in wrong[:_TOLD]]
    if more > 0:
        remarks.append(f"So it is with {more} more judgements.")
    return _Questions(
        queries=queries, origin=origin, source=source, remarks=tuple(remarks)
    )


def _usual(user: UserSettings) -> tuple[tuple[Entrant, ...], tuple[str, ...]]:
    """Return what this machine can run, and what was left out."""
    setup = user.prepared({"memory.backend": STAND_IN})
    specs, lacking = [STAND_IN], list[str]()
    first, last = setup.embedding.first, setup.embedding.last
    if first is not None:
        specs.insert(0, f"{STAND_IN}:keyword")
        if last is not None:
            specs.insert(1, f"{STAND_IN}@provider={last.name}")
    else:
        lacking.append(
            "Search by meaning was left out: no embedding provider is configured."
        )
    for name in sorted(targets().keys() - {STAND_IN}):
        engine = policy_class(name)
        spec = ":".join([name, *list(engine.modes)[:1]])
        policy = engine(setup.settings, setup.agent)
        problem = policy.why_not_compared(user.environ)
        if problem is None:
            specs.append(spec)
        else:
            lacking.append(f"{spec} was left out: {problem}.")
    return read_entrants(specs, user), tuple(lacking)
