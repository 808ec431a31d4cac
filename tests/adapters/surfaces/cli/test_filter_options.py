"""The options of a filter, and `notewell recent`."""

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.adapters.surfaces.conftest import Notewell


@pytest.fixture(autouse=True)
def more_notes(notes: Path) -> None:
    for path, text in {
        "memory/2026-03-03.md": "The otter moved to port 9000. #work/net\n",
        "memory/projects/plan.md": "---\nstatus: done\ndate: 2026-03-05\n---\nAn otter.\n",
        "memory/2999-01-01.md": "The otter of tomorrow.\n",
    }.items():
        file = notes / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "paths"),
    [
        (["--path", "projects"], ["memory/projects/plan.md"]),
        (["--on", "2026-03-03"], ["memory/2026-03-03.md"]),
        (["--since", "2026-03", "--until", "2026-03-04"], ["memory/2026-03-03.md"]),
        (["--tag", "work"], ["memory/2026-03-03.md"]),
        (["--where", "status=DONE"], ["memory/projects/plan.md"]),
        (["--phrase", "port 9000"], ["memory/2026-03-03.md"]),
        (["--without", "port", "--exclude", "2999*"], ["memory/projects/plan.md"]),
    ],
)
def test_an_option_narrows_where_is_looked(
    run: "Notewell", options: list[str], paths: list[str]
) -> None:
    value = run("search", "otter", "--json", *options).value

    assert [hit["path"] for hit in value["results"]] == paths


def test_a_filter_alone_shows_the_newest_first(run: "Notewell") -> None:
    for words in (["search", ""], ["search"], ["recent"]):
        value = run(*words, "--on", "2026-03", "--json").value

        days = [hit["date"] for hit in value["results"]]
        assert days == sorted(days, reverse=True)
        assert {day[:7] for day in days} == {"2026-03"}
    shown = run("recent", "--on", "2026-03-03").text
    assert "memory/2026-03-03.md#L1  2026-03-03" in shown


def test_recent_leaves_out_the_days_to_come(run: "Notewell") -> None:
    value = run("recent", "--max-results", "50", "--json").value
    week = run("recent", "--days", "7", "--max-results", "50", "--json").value

    days = {hit["date"] for hit in value["results"]}
    assert max(days) <= date.today().isoformat()
    assert "2026-03-03" in days
    assert "2026-03-03" not in {hit["date"] for hit in week["results"]}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["search", "otter", "--since", "bogus"], "yesterday, last week, 7d"),
        (["search", "otter", "--where", "status"], "KEY=VALUE"),
        (["search", "otter", "--path", "!x"], "`exclude`"),
        (["recent", "--days", "3", "--since", "7d"], "either --days or --since"),
    ],
)
def test_a_wrong_value_is_wrong_usage(
    run: "Notewell", words: list[str], said: str
) -> None:
    ran = run(*words)

    assert ran.code == 2
    assert said in ran.said


def test_an_impossible_filter_says_what_left_nothing(run: "Notewell") -> None:
    ran = run("search", "otter", "--tag", "work", "--tag", "purple")

    assert ran.code == 0
    assert "The filter left nothing to search: tag 'purple' leaves no note." in ran.said


def test_what_a_filter_was_read_as_is_told_in_words(run: "Notewell") -> None:
    options = ("--tag", "work", "--since", "2026-03", "--source", "memory")

    value = run("search", "otter", "--json", *options).value

    told = ["since 2026-03-01", "tag 'work'"]
    assert value["understood"] == {"dates": [], "filters": told}


def test_a_question_of_which_a_filter_leaves_nothing_is_not_told_to_ask_otherwise(
    run: "Notewell",
) -> None:
    text = run("search", "otter", "--path", "projects", "--phrase", "gateway").text

    assert "No passage that passes the filter matches." in text
    assert "fewer or other words" not in text
