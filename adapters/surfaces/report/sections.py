"""What each section of the page shows of a report; `page.html` says how.

A contender is a number, which gives its shape and colour, and a label; what was measured
of it follows. A section of which nothing was measured is None, and left out.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias, TypeVar

from notewell.adapters.surfaces.report.charts import (
    MINUS,
    SHARES,
    Scale,
    difference_scale,
    latency_text,
    ratio_text,
    score_text,
    time_scale,
)
from notewell.adapters.surfaces.report.findings import excludes_zero
from notewell.adapters.surfaces.sentences import number_of, size_text
from notewell.bench.results import (
    BenchReport,
    Comparison,
    Contender,
    Cost,
    Interval,
    Latency,
    Metric,
)

T = TypeVar("T")
Measured: TypeAlias = tuple[int, str, T]
"""A contender's number, its label, and what was measured of it."""

Measure: TypeAlias = tuple[Metric, str, list[Measured[Interval]]]
Categories: TypeAlias = tuple[Metric, list[tuple[str, int, list[Measured[float]]]]]
CostChart: TypeAlias = tuple[str, str, Scale, list[tuple[int, str, float, str, str]]]
Pair: TypeAlias = tuple[Comparison, int, int, list[tuple[Metric, Interval, bool]]]

_METRICS: Final[Mapping[Metric, str]] = {
    "success@6": "queries with a right passage among the first six",
    "success@20": "the same among the first twenty: what reordering could gain at most",
    "rec@4kc": "share of the right places within the first 4,000 characters of results",
    "recall@1": "share of the right places that the first result covers",
    "recall@6": "share of the right places among the first six",
    "recall@10": "share of the right places among the first ten",
    "mrr@10": "1 / rank of the first right passage, 0 beyond the tenth",
    "ndcg@10": "graded gain of the first ten, discounted by rank",
}
"""In the order in which the page shows them, with what they measure."""

_COLUMNS: Final[Mapping[str, Callable[[Contender], str]]] = {
    "success@6": lambda one: _mean(one, "success@6"),
    "rec@4kc": lambda one: _mean(one, "rec@4kc"),
    "mrr@10": lambda one: _mean(one, "mrr@10"),
    "warm p50": lambda one: _time(one.warm.p50 if one.warm else None),
    "warm p95": lambda one: _time(one.warm.p95 if one.warm else None),
    "cold p50": lambda one: _time(one.cold.p50 if one.cold else None),
    "index": lambda one: _time(one.cost.index_ms),
    "update": lambda one: _time(one.cost.update_ms),
    "disk": lambda one: _size(one.cost.disk_bytes),
    "memory": lambda one: _size(one.cost.peak_memory_bytes),
    "failed": lambda one: f"{sum(one.failures.values()):,}",
    "stepped down": lambda one: f"{sum(one.fallbacks.values()):,}",
}

_FEW: Final = 100
"""Fewer samples than this say nothing of a p99 but their maximum."""


def _whole_size(value: float) -> str:
    return size_text(round(value))


_COSTS: Final[
    tuple[tuple[str, str, Callable[[Cost], float | None], Callable[[float], str]], ...]
] = (
    ("Index", "everything from the files alone", lambda c: c.index_ms, latency_text),
    ("Update", "after one file changed", lambda c: c.update_ms, latency_text),
    ("Disk", "kept beside the notes", lambda c: c.disk_bytes, _whole_size),
    ("Peak memory", "of its processes", lambda c: c.peak_memory_bytes, _whole_size),
)
"""What is shown: a title, what it means, where it is, and how it is written."""


@dataclass(frozen=True, slots=True)
class FiguresTable:
    """All contenders at a glance; who took no part has no cells."""

    columns: list[str]
    rows: list[Measured[list[str]]]


def figures_table(report: BenchReport) -> FiguresTable:
    """Return the table at the top of the page."""
    rows = [
        (
            index,
            one.label,
            [] if one.unavailable else [f(one) for f in _COLUMNS.values()],
        )
        for index, one in enumerate(report.contenders)
    ]
    return FiguresTable(list(_COLUMNS), rows)


@dataclass(frozen=True, slots=True)
class QualitySection:
    """What was found.

    Attributes:
        measures: A metric, what it means, and the mean of each contender.
        categories: A metric, and for each category of queries its size and the means.
    """

    scale: Scale
    legend: list[tuple[int, str]]
    measures: list[Measure]
    categories: list[Categories]


def quality_section(report: BenchReport) -> QualitySection | None:
    """Return the charts of every measure, over all queries and by category."""
    members = [pair for pair in _taking_part(report) if pair[1].quality]
    if not members:
        return None
    measures: list[Measure] = [
        (metric, gloss, found)
        for metric, gloss in _METRICS.items()
        if (
            found := [
                (index, one.label, one.quality[metric])
                for index, one in members
                if metric in one.quality
            ]
        )
    ]
    return QualitySection(
        scale=SHARES,
        legend=[(index, one.label) for index, one in members],
        measures=measures,
        categories=list(_categories(report, members)),
    )


def _categories(
    report: BenchReport, members: Sequence[tuple[int, Contender]]
) -> Iterator[Categories]:
    """Yield the means by category, those in the order of the queries, if there are several."""
    sizes = Counter(asked.category for asked in report.asked)
    others = (name for _, one in members for name in one.by_category)
    names = list(dict.fromkeys([*sizes, *others]))
    for metric in _METRICS if len(names) > 1 else ():
        rows = [
            (
                name,
                sizes[name],
                [
                    (index, one.label, one.by_category[name][metric])
                    for index, one in members
                    if metric in one.by_category.get(name, {})
                ],
            )
            for name in names
        ]
        if any(means for _, _, means in rows):
            yield metric, rows


