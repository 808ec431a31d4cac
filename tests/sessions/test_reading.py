"""Reading a transcript line by line, and on from where one stopped."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from notewell.sessions import START, TranscriptMessage, read_transcript
from notewell.sessions.reading import MAX_LINE_BYTES


def said(text: str, role: str = "user") -> bytes:
    record = {"type": "message", "message": {"role": role, "content": text}}
    return json.dumps(record).encode() + b"\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A transcript with a header, two messages and a tool's output."""
    path = tmp_path / "s1.jsonl"
    tool = b'{"type": "message", "message": {"role": "toolResult", "content": "x"}}\n'
    path.write_bytes(
        b'{"type": "session", "id": "s1"}\n' + said("one") + tool + said("two")
    )
    return path


def test_each_message_has_its_line_of_the_file(file: Path) -> None:
    read = read_transcript(file)

    assert read.messages == (
        TranscriptMessage(line=2, role="user", text="one"),
        TranscriptMessage(line=4, role="user", text="two"),
    )
    assert (read.first_line, read.bad_lines, read.silent_lines) == (1, 0, 1)


@pytest.mark.parametrize(
    "bad",
    [
        b"{\n",
        b"not json\n",
        b"\xff\xfe\x00\n",
        b'{"type": "message", "message": {"role": "user", "content": "cut\n',
        b"[" * 100_000 + b"\n",
        b"\n",
        b"  \r\n",
    ],
    ids=["open", "words", "bytes", "cut", "deep", "empty", "blank"],
)
def test_a_bad_line_costs_only_itself(file: Path, bad: bytes) -> None:
    file.write_bytes(said("one") + bad + said("two"))

    read = read_transcript(file)

    assert [(each.line, each.text) for each in read.messages] == [
        (1, "one"),
        (3, "two"),
    ]
    assert read.bad_lines == bool(bad.strip())


def test_numbers_that_are_none_and_half_characters_are_read(file: Path) -> None:
    file.write_bytes(
        b'{"type": "message", "usage": NaN, "cost": -Infinity, '
        b'"message": {"role": "user", "content": "half \\ud83c"}}\n'
    )

    [message] = read_transcript(file).messages

    assert message.text == "half \ufffd"


def test_a_line_without_measure_is_passed_over_in_bounded_memory(file: Path) -> None:
    with open(file, "wb") as opened:
        opened.write(b'{"picture": "')
        opened.seek(MAX_LINE_BYTES * 3)
        opened.write(b'"}\n' + said("after"))

    read = read_transcript(file)

    assert [(each.line, each.text) for each in read.messages] == [(2, "after")]
    assert read.bad_lines == 1


def test_a_file_that_grew_is_read_on_from_where_one_stopped(file: Path) -> None:
    first = read_transcript(file)
    with open(file, "ab") as opened:
        opened.write(said("three"))

    more = read_transcript(file, first.next)

    assert more.messages == (TranscriptMessage(line=5, role="user", text="three"),)
    assert more.first_line == 5
    assert more.next.offset == file.stat().st_size


def test_nothing_new_is_nothing(file: Path) -> None:
    first = read_transcript(file)

    again = read_transcript(file, first.next)

    assert (again.messages, again.next) == ((), first.next)


def test_a_last_line_without_its_end_is_read_and_read_again(file: Path) -> None:
    file.write_bytes(said("one") + said("two").rstrip(b"\n"))
    first = read_transcript(file)
    with open(file, "ab") as opened:
        opened.write(b"\n" + said("three"))

    more = read_transcript(file, first.next)

    assert [each.text for each in first.messages] == ["one", "two"]
    assert (more.first_line, [each.line for each in more.messages]) == (2, [2, 3])


def test_half_a_line_is_not_counted_as_bad(file: Path) -> None:
    file.write_bytes(said("one") + said("two")[:20])

    read = read_transcript(file)

    assert ([each.text for each in read.messages], read.bad_lines) == (["one"], 0)


@pytest.mark.parametrize("raw", [b"", said("other"), said("x" * 300) + said("two")])
def test_another_file_in_its_place_is_read_from_its_start(
    file: Path, raw: bytes
) -> None:
    first = read_transcript(file)
    file.write_bytes(raw)

    again = read_transcript(file, first.next)

    assert again.first_line == 1
    assert again.messages == read_transcript(file).messages


def test_what_is_no_regular_file_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "x")

    for name in ("pipe.jsonl", "link.jsonl", "missing.jsonl"):
        with pytest.raises(OSError, match=name):
            read_transcript(tmp_path / name)


@settings(max_examples=50)
@given(
    st.lists(
        st.sampled_from([said("a"), said("b", "assistant"), b"{\n", b"\n", said("c")]),
        max_size=12,
    ),
    st.lists(st.integers(0, 600), max_size=4),
)
def test_reading_in_pieces_gives_the_same_as_reading_once(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], cuts: list[int]
) -> None:
    raw = b"".join(lines)
    file = tmp_path_factory.mktemp("s") / "x.jsonl"
    held: dict[int, TranscriptMessage] = {}
    position = START

    for cut in [*sorted(cuts), len(raw)]:
        file.write_bytes(raw[:cut])
        read = read_transcript(file, position)
        held = {line: one for line, one in held.items() if line < read.first_line}
        held |= {one.line: one for one in read.messages}
        position = read.next

    assert tuple(held.values()) == read_transcript(file).messages
