"""From what was measured to the report: scores, comparisons, and where it was measured.

Reports are made to be shown to others, and a folder may be called as its owner is: of
this machine a report tells files by their name, never where they lie.
"""

import os
import platform
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from itertools import combinations
from typing import Final

import apsw
import numpy as np

from notewell._version import __version__
from notewell.bench.contenders import Entrant
from notewell.bench.lane import Attempt, Lane
from notewell.bench.metrics import (
    METRICS,
    Lengths,
    LineRange,
    bootstrap_interval,
    latency_percentiles,
    overlap,
    rank_biased_overlap,
    scores,
)
from notewell.bench.queries import WHOLE, JudgedQuery
from notewell.bench.remarks import (
    last_part,
    named_alone,
    remarks_on_run,
    without_folders,
    worth_of_vectors,
)
from notewell.bench.results import (
    BenchReport,
    Comparison,
    Contender,
    Cost,
    Interval,
    JudgedLines,
    Machine,
    Metric,
    Origin,
    Result,
    ScoredAnswer,
    ScoredQuery,
)
from notewell.types import Hit
from notewell.workspace import WorkspaceScan

_SHOWN: Final = 10
"""Results of an answer that the report keeps; scores are of all of them."""

_MOST_TEXT: Final = 700
_TOP: Final = 6
_PACKAGES: Final = ("numpy", "sentence-transformers", "llama-cpp-python")


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurements:
    """A run, over or broken off. See `BenchReport` for the rest."""

    started_at: datetime
    finished: bool
    workspace: str
    scan: WorkspaceScan
    origin: Origin
    queries_from: str
    limit: int
    lanes: Sequence[Lane]
    queries: Sequence[JudgedQuery]
    read: Callable[[str], Sequence[str]]
    remarks: tuple[str, ...] = ()


def build_report(measured: Measurements) -> BenchReport:
    """Score every answer, and put the report together.

    Queries that were not put to all who take part are left out.
    """
    lengths = Lengths(measured.read)
    runners = [lane for lane in measured.lanes if lane.runs]
    asked = [
        _asked(query, measured, lengths)
        for query in measured.queries
        if runners and all(query.id in lane.attempts for lane in runners)
    ]
    contenders = tuple(
        _contender(lane, at, asked) for at, lane in enumerate(measured.lanes)
    )
    return BenchReport(
        started_at=measured.started_at,
        finished=measured.finished,
        workspace=measured.workspace,
        files=len(measured.scan.notes),
        bytes=measured.scan.bytes,
        origin=measured.origin,
        queries_from=measured.queries_from,
        limit=measured.limit,
        machine=_this_machine(),
        versions=_versions(contenders),
        contenders=contenders,
        comparisons=tuple(_comparisons(contenders, asked)),
        asked=tuple(asked),
        remarks=(
            *measured.remarks,
            *worth_of_vectors(contenders, asked),
            *remarks_on_run(
                measured.lanes, limit=measured.limit, finished=measured.finished
            ),
        ),
    )


def _asked(query: JudgedQuery, measured: Measurements, lengths: Lengths) -> ScoredQuery:
    return ScoredQuery(
        id=query.id,
        query=query.text,
        category=query.category,
        relevant=tuple(_place(span, measured.read) for span in query.right),
        answers=tuple(
            _answer(lane.entrant.label, lane.attempts.get(query.id), query, lengths)
            for lane in measured.lanes
        ),
    )


def _place(span: LineRange, read: Callable[[str], Sequence[str]]) -> JudgedLines:
    lines = read(span.path)
    text = "\n".join(lines[span.start - 1 : span.end])[:_MOST_TEXT]
    end = max(span.start, len(lines)) if span.end == WHOLE else span.end
    return JudgedLines(
        path=span.path,
        start_line=span.start,
        end_line=end,
        grade=span.grade,
        text=text,
    )


def _answer(
    label: str, attempt: Attempt | None, query: JudgedQuery, lengths: Lengths
) -> ScoredAnswer:
    if attempt is None or attempt.answer is None:
        error = "it took no part"
        if attempt is not None:
            error = without_folders(attempt.error or "")
        return ScoredAnswer(
            label=label, scores=dict.fromkeys(METRICS, 0.0), error=error
        )
    given = attempt.answer
    spans = [_span(hit) for hit in given.results]
    return ScoredAnswer(
        label=label,
        results=tuple(_result(hit, query.right) for hit in given.results[:_SHOWN]),
        ms=float(np.median(attempt.times)) if attempt.times else None,
        mode=given.mode,
        scores=scores(spans, query.right, ignored=query.ignored, lengths=lengths),
        fallbacks=given.fallbacks,
        reason=given.reason,
    )


def _result(hit: Hit, right: Sequence[LineRange]) -> Result:
    span = _span(hit)
    return Result(
        path=hit.path,
        start_line=hit.start_line,
        end_line=hit.end_line,
        score=hit.score,
        snippet=hit.snippet,
        heading=hit.heading,
        relevant=tuple(at for at, place in enumerate(right) if span.touches(place)),
    )


