"""Phrases and properties: what stands in a text, and what a note says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notewell.backends.text.analysis import terms_of
from notewell.backends.text.filtering import (
    PhraseTest,
    note_properties,
    phrase_words,
    wanted_properties,
)
from notewell.filters import Filter
from notewell.workspace.metadata import note_metadata


@pytest.mark.parametrize(
    ("phrase", "text", "stands"),
    [
        ("gateway port", "The Gateway\nport is", True),
        ("gateway port", "the **gateway** port", True),
        ("the gateway port", "the **gateway port**", True),
        ("port", "a report", False),
        ("port", "ports", False),
        ("port", "port-forward", True),
        ("cafe", "CAFÉ!", True),
        ("数据库", "我的数据库在", True),
        ("python", "用Python写", True),
        ("C++", "in C++ it", True),
        ("snake_case", "a snake_case b", True),
        ("snake", "a snake_case b", False),
    ],
)
def test_a_phrase_stands_where_its_words_do(
    phrase: str, text: str, stands: bool
) -> None:
    assert PhraseTest([phrase], [])(text) == stands
    assert PhraseTest([], [phrase])(text) == (not stands)


_PARTS = st.sampled_from(
    [
        "gateway",
        "port",
        "a",
        "18789",
        " ",
        " ",
        "\n",
        "-",
        "_",
        ".",
        "'",
        "**",
        "é",
        "库",
        "(",
        "@",
        "#",
        "/",
        "ß",
        "Gateway",
        "İ",
        "/x.md",
        "=",
        "`",
    ]
)


@given(
    st.lists(_PARTS, max_size=12).map("".join),
    st.sampled_from(["gateway", "port", "a port"]),
)
def test_the_words_of_a_phrase_are_terms_of_every_text_with_it(
    text: str, phrase: str
) -> None:
    if PhraseTest([phrase], [])(text):
        assert set(phrase_words([phrase])) <= terms_of(text)


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("status", "done", True),
        ("STATUS", "Done", True),
        ("status", "open", False),
        ("rating", "5", True),
        ("rating", "5.00", True),
        ("due", "2026-03", True),
        ("due", "2026-03-05", True),
        ("due", "2026-04", False),
        ("people", "ana", True),
        ("people", "ana, ben", False),
        ("project", "Tidepool", True),
        ("missing", "x", False),
    ],
)
def test_front_matter_is_compared_as_text_number_day_and_list(
    key: str, value: str, says: bool
) -> None:
    top = """---
status: DONE
rating: 5.0
due: 2026-03-05T10:00
people: [Ana, Ben]
project: "[[Tidepool|the pool]]"
---"""
    properties = note_properties(note_metadata("a.md", top.split("\n")))

    [wanted] = wanted_properties(Filter(where=((key, value),)))

    assert wanted.is_in(properties) == says
