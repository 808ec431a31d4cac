"""The forms in which people name days, in seven languages, and what is none of them."""

from collections.abc import Callable, Sequence
from datetime import date, timedelta

import pytest

from notewell.dates import (
    DateRange,
    day_in_name,
    may_name_dates,
    named_dates,
    read_dates,
)
from notewell.dates.numbers import ordinal_words
from notewell.dates.vocabulary import MONTHS, SEASONS, UNITS, WEEKDAYS, relative_phrases

TODAY = date(2026, 12, 1)  # a Tuesday

TEN_YEARS = tuple(date(2019, 1, 1) + timedelta(days=n) for n in range(3653))

ENGLISH = str.split(
    "January February March April May June July August September October November December"
)
GERMAN = str.split(
    "Januar Februar März April Mai Juni Juli August September Oktober November Dezember"
)
FRENCH = str.split(
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre"
)
SPANISH = str.split(
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"
)
SIGNS = "〇一二三四五六七八九"


def said(text: str) -> str:
    """Return the dates of a text: `2026-03-03`, `a..b`, without a year `y03-03`."""
    return ",".join(
        _shown(one) for named in named_dates(text, TODAY) for one in named.ranges
    )


def _shown(one: DateRange) -> str:
    ends = [str(day)[5 if one.yearly else 0 :] for day in (one.first, one.last)]
    return ("y" if one.yearly else "") + "..".join(dict.fromkeys(ends))


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("three days ago", "2026-11-28"),
        ("thirty-one days ago", "2026-10-31"),
        ("twenty one days ago", "2026-11-10"),
        ("a hundred days ago", "2026-08-23"),
        ("vor dreißig Tagen", "2026-11-01"),
        ("vor dreiundzwanzig Tagen", "2026-11-08"),
        ("vor einer Woche", "2026-11-23..2026-11-29"),
        ("vor ein paar Tagen", "2026-11-25..2026-11-29"),
        ("a few days ago", "2026-11-25..2026-11-29"),
        ("il y a vingt et un jours", "2026-11-10"),
        ("il y a quatre-vingt-dix jours", "2026-09-02"),
        ("hace treinta y un días", "2026-10-31"),
        ("hace una semana", "2026-11-23..2026-11-29"),
        ("三十天前", "2026-11-01"),
        ("二十五天前的会议", "2026-11-06"),
        ("十天前", "2026-11-21"),
        ("两个星期前", "2026-11-16..2026-11-22"),
        ("三个月前", "2026-09-01..2026-09-30"),
        ("两年前", "2024-01-01..2024-12-31"),
        ("三週間前", "2026-11-09..2026-11-15"),
        ("十五日前", "2026-11-16"),
        ("3ヶ月前", "2026-09-01..2026-09-30"),
        ("30일 전", "2026-11-01"),
        ("삼십일 전", "2026-11-01"),
        ("사흘 전", "2026-11-28"),
        ("열흘 전에", "2026-11-21"),
        ("두 달 전", "2026-10-01..2026-10-31"),
        ("세 주 전", "2026-11-09..2026-11-15"),
        ("일주일 전", "2026-11-23..2026-11-29"),
        ("上周二", "2026-11-24"),
        ("上星期五的会议", "2026-11-27"),
        ("这周一", "2026-11-30"),
        ("下周三", "2026-12-09"),
        ("上个月3号", "2026-11-03"),
        ("先週の火曜日", "2026-11-24"),
        ("지난주 화요일", "2026-11-24"),
        ("去年五月", "2025-05-01..2025-05-31"),
        ("去年5月3日", "2025-05-03"),
        ("昨年の5月", "2025-05-01..2025-05-31"),
        ("작년 5월", "2025-05-01..2025-05-31"),
        ("去年夏天", "2025-06-01..2025-08-31"),
        ("昨年の夏", "2025-06-01..2025-08-31"),
        ("작년 여름", "2025-06-01..2025-08-31"),
        ("二〇二六年三月三日", "2026-03-03"),
        ("令和8年3月3日", "2026-03-03"),
        ("二零二六年三月", "2026-03-01..2026-03-31"),
        ("五月三日", "y05-03"),
        ("十二月二十五日", "y12-25"),
        ("2026年5月3日", "2026-05-03"),
        ("２０２６年５月３日", "2026-05-03"),
        ("2026년 5월 3일", "2026-05-03"),
        ("5月3号", "y05-03"),
        ("last summer", "2026-06-01..2026-08-31"),
        ("letzten Sommer", "2026-06-01..2026-08-31"),
        ("l'été dernier", "2026-06-01..2026-08-31"),
        ("el verano pasado", "2026-06-01..2026-08-31"),
        ("last winter", "2025-12-01..2026-02-28"),
        ("summer of 2023", "2023-06-01..2023-08-31"),
        ("im Sommer 2023", "2023-06-01..2023-08-31"),
        ("last May", "2026-05-01..2026-05-31"),
        ("im letzten Mai", "2026-05-01..2026-05-31"),
        ("en mai dernier", "2026-05-01..2026-05-31"),
        ("en mayo del año pasado", "2025-05-01..2025-05-31"),
        ("im Mai letzten Jahres", "2025-05-01..2025-05-31"),
        ("in May of last year", "2025-05-01..2025-05-31"),
        ("in May last year", "2025-05-01..2025-05-31"),
        ("last year in May", "2025-05-01..2025-05-31"),
        ("Tuesday last week", "2026-11-24"),
        ("Tuesday of last week", "2026-11-24"),
        ("last week on Tuesday", "2026-11-24"),
        ("letzte Woche Dienstag", "2026-11-24"),
        ("mardi dernier", "2026-11-24"),
        ("le mardi de la semaine dernière", "2026-11-24"),
        ("el martes pasado", "2026-11-24"),
        ("el martes de la semana pasada", "2026-11-24"),
        ("letzten Freitag", "2026-11-27"),
        ("next Tuesday", "2026-12-08"),
        ("this Friday", "2026-12-04"),
        ("last Monday", "2026-11-30"),
        ("the last three days", "2026-11-28..2026-12-01"),
        ("in the past two weeks", "2026-11-17..2026-12-01"),
        ("in den letzten drei Tagen", "2026-11-28..2026-12-01"),
        ("ces trois derniers jours", "2026-11-28..2026-12-01"),
        ("en los últimos tres días", "2026-11-28..2026-12-01"),
        ("过去三天", "2026-11-28..2026-12-01"),
        ("最近两周", "2026-11-17..2026-12-01"),
        ("지난 3일", "2026-11-28..2026-12-01"),
        ("ここ三日間", "2026-11-28..2026-12-01"),
        ("last weekend", "2026-11-28..2026-11-29"),
        ("上周末", "2026-11-28..2026-11-29"),
        ("last quarter", "2026-07-01..2026-09-30"),
        ("Q1 2026", "2026-01-01..2026-03-31"),
        ("2026-Q1", "2026-01-01..2026-03-31"),
        ("March 3rd", "y03-03"),
        ("3 March 2026", "2026-03-03"),
        ("3.3.2026", "2026-03-03"),
        ("3. 3. 2026", "2026-03-03"),
        ("2026_03_04", "2026-03-04"),
        ("20260305", "2026-03-05"),
        ("2026-03-09 Monday", "2026-03-09"),
        ("Monday, March 9, 2026", "2026-03-09"),
        ("Mar 7th, 2026", "2026-03-07"),
        ("2026/03/10.md", "2026-03-10"),
        ("2026/03/10.markdown", "2026-03-10"),
        ("2026/03/10.MD", "2026-03-10"),
        ("memory/2026-03-16-vendor-call.md", "2026-03-16"),
        ("[[2026-03-16]]", "2026-03-16"),
        ("2026-03-16T10:00:00Z", "2026-03-16"),
        ("am 3.5.", "y05-03"),
        ("am 03.05.26", "2026-05-03"),
        ("den 3. März", "y03-03"),
        ("am dritten März", "y03-03"),
        ("le 1er mars", "y03-01"),
        ("1º de marzo de 2026", "2026-03-01"),
        ("tres de marzo", "y03-03"),
        ("the third of March", "y03-03"),
        ("March 3 '26", "2026-03-03"),
        ("3-Mar-2026", "2026-03-03"),
        ("3-7 March 2026", "2026-03-03..2026-03-07"),
        ("March 3-7, 2026", "2026-03-03..2026-03-07"),
        ("from 3 to 7 March", "y03-03..03-07"),
        ("vom 3. bis 7. März 2026", "2026-03-03..2026-03-07"),
        ("du 3 au 7 mars 2026", "2026-03-03..2026-03-07"),
        ("del 3 al 7 de marzo de 2026", "2026-03-03..2026-03-07"),
        ("between March 3 and March 7, 2026", "2026-03-03..2026-03-07"),
        ("from March 3 to April 7", "y03-03..04-07"),
        ("2026-03-03 to 2026-03-07", "2026-03-03..2026-03-07"),
        ("3月3日から3月7日", "y03-03..03-07"),
        ("3月3日到3月7日", "y03-03..03-07"),
        ("3 and 5 March 2026", "2026-03-03,2026-03-05"),
        ("what happened on may 3?", "y05-03"),
        ("what happened May 3", "y05-03"),
        ("in may", "y05-01..05-31"),
        ("en mars", "y03-01..03-31"),
        ("昨日と一昨日", "2026-11-30,2026-11-29"),
        ("前天", "2026-11-29"),
        ("大后天", "2026-12-04"),
        ("10.01.2024", "2024-01-10"),
        ("1/2/2024", "2024-02-01,2024-01-02"),
        ("2026-03-16-1709.md", "2026-03-16"),
        ("dans trois jours", "2026-12-04"),
        ("in drei Tagen", "2026-12-04"),
        ("two weeks from now", "2026-12-14..2026-12-20"),
        ("三天后", "2026-12-04"),
        ("半年前", "2026-06-01..2026-06-30"),
        ("几天前", "2026-11-25..2026-11-29"),
        ("며칠 전", "2026-11-25..2026-11-29"),
        ("last night", "2026-11-30"),
        ("gestern Abend", "2026-11-30"),
        ("hier soir", "2026-11-30"),
        ("a fortnight ago", "2026-11-16..2026-11-22"),
        ("the week before last", "2026-11-16..2026-11-22"),
        ("vorgestern", "2026-11-29"),
        ("past week", "2026-11-24..2026-12-01"),
        ("그저께", "2026-11-29"),
        ("yesterday morning", "2026-11-30"),
        ("ayer por la tarde", "2026-11-30"),
        ("今朝", "2026-12-01"),
        ("early 2023", "2023-01-01..2023-12-31"),
        ("im März", "y03-01..03-31"),
        ("3月", "y03-01..03-31"),
        ("三月", "y03-01..03-31"),
        ("3. Mai", "y05-03"),
        ('"Mai 2023"', "2023-05-01..2023-05-31"),
        ("2026 March 3", "2026-03-03"),
        ("on Sunday", "2026-11-29"),
    ],
)
def test_days_are_read_as_people_name_them(text: str, days: str) -> None:
    assert said(text) == days
    assert may_name_dates(text)


