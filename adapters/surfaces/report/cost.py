"""Charts of what it takes to have an engine: time, disk and memory."""

from collections.abc import Callable
from typing import Final

from notewell.adapters.surfaces.report import marks
from notewell.adapters.surfaces.report.figures import milliseconds, times
from notewell.adapters.surfaces.report.markup import Html, element
from notewell.adapters.surfaces.report.parts import (
    cell,
    name_of,
    row,
    section,
    table,
    taking_part,
)
from notewell.adapters.surfaces.report.scales import Scale
from notewell.adapters.surfaces.sentences import size_text
from notewell.bench.results import BenchReport, Cost


def _whole_size(value: float) -> str:
    """Return a number of bytes in words."""
    return size_text(round(value))


_KINDS: Final[
    tuple[tuple[str, str, Callable[[Cost], float | None], Callable[[float], str]], ...]
] = (
    ("Index", "everything from the files alone", lambda c: c.index_ms, milliseconds),
    ("Update", "after one file changed", lambda c: c.update_ms, milliseconds),
    ("Disk", "kept beside the notes", lambda c: c.disk_bytes, _whole_size),
    ("Peak memory", "of its processes", lambda c: c.peak_memory_bytes, _whole_size),
)
"""What is shown: a title, what it means, where it is, and how it is written."""


def cost(report: BenchReport) -> Html:
    """Return the section on cost; empty when none was measured."""
    members = taking_part(report)
    charts = [
        _chart(title, gloss, found, write)
        for title, gloss, read, write in _KINDS
        if (
            found := [
                (index, one.label, value)
                for index, one in members
                if (value := read(one.cost)) is not None
            ]
        )
    ]
    if not charts:
        return Html()
    return section(
        "cost",
        "Cost",
        "Measured once each, so without an interval. Bars begin at 0; shorter is better.",
        element("div", *charts, class_="panels"),
    )


def _chart(
    title: str,
    gloss: str,
    found: list[tuple[int, str, float]],
    write: Callable[[float], str],
) -> Html:
    least = min(value for _, _, value in found)
    scale = Scale(0.0, max(max(value for _, _, value in found), 1.0), ())
    rows = [
        row(
            name_of(index, label),
            cell(
                marks.plot(marks.LANE, marks.bar(index, scale.at(value)), scale=scale),
                "plot",
            ),
            cell(element("b", write(value)), "number"),
            cell(_ratio(value, least), "number faint"),
        )
        for index, label, value in found
    ]
    chart = table(
        ("Contender", "Bar", "Figure", "Against the least"),
        rows,
        kind="chart bars",
        caption=f"{title}: {gloss}",
    )
    heading = element("h3", title, " ", element("small", gloss))
    return element("div", heading, chart, class_="part")


def _ratio(value: float, least: float) -> str:
    return f"× {times(value / least)}" if least > 0 and value > least else ""
