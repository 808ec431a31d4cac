"""Unknown words are found by those they may have been meant to be."""

from functools import cache
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notewell.adapters.embeddings.local.static import pieces_in
from notewell.backends.text.query import parse_query
from notewell.backends.text.spelling import (
    count_slips,
    is_unknown,
    looks_misspelled,
    nearest_words,
    slips_allowed,
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

    assert not any(slips_allowed(term.exact[0]) for term in terms)


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

    unknown = [
        each for each in terms if is_unknown(each, {"deploymnets": 2, "multi": 1})
    ]

    assert [term.exact for term in unknown] == [("gatway",), ("go",)]
    assert slips_allowed("gatway") == 1


@pytest.mark.parametrize(
    ("word", "other", "slip"),
    [
        ("gatway", "gateway", True),
        ("deplyomnt", "deployment", True),
        ("organising", "organizing", True),
        ("colours", "colors", True),
        ("centred", "centered", True),
        ("heating", "hearing", False),
        ("staged", "stayed", False),
        ("banker", "banner", False),
        ("prospects", "projects", False),
        ("youngster", "younger", False),
        ("grieving", "grinding", False),
    ],
)
def test_a_word_of_the_language_is_no_slip_for_another(
    word: str, other: str, slip: bool
) -> None:
    pytest.importorskip("wordllama")

    assert looks_misspelled(word, other, pieces_in) == slip


@pytest.mark.parametrize("word", ["aaaaaa", "ing", "eds", "lly", "ss", "bbly"])
def test_any_word_can_be_asked_for_what_it_was_formed_from(word: str) -> None:
    assert looks_misspelled(word, "another", lambda _: 9)


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


@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        ("Krankenversicherung", '"krankenversicherungsbeitrag"'),
        ("sched", '"scheduler"'),
        ("radish", '"horseradish"'),
        ("Beitrag", '"krankenversicherungsbeitrag"'),
        ("18n", '"i18n"'),
        ("evleri", '"evlerimizden"'),
    ],
)
def test_a_word_that_stands_nowhere_is_looked_for_in_longer_ones(
    notebook: "Notebook", asked: str, shown: str
) -> None:
    text = (
        "Der Krankenversicherungsbeitrag. Horseradish, i18n, scheduler, evlerimizden."
    )
    notebook.write({"memory/a.md": text, "memory/b.md": "A pool."})
    notebook.refresh()

    found = notebook.ask(asked)

    assert [hit.path for hit in found.hits] == ["memory/a.md"]
    [warning] = found.warnings
    assert warning == (
        f'Nothing indexed holds "{asked.lower()}"; searched for longer words with it,'
        f" {shown}."
    )


def test_a_longer_word_counts_less_than_the_word(notebook: "Notebook") -> None:
    notebook.write({"memory/a.md": "horseradish", "memory/b.md": "Something else."})
    notebook.refresh()

    [longer] = notebook.ask("radish").hits
    [word] = notebook.ask("horseradish").hits

    assert longer.score < 0.8 * word.score


def test_the_inside_of_words_is_left_alone_where_the_rest_of_the_question_is_found(
    notebook: "Notebook",
) -> None:
    notebook.write({"memory/a.md": "horseradish", "memory/b.md": "roses bloom in June"})
    notebook.refresh()

    found = notebook.ask("radish roses bloom")

    assert [hit.path for hit in found.hits] == ["memory/b.md"]


def test_the_answer_names_words_of_the_notes_and_not_their_stems(
    notebook: "Notebook",
) -> None:
    notebook.write({"memory/a.md": "The schedules are kept. Schedule it!"})
    notebook.refresh()

    [warning] = notebook.ask("schedlu").warnings

    assert (
        warning == 'Nothing indexed holds "schedlu"; searched for "schedule" instead.'
    )


@pytest.mark.parametrize("written", ["a828", "a828e", "a828e6", "a828e60"])
def test_a_hash_finds_the_note_that_has_its_beginning(
    notebook: "Notebook", written: str
) -> None:
    notebook.write({"memory/a.md": f"fixed in {written}", "memory/b.md": "fixed 2026"})
    notebook.refresh()
    whole = "a828e60bb849edfac72a7ca97e0bf683719127f3"

    assert notebook.paths(whole) == notebook.paths(whole[:8]) == ["memory/a.md"]