@pytest.mark.parametrize(
    "text",
    [
        "目前天气怎么样",
        "然后天天",
        "以上周期",
        "声明天数",
        "you may want to march",
        "this may be broken",
        "the last may fail",
        "we may 5 times retry",
        "section 3 may be wrong",
        "how may 3 agents share",
        "life on Mars",
        "trip to mars",
        "the mayo jar",
        "in 2048 tokens",
        "in 2024 files",
        "version 2024.1.3",
        "v2024.01.03",
        "10.0.0.1",
        "call 2026-1234",
        "+49 2026 0305",
        "order 20260305",
        "#20260305",
        "550e8400-e29b-41d4-a716-446655440000",
        "deadbeef20260305cafe",
        "$2024",
        "1,200.50",
        "3/4 cup",
        "port 8080",
        "03-04",
        "every Monday",
        "march two by two",
        "once upon a time",
        "march 5 miles",
        "2026-13-45",
        "555-0199-2026",
        "12:30 march",
        "3.10 march",
        "12 years old",
        "the third may fail",
        "a second march",
        "ISO 8601:2019",
        "RFC 2024-05",
        "CVE-2026-0305",
        "python 3.12.2024",
        "192.168.20.26",
        "in three days",
        "오늘날",
        "2023年前",
        "Sunday",
    ],
)
def test_numbers_and_words_that_are_no_dates_are_none(text: str) -> None:
    assert said(text) == ""


