"""`notewell search --format`: the same answer in other forms."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.adapters.surfaces.conftest import write

if TYPE_CHECKING:
    from tests.adapters.surfaces.conftest import Notewell


def test_json_lines_are_the_hits_of_the_json_answer(run: "Notewell") -> None:
    whole = run("search", "the", "--json").value["results"]

    lines = run("search", "the", "--format", "jsonl").text.splitlines()

    assert len(lines) == 2
    assert [json.loads(line) for line in lines] == whole


def test_format_json_is_the_flag_json(run: "Notewell") -> None:
    ran = run("search", "gateway", "--format=json")

    assert ran.value["results"][0]["path"] == "MEMORY.md"


def test_markdown_quotes_every_line_below_a_link(run: "Notewell", notes: Path) -> None:
    write(notes / "memory" / "a_b*.md", "# A _b_\n\npelican\n\n</details>\n")

    ran = run("search", "pelican", "--format", "markdown")

    assert ran.text == (
        "**[memory/a\\_b\\*.md#L1-L5](<memory/a_b*.md>) · A \\_b\\_**\n"
        "\n"
        "> # A _b_\n>\n> pelican\n>\n> </details>\n"
    )


def test_plain_has_no_colours_even_where_they_are_forced(run: "Notewell") -> None:
    forced = {"FORCE_COLOR": "1"}

    plain = run("search", "gateway", "--format", "plain", env=forced)
    usual = run("search", "gateway", env=forced)

    assert "\x1b[" in usual.text
    assert "\x1b[" not in plain.text
    assert "▸ 3  The gateway port is 18789." in plain.text


@pytest.mark.parametrize("form", ["jsonl", "markdown"])
def test_an_empty_answer_has_no_lines(run: "Notewell", form: str) -> None:
    ran = run("search", "zeppelin", "--format", form)

    assert (ran.code, ran.text) == (0, "")


@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_a_failure_is_an_object_where_json_was_asked_for(
    run: "Notewell", form: str
) -> None:
    ran = run("search", "x", "--format", form, "--max-results", "0")

    assert ran.code == 2
    assert ran.value["error"]["type"] == "usage"


def test_an_answer_has_one_form(run: "Notewell") -> None:
    ran = run("search", "x", "--json", "--format", "markdown")

    assert ran.code == 2
    assert ran.value["error"]["message"] == "the answer cannot have two forms"
