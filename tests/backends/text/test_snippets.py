"""What is shown of a passage: unaltered, short, around the match."""

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from notewell.backends.text.snippets import SNIPPET_CHARACTERS, cut_snippet

if TYPE_CHECKING:
    from tests.backends.conftest import Notebook


def repeated(word: str, times: int) -> str:
    return word * times


def has_kiwi(text: str) -> float:
    return float("kiwi" in text)


@given(
    lines=st.lists(
        st.text(alphabet=st.characters(blacklist_characters="\n"), max_size=40)
        | st.builds(
            repeated,
            st.sampled_from(["a", "no ", "漢"]),
            st.integers(1, 900),
        ),
        min_size=1,
        max_size=20,
    ),
    place=st.integers(min_value=0),
)
@settings(max_examples=200, deadline=None)
def test_a_snippet_is_an_unaltered_part_that_holds_the_match(
    lines: list[str], place: int
) -> None:
    match = place % len(lines)
    lines[match] = lines[match] + " kiwi"

    shown, first = cut_snippet("\n".join(lines), match, has_kiwi)

    assert 0 <= "\n".join(lines[first:]).find(shown) <= len(lines[first])
    assert first <= match
    assert "kiwi" in shown
    assert 0 < len(shown) <= SNIPPET_CHARACTERS


@given(
    lengths=st.lists(st.integers(0, 300), min_size=1, max_size=20),
    place=st.integers(min_value=0),
    worth=st.dictionaries(
        st.integers(0, 19), st.dictionaries(st.integers(0, 3), st.floats(0.1, 1))
    ),
    most=st.integers(1, 700),
)
@settings(max_examples=200, deadline=None)
def test_the_run_of_lines_that_holds_most_has_the_best_line_in_it_and_fits(
    lengths: list[int],
    place: int,
    worth: dict[int, dict[int, float]],
    most: int,
) -> None:
    lines = ["x" * length for length in lengths]
    match = place % len(lines)
    lines[match] = lines[match][: most - 1] + "k"

    shown, first = cut_snippet("\n".join(lines), match, len, most, worth)

    run = shown.split("\n")
    assert len(shown) <= most
    assert lines[first : first + len(run)] == run
    assert first <= match < first + len(run)


def test_lines_that_hold_the_rest_of_the_query_are_shown_beside_the_best() -> None:
    lines = [f"line {n} " + "x" * 190 for n in range(9)]
    worth = {1: {0: 1.0}, 4: {1: 1.0, 2: 1.0}}

    _, around = cut_snippet("\n".join(lines), 4, len)
    shown, first = cut_snippet(
        "\n".join([*lines[:2], *lines[3:]]), 3, len, 700, {1: {0: 1.0}, 3: {1: 2.0}}
    )

    assert around == 3
    assert first == 1
    assert shown.split("\n")[-1] == lines[4]
    assert cut_snippet("\n".join(lines), 4, len, 700, worth)[1] == 3


def test_whole_lines_are_shown_where_they_fit() -> None:
    lines = [f"line {n} " + "x" * 90 for n in range(20)]

    snippet, first = cut_snippet("\n".join(lines), 10, has_kiwi)
    shown = snippet.split("\n")

    assert lines[first] == shown[0]
    assert set(shown) <= set(lines)
    assert lines[10] in shown
    assert len(shown) == 7


def test_a_long_line_is_cut_between_words() -> None:
    line = "apple " * 500 + "kiwi " + "pear " * 500

    shown, _ = cut_snippet(line, 0, has_kiwi)

    assert set(shown.split()) <= {"apple", "kiwi", "pear"}
    assert "kiwi" in shown


@pytest.mark.parametrize("line", [1, 2, 50, 99, 100])
def test_the_line_that_matches_is_cited_and_shown(
    notebook: "Notebook", line: int
) -> None:
    lines = [f"{n} plain filling" for n in range(1, 101)]
    lines[line - 1] = "the kumquat grows here"
    notebook.write({"memory/a.md": "\n".join(lines)})
    notebook.refresh()

    [hit] = notebook.ask("where is the kumquat").hits

    assert hit.match_line == line
    assert "kumquat" in hit.snippet


def test_the_best_of_several_matching_lines_is_cited(notebook: "Notebook") -> None:
    notebook.write(
        {"memory/a.md": "the port\nthe gateway\nthe gateway port is 1\nport\ngateway"}
    )
    notebook.refresh()

    [hit] = notebook.ask("gateway port").hits

    assert hit.match_line == 3


@pytest.mark.parametrize("before", [0, 500, 5_000, 40_000])
def test_a_match_in_an_endless_line_is_shown(notebook: "Notebook", before: int) -> None:
    notebook.write({"memory/a.md": "x\n" + "ab " * before + "kumquat" + " cd" * 9000})
    notebook.refresh()

    [hit] = notebook.ask("kumquat").hits

    assert (hit.start_line, hit.match_line, hit.end_line)[1:] == (2, 2)
    assert "kumquat" in hit.snippet


def test_a_note_that_is_found_by_its_name_shows_its_beginning(
    notebook: "Notebook",
) -> None:
    notebook.write({"memory/kumquat.md": "\n\nfirst line\nsecond line"})
    notebook.refresh()

    [hit] = notebook.ask("kumquat").hits

    assert "first line" in hit.snippet


def test_a_hit_says_which_headings_stand_above_it(notebook: "Notebook") -> None:
    notebook.write({"memory/a.md": "# Rollout\n\n## Night\n\nkumquat\n"})
    notebook.refresh()

    [hit] = notebook.ask("kumquat").hits

    assert hit.heading == "Rollout > Night"
