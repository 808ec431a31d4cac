"""Figures as the page writes them: three digits, a real minus sign, a unit."""

from typing import Final

from notewell.bench.results import Interval

MINUS: Final = "\N{MINUS SIGN}"


def share(value: float) -> str:
    """Return a measure of quality.

    >>> share(0.9)
    '0.900'
    """
    return f"{value:.3f}"


def signed(value: float) -> str:
    """Return a difference; what rounds to nothing has no sign.

    >>> signed(0.785), signed(-0.02), signed(-0.0001)
    ('+0.785', '−0.020', '0.000')
    """
    if round(value, 3) == 0:
        return share(0)
    return f"{value:+.3f}".replace("-", MINUS)


def bounds(interval: Interval) -> str:
    """Return the two ends of an interval.

    >>> bounds(Interval(mean=0.9, low=0.85, high=0.94))
    '[0.850, 0.940]'
    """
    return f"[{share(interval.low)}, {share(interval.high)}]"


def signed_bounds(interval: Interval) -> str:
    """Return the two ends of the interval of a difference.

    >>> signed_bounds(Interval(mean=0, low=-0.1, high=0.2))
    '[−0.100, +0.200]'
    """
    return f"[{signed(interval.low)}, {signed(interval.high)}]"


def milliseconds(value: float) -> str:
    """Return a time in a unit that suits it.

    >>> milliseconds(0.417), milliseconds(84.25), milliseconds(1240), milliseconds(3e5)
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


def times(ratio: float) -> str:
    """Return how many times as large something is.

    >>> times(1.34), times(70.2), times(1234.5)
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
