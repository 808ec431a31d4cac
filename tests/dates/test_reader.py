"""The dates that a text names, in the languages of the notes, against a given day."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notewell.dates import DateRange, nearness, read_dates

TODAY = date(2026, 12, 1)  # a Tuesday
DAYS = st.dates(min_value=date(1900, 1, 1), max_value=date(2099, 12, 31))

PIECES = (
    *"0123456789٣年月日号號년월일周週天前전一二十昨々-/., ",
    *("个月", "か月", "개월", "个星期", "今天", "大前天", "一昨日", "上上周", "지난주"),
    *("0000", "9999", "12月"),
    *("May ", "mars ", "März ", "december ", "in ", "last ", "vor ", "a ", "of "),
    *("yesterday ", "morgen ", "Monday ", "days ", "week ", "Jahren ", "ago ", "th "),
)


def ranges(text: str) -> list[tuple[str, str]]:
    return [(str(one.first), str(one.last)) for one in read_dates(text, TODAY)]


@pytest.mark.parametrize(
    "text",
    [
        "What was said on March 16, 2022?",
        "16 March 2022",
        "the 16th of march, 2022",
        "2022-03-16",
        "2022/3/16",
        "16.03.2022",
        "3/16/2022",
        "am 16. März 2022",
        "le 16 mars 2022",
        "el 16 de marzo de 2022",
        "em 16 de março de 2022",
        "2022年3月16日的会议",
        "2022년 3월 16일",
        "What did he finish last Friday on 16 March, 2022?",
    ],
)
def test_a_day_is_read(text: str) -> None:
    assert ranges(text) == [("2022-03-16", "2022-03-16")]


@pytest.mark.parametrize(
    "text",
    ["in May 2023", "2023-05", "im Mai 2023", "2023年5月", "2023년 5월", "mai 2023"],
)
def test_a_month_is_read(text: str) -> None:
    assert ranges(text) == [("2023-05-01", "2023-05-31")]


@pytest.mark.parametrize("text", ["in 2023", "during 2023", "2023年", "im Jahr 2023"])
def test_a_year_is_read(text: str) -> None:
    assert ranges(text) == [("2023-01-01", "2023-12-31")]


@pytest.mark.parametrize("text", ["in May", "5月", "im Mai", "en mayo", "en mai"])
def test_a_month_without_a_year_is_one_of_any_year(text: str) -> None:
    [month] = read_dates(text, TODAY)

    assert [month.nearness(date(year, 5, 9)) for year in (1999, 2024)] == [1, 1]
    assert month.nearness(date(2024, 8, 1)) == 0


def test_a_day_and_a_month_that_may_be_swapped_are_read_both_ways() -> None:
    assert ranges("04/05/2024") == [
        ("2024-05-04", "2024-05-04"),
        ("2024-04-05", "2024-04-05"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "you may want to march",
        "v2024.1.3",
        "10.0.0.1",
        "port 2024",
        "31 February 2022",
        "9999年12月",
        "0000年5月",
        "1899年",
        "2023年前",
        "2022-13-01",
        "every Monday",
        "room 12",
        "",
    ],
)
def test_what_is_no_date_is_none(text: str) -> None:
    assert ranges(text) == []


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("yesterday", "2026-11-30", "2026-11-30"),
        ("the day before yesterday", "2026-11-29", "2026-11-29"),
        ("the day after tomorrow", "2026-12-03", "2026-12-03"),
        ("avant-hier", "2026-11-29", "2026-11-29"),
        ("antes de ayer", "2026-11-29", "2026-11-29"),
        ("一昨日", "2026-11-29", "2026-11-29"),
        ("一昨年", "2024-01-01", "2024-12-31"),
        ("上上周的会议", "2026-11-16", "2026-11-22"),
        ("三天前天气", "2026-11-28", "2026-11-28"),
        ("heute morgen", "2026-12-01", "2026-12-01"),
        ("gestern Morgen", "2026-11-30", "2026-11-30"),
        ("morgen", "2026-12-02", "2026-12-02"),
        ("what did I do today", "2026-12-01", "2026-12-01"),
        ("last week", "2026-11-23", "2026-11-29"),
        ("last month", "2026-11-01", "2026-11-30"),
        ("last year", "2025-01-01", "2025-12-31"),
        ("three days ago", "2026-11-28", "2026-11-28"),
        ("a couple of weeks ago", "2026-11-16", "2026-11-22"),
        ("11 months ago", "2026-01-01", "2026-01-31"),
        ("last Monday", "2026-11-30", "2026-11-30"),
        ("last May", "2026-05-01", "2026-05-31"),
        ("on Tuesday", "2026-11-24", "2026-11-24"),
        ("gestern", "2026-11-30", "2026-11-30"),
        ("letzte Woche", "2026-11-23", "2026-11-29"),
        ("vor zwei Wochen", "2026-11-16", "2026-11-22"),
        ("la semaine dernière", "2026-11-23", "2026-11-29"),
        ("il y a 3 jours", "2026-11-28", "2026-11-28"),
        ("el mes pasado", "2026-11-01", "2026-11-30"),
        ("上周的会议", "2026-11-23", "2026-11-29"),
        ("3天前", "2026-11-28", "2026-11-28"),
        ("先月", "2026-11-01", "2026-11-30"),
        ("지난주 회의", "2026-11-23", "2026-11-29"),
    ],
)
def test_words_are_read_against_a_day(text: str, first: str, last: str) -> None:
    assert ranges(text) == [(first, last)]


def test_each_phrase_that_is_told_is_read_once() -> None:
    day_before = ("2026-11-29", "2026-11-29")

    assert ranges("the day before yesterday, day before yesterday") == [day_before]
    assert ranges("yesterday or the day before yesterday") == [
        ("2026-11-30", "2026-11-30"),
        day_before,
    ]
    assert ranges("昨日と一昨日") == [("2026-11-30", "2026-11-30"), day_before]


def test_before_there_were_years_there_is_no_date() -> None:
    assert read_dates("999 years ago", date(5, 1, 1)) == ()
    assert read_dates("last month", date.min) == ()
    assert read_dates("last week, yesterday", date.min) == ()


def test_what_is_written_shortly_after_is_nearer_than_shortly_before() -> None:
    day = DateRange(date(2023, 5, 3), date(2023, 5, 3))

    near = [
        day.nearness(day.first + timedelta(days=n)) for n in (0, 1, 14, 15, -1, -7, -8)
    ]

    assert near == [1.0, 0.7, 0.7, 0.0, 0.35, 0.35, 0.0]


def test_a_day_of_any_year_is_near_across_the_turn_of_the_year() -> None:
    [day] = read_dates("on 28 December", TODAY)

    assert day.nearness(date(2025, 1, 3)) == 0.7
    assert day.nearness(date.max) == 0.7
    assert day.nearness(date.min) == 0


@given(day=DAYS)
def test_every_day_is_read_as_it_is_written(day: date) -> None:
    for text in (day.isoformat(), f"{day:%B} {day.day}, {day.year}", f"{day:%d.%m.%Y}"):
        assert read_dates(text, TODAY) == (DateRange(day, day),)


@given(text=st.text(max_size=80), today=st.dates())
def test_any_text_is_read(text: str, today: date) -> None:
    for one in read_dates(text, today):
        assert one.first <= one.last


@given(
    parts=st.lists(
        st.sampled_from(PIECES) | st.integers(0, 99_999).map(str), max_size=12
    ),
    today=st.dates(),
)
def test_whatever_is_put_together_like_a_date_is_read(
    parts: list[str], today: date
) -> None:
    for one in read_dates("".join(parts), today):
        assert one.first <= one.last


@given(day=st.dates(), first=st.dates(), length=st.integers(0, 400))
def test_nearness_is_a_share(day: date, first: date, length: int) -> None:
    last = min(date.max.toordinal(), first.toordinal() + length)
    named = DateRange(first, date.fromordinal(last))

    assert 0 <= nearness(day, [named]) <= 1
    assert nearness(day, []) == 0
