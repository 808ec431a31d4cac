"""The dates that a text names, as ranges of days.

`16 March 2022`, `May 2023`, `10.01.2024`, `2023年5月3日` and, against a given day, `last
week` or `vor drei Tagen`. Read to lift what was written about then, never to remove
anything: what looks like a date and is none does little harm, and what is ambiguous
(`04/05/2024`) is read both ways.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, timedelta
from typing import Final

from notewell.dates import DateRange

_MOST_READ: Final = 2_000
"""Characters of a text; dates stand in questions, not in pasted logs."""


def find_dates(text: str, today: date) -> tuple[DateRange, ...]:
    """Return the dates in a text, each once.

    Words like `yesterday` are read against `today`, and only where no date is written
    out: `last Friday on 23 January` means the day that is named.

    >>> [str(one.first) for one in read_dates("on 16 March, or 2022-05-03", date.min)]
    ['2022-05-03', '2000-03-16']
    """
    text = text[:_MOST_READ].casefold()
    words = _WORD.findall(_plain(text))
    found = [*_by_numbers(text), *_by_months(words), *_by_signs(text)]
    if not found:
        found += _relative(text, words, today)
    if not found:
        found += _by_years(words)
    return tuple(dict.fromkeys(found))


def _plain(text: str) -> str:
    """Return a text without accents, so that `março` is found as `marco`."""
    if text.isascii():
        return text
    parts = unicodedata.normalize("NFD", text)
    return "".join(letter for letter in parts if not unicodedata.combining(letter))


# Days and months that are written out

_YEARS: Final = range(1900, 2100)
"""What four digits have to be to be a year that somebody writes about."""

_NO_YEAR: Final = 2000
"""A leap year, in which every day exists."""

_WORD: Final = re.compile(r"\d+|[^\W\d_]+|[^\w\s]")

_MONTHS: Final = {
    name: number
    for number, names in enumerate(
        (
            "january jan januar janvier enero janeiro gennaio",
            "february feb februar fevrier febrero fevereiro febbraio",
            "march mar marz maerz mars marzo marco",
            "april apr avril abril aprile",
            "may mai mayo maio maggio",
            "june jun juni juin junio junho giugno",
            "july jul juli juillet julio julho luglio",
            "august aug aout agosto",
            "september sep sept septembre septiembre setembro settembre",
            "october oct oktober okt octobre octubre outubro ottobre",
            "november nov novembre noviembre novembro",
            "december dec dezember dez decembre diciembre dezembro dicembre",
        ),
        start=1,
    )
    for name in names.split()
}
_ORDINAL: Final = frozenset(["st", "nd", "rd", "th", "er", "º", "ª", "."])
_JOINING: Final = frozenset([",", ".", "of", "de", "del", "do", "di", "den", "the"])
_BEFORE_A_MONTH: Final = frozenset(
    [
        "in",
        "of",
        "during",
        "since",
        "until",
        "till",
        "by",
        "around",
        "before",
        "after",
        "from",
        "last",
        "this",
        "next",
        "early",
        "mid",
        "late",
        "im",
        "seit",
        "bis",
        "vor",
        "nach",
        "ab",
        "anfang",
        "mitte",
        "ende",
        "letzten",
        "en",
        "em",
        "depuis",
        "avant",
        "apres",
        "pendant",
        "desde",
        "hasta",
        "durante",
    ]
)
_BEFORE_A_YEAR: Final = frozenset(["in", "during", "of", "since", "jahr", "en", "em"])


def _by_months(words: Sequence[str]) -> Iterator[DateRange]:
    """Yield the dates with a month by its name: `8th December, 2023`, `in May`."""
    for place, word in enumerate(words):
        month = _MONTHS.get(word)
        if month is None:
            continue
        day = _day_before(words, place)
        after = _skip(words, place + 1, _JOINING)
        if day is None and (day := _day(words, after)) is not None:
            after = _skip(words, after + 1, _JOINING | _ORDINAL)
        year = _year(words, after)
        if day is not None or year is not None or _is_asked_for(words, place):
            yield from whole_range(year, month, day)


def _day_before(words: Sequence[str], place: int) -> int | None:
    place -= 1
    while place >= 0 and words[place] in _JOINING | _ORDINAL:
        place -= 1
    return _day(words, place) if place >= 0 else None


def _is_asked_for(words: Sequence[str], place: int) -> bool:
    """Say whether the word before a month says that it is one: `may` is a verb, too."""
    before = place - 1
    while before >= 0 and words[before] in {"-", "the"}:
        before -= 1
    return before >= 0 and words[before] in _BEFORE_A_MONTH


def _skip(words: Sequence[str], place: int, skipped: frozenset[str]) -> int:
    while place < len(words) and words[place] in skipped:
        place += 1
    return place


def _day(words: Sequence[str], place: int) -> int | None:
    word = words[place] if place < len(words) else ""
    is_day = word.isdecimal() and len(word) <= 2 and 1 <= int(word) <= 31
    return int(word) if is_day else None


def _year(words: Sequence[str], place: int) -> int | None:
    word = words[place] if place < len(words) else ""
    is_year = word.isdecimal() and len(word) == 4 and int(word) in _YEARS
    return int(word) if is_year else None


def _by_years(words: Sequence[str]) -> Iterator[DateRange]:
    """Yield the years that stand alone: `in 2023`."""
    for place in range(1, len(words)):
        year = _year(words, place)
        if year is not None and words[place - 1] in _BEFORE_A_YEAR:
            yield from whole_range(year, None, None)


def whole_range(
    year: int | None, month: int | None, day: int | None
) -> Iterator[DateRange]:
    """Yield the days that are meant, unless there is no such day or year."""
    if year is not None and year not in _YEARS:
        return
    in_year = _NO_YEAR if year is None else year
    try:
        first = date(in_year, month or 1, day or 1)
    except ValueError:
        return
    if day is not None:
        last = first
    elif month is not None:
        last = _month_end(first)
    else:
        last = date(in_year, 12, 31)
    yield DateRange(first, last, yearly=year is None)


def _month_end(day: date) -> date:
    return (day.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(days=1)


# Digits: 2022-03-16, 2022-03, 16.03.2022, 3/16/2022

_YEAR_FIRST: Final = (
    r"(?<![\w./-])(\d{4})(?:([-/.])(\d{1,2})\2(\d{1,2})|[-/](\d{1,2}))(?![\w/-]|\.\d)"
)
_YEAR_LAST: Final = r"(?<![\w./-])(\d{1,2})([-/.])(\d{1,2})\2(\d{4})(?![\w/-]|\.\d)"


def _by_numbers(text: str) -> Iterator[DateRange]:
    if not any(map(str.isdecimal, text)):
        return
    for found in re.finditer(_YEAR_FIRST, text):
        year, _, month, day, month_alone = found.groups()
        yield from whole_range(
            int(year), int(month or month_alone), int(day) if day else None
        )
    for found in re.finditer(_YEAR_LAST, text):
        first, joint, second, year = found.groups()
        yield from whole_range(int(year), int(second), int(first))
        if joint == "/":
            yield from whole_range(int(year), int(first), int(second))


# Chinese, Japanese and Korean: 2023年5月3日, 5月, 2023년 5월 3일

_SIGNS: Final = (
    r"(?:(?<!\d)(\d{4})\s*[年년]\s*)?(?<!\d)(\d{1,2})\s*[月월](?:\s*(\d{1,2})\s*[日号號일])?"
    r"|(?<!\d)(\d{4})\s*[年년](?![前전])"
)


def _by_signs(text: str) -> Iterator[DateRange]:
    if text.isascii():
        return
    for found in re.finditer(_SIGNS, text):
        year, month, day, year_alone = (
            int(part) if part else None for part in found.groups()
        )
        yield from whole_range(year_alone if year is None else year, month, day)


# Days as they are told from today

_UNITS: Final = {
    unit: name
    for name, units in {
        "day": "day days tag tage tagen jour jours dia dias 天 日 일",
        "week": "week weeks woche wochen semaine semaines semana semanas 周 週 週間 星期 个星期 주",
        "month": "month months monat monate monaten mois mes meses 月 个月 個月 か月 ヶ月"
        " カ月 개월 달",
        "year": "year years jahr jahre jahren an ans ano anos 年 년",
    }.items()
    for unit in units.split()
}
_NUMBERS: Final = {
    word: number
    for number, words in enumerate(
        (
            "a an one ein eine einem einer un une uno una um uma 一",
            "two couple zwei deux dos dois duas 二 两 兩",
            "three drei trois tres 三",
            "four vier quatre cuatro quatro 四",
            "five funf cinq cinco 五",
            "six sechs seis 六",
            "seven sieben sept siete sete 七",
            "eight acht huit ocho oito 八",
            "nine neun neuf nueve nove 九",
            "ten zehn dix diez dez 十",
        ),
        start=1,
    )
    for word in words.split()
}
_THEN: Final = {
    phrase: (unit, back)
    for (unit, back), phrases in {
        ("day", 0): "today|heute|heute morgen|aujourd ' hui|hoy|hoje|oggi",
        ("day", 1): "yesterday|last night|gestern|gestern morgen|hier|ayer|ontem|ieri",
        ("day", 2): "day before yesterday|vorgestern|vorgestern morgen|avant - hier"
        "|anteayer|antes de ayer|anteontem|antes de ontem|altro ieri",
        ("day", -1): "tomorrow|morgen|demain|manana|amanha|domani",
        ("day", -2): "day after tomorrow|ubermorgen|apres - demain|pasado manana"
        "|depois de amanha|dopodomani",
        ("week", 0): "this week|diese woche|dieser woche|cette semaine|esta semana",
        ("week", 1): "last week|past week|last weekend|previous week|letzte woche"
        "|letzter woche|vorige woche|semaine derniere|semana pasada|semana passada",
        ("week", -1): "next week|nachste woche|semaine prochaine|semana que viene",
        ("month", 0): "this month|diesen monat|diesem monat|ce mois|este mes",
        ("month", 1): "last month|past month|previous month|letzten monat|letztem monat"
        "|vorigen monat|mois dernier|mes pasado|mes passado",
        ("month", -1): "next month|nachsten monat|mois prochain",
        ("year", 0): "this year|dieses jahr|cette annee|este ano",
        ("year", 1): "last year|past year|letztes jahr|letzten jahr|voriges jahr"
        "|annee derniere|an dernier|ano pasado|ano passado",
        ("year", -1): "next year|nachstes jahr|annee prochaine",
    }.items()
    for phrase in phrases.split("|")
}
_SIGNED: Final = {
    sign: (unit, back)
    for (unit, back), signs in {
        ("day", 0): "今天 今日 오늘",
        ("day", 1): "昨天 昨日 어제",
        ("day", 2): "前天 一昨日 그저께",
        ("day", 3): "大前天",
        ("day", -1): "明天 明日 내일",
        ("week", 0): "本周 这周 這週 今週 이번주",
        ("week", 1): "上周 上週 上星期 上个星期 先週 지난주",
        ("week", 2): "上上周 上上週 上上星期 上上个星期 先々週 지지난주",
        ("month", 0): "本月 这个月 這個月 今月 이번달",
        ("month", 1): "上月 上个月 上個月 先月 지난달",
        ("month", 2): "上上月 上上个月 上上個月 先々月 지지난달",
        ("year", 0): "今年 올해",
        ("year", 1): "去年 昨年 작년",
        ("year", 2): "一昨年 재작년",
    }.items()
    for sign in signs.split()
}


def _any_of(phrases: Iterable[str]) -> str:
    """Return a pattern of some phrases, the longest first: one may begin another."""
    return "|".join(map(re.escape, sorted(phrases, key=len, reverse=True)))


_WEEKDAYS: Final = {
    name: number
    for number, names in enumerate(
        (
            "monday montag lundi lunes",
            "tuesday dienstag mardi martes",
            "wednesday mittwoch mercredi miercoles",
            "thursday donnerstag jeudi jueves",
            "friday freitag vendredi viernes",
            "saturday samstag sonnabend samedi sabado",
            "sunday sonntag dimanche domingo",
        )
    )
    for name in names.split()
}
_AGO_BEFORE: Final = frozenset(["vor", "a", "hace", "ha"])
_AGO_AFTER: Final = frozenset(["ago", "back", "earlier", "atras"])
_ONE_DAY_BEFORE: Final = frozenset(
    ["last", "on", "this", "past", "previous", "am", "letzten", "vorigen"]
)
_ONE_DAY_AFTER: Final = frozenset(["dernier", "pasado", "passado"])
_THEN_PHRASE: Final = f"(?<= )(?:{_any_of(_THEN)})(?= )"
_SIGNED_PHRASE: Final = (
    r"(?<!\d)(\d{1,3}|[一二两兩三四五六七八九十])\s*"
    r"(天|日|일|周|週間|週|星期|个星期|주|个月|個月|か月|ヶ月|カ月|개월|달|年|년)\s*[前전]"
    rf"|({_any_of(_SIGNED)})"
)
"""A phrase is taken as a whole: the `一昨日` has no `昨日` in it."""


def _relative(text: str, words: Sequence[str], today: date) -> Iterator[DateRange]:
    """Yield the dates that are told from today: `yesterday`, `two weeks ago`."""
    told = f" {' '.join(words)} "
    for phrase in re.findall(_THEN_PHRASE, told):
        yield from days_back(*_THEN[phrase], today)
    for count, unit in _ago(words):
        yield from days_back(unit, count, today)
    for place, word in enumerate(words):
        weekday = _WEEKDAYS.get(word)
        if weekday is not None and _is_one_day(words, place):
            yield from days_back("day", (today.weekday() - weekday) % 7 or 7, today)
    if not text.isascii():
        yield from _relative_signs(text.replace(" ", ""), today)


def _relative_signs(text: str, today: date) -> Iterator[DateRange]:
    for number, unit, sign in re.findall(_SIGNED_PHRASE, text):
        if sign:
            yield from days_back(*_SIGNED[sign], today)
        else:
            count = int(number) if number.isdecimal() else _NUMBERS[number]
            yield from days_back(_UNITS[unit], count, today)


def _ago(words: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield the number and unit of `three days ago`, `vor drei Tagen`, `il y a 3 jours`."""
    for place, word in enumerate(words):
        unit = _UNITS.get(word)
        if unit is None or place == 0:
            continue
        after = words[place + 1] if place + 1 < len(words) else ""
        if words[place - 1] == "of":  # a couple of days
            place -= 1
        number = words[place - 1] if place else ""
        before = words[place - 2] if place > 1 else ""
        count = int(number) if number.isdecimal() else _NUMBERS.get(number, 0)
        if 0 < count < 1000 and (after in _AGO_AFTER or before in _AGO_BEFORE):
            yield count, unit


def _is_one_day(words: Sequence[str], place: int) -> bool:
    """Say whether a weekday means one day, as in `last Monday`, and not every one."""
    before = words[place - 1] if place else ""
    after = words[place + 1] if place + 1 < len(words) else ""
    return before in _ONE_DAY_BEFORE or after in _ONE_DAY_AFTER


def days_back(unit: str, count: int, today: date) -> Iterator[DateRange]:
    """Yield the day, week, month or year that lies `count` before today's."""
    try:
        if unit == "day":
            first = last = today - timedelta(days=count)
        elif unit == "week":
            first = today - timedelta(days=today.weekday() + 7 * count)
            last = first + timedelta(days=6)
        elif unit == "month":
            months = today.year * 12 + today.month - 1 - count
            first = date(months // 12, months % 12 + 1, 1)
            last = _month_end(first)
        else:
            first = date(today.year - count, 1, 1)
            last = date(today.year - count, 12, 31)
    except (ValueError, OverflowError):  # before there were years
        return
    yield DateRange(first, last)