def _span(hit: Hit) -> LineRange:
    return LineRange(hit.path, hit.start_line, hit.end_line)


def _contender(lane: Lane, at: int, asked: Sequence[ScoredQuery]) -> Contender:
    entrant = lane.entrant
    if lane.unavailable is not None:
        return Contender(
            label=entrant.label,
            backend=entrant.backend,
            settings=_settings(entrant),
            unavailable=without_folders(lane.unavailable),
        )
    answers = [query.answers[at] for query in asked]
    attempts = [lane.attempts[query.id] for query in asked]
    given = [attempt.answer for attempt in attempts if attempt.answer is not None]
    return Contender(
        label=entrant.label,
        backend=entrant.backend,
        mode=_most(answer.mode for answer in given),
        provider=_most(answer.provider for answer in given),
        model=_most(answer.model and last_part(answer.model) for answer in given),
        settings=_settings(entrant),
        version=lane.index.version if lane.index else None,
        apart=lane.index.apart if lane.index else {},
        quality=_quality(answers),
        by_category=_by_category(asked, at),
        warm=latency_percentiles(lane.warm),
        cold=latency_percentiles(lane.cold),
        cost=_cost(lane),
        answered=len(given),
        failures=Counter(
            attempt.failure
            for attempt in attempts
            if attempt.answer is None and attempt.failure
        ),
        fallbacks=Counter(
            f"{step.kind}:{step.reason}"
            for answer in given
            for step in answer.fallbacks
        ),
    )


def _settings(entrant: Entrant) -> Mapping[str, object]:
    return {key: named_alone(value) for key, value in entrant.settings.items()}


def _cost(lane: Lane) -> Cost:
    made = lane.index
    return Cost(
        index_ms=made.ms if made and made.fresh else None,
        update_ms=lane.update_ms,
        disk_bytes=lane.disk_bytes if made else None,
        peak_memory_bytes=lane.peak_memory,
    )


def _most(values: Iterator[str | None]) -> str | None:
    """Return the value that is met most often, the first among equals."""
    counted = Counter(values).most_common(1)
    return counted[0][0] if counted else None


def _quality(answers: Sequence[ScoredAnswer]) -> dict[Metric, Interval]:
    if not answers:
        return {}
    return {
        metric: bootstrap_interval([answer.scores[metric] for answer in answers])
        for metric in METRICS
    }


def _by_category(
    asked: Sequence[ScoredQuery], at: int
) -> dict[str, Mapping[Metric, float]]:
    groups: dict[str, list[ScoredAnswer]] = {}
    for query in asked:
        groups.setdefault(query.category, []).append(query.answers[at])
    return {
        category: {
            metric: float(np.mean([answer.scores[metric] for answer in answers]))
            for metric in METRICS
        }
        for category, answers in sorted(groups.items())
    }


def _comparisons(
    contenders: Sequence[Contender], asked: Sequence[ScoredQuery]
) -> Iterator[Comparison]:
    """Compare every two that answered a common query."""
    for one, other in combinations(range(len(contenders)), 2):
        both = [
            (query.answers[one], query.answers[other])
            for query in asked
            if query.answers[one].error is None and query.answers[other].error is None
        ]
        if both:
            yield _comparison(both)


def _comparison(both: Sequence[tuple[ScoredAnswer, ScoredAnswer]]) -> Comparison:
    files = [(_files(first), _files(second)) for first, second in both]
    return Comparison(
        first=both[0][0].label,
        second=both[0][1].label,
        differences={
            metric: bootstrap_interval(
                [second.scores[metric] - first.scores[metric] for first, second in both]
            )
            for metric in METRICS
        },
        overlap=float(np.mean([overlap(a[:_TOP], b[:_TOP]) for a, b in files])),
        rank_correlation=float(np.mean([rank_biased_overlap(a, b) for a, b in files])),
    )


def _files(answer: ScoredAnswer) -> list[str]:
    """Return the files of an answer, each at its first place."""
    return list(dict.fromkeys(result.path for result in answer.results))


def _versions(contenders: Sequence[Contender]) -> dict[str, str]:
    engines = {
        each.backend: each.version for each in contenders if each.version is not None
    }
    return {**_own_versions(), **engines}


def _this_machine() -> Machine:
    """Describe where we are, without its name."""
    return Machine(
        system=f"{platform.system()} {platform.release()} {platform.machine()}",
        processor=_processor(),
        cores=os.cpu_count() or 1,
        memory_bytes=_all_memory(),
        python=platform.python_version(),
    )


def _own_versions() -> dict[str, str]:
    """Return the versions of what answers here."""
    found = {"notewell": __version__, "SQLite": apsw.sqlite_lib_version()}
    for package in _PACKAGES:
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


def _processor() -> str:
    """Return the model of the processor; Linux tells it in a file, others at once."""
    with suppress(OSError), open("/proc/cpuinfo", encoding="utf-8") as lines:
        for line in lines:
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()


def _all_memory() -> int | None:
    """Return the memory of this machine in bytes; None where it does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return None