@dataclass(frozen=True, slots=True)
class LatencySection:
    """How long searches took.

    Attributes:
        words: For the scale's ticks.
        charts: A title, and the times of each contender.
        few: Fewer samples than this are marked.
        has_few: Whether any are.
    """

    scale: Scale
    words: list[str]
    charts: list[tuple[str, list[Measured[Latency]]]]
    few: int
    has_few: bool


def latency_section(report: BenchReport) -> LatencySection | None:
    """Return the charts of every sample, on one scale."""
    members = _taking_part(report)
    warm = [(index, one.label, one.warm) for index, one in members if one.warm]
    cold = [(index, one.label, one.cold) for index, one in members if one.cold]
    measured = [one for _, _, one in (*warm, *cold)]
    if not measured:
        return None
    scale = time_scale(time for one in measured for time in (*one.samples, one.p99))
    charts = (
        ("Warm: in a process that stays", warm),
        ("Cold: from the start of a process to its answer", cold),
    )
    return LatencySection(
        scale=scale,
        words=[
            latency_text(tick).replace(".0 ", " ") if tick else "0"
            for tick in scale.ticks
        ],
        charts=[(title, lanes) for title, lanes in charts if lanes],
        few=_FEW,
        has_few=any(len(one.samples) < _FEW for one in measured),
    )


def cost_section(report: BenchReport) -> list[CostChart]:
    """Return a chart of each kind of cost that was measured: a title, what it means, its
    scale, and for each contender the value, its figure and how it is to the least."""
    charts: list[CostChart] = []
    for title, gloss, read, write in _COSTS:
        found = [
            (index, one.label, value)
            for index, one in _taking_part(report)
            if (value := read(one.cost)) is not None
        ]
        if not found:
            continue
        values = [value for _, _, value in found]
        bars = [
            (index, label, value, write(value), _ratio(value, min(values)))
            for index, label, value in found
        ]
        charts.append((title, gloss, Scale(0.0, max(*values, 1.0), ()), bars))
    return charts


def _ratio(value: float, least: float) -> str:
    return f"× {ratio_text(value / least)}" if least > 0 and value > least else ""


@dataclass(frozen=True, slots=True)
class AgreementSection:
    """How two contenders differ on the same queries.

    Attributes:
        words: For the scale's ticks.
        pairs: A comparison, the numbers of its two contenders, and for each metric the
            difference and whether the queries were enough to show it.
    """

    scale: Scale
    words: list[str]
    pairs: list[Pair]


def agreement_section(report: BenchReport) -> AgreementSection | None:
    """Return the charts of the differences of every pair, on one scale."""
    if not report.comparisons:
        return None
    numbers = {one.label: index for index, one in enumerate(report.contenders)}
    scale = difference_scale(
        end
        for pair in report.comparisons
        for one in pair.differences.values()
        for end in (one.low, one.high)
    )
    pairs: list[Pair] = [
        (
            pair,
            numbers.get(pair.first, 0),
            numbers.get(pair.second, 0),
            [
                (metric, one, excludes_zero(one))
                for metric in _METRICS
                if (one := pair.differences.get(metric))
            ],
        )
        for pair in report.comparisons
    ]
    words = [f"{at:+g}".replace("-", MINUS) if at else "0" for at in scale.ticks]
    return AgreementSection(scale, words, pairs)


@dataclass(frozen=True, slots=True)
class AboutSection:
    """How the figures came about, as pairs of a name and a value."""

    contenders: list[Measured[list[tuple[str, str]]]]
    machine: list[tuple[str, str]]


def about_section(report: BenchReport) -> AboutSection:
    """Return what a reader needs to judge the figures, or to measure them again."""
    return AboutSection(
        contenders=[
            (index, one.label, list(_described(one)))
            for index, one in enumerate(report.contenders)
        ],
        machine=[*_machine(report), *report.versions.items()],
    )


def _described(one: Contender) -> Iterator[tuple[str, str]]:
    known = {
        "did not take part": one.unavailable,
        "backend": f"{one.backend} {one.version or ''}".rstrip(),
        "mode": one.mode,
        "provider": one.provider,
        "model": one.model,
    }
    yield from ((name, value) for name, value in known.items() if value)
    for name, value in one.settings.items():
        yield name, json.dumps(value, ensure_ascii=False, default=str)
    if one.unavailable is None:
        yield "answered", number_of(one.answered, "query", "queries")
    for word, tally in (("failed", one.failures), ("stepped down", one.fallbacks)):
        for reason, times in tally.items():
            yield word, f"{reason}: {number_of(times, 'query', 'queries')}"


def _machine(report: BenchReport) -> Iterator[tuple[str, str]]:
    machine = report.machine
    yield "system", machine.system
    yield "processor", f"{machine.processor}, {number_of(machine.cores, 'core')}"
    if machine.memory_bytes is not None:
        yield "memory", size_text(machine.memory_bytes)
    yield "Python", machine.python


def _taking_part(report: BenchReport) -> list[tuple[int, Contender]]:
    """Return who was measured."""
    return [
        (index, one)
        for index, one in enumerate(report.contenders)
        if one.unavailable is None
    ]


def _mean(contender: Contender, metric: Metric) -> str:
    if metric not in contender.quality:
        return "–"
    return score_text(contender.quality[metric].mean)


def _time(value: float | None) -> str:
    return "–" if value is None else latency_text(value)


def _size(value: int | None) -> str:
    return "–" if value is None else size_text(value)
