"""Front matter of a note: its lines, its values, and the names that it gives."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notewell.front_matter import (
    front_matter_lines,
    front_matter_values,
    names_in_front_matter,
)


@pytest.mark.parametrize(
    "lines",
    [
        ["---", "", "# Title", "", "---"],
        ["---", "A sentence.", "---"],
        ["---", "key: value"],
        ["---", "---"],
        ["", "---", "key: value", "---"],
        [],
    ],
    ids=["rules", "prose", "not closed", "empty", "not at the top", "nothing"],
)
def test_a_rule_at_the_top_is_no_front_matter(lines: list[str]) -> None:
    assert front_matter_lines(lines) == 0
    assert front_matter_values(lines) == {}


def test_toml_is_front_matter_too() -> None:
    lines = ["+++", 'title = "Router"', "[extra]", "level = 3", "+++", "text"]

    assert front_matter_lines(lines) == 5
    assert front_matter_values(lines)["title"] == ["Router"]


def test_values_of_front_matter_are_read_in_their_forms() -> None:
    lines = [
        "---",
        "Title: 'It: a # name'",
        "aliases:",
        "  - Tango  # short",
        '  - "kitchen rebuild"',
        "tags: [net, home/router]",
        "nested: {a: 1}",
        "empty:",
        "---",
    ]

    assert front_matter_values(lines) == {
        "title": ["It: a # name"],
        "aliases": ["Tango", "kitchen rebuild"],
        "tags": ["net", "home/router"],
    }


@pytest.mark.parametrize(
    "written",
    [
        ["aliases: [Tango, 'kitchen, rebuilt']"],
        ["aliases:", "- Tango", "- 'kitchen, rebuilt'"],
        ["aliases:", '  - "Tango"', '  - "kitchen, rebuilt"', "tags: [a]"],
        ["aliases: [", "  Tango, # the band", '  "kitchen, rebuilt",', "]"],
    ],
    ids=["in brackets", "below", "below and indented", "in brackets below"],
)
def test_aliases_are_read_in_every_form_of_a_list(written: list[str]) -> None:
    names = names_in_front_matter(["---", *written, "---", "text"])

    assert names == ("Tango", "kitchen, rebuilt")


def test_one_alias_may_be_several_with_commas_between() -> None:
    names = names_in_front_matter(["---", "alias: Tango, the kitchen", "---"])

    assert names == ("Tango, the kitchen", "Tango", "the kitchen")


def test_the_names_of_toml_are_read_too() -> None:
    lines = ["+++", 'title = "Router"', 'aliases = ["Box", "Fritz"]', "+++"]

    assert names_in_front_matter(lines) == ("Router", "Box", "Fritz")


def test_names_are_read_from_front_matter_that_was_cut_off() -> None:
    lines = ["---", "title: Router", "tags:", "- net"]

    assert names_in_front_matter(lines) == ("Router",)


def test_a_note_without_front_matter_gives_itself_no_name() -> None:
    assert names_in_front_matter(["title: Router", "---"]) == ()
    assert names_in_front_matter(
        ["---", "A sentence: of prose", "---", "and more"]
    ) == (())


@given(st.text(alphabet="-+:#= \t\nab[],'\"{}", max_size=80))
def test_any_text_has_values_or_none(text: str) -> None:
    lines = ["---", *text.split("\n"), "---"]

    values = front_matter_values(lines)

    assert all(found for found in values.values())
    names_in_front_matter(lines)
