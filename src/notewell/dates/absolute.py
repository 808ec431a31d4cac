"""Dates that are written out: with digits alone, or with a month by its name."""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from notewell.dates.spans import YEARS, DateSpan, Word, season_range, whole_range
from notewell.dates.vocabulary import (
    AND,
    BEFORE_A_DAY,
    BEFORE_A_YEAR,
    BETWEEN,
    COUNTED,
    MONTHS,
    SEASONS,
    SEVERAL_MEANINGS,
    UNTIL,
    Unit,
    before_month,
)

# Digits: 2022-03-16, 2022_03_16, 2022-03, 16.03.2022, 3/16/2022, 20220316

_BEGINS: Final = r"(?<![^\W_])(?<!\d[-_/.:])(?<![v#$€£.])"
_ENDS: Final = r"(?!\d|[-/_.:]\d)(?![^\W\d_T\u3040-\u9fff\uac00-\ud7af])"
_YEAR_FIRST: Final = (
    rf"{_BEGINS}(\d{{4}})(?:([-/_])(\d{{1,2}})\2(\d{{1,2}})(?:[T_ -]\d{{2,4}}(?!\d|[.:]\d))?"
    rf"|(\.)(\d\d)\.(\d\d)|(\. ?)(\d{{1,2}})\. (\d{{1,2}})|[-/](\d\d))"
    rf"{_ENDS}"
)
_YEAR_LAST: Final = rf"{_BEGINS}(\d{{1,2}})([-/._])(\d{{1,2}})\2(\d{{4}}){_ENDS}"
_SPACED: Final = rf"{_BEGINS}(\d{{1,2}})\. ?(\d{{1,2}})\. ?(\d{{4}}){_ENDS}"
_COMPACT: Final = (
    r"(?<![^\W_])(?<![\d#$€£+.,:/-])(?:(?<=[-_/])|(?<![-_/]))"
    r"(19[7-9]\d|20[0-6]\d)(\d\d)(\d\d)(?:T\d{4,6})?(?![\d.,:/%][\d%]|[-/]\d|[^\W_]|%|[$€£])"
)
_SHORT: Final = r"(?<![\w.])([a-z]+) (\d{1,2})\. ?(\d{1,2})\.(\d\d)?(?![\w.])"

_NUMBERED: Final = frozenset(
    str.split(
        "v ver version release rfc iso din cve build order id ids no nr num number ticket case invoice phone call"
        " tel fax ref issue pr code zip pin port serial hash sku bestellung rechnung nummer telefon"
        " numero commande facture pedido factura telefono account konto isbn python node"
    )
)
"""Words after which digits are a number of something, and no day."""


def dates_in_digits(text: str) -> Iterator[DateSpan]:
    """Yield the dates in digits."""
    for found in re.finditer(_YEAR_FIRST, text):
        year, _, month, day, _, month2, day2, _, month3, day3, alone = found.groups()
        dotted = month2 or month3
        if (dotted or alone) and _is_numbered(text, found.start()):
            continue
        shown_day = day or day2 or day3
        yield from _found(found, year, month or dotted or alone, shown_day)
    for found in re.finditer(_YEAR_LAST, text):
        first, joint, second, year = found.groups()
        if _is_numbered(text, found.start()):
            continue
        yield from _swapped(found, first, second, year, joint)
    for found in re.finditer(_COMPACT, text):
        year, month, day = found.groups()
        if not _is_numbered(text, found.start()) and not _is_counted(text, found.end()):
            yield from _found(found, year, month, day)
    if "." in text:
        yield from _dotted(text)


def _dotted(text: str) -> Iterator[DateSpan]:
    """Yield `3. 5. 2026`, and after a word that says so also `am 3.5.` and `am 03.05.26`."""
    for found in re.finditer(_SPACED, text):
        if " " in found[0]:
            yield from _found(found, found[3], found[2], found[1])
    for found in re.finditer(_SHORT, text.casefold()):
        word, day, month, year = found.groups()
        if word not in BEFORE_A_DAY or (year and len(day + month) < 4):
            continue
        ranges = whole_range(2000 + int(year) if year else None, int(month), int(day))
        if ranges:
            yield DateSpan(found.start(2), found.end(), ranges, "day")


