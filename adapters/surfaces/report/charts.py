"""From values to what a chart shows of them: a place on a scale, an outline, a figure.

Places are in per cent of a scale's length; `charts.html` draws what stands there. Figures
have three digits, a real minus sign and a unit.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from notewell.bench.results import Interval

MINUS: Final = "\N{MINUS SIGN}"

_MUCH: Final = 20.0
"""From this ratio of the largest value to the least, a scale is logarithmic."""

_BINS: Final = 120
_LEAST_HEIGHT: Final = 2.0  # a single sample among thousands is still seen


@dataclass(frozen=True, slots=True)
class Scale:
    """A line from one value to another.

    Attributes:
        ticks: The values that are written below it.
        logarithmic: Equal steps are equal ratios; all values are above 0.
    """

    low: float
    high: float
    ticks: tuple[float, ...]
    logarithmic: bool = False

    def at(self, value: float) -> float:
        """Return where a value is, from 0 to 100; what lies beyond is at the end."""
        bend: Callable[[float], float] = math.log if self.logarithmic else float
        inside = min(max(value, self.low), self.high)
        length = bend(self.high) - bend(self.low)
        return 100 * (bend(inside) - bend(self.low)) / length


SHARES: Final = Scale(0.0, 1.0, (0.0, 0.25, 0.5, 0.75, 1.0))
"""What measures of quality lie on."""


def difference_scale(values: Iterable[float]) -> Scale:
    """Return a scale with 0 in its middle, and a tick near each end.

    >>> difference_scale([0.03, -0.14])
    Scale(low=-0.2, high=0.2, ticks=(-0.2, 0.0, 0.2), logarithmic=False)
    """
    largest = max((abs(value) for value in values), default=1.0)
    steps = (0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8)
    end = next((step for step in steps if step >= largest), 1.0)
    return Scale(-end, end, (-end, 0.0, end))


def time_scale(values: Iterable[float]) -> Scale:
    """Return a scale for times, logarithmic where they differ much.

    >>> time_scale([3.0, 42.0]).ticks
    (0.0, 10.0, 20.0, 30.0, 40.0)
    >>> time_scale([0.7, 950.0]).ticks
    (1.0, 10.0, 100.0, 1000.0)
    >>> time_scale([30.0, 700.0]).ticks
    (50.0, 100.0, 200.0, 500.0)
    """
    known = [value for value in values if value > 0] or [1.0]
    least, most = min(known), max(known)
    if most / least < _MUCH:
        step = _round_step(most / 3)
        ticks = tuple(step * count for count in range(int(most * 1.05 / step) + 1))
        return Scale(0.0, most * 1.05, ticks)
    low, high = least / 1.15, most * 1.15
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)))
    steps = (1, 2, 5) if high / low < 100 else (1,)
    ticks = tuple(
        step * 10.0**power
        for power in (*powers, powers.stop)
        for step in steps
        if low <= step * 10.0**power <= high
    )
    return Scale(low, high, ticks, logarithmic=True)


def outline(samples: Iterable[float], scale: Scale, height: int) -> str:
    """Return the path of a histogram of 120 bins: heights go with counts.

    >>> outline([1.0, 1.0, 3.0], Scale(0.0, 4.0, ()), 20)
    'M30 20v-20.0h1V20ZM90 20v-10.0h1V20Z'
    """
    counts = [0] * _BINS
    for sample in samples:
        counts[min(int(scale.at(sample) * _BINS / 100), _BINS - 1)] += 1
    tallest = max(max(counts), 1)
    return "".join(
        f"M{place} {height}v-{max(height * count / tallest, _LEAST_HEIGHT):.1f}h1V{height}Z"
        for place, count in enumerate(counts)
        if count
    )


def score_text(value: float) -> str:
    """Return a measure of quality.

    >>> score_text(0.9)
    '0.900'
    """
    return f"{value:.3f}"


def difference_text(value: float) -> str:
    """Return a difference; what rounds to nothing has no sign.

    >>> difference_text(0.785), difference_text(-0.02), difference_text(-0.0001)
    ('+0.785', '−0.020', '0.000')
    """
    if round(value, 3) == 0:
        return score_text(0)
    return f"{value:+.3f}".replace("-", MINUS)


def interval_text(interval: Interval) -> str:
    """Return the two ends of an interval.

    >>> interval_text(Interval(mean=0.9, low=0.85, high=0.94))
    '[0.850, 0.940]'
    """
    return f"[{score_text(interval.low)}, {score_text(interval.high)}]"


def difference_interval_text(interval: Interval) -> str:
    """Return the two ends of the interval of a difference.

    >>> difference_interval_text(Interval(mean=0, low=-0.1, high=0.2))
    '[−0.100, +0.200]'
    """
    return f"[{difference_text(interval.low)}, {difference_text(interval.high)}]"


def latency_text(value: float) -> str:
    """Return a time in a unit that suits it.

    >>> latency_text(0.417), latency_text(84.25), latency_text(1240), latency_text(3e5)
    ('0.42 ms', '84 ms', '1.24 s', '5.0 min')
    """
    if value < 10:
        return f"{value:.2f} ms" if value < 1 else f"{value:.1f} ms"
    if value < 1000:
        return f"{value:.0f} ms"
    seconds = value / 1000
    if seconds < 120:
        return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:.0f} s"
    return f"{seconds / 60:.1f} min"


def ratio_text(ratio: float) -> str:
    """Return how many times as large something is.

    >>> ratio_text(1.34), ratio_text(70.2), ratio_text(1234.5)
    ('1.3', '70', '1,234')
    """
    return f"{ratio:.1f}" if ratio < 10 else f"{ratio:,.0f}"


def listed(words: list[str]) -> str:
    """Return words as a sentence lists them.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    *head, last = words
    return f"{', '.join(head)} and {last}" if head else last


def _round_step(rough: float) -> float:
    """The largest of 1, 2, 5, 10, 20, ... that is not above `rough`; or 0.1, 0.2, ..."""
    power = 10.0 ** math.floor(math.log10(rough))
    return max(step * power for step in (1, 2, 5) if step * power <= rough * 1.0001)
