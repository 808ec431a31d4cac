"""Words that are written together, apart or in another form are found all the same."""

from typing import TYPE_CHECKING

import pytest

from notewell.backends.text.folding import number_keys
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


NUMBERS = {
    "Call +1 (555) 123-4567 now": [
        "5551234567",
        "+15551234567",
        "555.123.4567",
        "+1 555 123 4567",
    ],
    "Call 5551234567 now": ["555-123-4567", "(555) 123-4567", "+1 555 123 4567"],
    "Tel. 0171/2345678": ["01712345678", "+49 171 2345678", "+49 (0)171 2345678"],
    "Tel. 01 23 45 67 89": ["0123456789", "01.23.45.67.89", "+33 1 23 45 67 89"],
    "Card 4111 1111 1111 1111": ["4111111111111111", "4111-1111-1111-1111"],
}


@pytest.mark.parametrize("text", NUMBERS)
def test_a_long_number_is_found_however_its_digits_are_grouped(
    notebook: "Notebook", text: str
) -> None:
    others = ["123 parcels", "room 555", "171 steps", "45 and 67", "a 4111 b 1111"]
    notebook.write({f"memory/n{n}.md": other for n, other in enumerate(others)})
    notebook.write({"memory/a.md": text})
    notebook.refresh()

    first = {asked: notebook.paths(asked)[0] for asked in NUMBERS[text]}

    assert first == dict.fromkeys(NUMBERS[text], "memory/a.md")


@pytest.mark.parametrize(
    "text", ["2026-03-03 10:15", "03.04.2026", "v1.2.3", "12 + 15"]
)
def test_dates_and_short_numbers_are_no_long_number(text: str) -> None:
    assert number_keys(text) == []
