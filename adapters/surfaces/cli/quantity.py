"""Counts, sizes and times as people read them."""

from datetime import UTC, datetime, timedelta
from typing import Final

_UNITS: Final = ("KB", "MB", "GB", "TB")
_STEPS: Final = (
    (timedelta(days=1), "day"),
    (timedelta(hours=1), "hour"),
    (timedelta(minutes=1), "minute"),
)


def plural(count: int, one: str, more: str = "") -> str:
    """Return the noun as the count wants it.

    >>> plural(1, "query", "queries"), plural(0, "file")
    ('query', 'files')
    """
    return one if count == 1 else more or f"{one}s"


def counted(count: int, one: str, more: str = "") -> str:
    """Return a number of things.

    >>> counted(1, "query", "queries"), counted(1200, "file")
    ('1 query', '1,200 files')
    """
    return f"{count:,} {plural(count, one, more)}"


def size(count: int) -> str:
    """Return a number of bytes.

    >>> size(1), size(999), size(1_500), size(2_340_000)
    ('1 byte', '999 bytes', '1.5 KB', '2.3 MB')
    """
    if count < 1000:
        return f"{count} byte" if count == 1 else f"{count} bytes"
    amount, unit = count / 1000, _UNITS[0]
    for larger in _UNITS[1:]:
        if amount < 1000:
            break
        amount, unit = amount / 1000, larger
    return f"{amount:.1f} {unit}"


def duration(milliseconds: float) -> str:
    """Return a length of time.

    >>> duration(3.4), duration(187_400)
    ('3 ms', '187 s')
    """
    if milliseconds < 10_000:
        return f"{milliseconds:,.0f} ms"
    return f"{milliseconds / 1000:,.0f} s"


def moment(when: datetime, now: datetime | None = None) -> str:
    """Return a moment in UTC, and how long ago that is.

    >>> noon = datetime(2026, 1, 10, 12, tzinfo=UTC)
    >>> moment(noon, now=noon + timedelta(hours=3))
    '2026-01-10 12:00:00 UTC, 3 hours ago'
    """
    aware = when.astimezone(UTC) if when.tzinfo else when.replace(tzinfo=UTC)
    passed = (now or datetime.now(UTC)) - aware
    return f"{aware:%Y-%m-%d %H:%M:%S} UTC, {_ago(passed)}"


def _ago(passed: timedelta) -> str:
    for step, name in _STEPS:
        count = passed // step
        if count >= 1:
            return f"{count} {name} ago" if count == 1 else f"{count} {name}s ago"
    return "just now"
