"""From what a person says to a plan: which notes, which questions, who takes part."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from notewell.bench.bundled import SETS, bundled
from notewell.bench.contending import Entrant, Scene, entrants
from notewell.bench.copying import line_reader
from notewell.bench.known_items import known_items
from notewell.bench.left_out import Gap, left_out
from notewell.bench.queries import Query, misplaced, read_queries
from notewell.bench.race import Plan
from notewell.bench.results import Origin
from notewell.errors import BackendError, UsageError
from notewell.memory.opening import Opening
from notewell.workspace import Workspace, scan
from notewell.workspace.layout import has_workspace_layout

_USUAL_SAMPLE: Final = 100
"""Queries that are made from the notes when nobody says how many."""

_TOLD: Final = 3
"""Misplaced judgements that are told one by one."""

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

_PROGRAM_SECONDS: Final = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
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
class _Questions:
    queries: tuple[Query, ...]
    origin: Origin
    told: str
    remarks: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()


def plan_for(wish: Wish, environ: Mapping[str, str]) -> Plan:
    """Find the notes, the queries and the contenders.

    Raises:
        ConfigError: a setting makes no sense.
        UsageError: there is no workspace, no query, or no such contender.
    """
    scene = Scene(
        environ=environ,
        workspace=None if wish.workspace is None else Path(wish.workspace),
        config=wish.config,
        agent=wish.agent,
    )
    workspace, asked = _notes_and_questions(wish, scene)
    scene = replace(scene, workspace=workspace)
    remarks = asked.remarks
    if wish.backends:
        taking_part = entrants(wish.backends, scene)
    else:
        taking_part, left_out = _usual(scene)
        remarks += left_out
    return Plan(
        scene=scene,
        workspace=workspace,
        entrants=taking_part,
        queries=asked.queries,
        origin=asked.origin,
        queries_from=asked.told,
        limit=wish.limit,
        rounds=wish.rounds,
        cold=wish.cold,
        cold_code=wish.cold_code,
        state=wish.state,
        remarks=remarks,
        gaps=asked.gaps,
    )


def _notes_and_questions(wish: Wish, scene: Scene) -> tuple[Path, _Questions]:
    name = wish.bundled or _bundled_by_default(wish, scene)
    if name is not None:
        found = bundled(name)
        workspace = found.notes
        asked = _judged(found.queries, workspace, wish, origin="bundled", told=name)
    else:
        workspace = scene.prepared({}).workspace.root
        asked = _asked(workspace, wish)
    if wish.state is not None and wish.state.resolve().is_relative_to(workspace):
        raise UsageError(
            f"{wish.state} lies in the workspace, and its copies would be notes there",
            remedy="name a folder elsewhere with --state",
        )
    return workspace, asked


def _bundled_by_default(wish: Wish, scene: Scene) -> str | None:
    """Return the set for who names nothing, in a folder that is no workspace."""
    if wish.workspace is not None or wish.queries is not None:
        return None
    try:
        opening = scene.prepared({})
    except UsageError:
        return SETS[0]
    nobody_named_it = bool(opening.notices)
    if nobody_named_it and not has_workspace_layout(str(opening.workspace.root)):
        return SETS[0]
    return None


def _asked(workspace: Path, wish: Wish) -> _Questions:
    if wish.queries is not None:
        return _judged(
            wish.queries, workspace, wish, origin="judged", told=wish.queries.name
        )
    read = line_reader(workspace)
    notes = {
        note.path: read(note.path) for note in scan(Workspace(root=workspace)).notes
    }
    count = wish.sample or _USUAL_SAMPLE
    without = left_out(notes, count=count // _LEFT_OUT, seed=wish.seed)
    for gap in without.gaps:
        lines = list(notes[gap.path])
        lines[gap.line - 1] = ""  # nothing else asks for a line that is not whole
        notes[gap.path] = lines
    made = known_items(notes, count=count - len(without.queries), seed=wish.seed)
    if not made and not without.queries:
        raise UsageError(
            f"no question can be made from the notes in {workspace}",
            remedy="name judged queries with --queries, or use --set example",
        )
    return _Questions(
        queries=(*made, *without.queries),
        origin="known-item",
        told=f"the notes, seed {wish.seed}",
        remarks=(_KNOWN_ITEMS, *((_WITHOUT_WORDS,) if without.queries else ())),
        gaps=without.gaps,
    )


def _judged(
    file: Path, workspace: Path, wish: Wish, *, origin: Origin, told: str
) -> _Questions:
    queries = read_queries(file)
    if wish.sample is not None and wish.sample < len(queries):
        chosen = sorted(
            random.Random(wish.seed).sample(range(len(queries)), wish.sample)
        )
        told += f", {wish.sample} of {len(queries)}, seed {wish.seed}"
        queries = tuple(queries[at] for at in chosen)
    wrong = list(misplaced(queries, line_reader(workspace)))
    more = len(wrong) - _TOLD
    remarks = [f"A judgement is not there: {each}." for each in wrong[:_TOLD]]
    if more > 0:
        remarks.append(f"So it is with {more} more judgements.")
    return _Questions(queries=queries, origin=origin, told=told, remarks=tuple(remarks))


def _usual(scene: Scene) -> tuple[tuple[Entrant, ...], tuple[str, ...]]:
    """Return what this machine can run, and what was left out."""
    opening = scene.prepared({"memory.backend": "builtin"})
    specs, left_out = ["builtin"], list[str]()
    first, last = opening.embedding.first, opening.embedding.last
    if first is not None:
        specs.insert(0, "builtin:keyword")
        if last is not None:
            specs.insert(1, f"builtin@provider={last.name}")
    else:
        left_out.append(
            "Search by meaning was left out: no embedding provider is configured."
        )
    problem = _qmd_problem(opening, scene.environ)
    if problem is None:
        specs.append("qmd:search")
    else:
        left_out.append(f"qmd:search was left out: {problem}.")
    return entrants(specs, scene), tuple(left_out)


def _qmd_problem(opening: Opening, environ: Mapping[str, str]) -> str | None:
    """Return why QMD cannot run here, or None."""
    import asyncio

    from notewell.backends.qmd.program import child_environment, find_program

    with TemporaryDirectory(prefix="notewell-bench-") as folder:
        try:
            asyncio.run(
                find_program(
                    opening.settings.memory.qmd.command,
                    child_environment(environ),
                    folder=Path(folder),
                    within=_PROGRAM_SECONDS,
                )
            )
        except BackendError as error:
            return error.message
    return None