def signs(number: int) -> str:
    """Write a number below 100 in signs: `二十三`."""
    tens, unit = divmod(number, 10)
    return (
        ("" if tens < 2 else SIGNS[tens]) + "十" * (tens > 0) + SIGNS[unit] * (unit > 0)
    )


def ordinal(day: int) -> str:
    return f"{day}{'th' if 10 < day < 20 else {1: 'st', 2: 'nd', 3: 'rd'}.get(day % 10, 'th')}"


FORMS: dict[str, Callable[[date], str]] = {
    "iso": lambda day: day.isoformat(),
    "underscores": lambda day: f"{day:%Y_%m_%d}",
    "slashes": lambda day: f"{day:%Y/%m/%d}",
    "short slashes": lambda day: f"{day.year}/{day.month}/{day.day}",
    "compact": lambda day: f"{day:%Y%m%d}",
    "with the weekday": lambda day: f"{day:%Y-%m-%d %A}",
    "points": lambda day: f"{day:%d.%m.%Y}",
    "short points": lambda day: f"{day.day}.{day.month}.{day.year}",
    "spaced points": lambda day: f"{day.day}. {day.month}. {day.year}",
    "english": lambda day: f"{ENGLISH[day.month - 1]} {ordinal(day.day)}, {day.year}",
    "english, the day first": lambda day: (
        f"{day.day} {ENGLISH[day.month - 1]} {day.year}"
    ),
    "english, short": lambda day: (
        f"{ENGLISH[day.month - 1][:3]} {ordinal(day.day)}, {day.year}"
    ),
    "english, joined": lambda day: f"{day.day}-{ENGLISH[day.month - 1][:3]}-{day.year}",
    "english, whole": lambda day: (
        f"{day:%A}, {ENGLISH[day.month - 1]} {day.day}, {day.year}"
    ),
    "small letters": lambda day: (
        f"{ENGLISH[day.month - 1].lower()} {day.day} {day.year}"
    ),
    "german": lambda day: f"am {day.day}. {GERMAN[day.month - 1]} {day.year}",
    "french": lambda day: f"le {day.day} {FRENCH[day.month - 1]} {day.year}",
    "spanish": lambda day: f"el {day.day} de {SPANISH[day.month - 1]} de {day.year}",
    "chinese": lambda day: f"{day.year}年{day.month}月{day.day}日",
    "chinese, in signs": lambda day: (
        f"{''.join(SIGNS[int(n)] for n in str(day.year))}年{signs(day.month)}月{signs(day.day)}日"
    ),
    "japanese": lambda day: f"令和{day.year - 2018}年{day.month}月{day.day}日に",
    "korean": lambda day: f"{day.year}년 {day.month}월 {day.day}일에",
}


