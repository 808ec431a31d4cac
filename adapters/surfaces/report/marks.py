"""The pieces of a chart, in SVG.

A plot is as wide as the page allows, so everything along it is placed in per cent and
everything across it in pixels: text and marks keep their size on a phone.
"""

from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

from notewell.adapters.surfaces.report.markup import Html, element
from notewell.adapters.surfaces.report.scales import Scale

LANE: Final = 20
"""Pixels across for one contender; report.css has lines of text of the same height."""

_Place: TypeAlias = dict[str, str | float]

_SHAPES: Final = (
    "M5 0A5 5 0 1 1-5 0 5 5 0 1 1 5 0Z",  # a circle, a square, a triangle, ...
    "M-4.5-4.5h9v9h-9Z",
    "M0-5.5 5.6 4.5h-11.2Z",
    "M0-6 6 0 0 6-6 0Z",
    "M-2-5.5h4v3.5h3.5v4h-3.5v3.5h-4v-3.5h-3.5v-4h3.5Z",
)
_COLOURS: Final = 6
"""How many there are in report.css, one more than shapes: no two contenders share both."""

_BINS: Final = 120
_LEAST_HEIGHT: Final = 2.0  # a single sample among thousands is still seen


def plot(height: int, *marks: str, scale: Scale) -> Html:
    """Return a drawing with a thin line across at every tick of its scale."""
    lines = (_across(scale.at(tick), height, "grid") for tick in scale.ticks)
    return _svg("plot", height, *lines, *marks)


def axis(scale: Scale, words: Sequence[str]) -> Html:
    """Return the words for a scale's ticks, each below its line."""
    places = [scale.at(tick) for tick in scale.ticks]
    labels = (
        element("text", word, x=_percent(place), y=13, text_anchor=_anchor(place))
        for place, word in zip(places, words, strict=True)
    )
    return _svg("axis", 18, *labels)


def marker(index: int, at: float = 50.0, y: float = LANE / 2, kind: str = "") -> Html:
    """Return the shape of a contender, in its colour; `kind` is a class of its own."""
    shape = element("path", d=_SHAPES[index % len(_SHAPES)])
    name = f"mark {series(index)} {kind}".rstrip()
    place: _Place = {"x": _percent(at), "y": y, "width": 1, "height": 1}
    return element("svg", shape, class_=name, **place, overflow="visible")


def symbol(index: int) -> Html:
    """Return a contender's shape as a small drawing among words."""
    return element(
        "svg",
        marker(index, y=7),
        class_="symbol",
        width=14,
        height=14,
        aria_hidden="true",
    )


def series(index: int) -> str:
    """Return the class that colours what belongs to a contender."""
    return f"s{index % _COLOURS}"


def span(index: int, low: float, high: float, y: float = LANE / 2) -> Html:
    """Return a line along the plot, from one place to another."""
    ends: _Place = {"x1": _percent(low), "x2": _percent(high), "y1": y, "y2": y}
    return element("line", class_=f"span {series(index)}", **ends)


def bar(index: int, length: float) -> Html:
    """Return a bar that begins at 0; the least one is still seen."""
    width = _percent(max(length, 0.4))
    return element("rect", class_=f"bar {series(index)}", y=4, height=12, width=width)


def zero(scale: Scale, height: int) -> Html:
    """Return the line at which there is no difference."""
    return _across(scale.at(0.0), height, "zero")


def tick(at: float, top: float, bottom: float, kind: str) -> Html:
    """Return a short line across the plot."""
    return _across(at, bottom, kind, top)


def histogram(index: int, samples: Iterable[float], scale: Scale, height: int) -> Html:
    """Return how often values fall where, all of them: heights go with counts."""
    counts = [0] * _BINS
    for sample in samples:
        counts[min(int(scale.at(sample) * _BINS / 100), _BINS - 1)] += 1
    tallest = max(max(counts), 1)
    steps = "".join(
        f"M{place} {height}v-{max(height * count / tallest, _LEAST_HEIGHT):.1f}h1V{height}Z"
        for place, count in enumerate(counts)
        if count
    )
    path = element("path", d=steps)
    frame: _Place = {"viewBox": f"0 0 {_BINS} {height}", "preserveAspectRatio": "none"}
    size: _Place = {"width": "100%", "height": height}
    return element("svg", path, class_=f"samples {series(index)}", **size, **frame)


def _svg(kind: str, height: int, *children: str) -> Html:
    size: _Place = {"width": "100%", "height": height}
    return element("svg", *children, class_=kind, **size, aria_hidden="true")


def _across(at: float, bottom: float, kind: str, top: float = 0) -> Html:
    place = _percent(at)
    return element("line", class_=kind, x1=place, x2=place, y1=top, y2=bottom)


def _anchor(place: float) -> str:
    return "start" if place < 8 else "end" if place > 92 else "middle"


def _percent(value: float) -> str:
    return f"{value:.2f}%"
