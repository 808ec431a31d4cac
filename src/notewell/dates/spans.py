"""Words of a text, spans of it that name dates, and the days that these mean."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from typing import Final, NamedTuple

from notewell.dates import DateRange
from notewell.dates.numbers import LONGEST_NUMBER, number_words, ordinal_words
from notewell.dates.vocabulary import Unit

YEARS: Final = range(1900, 2100)
"""What four digits have to be to be a year that somebody writes about."""

NO_YEAR: Final = 2000
"""A leap year, in which every day exists."""


class DateSpan(NamedTuple):
    """A date, or a part of one, where it stands in a text.

    Attributes:
        start: The first character.
        end: The one behind it.
        ranges: The days; several where it may mean several.
        unit: What it names.
        relative: Which days are meant depends on today.
        weekday: Monday is 0; of a weekday alone.
        alone: It is a date by itself; else only beside another part.
    """

    start: int
    end: int
    ranges: tuple[DateRange, ...]
    unit: Unit
    relative: bool = False
    weekday: int = 0
    alone: bool = True


class Word(NamedTuple):
    """A word, a number or a sign of a text.

    Attributes:
        text: Folded: small letters without accents.
        start: Its first character in the text.
        end: The one behind it.
        number: What it counts, if it is a number; several words may be one.
        ordinal: Which day of a month it counts, as a word: `third`.
    """

    text: str
    start: int
    end: int
    number: int | None = None
    ordinal: int | None = None


def read_words(text: str) -> list[Word]:
    """Return the words of a text, numbers of several words as one.

    >>> [(word.text, word.number) for word in read_words("Twenty-one März")]
    [('twenty - one', 21), ('marz', None)]
    """
    plain = [
        (plain_word(found[0]), found.start(), found.end())
        for found in re.finditer(r"\d+|[^\W\d_]+|[^\w\s]|_", text)
    ]
    return list(_with_numbers(plain))


def plain_word(word: str) -> str:
    """Return a word in small letters without accents: `März` is found as `marz`."""
    word = word.casefold()
    if word.isascii():
        return word
    parts = unicodedata.normalize("NFD", word)
    return "".join(letter for letter in parts if not unicodedata.combining(letter))


def _with_numbers(plain: Sequence[tuple[str, int, int]]) -> Iterator[Word]:
    numbers, ordinals = number_words(), ordinal_words()
    place = 0
    while place < len(plain):
        text, start, end = plain[place]
        length, number, ordinal = 1, None, ordinals.get(text)
        if text.isdecimal():
            number = int(text) if len(text) <= 4 else None
        elif text in numbers or text in ordinals or text in _BEGIN_ORDINALS:
            for length in range(min(LONGEST_NUMBER, len(plain) - place), 0, -1):
                phrase = " ".join(part for part, _, _ in plain[place : place + length])
                number, ordinal = numbers.get(phrase), ordinals.get(phrase)
                if number is not None or ordinal is not None:
                    text, end = phrase, plain[place + length - 1][2]
                    break
        yield Word(text, start, end, number, ordinal)
        place += length


_BEGIN_ORDINALS: Final = frozenset(["twenty", "thirty"])


def whole_range(
    year: int | None, month: int | None, day: int | None
) -> tuple[DateRange, ...]:
    """Return the days that are meant, unless there is no such day or year."""
    if year is not None and year not in YEARS:
        return ()
    in_year = NO_YEAR if year is None else year
    try:
        first = date(in_year, month or 1, day or 1)
    except ValueError:
        return ()
    if day is not None:
        last = first
    elif month is not None:
        last = month_end(first)
    else:
        last = date(in_year, 12, 31)
    return (DateRange(first, last, yearly=year is None),)


def month_end(day: date) -> date:
    """Return the last day of a day's month."""
    following = date(day.year + day.month // 12, day.month % 12 + 1, 1)
    return following - timedelta(days=1)


def months_range(year: int, month: int, count: int) -> DateRange:
    """Return some months, counted from January of a year: 13 is the next January.

    Raises:
        ValueError: there is no such year.
    """
    first, last = (year * 12 + month - 1 + more for more in (0, count - 1))
    end = month_end(date(last // 12, last % 12 + 1, 1))
    return DateRange(date(first // 12, first % 12 + 1, 1), end)


def season_range(year: int, month: int) -> DateRange:
    """Return three months; a winter ends in the year after."""
    return months_range(year, month, 3)


def days_back(unit: str, count: int, today: date) -> tuple[DateRange, ...]:
    """Return the day, week, month or year that lies `count` before today's.

    `rolling` is the last `count` days; today is one of them, and so is that many ago.
    """
    try:
        return (_back(unit, count, today),)
    except (ValueError, OverflowError):  # before there were years
        return ()


def _back(unit: str, count: int, today: date) -> DateRange:
    if unit == "day":
        day = today - timedelta(days=count)
        return DateRange(day, day)
    if unit == "rolling":
        return DateRange(today - timedelta(days=count), today)
    if unit in ("week", "weekend"):
        first = today - timedelta(days=today.weekday() + 7 * count)
        begin = first + timedelta(days=5 if unit == "weekend" else 0)
        return DateRange(begin, first + timedelta(days=6))
    if unit == "month":
        return months_range(today.year, today.month - count, 1)
    if unit == "quarter":
        return months_range(today.year, (today.month - 1) // 3 * 3 + 1 - 3 * count, 3)
    return months_range(today.year - count, 1, 12)


def days_of(unit: str, count: int) -> int:
    """Return about how many days some units have."""
    return count * {"day": 1, "week": 7, "fortnight": 14, "month": 30}.get(unit, 365)


def ago(unit: str, count: int, today: date) -> tuple[DateRange, ...]:
    """Return what was so many units ago: a day, or the week, month or year it fell in."""
    if unit == "fortnight":
        return days_back("week", 2 * count, today)
    return days_back(unit, count, today)


def few_ago(unit: str, today: date) -> tuple[DateRange, ...]:
    """Return what was a few units ago: two to six of them."""
    first, last = (days_back("day", days_of(unit, n), today) for n in (6, 2))
    return (DateRange(first[0].first, last[0].last),) if first and last else ()