def _found(
    found: re.Match[str], year: str, month: str, day: str | None
) -> Iterator[DateSpan]:
    ranges = whole_range(int(year), int(month), int(day) if day else None)
    if ranges and int(month):
        unit: Unit = "day" if day else "month"
        yield DateSpan(found.start(), found.end(), ranges, unit)


def _swapped(
    found: re.Match[str], first: str, second: str, year: str, joint: str
) -> Iterator[DateSpan]:
    """Yield a date with the year last: the day first; with `/` the month may be."""
    ranges = whole_range(int(year), int(second), int(first))
    if joint == "/" or (joint == "-" and not ranges):
        ranges += whole_range(int(year), int(first), int(second))
    if ranges and int(first) and int(second):
        yield DateSpan(found.start(), found.end(), tuple(dict.fromkeys(ranges)), "day")


def _is_numbered(text: str, start: int) -> bool:
    """Say whether the word before says that these digits are a number."""
    before = re.findall(r"[^\W\d_]+", text[max(0, start - 24) : start])
    return bool(before) and before[-1].casefold() in _NUMBERED


def _is_counted(text: str, end: int) -> bool:
    after = re.match(r" ?([^\W\d_]+)", text[end:])
    return after is not None and after[1].casefold() in COUNTED


# With the name of a month or a season: 8th December, 2023; in May; summer 2023

_SUFFIXES: Final = frozenset(str.split("st nd rd th er re eme ter te ten o a ª º ."))
_OF: Final = frozenset(str.split("of de del do di d '"))
_JOINTS: Final = frozenset(str.split("- / _"))
_BESIDE_A_YEAR: Final = _OF | _JOINTS | {",", "."}
_SPEAKERS: Final = frozenset(
    str.split("you we i they it he she how that who which what and")
)
_GO_ON: Final = frozenset(
    str.split(
        "at in on for by with and or to from until is was were did do the about i we you he she"
    )
)


class _Day(NamedTuple):
    """Days of a month beside its name, in the words from `first` to before `after`."""

    days: tuple[int, ...]
    first: int
    after: int
    ordinal: bool
    spans: bool = False


def dates_with_months(text: str, words: Sequence[Word]) -> Iterator[DateSpan]:
    """Yield the dates with a month by its name: `8th December, 2023`, `in May`."""
    for place, word in enumerate(words):
        if word.text in MONTHS:
            yield from _month(text, words, place)
        elif word.text in SEASONS:
            yield from _season(words, place)


def _month(text: str, words: Sequence[Word], place: int) -> Iterator[DateSpan]:
    month = MONTHS[words[place].text]
    day = _day_before(words, place) or _day_after(words, place)
    after = max(place + 1, day.after if day else 0)
    year, after = _year_after(words, after)
    first = min(place, day.first if day else place)
    if year is None and first and (year := _year_at(words, first - 1)) is not None:
        first -= 1
    if not _is_month(text, words, place, day, year):
        return
    start, end = words[first].start, words[after - 1].end
    ranges = tuple(
        one
        for number in (day.days if day else (None,))
        for one in whole_range(year, month, number)
    )
    if day and day.spans and len(ranges) == 2 and ranges[0].first < ranges[1].first:
        ranges = (ranges[0]._replace(last=ranges[1].last),)
    if ranges:
        yield DateSpan(start, end, ranges, "day" if day else "month")


def _day_before(words: Sequence[Word], place: int) -> _Day | None:
    """Return the day before a month: `3`, `the 3rd of`, `3.`, `3-7`, `dritten`."""
    at = place - 1
    while at >= 0 and words[at].text in _OF:
        at -= 1
    if at > 0 and words[at].text in _JOINTS and _touches(words, at):
        at -= 1
    if at > 0 and words[at].text in _SUFFIXES and _touches(words, at - 1):
        at -= 1
    day = _number(words, at)
    if day is None:
        return None
    ordinal = words[at + 1].text in _SUFFIXES or words[place - 1].text in _OF
    other = _day_beside(words, at, -1)
    if other is None:
        return _Day((day,), at, place + 1, ordinal)
    days, first, spans = other
    return _Day((days, day), first, place + 1, ordinal, spans)


