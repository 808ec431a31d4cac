"""Charts of how long searches take: every sample, with p50, p95 and p99."""

from typing import Final

from notewell.adapters.surfaces.report import marks
from notewell.adapters.surfaces.report.figures import milliseconds
from notewell.adapters.surfaces.report.markup import Html, element, joined
from notewell.adapters.surfaces.report.parts import (
    cell,
    name_of,
    row,
    section,
    table,
    taking_part,
)
from notewell.adapters.surfaces.report.scales import Scale, positive
from notewell.bench.results import BenchReport, Latency

_HEIGHT: Final = 34
_BASE: Final = 24  # the histogram stands on this line
_FEW: Final = 100
"""Fewer samples than this say nothing of a p99 but their maximum."""


def latency(report: BenchReport) -> Html:
    """Return the section on time; empty when nothing was timed."""
    members = taking_part(report)
    warm = [(index, one.label, one.warm) for index, one in members if one.warm]
    cold = [(index, one.label, one.cold) for index, one in members if one.cold]
    times = [time for _, _, one in warm + cold for time in (*one.samples, one.p99)]
    if not times:
        return Html()
    scale = positive(times)
    note = (
        "Every measured search is in the outline; the shape is p50, the ticks are p95 "
        "and p99. Further left is better. "
    )
    note += (
        "The scale is logarithmic." if scale.logarithmic else "The scale begins at 0."
    )
    return section(
        "latency",
        "Latency",
        note,
        _chart("Warm: in a process that stays", warm, scale),
        _chart("Cold: from the start of a process to its answer", cold, scale),
        _few([one for _, _, one in warm + cold]),
    )


def _chart(title: str, lanes: list[tuple[int, str, Latency]], scale: Scale) -> Html:
    if not lanes:
        return Html()
    words = [milliseconds(tick).replace(".0 ", " ") for tick in scale.ticks]
    axis = cell(
        marks.axis(scale, ["0" if w == "0.00 ms" else w for w in words]), "plot"
    )
    chart = table(
        ("Contender", "Samples", "p50", "p95", "p99", "samples"),
        [_lane(index, label, one, scale) for index, label, one in lanes],
        kind="chart times",
        caption=title,
        foot=element("tr", element("td"), axis, element("td", colspan=4)),
    )
    return joined((element("h3", title), chart))


def _lane(index: int, label: str, times: Latency, scale: Scale) -> Html:
    samples = marks.histogram(index, times.samples, scale, _BASE)
    drawn = (
        samples,
        marks.span(index, scale.at(times.p50), scale.at(times.p99), _BASE),
        *(
            marks.tick(
                scale.at(value), _BASE - 6, _BASE + 6, f"tick {marks.series(index)}"
            )
            for value in (times.p95, times.p99)
        ),
        marks.marker(index, scale.at(times.p50), _BASE),
    )
    count = len(times.samples)
    p99 = milliseconds(times.p99)
    return row(
        name_of(index, label),
        cell(marks.plot(_HEIGHT, *drawn, scale=scale), "plot"),
        cell(element("b", milliseconds(times.p50)), "number", "p50"),
        cell(milliseconds(times.p95), "number", "p95"),
        cell(f"{p99} *" if count < _FEW else p99, "number", "p99"),
        cell(f"{count:,}", "number faint", "samples"),
    )


def _few(measured: list[Latency]) -> Html:
    if all(len(one.samples) >= _FEW for one in measured):
        return Html()
    words = f"* With fewer than {_FEW} samples, p99 is close to their maximum."
    return element("p", words, class_="footnote")
