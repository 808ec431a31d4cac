"""Between a caller and an engine: what is asked, who is told, and the answer.

A request is checked and compared with what there is; functions become the listener of a
run; an engine's findings become an answer in one schema, with honest flags.
"""

import time
from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import date, datetime
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from notewell.backends.base import (
    Backend,
    Findings,
    Listener,
    MissingVectors,
    Query,
    Upload,
    VectorWork,
)
from notewell.dates import DateRange, may_name_dates, named_dates
from notewell.errors import UsageError
from notewell.log import log
from notewell.memory.setup import Setup
from notewell.types import (
    Document,
    EmptyReason,
    IndexReport,
    SearchAnswer,
    Source,
    Understood,
    UnderstoodDate,
)
from notewell.values import dataclass
from notewell.workspace.requests import shown_path
from notewell.zones import moment_in

if TYPE_CHECKING:  # most questions have none
    from notewell.filters import Filter

SOURCES: Final[frozenset[Source]] = frozenset({"memory", "sessions"})

_LONGEST_NAMED: Final = 40
"""Characters of a word that a sentence names."""

MOST_RESULTS: Final = 10_000
"""As in the configuration."""

Progress: TypeAlias = Callable[[int, int], None]
"""Called with (done, to do): as `Listener.indexing`."""

Waiting: TypeAlias = Callable[[], None]
"""As `Listener.waiting`."""

MAKE: Final = VectorWork()
"""Missing vectors are made, and nobody is told how far it is."""


class QuestionDates(NamedTuple):
    """The days that a question names.

    Attributes:
        ranges: As engines get them.
        understood: As the answer tells them; None: it names none.
        today: The day from which `yesterday` and the age of notes are counted.
        alone: It asks for nothing else.
    """

    ranges: tuple[DateRange, ...] = ()
    understood: Understood | None = None
    today: date | None = None
    alone: bool = False


def question_dates(
    setup: Setup, text: str, now: datetime | None, chosen: "Filter | None" = None
) -> QuestionDates:
    """Read the days that a question names, by the user's clock.

    Args:
        now: The moment of the question; None: this one.
        chosen: The filter, which is told with them.
    """
    plain = Understood(within=setup.within, filters=chosen.in_words() if chosen else ())
    understood = plain if plain.within or plain.filters else None
    ages = setup.agent.search.query.hybrid.temporal_decay.enabled
    if not ages and not may_name_dates(text):
        return QuestionDates(understood=understood)
    today = moment_in(setup.settings.user_timezone, now).date()
    named = named_dates(text, today)
    if not named:
        return QuestionDates(understood=understood, today=today)
    dates = tuple(
        UnderstoodDate(
            text=one.text,
            since=_day_text(days, days.first),
            until=_day_text(days, days.last),
        )
        for one in named
        for days in one.ranges
    )
    ranges = tuple(dict.fromkeys(days for one in named for days in one.ranges))
    from notewell.memory.days_alone import asks_for_days_alone  # most name none

    understood = replace(plain, dates=dates)
    alone = asks_for_days_alone(text, named)
    return QuestionDates(ranges, understood, today, alone)


def _day_text(days: DateRange, day: date) -> str:
    return f"--{day:%m-%d}" if days.yearly else day.isoformat()


async def ask(engine: Backend, query: Query, named: QuestionDates) -> Findings:
    """Ask an engine; for a question of nothing but days, also what was written then.

    Raises:
        BackendError: the engine fails.
    """
    findings = await engine.search(query)
    if not named.alone or named.today is None:
        return findings
    from notewell.memory.days_alone import with_days_first  # rare

    return await with_days_first(engine, findings, query, named.today)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryQuery:
    """What a caller asks of a memory, checked and compared with what there is.

    Attributes:
        text: What is asked.
        limit: How many results are wanted.
        min_score: Below which score results are left out; None: as it is configured.
        sources: Where to look.
        filter: Which passages are wanted; None: all.
        reason: Why no engine is to be asked, or None.
        warnings: What the caller should know of it.
    """

    text: str
    limit: int
    min_score: float | None
    sources: frozenset[Source]
    filter: "Filter | None"
    reason: EmptyReason | None
    warnings: tuple[str, ...]

    def query(self, hides: Callable[[str], bool], named: QuestionDates) -> Query:
        """Return what is put to an engine, in a conversation that hides some paths."""
        within = named.understood.within if named.understood else None

        def is_elsewhere(path: str) -> bool:
            return not path.startswith(f"{within}/") or hides(path)

        return Query(
            text=self.text,
            limit=self.limit,
            min_score=self.min_score,
            sources=self.sources,
            hides=hides if within is None else is_elsewhere,
            hides_many=within is not None,
            dates=named.ranges,
            today=named.today,
            filter=self.filter,
        )