def _day_after(words: Sequence[Word], place: int) -> _Day | None:
    """Return the day after a month: `3`, `the 3rd`, `3-7`, `third`."""
    at = place + 1
    if at < len(words) and words[at].text in {".", "-", "_"} and _touches(words, place):
        at += 1
    if at < len(words) and words[at].text == "the":
        at += 1
    day = _number(words, at)
    if day is None or _counts(words, at + 1):
        return None
    word, after, suffixed = words[at], at + 1, False
    if word.ordinal is None and not word.text.isdecimal():
        return None  # `march two by two`
    if after < len(words) and words[after].text in {"st", "nd", "rd", "th"}:
        after, suffixed = after + 1, True
    ordinal = suffixed or word.ordinal is not None
    other = _day_beside(words, after - 1, 1)
    if other is None or _counts(words, other[1] + 1):
        return _Day((day,), place, after, ordinal)
    days, last, spans = other
    return _Day((day, days), place, last + 1, ordinal, spans)


def _day_beside(
    words: Sequence[Word], at: int, step: int
) -> tuple[int, int, bool] | None:
    """Return the other day of `3-7`, where it stands, and if all between are meant."""
    joint = at + step
    if not 0 <= joint < len(words):
        return None
    text = words[joint].text
    spans = text in UNTIL
    if text in AND:
        spans = _is_between(words, min(joint, joint + step))
    elif not spans:
        return None
    at = joint + step
    if step < 0 and at > 0 and words[at].text in _SUFFIXES and _touches(words, at - 1):
        at += step
    day = _number(words, at)
    if day is None or not words[at].text.isdecimal():
        return None
    if (
        step > 0
        and at + 1 < len(words)
        and words[at + 1].text in {"st", "nd", "rd", "th"}
    ):
        at += 1
    return day, at, spans


def _is_between(words: Sequence[Word], place: int) -> bool:
    return any(word.text in BETWEEN for word in words[max(0, place - 4) : place + 1])


def _number(words: Sequence[Word], place: int) -> int | None:
    """Return the day that a word is: two digits, a number or an ordinal."""
    if not 0 <= place < len(words):
        return None
    word = words[place]
    if word.text.isdecimal() and (len(word.text) > 2 or _is_decimal(words, place)):
        return None
    day = word.ordinal or word.number
    return day if day is not None and 1 <= day <= 31 else None


def _is_decimal(words: Sequence[Word], place: int) -> bool:
    """Say whether digits belong to a longer number: `10.3`, `10:03`, `$3`."""
    if place > 1 and words[place - 1].text in {".", ":", ","}:
        if words[place - 2].text.isdecimal() and _touches(words, place - 2, 2):
            return True
    elif place and words[place - 1].text in {"$", "€", "£", "#", "+"}:
        return _touches(words, place - 1)
    if place + 2 < len(words) and words[place + 1].text in {".", ":"}:
        return words[place + 2].text.isdecimal() and _touches(words, place, 2)
    return False


def _touches(words: Sequence[Word], place: int, count: int = 1) -> bool:
    """Say whether no space stands behind a word, and the next ones, before another."""
    pairs = zip(words[place:], words[place + 1 : place + 1 + count], strict=False)
    return all(one.end == other.start for one, other in pairs)


def _counts(words: Sequence[Word], place: int) -> bool:
    """Say whether a word is what is counted: the number before it is no day or year."""
    return place < len(words) and words[place].text in COUNTED | {
        "%",
        "€",
        "$",
        "£",
        ":",
    }