NAMES = ("iso", "underscores", "slashes", "compact", "with the weekday", "english")


def _wrong(form: str, days: Sequence[date]) -> list[str]:
    """Return what is not read back as the day that was written, in texts and in names."""
    write = FORMS[form]
    texts = [write(day) for day in days]
    wrong = [
        text
        for day, text in zip(days, texts, strict=True)
        if read_dates(text, TODAY) != (DateRange(day, day),)
    ]
    if form in (*NAMES, "english, short", "chinese"):
        wrong += [
            f"{text}.md"
            for day, text in zip(days, texts, strict=True)
            if day_in_name(f"x/{text}.md") != day
        ]
    return wrong


@pytest.mark.parametrize("form", FORMS)
def test_days_of_ten_years_are_read_back(form: str) -> None:
    first = list(FORMS).index(form)

    assert _wrong(form, TEN_YEARS[first::29]) == []


@pytest.mark.soak
@pytest.mark.parametrize("form", FORMS)
def test_every_day_of_ten_years_is_read_back(form: str) -> None:
    assert _wrong(form, TEN_YEARS) == []


def test_a_day_is_told_in_number_words() -> None:
    by_day = {day: word for word, day in ordinal_words().items()}

    for day, word in by_day.items():
        assert said(f"on the {word} of December") == f"y12-{day:02}"


@pytest.mark.parametrize(
    ("path", "day"),
    [
        ("memory/2026-03-03.md", "2026-03-03"),
        ("memory/2026-03-03-vendor-call.md", "2026-03-03"),
        ("journals/2026_03_04.md", "2026-03-04"),
        ("notes/20260305.md", "2026-03-05"),
        ("zettel/202603061012 Title.md", "2026-03-06"),
        ("Mar 7th, 2026.md", "2026-03-07"),
        ("2026/03/10.md", "2026-03-10"),
        ("2026/03/10.markdown", "2026-03-10"),
        ("2026/03/10.MD", "2026-03-10"),
        ("journal/2026/March/11.md", "2026-03-11"),
        ("2026/2026-03-12.md", "2026-03-12"),
        ("日記/2026年5月3日.md", "2026-05-03"),
        ("Meeting 3 March 2026.md", "2026-03-03"),
        ("2026-03.md", None),
        ("2026.md", None),
        ("May.md", None),
        ("release-2024.1.3.md", None),
        ("2026-13-45.md", None),
        ("memory/a/b/c/standup 2024-02-29.md", "2024-02-29"),
        ("../team/2026-01-11.md", "2026-01-11"),
        ("MEMORY.md", None),
        ("memory/2026-01-11/notes.md", None),
        ("memory/2026-13-01.md", None),
        ("memory/2025-02-29.md", None),
        ("memory/0000-01-01.md", None),
        ("memory/12026-01-111.md", None),
        ("a/7.md", None),
    ],
)
def test_the_day_of_a_note_is_that_in_its_name(path: str, day: str | None) -> None:
    found = day_in_name(path)

    assert (found and str(found)) == day


def test_the_cheap_look_misses_no_word_of_the_reader() -> None:
    words = [
        *MONTHS,
        *WEEKDAYS,
        *SEASONS,
        *relative_phrases(),
        *(UNITS.keys() - {"an"}),
    ]

    assert [word for word in words if not may_name_dates(word)] == []
    assert not may_name_dates("How does the gateway find the port that it has to use?")


def test_a_date_is_told_with_its_words() -> None:
    [named] = named_dates("What did we decide last week about the gateway?", TODAY)

    assert named.text == "last week"
