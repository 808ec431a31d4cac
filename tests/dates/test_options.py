"""A date as the value of an option: the whole text is one."""

from datetime import date

import pytest

from notewell.dates import read_range
from notewell.dates.options import readings

TODAY = date(2026, 12, 1)  # a Tuesday


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("2026-03-03", "2026-03-03", "2026-03-03"),
        ("2026-03", "2026-03-01", "2026-03-31"),
        ("2026", "2026-01-01", "2026-12-31"),
        ("2026-W10", "2026-03-02", "2026-03-08"),
        ("2026-Q2", "2026-04-01", "2026-06-30"),
        ("7d", "2026-11-24", "2026-11-24"),
        ("2w", "2026-11-17", "2026-11-17"),
        ("3m", "2026-09-01", "2026-09-01"),
        ("1y", "2025-12-01", "2025-12-01"),
        ("yesterday", "2026-11-30", "2026-11-30"),
        ("last week", "2026-11-23", "2026-11-29"),
        ("March 3rd", "2026-03-03", "2026-03-03"),
        ("24 December", "2025-12-24", "2025-12-24"),
        ("2026_03_04", "2026-03-04", "2026-03-04"),
        ("20260305", "2026-03-05", "2026-03-05"),
        ("2026/03/10.md", "2026-03-10", "2026-03-10"),
        ("2026-03-01..2026-03-09", "2026-03-01", "2026-03-09"),
    ],
)
def test_the_value_of_an_option_is_read(text: str, first: str, last: str) -> None:
    found = read_range(text, TODAY)

    assert found is not None
    assert (str(found.first), str(found.last), found.yearly) == (first, last, False)


@pytest.mark.parametrize(
    "text", ["", "soon", "2026-02-30", "99999y", "202603", "2026-W60", "2026-Q5"]
)
def test_what_is_no_date_is_none(text: str) -> None:
    assert read_range(text, TODAY) is None


def test_a_day_and_a_month_that_may_be_swapped_are_not_guessed() -> None:
    assert read_range("1/2/2024", TODAY) is None
    assert [str(one.first) for one in readings("1/2/2024", TODAY)] == [
        "2024-02-01",
        "2024-01-02",
    ]