def check_query(
    setup: Setup,
    text: object,
    *,
    session_key: str | None,
    max_results: int | None,
    min_score: float | None,
    sources: Collection[Source] | None,
    chosen: "Filter | None" = None,
) -> MemoryQuery:
    """Check what is asked.

    Args:
        chosen: Which passages are wanted; without a word of a question, the newest.

    Raises:
        TypeError: the question is no text.
        ValueError: a number is out of range, or a source is unknown.
        UsageError: the filter wants another source than the call.
    """
    if not isinstance(text, str):
        raise TypeError(f"a query is a str, not {type(text).__name__}")
    limit = _limit_of(max_results, setup.policy.max_results)
    threshold = _threshold_of(min_score)
    if chosen is not None:
        sources = _chosen_sources(sources, chosen)
        chosen = chosen if chosen.narrows else None
    wanted = _wanted_sources(sources) & _enabled_sources(setup)
    asked = bool(text.strip()) or chosen is not None
    reason = _nothing_to_ask(setup, session_key, wanted, asked=asked)
    denied = reason == "denied-by-scope"
    return MemoryQuery(
        text=text,
        limit=limit,
        min_score=threshold,
        sources=wanted,
        filter=chosen,
        reason=reason,
        warnings=(
            (setup.policy.denied,)
            if denied
            else (*_unsearched(sources, setup), *_searched_as_words(text))
        ),
    )


def _limit_of(asked: int | None, configured: int) -> int:
    """Return how many results are wanted.

    Raises:
        ValueError: fewer than one, or more than MOST_RESULTS.
    """
    if asked is None:
        return configured
    if not 1 <= asked <= MOST_RESULTS:
        raise ValueError(f"max_results must lie in [1, {MOST_RESULTS}], got {asked}")
    return asked


def _threshold_of(asked: float | None) -> float | None:
    """Return below which score results are left out; None: as it is configured.

    Raises:
        ValueError: it is no score.
    """
    if asked is not None and not 0 <= asked <= 1:
        raise ValueError(f"min_score must lie in [0, 1], got {asked}")
    return asked


def _wanted_sources(sources: Collection[Source] | None) -> frozenset[Source]:
    """Return where to look; everywhere when the caller does not say.

    Raises:
        ValueError: an unknown source, or none at all.
    """
    if sources is None:
        return SOURCES
    unknown = sorted(set(sources) - SOURCES)
    if unknown or not sources:
        raise ValueError(f"sources must be some of {sorted(SOURCES)}, got {unknown}")
    return frozenset(sources)


def _enabled_sources(setup: Setup) -> frozenset[Source]:
    """Return the sources that are configured and can be searched."""
    enabled = SOURCES & frozenset(setup.sources)
    return enabled if setup.transcripts else enabled - {"sessions"}


def _chosen_sources(
    sources: Collection[Source] | None, chosen: "Filter"
) -> Collection[Source] | None:
    """Return where to look by what the caller says and by the filter.

    Raises:
        UsageError: one says elsewhere than the other.
    """
    if sources is None or not chosen.sources:
        return chosen.sources or sources
    both = chosen.sources.intersection(sources)
    if not both:
        raise UsageError(
            "the filter wants another source than the call",
            remedy="name the source once",
        )
    return both


def _nothing_to_ask(
    setup: Setup,
    session_key: str | None,
    sources: frozenset[Source],
    *,
    asked: bool,
) -> EmptyReason | None:
    """Return why no engine is to be asked, or None."""
    if not setup.enabled:
        return "memory-disabled"
    if not setup.allows(session_key):
        return "denied-by-scope"
    if not asked:
        return "empty-query"
    return None if sources else "source-disabled"


def _unsearched(wanted: Collection[Source] | None, setup: Setup) -> tuple[str, ...]:
    """Return a sentence for each source that was asked for and is not searched."""
    dropped = set(wanted or ()) - _enabled_sources(setup)
    said = tuple(
        f"The source {name!r} is not configured." for name in dropped - {"sessions"}
    )
    why = setup.no_transcripts if "sessions" in dropped else None
    return (*said, f"Transcripts are not searched: {why}.") if why else said


