"""Words that are written together, apart or in another form are found all the same."""

from typing import TYPE_CHECKING

import pytest

from notewell.backends.text.query import parse_query

if TYPE_CHECKING:
    from tests.backends.conftest import Notebook


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("32 kWh", "32kWh"),
        ("32kWh", "32 kWh"),
        ("7.2 kWh", "7.2kWh"),
        ("2048 MB", "2048MB"),
        ("parse_http_header", "parseHttpHeader"),
        ("parseHttpHeader", "parse_http_header"),
        ("parse-http-header", "parseHttpHeader"),
        ("readonly", "read-only"),
        ("loadPageByName()", "PageByName"),
        ("4,321,987.65", "4321987"),
        ("4,321,987.65", "4,321,987.65"),
        ("4321987.65", "4,321,987.65"),
        ("870 000", "870000"),
        ("870000", "870 000"),
        ("870'000", "870000"),
        ("870_000", "870000"),
        ("870.000", "870000"),
        ("212-555-0187", "2125550187"),
        ("212 555 0187", "2125550187"),
        ("2125550187", "212-555-0187"),
        ("c41d7e90aa", "c41d"),
        ("c41d7e90aa", "c41d7"),
        ("новости", "новость"),
        ("серверный", "серверная"),
        ("βιβλία", "βιβλίο"),
        ("والمكتبة", "مكتبة"),
        ("लड़के", "लड़का"),
        ("புத்தகங்கள்", "புத்தகம்"),
    ],
)
def test_two_ways_to_write_a_thing_meet(
    notebook: "Notebook", text: str, query: str
) -> None:
    notebook.write({"memory/a.md": f"before {text} after", "memory/b.md": "something"})
    notebook.refresh()

    assert notebook.paths(query) == ["memory/a.md"]


def test_what_is_written_as_it_was_asked_for_comes_first(notebook: "Notebook") -> None:
    notebook.write(
        {
            "memory/a.md": "the limit is 32 kWh",
            "memory/b.md": "the limit is 32kWh",
            "memory/c.md": "новости дня",
            "memory/d.md": "новость дня",
        }
    )
    notebook.refresh()

    assert notebook.paths("32kWh") == ["memory/b.md", "memory/a.md"]
    assert notebook.paths("новость") == ["memory/d.md", "memory/c.md"]


@pytest.mark.parametrize("word", ["12", "abcd", "face", "2024", "v12", "gpt4"])
def test_a_plain_word_or_number_is_no_beginning_of_a_hash(word: str) -> None:
    assert not any(term.prefix for term in parse_query(word).terms)
