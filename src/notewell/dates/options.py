"""A date as the value of an option or the name of a note: the whole text is one."""

import re
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Final

from notewell.dates import DateRange
from notewell.dates.reader import find_named, in_year, normalized
from notewell.dates.spans import read_words, whole_range
from notewell.dates.vocabulary import BEFORE_A_DAY, FILLERS, WEEKDAYS

_LONGEST: Final = 80
"""Characters; a longer value is none."""

_LEAP: Final = 9
"""Years among which one has a 29 February."""

_AGO: Final = re.compile(r"(\d{1,5}) ?(d|w|m|mo|y|days?|weeks?|months?|years?)\Z")
_COMPACT: Final = re.compile(r"(\d{4})(?:([-_/.]?)(\d{2})(?:\2(\d{2}))?)?\Z")
_WEEK: Final = re.compile(r"(\d{4})-?w(\d{1,2})\Z")
_QUARTER: Final = re.compile(r"(\d{4})-?q([1-4])\Z")
_STAMP: Final = re.compile(
    r"(?<!\d)(19[7-9]\d|20[0-6]\d)(\d\d)(\d\d)(?:[T_-]?\d{4}(?:\d\d)?)?(?!\d)"
)
_BETWEEN: Final = re.compile(r" ?(?:\.\.\.?|…) ?| (?:to|until|through|bis|[–—-]) ")

_SUFFIX: Final = re.compile(r"\.(?:md|markdown)\Z", re.IGNORECASE)

_BESIDE: Final = (
    FILLERS | BEFORE_A_DAY | WEEKDAYS.keys() | {".", "md", "markdown", "[", "]", ")"}
)
"""What a text may hold beside a date and still be nothing else."""


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
        for before in ("", "on ", "in ", "last "):  # `Tuesday`, `May`, `summer`
            if named := _whole(before + text, today):
                yield from (definite(one, today) for one in named)
                return


def _whole(text: str, today: date) -> tuple[DateRange, ...]:
    """Return the one date of a text that holds nothing else."""
    text = normalized(text)
    named = find_named(text, today)
    if len(named) != 1:
        return ()
    others = read_words(f"{text[: named[0].start]} {text[named[0].end :]}")
    return named[0].ranges if all(word.text in _BESIDE for word in others) else ()


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
    years = range(today.year, max(today.year - _LEAP, date.min.year), -1)
    exact = [one for year in years if (one := in_year(found, year)).first <= today]
    if (found.first.month, found.first.day) == (2, 29):
        exact = [one for one in exact if one.first.day == 29] or exact
    return exact[0] if exact else in_year(found, today.year)


def day_of_path(path: str) -> date | None:
    """Return the day that a note's name or, in folders of days, its path names.

    >>> [str(day_of_path(p)) for p in ("x/Mar 7th, 2026.md", "2026/03/10.md", "a/2026-03.md")]
    ['2026-03-07', '2026-03-10', 'None']
    """
    stem = _SUFFIX.sub("", path)
    parts = stem.split("/")
    found = _day_in(parts[-1])
    if found is None and len(parts) > 2 and any(map(str.isdecimal, parts[-3])):
        found = _day_in("/".join(parts[-3:])) or _day_in(" ".join(parts[-3:]))
    return found


def _day_in(name: str) -> date | None:
    if stamp := _STAMP.search(name):  # 202603051012, an id that is a time
        for one in whole_range(*map(int, stamp.groups())):
            return one.first
    for named in find_named(name.replace("_", "-"), date.min):
        first, last, yearly = named.ranges[0]
        if len(named.ranges) == 1 and first == last and not yearly:
            return first
    return None