def _searched_as_words(text: str) -> tuple[str, ...]:
    """Say of what other programs would leave out that it was looked for."""
    if " -" not in text:
        return ()
    words = text.split()
    minus = next(
        (one for one in words[1:] if one[0] == "-" and one[1:].isalnum()), None
    )
    if minus is None or len(minus) > _LONGEST_NAMED:
        return ()
    return (
        (
            f"{minus!r} was looked for as a word, as no character is syntax; what is to be"
            f" left out is a filter: --without {minus[1:]}, in tools `without`."
        ),
    )


def vectors_of(work: VectorWork | None, within: float | None) -> MissingVectors:
    """Return which vectors a run makes; with a limit of time, only the instant ones."""
    if work is None:
        return "none"
    return "all" if within is None and not work.at_once else "instant"


def listener_of(
    progress: Progress | None, waiting: Waiting | None, work: VectorWork | None = None
) -> Listener:
    """Return a listener that calls functions."""
    return _Functions(progress, waiting, work or MAKE)


class _Functions(Listener):
    def __init__(
        self, progress: Progress | None, waiting: Waiting | None, work: VectorWork
    ) -> None:
        self._progress = progress
        self._waiting = waiting
        self._work = work

    def indexing(self, done: int, total: int) -> None:
        if self._progress:
            self._progress(done, total)

    def embedding(self, done: int, total: int) -> None:
        self._work.progress(done, total)

    def waiting(self) -> None:
        if self._waiting:
            self._waiting()

    def uploading(self, upload: Upload) -> bool:
        return self._work.uploading(upload)

    def fetching(self, have: int, total: int | None) -> None:
        self._work.fetching(have, total)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerBuilder:
    """What is known of an answer before the engine is asked.

    Attributes:
        setup: Settings and workspace.
        query: What was asked.
        backend: The engine that is asked.
        started: `time.perf_counter()` when the question came.
        understood: How the question was read beyond its words.
    """

    setup: Setup
    query: str
    backend: str
    started: float
    understood: Understood | None = None

    def empty(self, reason: EmptyReason, *warnings: str) -> SearchAnswer:
        """Return an answer without results, that says why."""
        findings = Findings(hits=(), mode="keyword", reason=reason)
        return self.found(findings, *warnings)

    def found(self, findings: Findings, *warnings: str) -> SearchAnswer:
        """Return an answer with an engine's findings."""
        settings, agent = self.setup.settings, self.setup.agent
        fallbacks, half = findings.fallbacks, self.setup.policy.remarks
        answer = SearchAnswer(
            query=self.query,
            workspace=str(self.setup.workspace.root),
            agent=agent.id,
            results=tuple(findings.hits),
            backend=findings.backend or self.backend,
            requested_backend=settings.memory.backend,
            mode=findings.mode,
            provider=findings.provider,
            model=findings.model,
            requested_provider=self.setup.requested_provider,
            fallbacks=fallbacks,
            local_to_remote=findings.local_to_remote,
            degraded=findings.degraded or bool(fallbacks),
            reason=findings.reason,
            freshness=findings.freshness,
            warnings=(
                *settings.warnings,
                *self.setup.embedding.problems,
                *half,
                *warnings,
                *findings.warnings,
            ),
            took_ms=(time.perf_counter() - self.started) * 1000,
            understood=self.understood,
        )
        _log(answer)
        return answer


def disabled_document(path: str, start: int) -> Document:
    """Return what `get` gives when this agent has no memory."""
    return Document(
        path=shown_path(path),
        text="",
        start_line=start,
        end_line=start - 1,
        total_lines=0,
        found=False,
        reason="memory-disabled",
    )


def _log(answer: SearchAnswer) -> None:
    for step in answer.fallbacks:
        log(
            "memory",
            "warning",
            "%s instead of %s: %s",
            step.to,
            step.from_,
            step.reason,
        )
    log(
        "memory",
        "debug",
        "%s answered, %s: %d results, %.1f ms",
        answer.backend,
        answer.mode,
        len(answer.results),
        answer.took_ms,
    )


def log_run(report: IndexReport) -> None:
    """Log what a run over the notes left behind."""
    log(
        "memory",
        "info",
        "%d files with %d passages are indexed; %d had changed, %d are pending",
        report.files,
        report.chunks,
        report.changed,
        report.pending,
    )