def _year_after(words: Sequence[Word], place: int) -> tuple[int | None, int]:
    at = place
    while at < len(words) and words[at].text in _BESIDE_A_YEAR:
        at += 1
    year = _year_at(words, at)
    if year is None and place < at < len(words) and words[at - 1].text == "'":
        word = words[at]
        if word.text.isdecimal() and len(word.text) == 2:  # '22 is sure, 22 is not
            year = 2000 + int(word.text)
    return (None, place) if year is None or _counts(words, at + 1) else (year, at + 1)


def _year_at(words: Sequence[Word], place: int) -> int | None:
    word = words[place] if 0 <= place < len(words) else None
    if word is None or not word.text.isdecimal() or len(word.text) != 4:
        return None
    return word.number if word.number in YEARS else None


def _is_month(
    text: str, words: Sequence[Word], place: int, day: _Day | None, year: int | None
) -> bool:
    """Say whether a word is a month here: `may` is a verb, `mars` a planet."""
    word = words[place]
    before = place - 1
    while before >= 0 and words[before].text in {"-", "the"}:
        before -= 1
    asked_for = before >= 0 and words[before].text in before_month(word.text)
    if word.text not in SEVERAL_MEANINGS:
        return day is not None or year is not None or asked_for
    if year is not None:
        return True
    capital = text[word.start].isupper()
    if day is not None:
        if day.ordinal and word.text != "may":
            return True
        return capital or _stands_as_day(words, place, day)
    if not asked_for:
        return False
    if words[before].text in {"this", "next", "last", "past"}:  # `this may be`
        return capital or sentence_ends(words, place + 1)
    return True


def _stands_as_day(words: Sequence[Word], place: int, day: _Day) -> bool:
    """Say whether `may 3` or `3 may` is a day, by the words around it."""
    before = words[day.first - 1].text if day.first else ""
    if not sentence_ends(words, day.after) or before in _SPEAKERS:
        return False
    return day.first == place or not before or before in BEFORE_A_DAY


def sentence_ends(words: Sequence[Word], place: int) -> bool:
    """Say whether a sentence ends here, or goes on as it does behind a date."""
    if place >= len(words):
        return True
    text = words[place].text
    return not text[0].isalnum() or text in _GO_ON


def _season(words: Sequence[Word], place: int) -> Iterator[DateSpan]:
    """Yield a season of a year, `summer of 2023`, or one that needs a year beside it."""
    month = SEASONS[words[place].text]
    year, after = _year_after(words, place + 1)
    start, end = words[place].start, words[after - 1].end
    alone = year is not None
    named = season_range(year or 2000, month)
    yield DateSpan(
        start, end, (named._replace(yearly=not alone),), "season", alone=alone
    )


def lone_years(words: Sequence[Word]) -> Iterator[DateSpan]:
    """Yield the years that stand alone, `in 2023`, and quarters, `Q1 2026`."""
    for place, word in enumerate(words):
        year = _year_at(words, place)
        if year is None or _counts(words, place + 1):
            continue
        before = words[place - 1].text if place else ""
        quarter = _quarter(words, place)
        if quarter is not None:
            number, first, after = quarter
            named = season_range(year, number * 3 - 2)
            start, end = words[first].start, words[after - 1].end
            yield DateSpan(start, end, (named,), "quarter")
        elif before in BEFORE_A_YEAR and not _is_decimal(words, place):
            yield DateSpan(word.start, word.end, whole_range(year, None, None), "year")


def _quarter(words: Sequence[Word], place: int) -> tuple[int, int, int] | None:
    """Return the quarter beside a year, its first word, and the one behind: `2026-Q1`."""
    for step in (-1, 1):
        at = place + step
        while 0 <= at < len(words) and words[at].text in _BESIDE_A_YEAR:
            at += step
        letter, digit = (at - 1, at) if step < 0 else (at, at + 1)
        if letter < 0 or digit >= len(words) or words[letter].text != "q":
            continue
        number = words[digit].number
        if number is not None and number in range(1, 5) and _touches(words, letter):
            return number, min(letter, place), max(digit, place) + 1
    return None
