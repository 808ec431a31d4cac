"""From values to places on a line, in per cent of its length."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

_MUCH: Final = 20.0
"""From this ratio of the largest value to the least, a scale is logarithmic."""


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


def differences(values: Iterable[float]) -> Scale:
    """Return a scale with 0 in its middle, and a tick near each end.

    >>> differences([0.03, -0.14])
    Scale(low=-0.2, high=0.2, ticks=(-0.2, 0.0, 0.2), logarithmic=False)
    """
    largest = max((abs(value) for value in values), default=1.0)
    steps = (0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8)
    end = next((step for step in steps if step >= largest), 1.0)
    return Scale(-end, end, (-end, 0.0, end))


def positive(values: Iterable[float]) -> Scale:
    """Return a scale for times, logarithmic where they differ much.

    >>> positive([3.0, 42.0]).ticks
    (0.0, 10.0, 20.0, 30.0, 40.0)
    >>> positive([0.7, 950.0]).ticks
    (1.0, 10.0, 100.0, 1000.0)
    >>> positive([30.0, 700.0]).ticks
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


def _round_step(rough: float) -> float:
    """The largest of 1, 2, 5, 10, 20, ... that is not above `rough`; or 0.1, 0.2, ..."""
    power = 10.0 ** math.floor(math.log10(rough))
    return max(step * power for step in (1, 2, 5) if step * power <= rough * 1.0001)
