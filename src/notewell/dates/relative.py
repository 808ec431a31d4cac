"""Dates that are relative to today, in letters that are Latin: `three days ago`."""

from collections.abc import Collection, Iterator, Sequence
from datetime import date

from notewell.dates import DateRange
from notewell.dates.absolute import sentence_ends
from notewell.dates.spans import (
    YEARS,
    DateSpan,
    Word,
    ago,
    days_back,
    days_of,
    few_ago,
    months_range,
)
from notewell.dates.vocabulary import (
    AFTERWARDS,
    AGO_AFTER,
    AGO_BEFORE,
    FEW,
    FROM_NOW_AFTER,
    FROM_NOW_BEFORE,
    LAST,
    LONGEST_PHRASE,
    MONTHS,
    NEXT,
    ON,
    SEASONS,
    SEVERAL_MEANINGS,
    THIS,
    UNITS,
    WEEKDAYS,
    Unit,
    first_words,
    relative_phrases,
)


def relative_dates(words: Sequence[Word], today: date) -> Iterator[DateSpan]:
    """Yield the dates that are relative to today, and weekdays beside which one may stand."""
    yield from _phrases(words, today)
    for place, word in enumerate(words):
        if word.text in UNITS:
            yield from _counted(words, place, today)
        elif word.text in WEEKDAYS:
            yield _weekday(words, place, today)
        elif word.text in SEASONS:
            yield from _last_months(words, place, SEASONS[word.text], 3, today)
        elif word.text in MONTHS:
            yield from _last_months(words, place, MONTHS[word.text], 1, today)


def _phrases(words: Sequence[Word], today: date) -> Iterator[DateSpan]:
    """Yield the phrases that stand as they are: `the day before yesterday`."""
    phrases, begins = relative_phrases(), first_words()
    place = 0
    while place < len(words):
        most = LONGEST_PHRASE if words[place].text in begins else 0
        for length in range(min(most, len(words) - place), 0, -1):
            part = words[place : place + length]
            then = phrases.get(" ".join(word.text for word in part))
            if then is not None:
                ranges = days_back(*then, today)
                if ranges:
                    yield DateSpan(
                        part[0].start, part[-1].end, ranges, then[0], relative=True
                    )
                place += length - 1
                break
        place += 1


# Counted: three days ago, vor drei Tagen, il y a 3 jours, the last two weeks


def _counted(words: Sequence[Word], place: int, today: date) -> Iterator[DateSpan]:
    unit = UNITS[words[place].text]
    count = _count(words, place)
    if count is None:
        return
    number, first = count
    after = place + 1
    ranges: tuple[DateRange, ...] = ()
    if before := _phrase_before(words, first, AGO_BEFORE):
        first, ranges = first - before, _so_long_ago(unit, number, today)
    elif after < len(words) and words[after].text in AGO_AFTER:
        after, ranges = after + 1, _so_long_ago(unit, number, today)
    elif words[place - 1].text in LAST or _is_before(words, first, LAST):
        ranges = days_back("rolling", days_of(unit, number or 6), today)
        first -= _is_before(words, first, LAST)
    else:
        first, after, ranges = _from_now(words, first, after, unit, number or 4, today)
    if ranges:
        what: Unit = "day" if ranges[0].first == ranges[0].last else "rolling"
        yield DateSpan(
            words[first].start, words[after - 1].end, ranges, what, relative=True
        )


def _count(words: Sequence[Word], place: int) -> tuple[int, int] | None:
    """Return how many of a unit are said, 0 for a few, and in which word that begins."""
    first = place - 1
    if _is_before(words, place, ("of",)):  # a couple of days
        first -= 1
    while first >= 0 and words[first].text in LAST:  # les trois derniers jours
        first -= 1
    if first < 0:
        return None
    if words[first].text in FEW:
        return 0, first - _is_before(words, first, ("a", "ein", "un", "une"))
    number = words[first].number or 0
    return (number, first) if 0 < number < 1000 else None


def _so_long_ago(unit: str, number: int, today: date) -> tuple[DateRange, ...]:
    return ago(unit, number, today) if number else few_ago(unit, today)


def _from_now(
    words: Sequence[Word], first: int, after: int, unit: str, number: int, today: date
) -> tuple[int, int, tuple[DateRange, ...]]:
    if before := _phrase_before(words, first, FROM_NOW_BEFORE):
        return first - before, after, ago(unit, -number, today)
    if first and words[first - 1].text == "in" and words[after - 1].text.endswith("n"):
        return first - 1, after, ago(unit, -number, today)  # in drei Tagen
    for phrase in FROM_NOW_AFTER:
        length = phrase.count(" ") + 1
        if " ".join(word.text for word in words[after : after + length]) == phrase:
            return first, after + length, ago(unit, -number, today)
    return first, after, ()


def _is_before(words: Sequence[Word], place: int, texts: Collection[str]) -> bool:
    return place > 0 and words[place - 1].text in texts


def _phrase_before(words: Sequence[Word], place: int, phrases: Sequence[str]) -> int:
    """Return how many words before a place are one of some phrases, the longest."""
    best = 0
    for phrase in phrases:
        length = phrase.count(" ") + 1
        part = words[max(0, place - length) : place]
        if length > best and " ".join(word.text for word in part) == phrase:
            best = length
    return best


# Weekdays, and months and seasons of last year or of this


def _weekday(words: Sequence[Word], place: int, today: date) -> DateSpan:
    """Return a weekday; only one that is `last`, `on`, `next` is a date alone."""
    weekday = WEEKDAYS[words[place].text]
    start, end = words[place].start, words[place].end
    how, first, after = _said(words, place)
    if how is None and place and words[place - 1].text in ON:
        how = "last"
    passed = (today.weekday() - weekday) % 7 or 7
    back = {
        "last": passed,
        "this": today.weekday() - weekday,
        "next": passed - 7 if passed < 7 else -7,
    }.get(how or "last", passed)
    if how is not None:
        start, end = words[first].start, words[after - 1].end
    ranges = days_back("day", back, today)
    alone = how is not None and bool(ranges)
    return DateSpan(start, end, ranges, "weekday", True, weekday, alone)


def _said(words: Sequence[Word], place: int) -> tuple[str | None, int, int]:
    """Return whether the last, this or the next one is meant, and the words that say it."""
    before = words[place - 1].text if place else ""
    after = words[place + 1].text if place + 1 < len(words) else ""
    for how, named in (("last", LAST), ("this", THIS), ("next", NEXT)):
        if before in named and before not in AFTERWARDS:
            return how, place - 1, place + 1
        if after in named and after in AFTERWARDS:
            return how, place, place + 2
    return None, place, place + 1


def _last_months(
    words: Sequence[Word], place: int, month: int, count: int, today: date
) -> Iterator[DateSpan]:
    """Yield `last summer`, `mai dernier`: the last that has ended, or the next to begin."""
    how, first, after = _said(words, place)
    if how is None or (how == "this" and count == 1):
        return
    if words[place].text in SEVERAL_MEANINGS and not sentence_ends(words, after):
        return  # `the last may fail`
    found = [
        one
        for year in range(today.year - 2, today.year + 2)
        if year in YEARS and _fits(how, one := months_range(year, month, count), today)
    ]
    if found:
        unit: Unit = "month" if count == 1 else "season"
        start, end = words[first].start, words[after - 1].end
        one = found[0] if how == "next" else found[-1]
        yield DateSpan(start, end, (one,), unit, relative=True)


def _fits(how: str, one: DateRange, today: date) -> bool:
    if how == "last":
        return one.last < today
    return one.first > today if how == "next" else one.first.year == today.year
