"""From what was measured to the report."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations
from typing import Final

import numpy as np

from notewell.bench.contending import Entrant
from notewell.bench.folders import last_part, named_alone, without_folders
from notewell.bench.lane import Attempt, Lane
from notewell.bench.left_out import LEFT_OUT
from notewell.bench.machine import this_machine, versions
from notewell.bench.metrics import METRICS, Lengths, Span, scores
from notewell.bench.queries import WHOLE, Query
from notewell.bench.results import (
    Answer,
    Asked,
    BenchReport,
    Comparison,
    Contender,
    Cost,
    Interval,
    Metric,
    Origin,
    Place,
    Result,
)
from notewell.bench.statistics import interval, latency, overlap, rank_biased_overlap
from notewell.types import Hit
from notewell.workspace import Scan

_SHOWN: Final = 10
"""Results of an answer that the report keeps; scores are of all of them."""

_MOST_TEXT: Final = 700
_TOP: Final = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """A run, over or broken off. See `BenchReport` for the rest."""

    started_at: datetime
    finished: bool
    workspace: str
    scan: Scan
    origin: Origin
    queries_from: str
    limit: int
    lanes: Sequence[Lane]
    queries: Sequence[Query]
    read: Callable[[str], Sequence[str]]
    remarks: tuple[str, ...] = ()


def report_of(ran: Ran) -> BenchReport:
    """Score every answer, and put the report together.

    Queries that were not put to all who take part are left out.
    """
    lengths = Lengths(ran.read)
    runners = [lane for lane in ran.lanes if lane.runs]
    asked = [
        _asked(query, ran, lengths)
        for query in ran.queries
        if runners and all(query.id in lane.attempts for lane in runners)
    ]
    contenders = tuple(_contender(lane, at, asked) for at, lane in enumerate(ran.lanes))
    return BenchReport(
        started_at=ran.started_at,
        finished=ran.finished,
        workspace=ran.workspace,
        files=len(ran.scan.notes),
        bytes=ran.scan.bytes,
        origin=ran.origin,
        queries_from=ran.queries_from,
        limit=ran.limit,
        machine=this_machine(),
        versions=_versions(contenders),
        contenders=contenders,
        comparisons=tuple(_comparisons(contenders, asked)),
        asked=tuple(asked),
        remarks=(*ran.remarks, *_paying(contenders, asked), *_remarks(ran)),
    )


def _asked(query: Query, ran: Ran, lengths: Lengths) -> Asked:
    return Asked(
        id=query.id,
        query=query.text,
        category=query.category,
        relevant=tuple(_place(span, ran.read) for span in query.right),
        answers=tuple(
            _answer(lane.entrant.label, lane.attempts.get(query.id), query, lengths)
            for lane in ran.lanes
        ),
    )


def _place(span: Span, read: Callable[[str], Sequence[str]]) -> Place:
    lines = read(span.path)
    text = "\n".join(lines[span.start - 1 : span.end])[:_MOST_TEXT]
    end = max(span.start, len(lines)) if span.end == WHOLE else span.end
    return Place(
        path=span.path,
        start_line=span.start,
        end_line=end,
        grade=span.grade,
        text=text,
    )


def _answer(
    label: str, attempt: Attempt | None, query: Query, lengths: Lengths
) -> Answer:
    if attempt is None or attempt.answer is None:
        error = "it took no part"
        if attempt is not None:
            error = without_folders(attempt.error or "")
        return Answer(label=label, scores=dict.fromkeys(METRICS, 0.0), error=error)
    given = attempt.answer
    spans = [_span(hit) for hit in given.results]
    return Answer(
        label=label,
        results=tuple(_result(hit, query.right) for hit in given.results[:_SHOWN]),
        ms=float(np.median(attempt.times)) if attempt.times else None,
        mode=given.mode,
        scores=scores(spans, query.right, ignored=query.ignored, lengths=lengths),
        fallbacks=given.fallbacks,
        reason=given.reason,
    )


def _result(hit: Hit, right: Sequence[Span]) -> Result:
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


def _span(hit: Hit) -> Span:
    return Span(hit.path, hit.start_line, hit.end_line)


def _contender(lane: Lane, at: int, asked: Sequence[Asked]) -> Contender:
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
        quality=_quality(answers),
        by_category=_by_category(asked, at),
        warm=latency(lane.warm),
        cold=latency(lane.cold),
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


def _quality(answers: Sequence[Answer]) -> dict[Metric, Interval]:
    if not answers:
        return {}
    return {
        metric: interval([answer.scores[metric] for answer in answers])
        for metric in METRICS
    }


def _by_category(asked: Sequence[Asked], at: int) -> dict[str, Mapping[Metric, float]]:
    groups: dict[str, list[Answer]] = {}
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
    contenders: Sequence[Contender], asked: Sequence[Asked]
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


def _comparison(both: Sequence[tuple[Answer, Answer]]) -> Comparison:
    files = [(_files(first), _files(second)) for first, second in both]
    return Comparison(
        first=both[0][0].label,
        second=both[0][1].label,
        differences={
            metric: interval(
                [second.scores[metric] - first.scores[metric] for first, second in both]
            )
            for metric in METRICS
        },
        overlap=float(np.mean([overlap(a[:_TOP], b[:_TOP]) for a, b in files])),
        rank_correlation=float(np.mean([rank_biased_overlap(a, b) for a, b in files])),
    )


def _files(answer: Answer) -> list[str]:
    """Return the files of an answer, each at its first place."""
    return list(dict.fromkeys(result.path for result in answer.results))


def _versions(contenders: Sequence[Contender]) -> dict[str, str]:
    engines = {
        each.backend: each.version for each in contenders if each.version is not None
    }
    return {**versions(), **engines}


def _paying(contenders: Sequence[Contender], asked: Sequence[Asked]) -> Iterator[str]:
    """Say who finds more than words alone do, where words were left out."""
    places = [query for query in asked if query.category == LEFT_OUT]
    base = next((at for at, one in enumerate(contenders) if _by_words(one)), None)
    if base is None or not places:
        return
    for at, one in enumerate(contenders):
        if one.provider is None:
            continue
        found, words = (_found(places, which) for which in (at, base))
        gain = interval([a - b for a, b in zip(found, words, strict=True)])
        verdict = "it pays" if gain.low > 0 else "that may be chance"
        yield (
            f"{one.label} (by {one.provider}) finds {sum(found):.0f} of {len(places)} places"
            f" whose words were left out, {contenders[base].label} {sum(words):.0f}:"
            f" {verdict}."
        )


def _by_words(contender: Contender) -> bool:
    return contender.backend == "builtin" and contender.mode == "keyword"


def _found(places: Sequence[Asked], at: int) -> list[float]:
    return [query.answers[at].scores["success@6"] for query in places]


def _remarks(ran: Ran) -> Iterator[str]:
    if not ran.finished:
        yield "The run was stopped early: the figures are of what was done until then."
    for lane in ran.lanes:
        label, made = lane.entrant.label, lane.index
        if made is None:
            continue
        if not made.fresh:
            yield f"{label} found an index that was there already: its time is not known."
        for warning in made.report.warnings:
            yield f"{label}: {without_folders(warning)}"
