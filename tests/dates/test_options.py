"""A date as the value of an option: the whole text is one."""

from datetime import date

import pytest

from notewell.dates import day_in_name, read_range
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


@pytest.mark.parametrize(
    "mark",
    [
        " (conflicted copy 2026-11-20)",
        " (Ann's conflicted copy 2026-11-20 101500)",
        " (In Konflikt stehende Kopie von Ann 2026-11-20)",
        " (Konflikt-Kopie von Ann 2026-11-20)",
        " (Copie en conflit de Ann 2026-11-20)",
        " (Copia en conflicto de Ann 2026-11-20)",
        " (copia in conflitto di Ann 2026-11-20)",
        " (Ann の競合コピー 2026-11-20)",
        " (Ann 的冲突副本 2026-11-20)",
        " (Conflicted copy phone 202611201015)",
        " (SFConflict ann@host.example 2026-11-20-10-15-00)",
        ".sync-conflict-20261120-101500-ABCDEFG",
        "_conflict-20261120-101500",
        "_DESKTOP_Nov-20-101500-2026_Conflict",
    ],
)
def test_the_day_on_which_a_conflict_copy_was_made_is_no_day_of_its_note(
    mark: str,
) -> None:
    for name, day in [
        ("plan", None),
        ("2026-03-01", date(2026, 3, 1)),
        ("2026_03_01", date(2026, 3, 1)),
        ("March 1st, 2026", date(2026, 3, 1)),
    ]:
        assert day_in_name(f"memory/{name}{mark}.md") == day


@pytest.mark.parametrize(
    "name",
    [
        "conflict 2026-11-20",
        "2026-11-20-conflict-with-ann",
        "a (conflict of 2026-11-20)",
    ],
)
def test_a_note_about_a_conflict_keeps_its_day(name: str) -> None:
    assert day_in_name(f"memory/{name}.md") == date(2026, 11, 20)
