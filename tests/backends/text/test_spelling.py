"""Unknown words are found by those they may have been meant to be."""

from functools import cache
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notewell.backends.text.query import parse_query
from notewell.backends.text.spelling import (
    MOST_RESPELLED,
    count_slips,
    nearest_words,
    slips_allowed,
    unknown_words,
)

if TYPE_CHECKING:
    from tests.backends.conftest import Notebook

WORDS = st.text(alphabet="abc", max_size=6)


def slips_by_definition(left: str, right: str) -> int:
    """The recursion as the paper has it."""

    @cache
    def between(i: int, j: int) -> int:
        if i == 0 or j == 0:
            return i + j
        ways = [
            between(i - 1, j) + 1,
            between(i, j - 1) + 1,
            between(i - 1, j - 1) + (left[i - 1] != right[j - 1]),
        ]
        if i > 1 and j > 1 and left[i - 2 : i] == right[j - 2 : j][::-1]:
            ways.append(between(i - 2, j - 2) + 1)
        return min(ways)

    return between(len(left), len(right))


@given(left=WORDS, right=WORDS, most=st.integers(1, 2))
def test_slips_are_counted_up_to_a_number(left: str, right: str, most: int) -> None:
    assert count_slips(left, right, most) == min(
        most + 1, slips_by_definition(left, right)
    )


@pytest.mark.parametrize("word", ["port", "zx4417", "", "数据库数据库", "c++c++"])
def test_what_has_no_spelling_has_no_slips(word: str) -> None:
    [*terms] = parse_query(word).terms

    assert unknown_words(terms, {}) == []


def test_the_nearest_words_have_the_fewest_slips_and_stand_most_often() -> None:
    vocabulary = [
        ("education", 3),
        ("educator", 9),
        ("educators", 2),
        ("educating", 1),
        ("deduction", 4),
    ]

    assert nearest_words("educaton", vocabulary) == ("educator", "education")
    assert nearest_words("educxxon", vocabulary) == ()


def test_only_words_with_content_that_stand_nowhere_are_unknown() -> None:
    terms = parse_query("where would the gatway and multi-agnet deploymnets go").terms

    unknown = unknown_words(terms, {"deploymnets": 0, "multi": 1})

    assert [term.exact for term in unknown] == [("deploymnets",), ("gatway",)]
    assert len(unknown) <= MOST_RESPELLED
    assert slips_allowed("gatway") == 1


def test_a_word_with_a_slip_is_found_and_the_answer_says_so(
    notebook: "Notebook",
) -> None:
    notebook.write({"memory/a.md": "The gateway listens.", "memory/b.md": "A pool."})
    notebook.refresh()

    found = notebook.ask("gatway")

    assert [hit.path for hit in found.hits] == ["memory/a.md"]
    assert found.warnings == (
        'Nothing indexed holds "gatway"; searched for "gateway" instead.',
    )


def test_a_word_with_a_slip_is_never_the_word_itself(notebook: "Notebook") -> None:
    notebook.write({"memory/a.md": "The gateway listens."})
    notebook.refresh()

    assert notebook.ask("gatway", min_score=1.0).hits == []
    assert notebook.paths("gateway", min_score=1.0) == ["memory/a.md"]


def test_a_word_that_stands_somewhere_is_taken_as_it_is(notebook: "Notebook") -> None:
    notebook.write({"memory/a.md": "The gateway listens.", "memory/b.md": "gatway"})
    notebook.refresh()

    found = notebook.ask("gatway")

    assert [hit.path for hit in found.hits] == ["memory/b.md"]
    assert found.warnings == ()


def test_a_word_of_other_letters_finds_nothing(notebook: "Notebook") -> None:
    notebook.write({"memory/a.md": "The gateway listens. Ü überall."})
    notebook.refresh()

    assert notebook.ask("xylophone").hits == []
    assert notebook.ask("ﬆrangely").hits == []
    assert notebook.ask("overall").hits == []
