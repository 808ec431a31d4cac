"""Finds the dates in a text, and puts together those that are one: `Tuesday of last week`."""

import unicodedata
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from typing import Final, NamedTuple

from notewell.dates import DateRange, day_in_year
from notewell.dates.absolute import dates_in_digits, dates_with_months, lone_years
from notewell.dates.relative import relative_dates
from notewell.dates.spans import DateSpan, month_end, read_words
from notewell.dates.vocabulary import AND, BETWEEN, FILLERS, UNTIL

_MOST_READ: Final = 2_000
"""Characters of a text; dates stand in questions, not in pasted logs."""

_FIRST_SIGN: Final = "\u3005"
"""Chinese, Japanese and Korean begin here."""

_FARTHEST: Final = 24
"""Characters between two parts of one date."""


class NamedDate(NamedTuple):
    """A date as a text names it.

    Attributes:
        text: The words.
        ranges: The days; several where it may mean several.
        start: Where the words begin in the normalised text.
        end: Where they end.
    """

    text: str
    ranges: tuple[DateRange, ...]
    start: int
    end: int


def find_named(text: str, today: date) -> tuple[NamedDate, ...]:
    """Return the dates in a text, as it names them, in its order.

    Words like `yesterday` are read against `today`, and only where no date is written
    out: `last Friday on 23 January` means the day that is named.
    """
    text = normalized(text)
    found = _joined(_without_overlaps(_parts(text, today)), text)
    found = [one for one in _spanned(found, text) if one.alone and one.ranges]
    if not all(one.relative for one in found):
        found = [one for one in found if not one.relative]
    return tuple(
        NamedDate(text[one.start : one.end], one.ranges, one.start, one.end)
        for one in found
    )


def find_dates(text: str, today: date) -> tuple[DateRange, ...]:
    """Return the dates in a text, each once; see `notewell.dates.read_dates`."""
    named = find_named(text, today)
    return tuple(dict.fromkeys(one for each in named for one in each.ranges))


def normalized(text: str) -> str:
    """Return the part of a text that is read, in usual signs: full-width digits are digits."""
    text = text[:_MOST_READ]
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)[:_MOST_READ].replace("’", "'")
    return text


def _parts(text: str, today: date) -> list[DateSpan]:
    words = read_words(text)
    found = [*dates_with_months(text, words), *relative_dates(words, today)]
    if any(map(str.isdecimal, text)):
        found += [*dates_in_digits(text), *lone_years(words)]
    if text and max(text) >= _FIRST_SIGN:
        from notewell.dates.cjk import cjk_dates  # its patterns take long to compile

        found += cjk_dates(text, today)
    return found


def _without_overlaps(found: Sequence[DateSpan]) -> list[DateSpan]:
    """Return the parts in the order of the text; where two overlap, the longer one."""

    def worth(one: DateSpan) -> tuple[bool, bool, int, bool]:
        return one.unit == "day", one.alone, one.end - one.start, one.relative

    kept: list[DateSpan] = []
    taken = bytearray(max((one.end for one in found), default=0))
    for one in sorted(found, key=worth, reverse=True):
        if not any(taken[one.start : one.end]):
            kept.append(one)
            taken[one.start : one.end] = b"x" * (one.end - one.start)
    return sorted(kept, key=lambda one: one.start)


def _joined(found: Sequence[DateSpan], text: str) -> list[DateSpan]:
    """Put neighbours together that are one date: a weekday and its week, a month and its year."""
    joined: list[DateSpan] = []
    for one in found:
        if joined and _are_neighbours(joined[-1], one, text):
            both = _one_of(joined[-1], one)
            if both is not None:
                start, end = joined[-1].start, one.end
                joined[-1] = both._replace(start=start, end=end)
                continue
        joined.append(one)
    return joined


def _are_neighbours(left: DateSpan, right: DateSpan, text: str) -> bool:
    between = text[left.end : right.start]
    if len(between) > _FARTHEST:
        return False
    return all(word.text in FILLERS for word in read_words(between))


def _one_of(left: DateSpan, right: DateSpan) -> DateSpan | None:
    for one, other in ((left, right), (right, left)):
        if one.unit == "weekday":
            if other.unit == "day":
                return other
            if other.unit == "week" and other.ranges:
                day = other.ranges[0].first + timedelta(days=one.weekday)
                return other._replace(ranges=(DateRange(day, day),), unit="day")
        elif one.unit == "year" and other.ranges and other.ranges[0].yearly:
            year = one.ranges[0].first.year
            ranges = tuple(in_year(each, year) for each in other.ranges)
            return other._replace(ranges=ranges, relative=one.relative, alone=True)
    return None


def _spanned(found: Sequence[DateSpan], text: str) -> Iterator[DateSpan]:
    """Make one range of two dates of which the text says `from` and `to`."""
    last: DateSpan | None = None
    for one in found:
        if last is not None and one.alone and _spans(last, one, text):
            both = _span(last, one)
            if both is not None:
                last = both
                continue
        if last is not None:
            yield last
        last = one
    if last is not None:
        yield last


def _spans(left: DateSpan, right: DateSpan, text: str) -> bool:
    if not left.alone or len(left.ranges) != 1 or len(right.ranges) != 1:
        return False
    between = [word.text for word in read_words(text[left.end : right.start])]
    joints = [word for word in between if word in UNTIL]
    if len(joints) != 1 or len(between) > 3:
        return False
    if joints[0] not in AND:
        return set(between) - UNTIL <= FILLERS
    before = [word.text for word in read_words(text[: left.start])][-2:]
    return not BETWEEN.isdisjoint(before)


def _span(left: DateSpan, right: DateSpan) -> DateSpan | None:
    first, last = left.ranges[0], right.ranges[0]
    if first.yearly and not last.yearly:
        first = in_year(first, last.first.year)
    if first.yearly != last.yearly or first.first > last.last:
        return None
    relative = left.relative and right.relative
    named = DateRange(first.first, last.last, first.yearly)
    return DateSpan(left.start, right.end, (named,), "rolling", relative=relative)


def in_year(named: DateRange, year: int) -> DateRange:
    """Return the days of a range without a year in this year.

    >>> str(in_year(DateRange(date(2000, 2, 1), date(2000, 2, 29), True), 2023).last)
    '2023-02-28'
    """
    over = named.last.year - named.first.year
    first, last = day_in_year(named.first, year), day_in_year(named.last, year + over)
    if named.first.day == 1 and named.last == month_end(named.last):
        last = month_end(last)  # February ends on the 29th, or on the 28th
    return DateRange(first, last)
