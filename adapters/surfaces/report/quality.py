"""Charts of quality: every measure with its interval, and the means by category."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from notewell.adapters.surfaces.report import marks
from notewell.adapters.surfaces.report.figures import bounds, share
from notewell.adapters.surfaces.report.markup import Html, element, joined
from notewell.adapters.surfaces.report.parts import (
    METRICS,
    cell,
    choice,
    legend,
    lines,
    name_of,
    row,
    section,
    table,
    taking_part,
)
from notewell.adapters.surfaces.report.scales import SHARES
from notewell.bench.results import BenchReport, Contender, Metric

Members = list[tuple[int, Contender]]

_STEP: Final = 7  # pixels between the marks of one category


def quality(report: BenchReport) -> Html:
    """Return the section on what was found; empty when nothing was scored."""
    members = [pair for pair in taking_part(report) if pair[1].quality]
    if not members:
        return Html()
    parts = [legend(members), _overall(members)]
    if categories := list(_categories(report, members)):
        parts += [element("h3", "By category"), choice("by-category", categories)]
    return section(
        "quality",
        "Quality",
        "A mark is the mean over all queries, its line the 95 % bootstrap interval. "
        "Further right is better. A query without an answer scores 0.",
        *parts,
    )


def _overall(members: Members) -> Html:
    rows = [
        _measure(metric, gloss, members)
        for metric, gloss in METRICS.items()
        if any(metric in one.quality for _, one in members)
    ]
    return table(
        ("Measure", "Mean and interval", "Figures"),
        rows,
        kind="chart measures",
        caption="Quality of each contender by each measure",
        foot=_scale(),
    )


def _measure(metric: Metric, gloss: str, members: Members) -> Html:
    found = [
        (index, one.label, one.quality[metric])
        for index, one in members
        if metric in one.quality
    ]
    drawn = [
        joined(
            (
                marks.span(index, SHARES.at(one.low), SHARES.at(one.high), y),
                marks.marker(index, SHARES.at(one.mean), y),
            )
        )
        for lane, (index, _, one) in enumerate(found)
        for y in [marks.LANE * (lane + 0.5)]
    ]
    figures = (
        joined(
            (
                name_of(index, label),
                element("b", share(one.mean)),
                element("span", bounds(one), class_="range"),
            ),
            " ",
        )
        for index, label, one in found
    )
    return row(
        joined((metric, element("small", gloss)), " "),
        cell(marks.plot(marks.LANE * len(found), *drawn, scale=SHARES), "plot"),
        cell(lines(figures), "values"),
    )


def _categories(report: BenchReport, members: Members) -> Iterator[tuple[str, Html]]:
    """A chart for each measure: the categories in the order of the queries."""
    sizes = Counter(asked.category for asked in report.asked)
    names = list(
        dict.fromkeys(
            [*sizes, *(name for _, one in members for name in one.by_category)]
        )
    )
    if len(names) < 2:
        return
    for metric in METRICS:
        rows = [
            _category(name, sizes[name], _means(name, metric, members))
            for name in names
        ]
        if any(_means(name, metric, members) for name in names):
            chart = table(
                ("Category", "Mean", *("" for _ in members)),
                rows,
                kind="chart categories",
                caption=f"{metric} of each contender by category",
                foot=_scale(),
            )
            yield metric, chart


def _means(name: str, metric: Metric, members: Members) -> list[tuple[int, str, float]]:
    return [
        (index, one.label, one.by_category[name][metric])
        for index, one in members
        if metric in one.by_category.get(name, {})
    ]


def _category(name: str, size: int, means: list[tuple[int, str, float]]) -> Html:
    # One below the other, so that equal means do not hide each other.
    drawn = [
        marks.marker(index, SHARES.at(mean), y=10 + _STEP * lane)
        for lane, (index, _, mean) in enumerate(means)
    ]
    height = marks.LANE + _STEP * max(len(means) - 1, 0)
    figures = (
        element("span", name_of(index, label), " ", element("b", share(mean)))
        for index, label, mean in means
    )
    return row(
        joined((element("bdi", name), element("small", f"{size:,}")), " "),
        cell(marks.plot(height, *drawn, scale=SHARES), "plot"),
        cell(joined(figures, " "), "values"),
    )


def _scale() -> Html:
    words = ["0", ".25", ".5", ".75", "1"]
    return element(
        "tr", element("td"), cell(marks.axis(SHARES, words), "plot"), element("td")
    )
