"""A date as the value of an option or the name of a note: the whole text is one."""

import re
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Final

from notewell.dates import DateRange
from notewell.dates.reader import find_dates, whole_range

_LONGEST: Final = 80
"""Characters; a longer value is none."""

_AGO: Final = re.compile(r"(\d{1,5}) ?(d|w|m|mo|y|days?|weeks?|months?|years?)\Z")
_COMPACT: Final = re.compile(r"(\d{4})(?:([-_/.]?)(\d{2})(?:\2(\d{2}))?)?\Z")
_WEEK: Final = re.compile(r"(\d{4})-?w(\d{1,2})\Z")
_QUARTER: Final = re.compile(r"(\d{4})-?q([1-4])\Z")
_BETWEEN: Final = re.compile(r" ?(?:\.\.\.?|…) ?| (?:to|until|through|bis|[–—-]) ")


def readings(text: str, today: date) -> tuple[DateRange, ...]:
    """Return what a text may mean: one range, or none, or several where it is unclear.

    >>> [str(one.first) for one in readings("1/2/2024", date.min)]
    ['2024-02-01', '2024-01-02']
    """
    text = " ".join(text.casefold().split())
    if not text or len(text) > _LONGEST:
        return ()
    ends = _BETWEEN.split(text)
    if len(ends) == 2 and all(ends):
        return tuple(_between(ends[0], ends[1], today))
    return tuple(dict.fromkeys(_single(text, today)))


def _between(begin: str, end: str, today: date) -> Iterator[DateRange]:
    for first in _single(begin, today):
        for last in _single(end, today):
            if first.first <= last.last:
                yield DateRange(first.first, last.last)


def _single(text: str, today: date) -> Iterator[DateRange]:
    if found := _AGO.match(text):
        yield from _ago(int(found[1]), found[2], today)
    elif found := _WEEK.match(text):
        yield from _week(int(found[1]), int(found[2]))
    elif found := _QUARTER.match(text):
        yield from _quarter(int(found[1]), int(found[2]))
    elif found := _COMPACT.match(text):
        year, joint, month, day = found.groups()
        if day or joint or not month:  # six digits are no month
            numbers = (int(part) if part else None for part in (year, month, day))
            yield from whole_range(*numbers)
    else:
        yield from (definite(one, today) for one in find_dates(text, today))


def _quarter(year: int, quarter: int) -> Iterator[DateRange]:
    for first in whole_range(year, quarter * 3 - 2, None):
        for last in whole_range(year, quarter * 3, None):
            yield DateRange(first.first, last.last)


def _ago(count: int, unit: str, today: date) -> Iterator[DateRange]:
    try:
        if unit[0] in "dw":
            day = today - timedelta(days=count * (7 if unit[0] == "w" else 1))
        else:
            months = today.year * 12 + today.month - 1
            months -= count * (12 if unit[0] == "y" else 1)
            [month] = whole_range(months // 12, months % 12 + 1, None)
            day = month.first.replace(day=min(today.day, month.last.day))
    except (OverflowError, ValueError):  # before there were years
        return
    yield DateRange(day, day)


def _week(year: int, week: int) -> Iterator[DateRange]:
    try:
        first = date.fromisocalendar(year, week, 1)
        yield DateRange(first, first + timedelta(days=6))
    except (OverflowError, ValueError):
        return


def definite(found: DateRange, today: date) -> DateRange:
    """Return a range of a year: the last one that has begun, if none was named."""
    if not found.yearly:
        return found
    year = today.year if _moved(found, today.year).first <= today else today.year - 1
    return _moved(found, max(year, date.min.year))


def _moved(found: DateRange, year: int) -> DateRange:
    days = found.last - found.first
    try:
        first = found.first.replace(year=year)
    except ValueError:  # 29 February
        first = date(year, 2, 28)
    last = first + days
    if found.first.day == 1 and days.days > 26:
        last = found.last.replace(year=year, day=28)
        [month] = whole_range(2000 if year < 1900 else year, last.month, None)
        last = last.replace(day=month.last.day)
    return DateRange(first, last)
