"""Charts of how two contenders differ on the same queries, and how far they agree."""

from notewell.adapters.surfaces.report import marks
from notewell.adapters.surfaces.report.figures import MINUS, signed, signed_bounds
from notewell.adapters.surfaces.report.findings import excludes_zero
from notewell.adapters.surfaces.report.markup import Html, element, joined
from notewell.adapters.surfaces.report.parts import (
    METRICS,
    cell,
    name_of,
    row,
    section,
    table,
)
from notewell.adapters.surfaces.report.scales import Scale, differences
from notewell.bench.results import BenchReport, Comparison, Interval, Metric


def agreement(report: BenchReport) -> Html:
    """Return the section on pairs; empty when there is none."""
    if not report.comparisons:
        return Html()
    numbers = {one.label: index for index, one in enumerate(report.contenders)}
    scale = differences(
        end
        for pair in report.comparisons
        for one in pair.differences.values()
        for end in (one.low, one.high)
    )
    panels = (_pair(pair, numbers, scale) for pair in report.comparisons)
    return section(
        "agreement",
        "Agreement",
        "Differences paired by query, with 95 % intervals. Where the line touches 0 the "
        "mark is hollow: these queries could not show a difference.",
        element("div", *panels, class_="panels"),
    )


def _pair(pair: Comparison, numbers: dict[str, int], scale: Scale) -> Html:
    first, second = (
        name_of(numbers.get(label, 0), label) for label in (pair.first, pair.second)
    )
    rows = [
        _difference(metric, pair.differences[metric], pair, numbers, scale)
        for metric in METRICS
        if metric in pair.differences
    ]
    axis = cell(marks.axis(scale, [_tick(tick) for tick in scale.ticks]), "plot")
    chart = table(
        ("Measure", "Difference", "Figures"),
        rows,
        kind="chart differences",
        caption=f"{pair.second} minus {pair.first}",
        foot=element("tr", element("td"), axis, element("td")),
    )
    ends = element(
        "p",
        element("span", "← ", first, " better"),
        element("span", second, " better →"),
        class_="ends",
    )
    return element("div", ends, chart, _shared(pair), class_="part")


def _difference(
    metric: Metric,
    difference: Interval,
    pair: Comparison,
    numbers: dict[str, int],
    scale: Scale,
) -> Html:
    shown = excludes_zero(difference)
    index = numbers.get(pair.second if difference.mean > 0 else pair.first, 0)
    drawn = (
        marks.zero(scale, marks.LANE),
        marks.span(index, scale.at(difference.low), scale.at(difference.high)),
        marks.marker(index, scale.at(difference.mean), kind="" if shown else "hollow"),
    )
    mean = element("b" if shown else "span", signed(difference.mean))
    return row(
        metric,
        cell(marks.plot(marks.LANE, *drawn, scale=scale), "plot"),
        cell(
            joined(
                (mean, element("span", signed_bounds(difference), class_="range")), " "
            ),
            "values",
        ),
        kind=None if shown else "unshown",
    )


def _tick(value: float) -> str:
    return f"{value:+g}".replace("-", MINUS) if value else "0"


def _shared(pair: Comparison) -> Html:
    """How alike the two lists of files are, whether right or not."""
    return element(
        "p",
        "Same files among the first six: ",
        element("b", f"{pair.overlap:.2f}"),
        " (Jaccard). Same order: ",
        element("b", f"{pair.rank_correlation:.2f}"),
        " (rank-biased overlap). 1 is complete agreement.",
        class_="footnote",
    )
