"""Dates: those that a text names, as ranges of days, and how near a day is to them.

What reads them is loaded where there is something to read.
"""

import re
from collections.abc import Sequence
from datetime import date
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from notewell.dates.reader import NamedDate

_AFTER: Final = 14
_BEFORE: Final = 7
"""Days beside a range in which people write about it, mostly afterwards."""

_LATER: Final = 0.7
_EARLIER: Final = 0.35
"""How near such a day is, where one within the range is 1."""

_FEWEST_DIGITS: Final = 4
"""Digits, at least, of a date that is written in digits alone: `2026`."""

_NO_LETTERS: Final = {code: " " for code in range(128) if not chr(code).isalpha()}
_HINTS: Final = frozenset(
    str.split(
        "january jan januar janner janvier janv enero ene janeiro gennaio february feb februar"
        " febrero fevereiro febbraio march mar marz mrz maerz mars marzo april apr avril avr"
        " abril abr aprile may mai mayo maio maggio june jun juni juin junio junho giugno july"
        " jul juli juillet juil julio julho luglio august aug agosto september sep sept"
        " septembre septiembre setiembre setembro settembre october oct oktober okt octobre"
        " octubre outubro ottobre november nov novembre noviembre novembro december dec dezember"
        " dez diciembre dic dezembro dicembre fevr"
        " monday mon montag lundi lunes tuesday tue tues dienstag mardi martes wednesday wed"
        " mittwoch mercredi thursday thu thur thurs donnerstag jeudi jueves friday fri freitag"
        " vendredi viernes saturday sat samstag sonnabend samedi sunday sun sonntag dimanche"
        " domingo spring printemps primavera summer sommer verano estate autumn fall herbst"
        " automne otono outono autunno winter hiver invierno inverno"
        " day days tag tage tagen jour jours dia dias giorno giorni week weeks woche wochen"
        " semaine semaines semana semanas settimana settimane fortnight fortnights quinzaine"
        " month months monat monate monaten monats mois mes meses mese mesi year years jahr"
        " jahre jahren jahres ans ano anos anno anni quarter quartal trimestre weekend"
        " wochenende fin today tonight morning afternoon evening heute hui matin soir midi hoy"
        " manana tarde noche hoje oggi yesterday night gestern nacht hier ayer anoche ontem ieri"
        " vorgestern anteayer antier anteontem trasanteayer vorvorgestern tomorrow morgen demain"
        " amanha domani dopodomani fevrier marco aout decembre miercoles sabado fruhling fruhjahr"
        " fruehling fruehjahr ete verao annee annees nuit ubermorgen uebermorgen il dernier passe"
        " prochain"
    )
)
"""One word of every phrase in Latin letters that the reader knows: a text without any of
them names no date in words."""

_SIGNS: Final = frozenset(
    "年月日天号周週期拜度春夏秋冬昨今明去来來"
    "년월일주달해제늘모작올내글봄름을울분루틀흘닷엿레보칠저젯엊끄"
)
"""One character of every phrase that the reader knows in Chinese and Korean, and of most in
Japanese."""

_SHORT: Final = frozenset(["am", "vom", "zum", "ab", "den", "bis", "seit"])
"""Before few digits: `am 3.5.`"""

_CONFLICT: Final = (
    r" ?[(（][^()/（）]*(?:conflicted|conflict copy|case conflict|sfconflict|konflikt\w*-?kopie"
    r"|konflikt stehende kopie|copie en conflit|copia (?:in conflitto|en conflicto)"
    r"|c[oó]pia em conflito|競合|冲突|衝突|충돌)[^()/（）]*\d[^()/（）]*[)）]"
    r"|[ ._-](?:sync-)?conflict-\d{8}-\d{6}(?:-[A-Z0-9]{7})?"
    r"|_[^_/]+_[A-Z][a-z]{2}-\d\d-\d{4,6}-\d{4}_(?:[A-Z]+_?)?Conflict"
)
"""What Dropbox, Nextcloud, Seafile, Obsidian, Syncthing and Synology Drive add to a name."""

