"""`notewell get`: exactly the lines, and honest about what is not there."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.adapters.surfaces.conftest import Notewell


def test_a_note_is_printed_as_it_is(run: "Notewell", notes: Path) -> None:
    ran = run("get", "memory/2026-01-10.md")

    assert ran.out == (notes / "memory" / "2026-01-10.md").read_bytes()
    assert ran.said == ""


def test_a_range_is_printed_with_one_final_newline(run: "Notewell") -> None:
    ran = run("get", "memory/2026-01-10.md", "--from", "2", "--lines", "2")

    assert ran.text == "\n## Night\n"


@pytest.mark.parametrize("citation", ["MEMORY.md#L1-L1", "MEMORY.md#L1"])
def test_a_citation_is_read_as_path_and_lines(citation: str, run: "Notewell") -> None:
    assert run("get", citation).text == "# Facts\n"


def test_a_bare_date_finds_the_day(run: "Notewell") -> None:
    ran = run("get", "2026-01-10.md", "--lines", "1")

    assert ran.text == "# Rollout\n"
    assert "memory/2026-01-10.md" in ran.said


def test_a_missing_note_is_a_value_and_no_error(run: "Notewell") -> None:
    plain = run("get", "memory/nope.md")
    value = run("get", "memory/nope.md", "--json")

    assert (plain.code, plain.text) == (0, "")
    assert plain.said.startswith("memory/nope.md: not found")
    assert value.code == 0
    assert (value.value["found"], value.value["text"]) == (False, "")


def test_an_empty_note_is_not_a_missing_one(run: "Notewell", notes: Path) -> None:
    (notes / "memory" / "empty.md").write_bytes(b"")

    plain = run("get", "memory/empty.md")
    value = run("get", "memory/empty.md", "--json").value

    assert (plain.code, plain.text, plain.said) == (0, "", "")
    assert (value["found"], value["totalLines"]) == (True, 0)


def test_a_start_past_the_end_says_where_the_end_is(run: "Notewell") -> None:
    ran = run("get", "MEMORY.md", "--from", "99")

    assert (ran.code, ran.text) == (0, "")
    assert "ends at line 3" in ran.said


@pytest.mark.parametrize(
    "path", ["../secret.md", "/etc/passwd", "memory/link.md", "memory/../../secret.md"]
)
def test_nothing_outside_is_ever_printed(
    path: str, run: "Notewell", notes: Path
) -> None:
    secret = notes.parent / "secret.md"
    secret.write_bytes(b"the secret\n")
    (notes / "memory" / "link.md").symlink_to(secret)

    ran = run("get", path)

    assert (ran.code, ran.text) == (2, "")
    assert "refused" in ran.said


@pytest.mark.parametrize(
    ("raw", "printed", "said"),
    [
        (b"\xef\xbb\xbfcaf\xc3\xa9\n", "café\n", ""),
        ("café\n".encode("utf-16"), "café\n", "note: read as UTF-16\n"),
        (
            "öffnet fünf süße ".encode() + b"\xe9\n",
            "öffnet fünf süße \ufffd\n",
            "U+FFFD",
        ),
        ("kiwi\n".encode("utf-16-le"), "kiwi\n", "note: read as UTF-16, without"),
        (b"no newline", "no newline\n", ""),
    ],
    ids=["byte order mark", "UTF-16", "damaged", "no mark", "no final newline"],
)
def test_what_is_printed_is_text_in_utf8_and_not_the_bytes_of_the_file(
    raw: bytes, printed: str, said: str, run: "Notewell", notes: Path
) -> None:
    (notes / "memory" / "odd.md").write_bytes(raw)

    ran = run("get", "memory/odd.md")

    assert ran.text == printed
    assert said in ran.said


def test_a_pipe_gets_every_character_even_those_a_terminal_obeys(
    run: "Notewell", notes: Path
) -> None:
    raw = "a\x1b[31mb\r\nc\u2028d\n".encode()
    (notes / "memory" / "raw.md").write_bytes(raw)

    assert run("get", "memory/raw.md").out == raw


def test_a_name_in_an_error_cannot_steer_a_terminal(run: "Notewell") -> None:
    ran = run("get", "memory/\x1b[2Jnope.md")

    assert b"\x1b" not in ran.err
