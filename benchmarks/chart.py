"""A chart of times by sizes, both in powers of ten, as one SVG for light and dark."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from xml.sax.saxutils import escape

_SVG = "http://www.w3.org/2000/svg"
_WIDTH = 920
_LEFT, _RIGHT, _TOP, _BOTTOM = 80, 720, 60, 420
_LINE_HEIGHT = 20
_NEARLY = 0.02
"""Of a power of ten: 981 passages are a thousand."""
_STYLE = """
  svg { background: #fff; --ink: #222; --faint: #ddd; --a: #0b62c4; --b: #b8460b; }
  @media (prefers-color-scheme: dark) {
    svg { background: #16181c; --ink: #e6e6e6; --faint: #34373d;
          --a: #6db1ff; --b: #ff9d63; }
  }
  text { font: 13px system-ui, sans-serif; fill: var(--ink); }
  .title { font-size: 17px; font-weight: 600; }
  .grid { stroke: var(--faint); }
  .curve { fill: none; stroke-width: 2.5; }
  .floor { stroke-dasharray: 5 4; }
  .hue0 { stroke: var(--a); } .hue1 { stroke: var(--b); }
  text.hue0 { fill: var(--a); stroke: none; } text.hue1 { fill: var(--b); stroke: none; }
  circle.hue0 { fill: var(--a); } circle.hue1 { fill: var(--b); }
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One curve.

    Attributes:
        name: What it is called, beside its end.
        points: Size and milliseconds.
        floor: It is what others are compared with, and drawn dashed.
        hue: 0 or 1; a curve and its floor share one.
    """

    name: str
    points: Sequence[tuple[float, float]]
    floor: bool
    hue: int


def svg(title: str, lines: Sequence[Line], notes: Sequence[str]) -> str:
    """Return the chart with sentences below it."""
    across = _Scale([x for line in lines for x, _ in line.points], _LEFT, _RIGHT)
    up = _Scale([y for line in lines for _, y in line.points], _BOTTOM, _TOP)
    height = _BOTTOM + 70 + _LINE_HEIGHT * len(notes)
    ends = _apart([up.place(line.points[-1][1]) for line in lines])
    parts = [
        f'<svg xmlns="{_SVG}" viewBox="0 0 {_WIDTH} {height}" role="img">',
        f"<title>{escape(title)}</title><style>{_STYLE}</style>",
        _text(_LEFT, 30, title, "title"),
        *(_vertical(across.place(x), f"{x:,.0f}") for x in across.decades),
        *(_horizontal(up.place(y), f"{y:g} ms") for y in up.decades),
        *(_curve(line, across, up, end) for line, end in zip(lines, ends, strict=True)),
        _text(_LEFT, _BOTTOM + 42, "passages"),
        *(
            _text(_LEFT, _BOTTOM + 70 + _LINE_HEIGHT * number, note)
            for number, note in enumerate(notes)
        ),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


class _Scale:
    """Places values between two ends of the paper, by their logarithm.

    Attributes:
        decades: The powers of ten that enclose all values.
    """

    def __init__(self, values: Sequence[float], start: float, end: float) -> None:
        self._least = math.floor(math.log10(min(values)) + _NEARLY)
        self._most = max(self._least + 1, math.ceil(math.log10(max(values)) - _NEARLY))
        self._start, self._end = start, end
        self.decades = [10.0**n for n in range(self._least, self._most + 1)]

    def place(self, value: float) -> float:
        share = (math.log10(value) - self._least) / (self._most - self._least)
        return self._start + share * (self._end - self._start)


def _apart(ends: Sequence[float]) -> list[float]:
    """Move the names beside the ends of curves so that none covers another."""
    moved = list(ends)
    order = sorted(range(len(ends)), key=lambda at: ends[at])
    for before, after in pairwise(order):
        moved[after] = max(moved[after], moved[before] + _LINE_HEIGHT)
    return moved


def _curve(line: Line, across: _Scale, up: _Scale, end: float) -> str:
    places = [(across.place(x), up.place(y)) for x, y in line.points]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    style = f"curve hue{line.hue}{' floor' if line.floor else ''}"
    dots = "".join(
        f'<circle class="hue{line.hue}" cx="{x:.1f}" cy="{y:.1f}" r="3.5">'
        f"<title>{escape(line.name)}: {size:,.0f} passages, {time:.2f} ms</title>"
        "</circle>"
        for (x, y), (size, time) in zip(places, line.points, strict=True)
    )
    name = _text(places[-1][0] + 10, end + 4, line.name, f"hue{line.hue}")
    return f'<polyline class="{style}" points="{path}"/>{dots}{name}'


def _vertical(x: float, label: str) -> str:
    line = f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{_BOTTOM}"/>'
    return line + _text(x, _BOTTOM + 20, label, anchor="middle")


def _horizontal(y: float, label: str) -> str:
    line = f'<line class="grid" x1="{_LEFT}" x2="{_RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
    return line + _text(_LEFT - 8, y + 4, label, anchor="end")


def _text(
    x: float, y: float, text: str, style: str = "", *, anchor: str = "start"
) -> str:
    return (
        f'<text class="{style}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">'
        f"{escape(text)}</text>"
    )