_ISO: Final = re.compile(r"(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)")
_DAY_IN_DIGITS: Final = re.compile(r"\d{8}|\d\D+\d+\D+\d")
"""Year, month and day without the words of `_HINTS`."""


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
        return max(
            _nearness(day, day_in_year(self.first, year), day_in_year(self.last, year))
            for year in range(day.year - 1, day.year + 2)
        )


def nearness(day: date, ranges: Sequence[DateRange]) -> float:
    """Return how near a day is to the nearest of some ranges, in [0, 1]."""
    return max((one.nearness(day) for one in ranges), default=0.0)


def may_name_dates(text: str) -> bool:
    """Say whether it is worth reading a text for dates: cheap, and never wrongly no."""
    digits = sum(map(str.isdecimal, text))
    if not text.isascii():
        if not _SIGNS.isdisjoint(text) or _may_be_relative_in_kana(text):
            return True
        text = _in_plain_letters(text)
    if digits >= _FEWEST_DIGITS:
        return True
    words = text.casefold().translate(_NO_LETTERS).split()
    return not _HINTS.isdisjoint(words) or (digits > 0 and not _SHORT.isdisjoint(words))


def _may_be_relative_in_kana(text: str) -> bool:
    """Look for きのう, きょう, あした, あさって, しあさって, おととい, おとつい and おととし."""
    return (
        "のう" in text
        or "ょう" in text
        or "した" in text
        or "おと" in text
        or ("あさ" in text)
    )


def _in_plain_letters(text: str) -> str:
    """Return a text with its Latin letters alone, without accents."""
    import unicodedata

    parts = unicodedata.normalize("NFKD", text.casefold())
    return parts.encode("ascii", "ignore").decode("ascii")


def read_dates(text: str, today: date) -> tuple[DateRange, ...]:
    """Return the dates in a text, in its order, each once.

    Words like `yesterday` are read against `today`, and only where no date is written
    out: `last Friday on 23 January` means the day that is named.

    >>> [str(one.first) for one in read_dates("on 16 March, or 2022-05-03", date.min)]
    ['2000-03-16', '2022-05-03']
    """
    if not may_name_dates(text):
        return ()
    from notewell.dates.reader import find_dates

    return find_dates(text, today)


def named_dates(text: str, today: date) -> "tuple[NamedDate, ...]":
    """Return the dates in a text with the words that name them; see `read_dates`."""
    if not may_name_dates(text):
        return ()
    from notewell.dates import reader

    return reader.find_named(text, today)


def day_in_name(path: str) -> date | None:
    """Return the day that a note's name names, in any form, at any depth.

    The day on which a second file was made of one that two machines had changed is none.

    >>> str(day_in_name("memory/reports/2026-01-11-x.md"))
    '2026-01-11'
    >>> day_in_name("plan (Ann's conflicted copy 2026-01-11).md") is None
    True
    """
    if "onfli" in path.lower() or not path.isascii():
        path = re.sub(_CONFLICT, "", path, flags=re.IGNORECASE)
    found = _ISO.search(path.rpartition("/")[2])
    if found:
        try:
            return date(*map(int, found.groups()))
        except ValueError:
            return None
    digits = sum(map(str.isdecimal, path))
    return (
        _day_of_path(path) if digits >= _FEWEST_DIGITS and _may_be_day(path) else None
    )


def _may_be_day(path: str) -> bool:
    """Say whether it is worth reading a path for a day of a year; never wrongly no."""
    return (
        not path.isascii()
        or _DAY_IN_DIGITS.search(path) is not None
        or not _HINTS.isdisjoint(path.casefold().translate(_NO_LETTERS).split())
    )


@lru_cache(maxsize=4096)
def _day_of_path(path: str) -> date | None:
    from notewell.dates.options import day_of_path

    return day_of_path(path)


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


def day_in_year(day: date, year: int) -> date:
    """Return the same day of another year, the first or the last one that there is.

    29 February is the 28th where it is none.
    """
    year = min(max(year, date.min.year), date.max.year)
    try:
        return day.replace(year=year)
    except ValueError:
        return date(year, 2, 28)
