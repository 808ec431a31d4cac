import codecs
import hashlib
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notewell.workspace.layout import (
    MAX_NOTE_BYTES,
    read_note,
    split_lines,
)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("\n", [""]),
        ("a", ["a"]),
        ("a\nb\n", ["a", "b"]),
        ("a\nb", ["a", "b"]),
        ("a\n\n", ["a", ""]),
        ("a\r\nb\r\n", ["a\r", "b\r"]),
    ],
)
def test_a_final_newline_is_not_a_further_line(text: str, lines: list[str]) -> None:
    assert split_lines(text) == lines


@pytest.mark.parametrize(
    "mark", ["\u2028", "\u2029", "\x0b", "\x0c", "\x85", "\r", "\x1c"]
)
def test_only_lf_ends_a_line(mark: str) -> None:
    assert split_lines(f"a{mark}b\n") == [f"a{mark}b"]


@given(st.text(alphabet=st.sampled_from("ab\n\r\u2028\x0c")))
def test_joined_lines_are_the_text(text: str) -> None:
    lines = split_lines(text)

    assert "\n".join(lines) + "\n" * text.endswith("\n") == text
    assert all("\n" not in line for line in lines)


def test_the_digest_is_of_the_raw_bytes(tmp_path: Path) -> None:
    note = tmp_path / "n.md"
    note.write_bytes(codecs.BOM_UTF8 + b"a\r\n")

    read = read_note(note)

    assert read.digest == hashlib.blake2b(note.read_bytes(), digest_size=16).digest()
    assert read.text == "a\r\n"
    assert read.odd is None


def test_reading_never_waits_for_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")

    with pytest.raises(OSError, match="not a regular file"):
        read_note(tmp_path / "pipe.md")


def test_reading_never_follows_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.md").write_text("kiwi", encoding="utf-8")
    (tmp_path / "link.md").symlink_to(tmp_path / "real.md")

    with pytest.raises(OSError, match="link"):
        read_note(tmp_path / "link.md")


def test_a_file_that_has_grown_too_large_is_not_read(tmp_path: Path) -> None:
    note = tmp_path / "n.md"
    note.touch()
    os.truncate(note, MAX_NOTE_BYTES + 1)

    with pytest.raises(OSError, match="too large"):
        read_note(note)
