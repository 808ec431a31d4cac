"""Dates: those that a text names, as ranges of days, and how near a day is to them.

What reads them is loaded where there is something to read.
"""

from collections.abc import Sequence
from datetime import date
from typing import Final, NamedTuple

_AFTER: Final = 14
_BEFORE: Final = 7
"""Days beside a range in which people write about it, mostly afterwards."""

_LATER: Final = 0.7
_EARLIER: Final = 0.35
"""How near such a day is, where one within the range is 1."""


class DateRange(NamedTuple):
    """Days that a text names.

    Attributes:
        first: The first day.
        last: The last day, included.
        yearly: No year was named: the same days of any year.
    """

    first: date
    last: date
    yearly: bool = False

    def nearness(self, day: date) -> float:
        """Return how near a day is: 1 within, less shortly after or before, or 0.

        >>> may = DateRange(date(2023, 5, 1), date(2023, 5, 31))
        >>> [may.nearness(date(2023, *day)) for day in ((5, 9), (6, 2), (4, 28), (1, 1))]
        [1.0, 0.7, 0.35, 0.0]
        """
        if not self.yearly:
            return _nearness(day, self.first, self.last)
        years = range(
            max(date.min.year, day.year - 1), min(date.max.year, day.year + 1) + 1
        )
        return max(
            _nearness(day, _in_year(self.first, year), _in_year(self.last, year))
            for year in years
        )


def nearness(day: date, ranges: Sequence[DateRange]) -> float:
    """Return how near a day is to the nearest of some ranges, in [0, 1]."""
    return max((one.nearness(day) for one in ranges), default=0.0)


def read_dates(text: str, today: date) -> tuple[DateRange, ...]:
    """Return the dates in a text, each once.

    Words like `yesterday` are read against `today`, and only where no date is written
    out: `last Friday on 23 January` means the day that is named.

    >>> [str(one.first) for one in read_dates("on 16 March, or 2022-05-03", date.min)]
    ['2022-05-03', '2000-03-16']
    """
    from notewell.dates.reader import find_dates

    return find_dates(text, today)


def read_range(text: str, today: date) -> DateRange | None:
    """Return the days that a whole text means, as the value of an option.

    >>> today = date(2026, 12, 1)
    >>> [str(day) for day in read_range("2026-03", today)[:2]]
    ['2026-03-01', '2026-03-31']
    >>> str(read_range("7d", today).first)
    '2026-11-24'

    Args:
        text: `2026-03-03`, `2026-03`, `2026`, `7d` (the day seven days ago), `2w`, `3m`,
            `1y`, `yesterday`, `last week`, `March 3rd` (the last one that has begun),
            `2026-W10`, `A..B`; and what questions may hold, alone.

    Returns:
        The days, of a definite year; None: it is no date, or may mean two (`1/2/2024`).
    """
    from notewell.dates.options import readings

    found = readings(text, today)
    return found[0] if len(found) == 1 else None


def _nearness(day: date, first: date, last: date) -> float:
    if first <= day <= last:
        return 1.0
    if last < day:
        return _LATER if (day - last).days <= _AFTER else 0.0
    return _EARLIER if (first - day).days <= _BEFORE else 0.0


def _in_year(day: date, year: int) -> date:
    """Return the same day of another year; 29 February is the 28th where it is none."""
    try:
        return day.replace(year=year)
    except ValueError:
        return date(year, 2, 28)
