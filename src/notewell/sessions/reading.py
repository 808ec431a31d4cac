"""Reading a transcript: line by line, forgiving, and on from where one stopped."""

import io
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import BinaryIO, Final, NamedTuple

from notewell.foreign import read_json, read_member
from notewell.sessions.cleaning import Role, said_in

MAX_LINE_BYTES: Final = 8 * 1024 * 1024
"""A longer line holds a picture or the output of a tool; it is passed over."""

_MARK_BYTES: Final = 256
_FLAGS: Final = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """What was said in one line of a transcript.

    Attributes:
        line: The line of the JSONL, 1-based.
        role: `user` or `assistant`.
        text: Cleaned, not empty.
        at: When it was said, in UTC; None if the line does not tell.
    """

    line: int
    role: Role
    text: str
    at: datetime | None = None


class Position(NamedTuple):
    """Where to read on: the start of a line.

    Attributes:
        offset: In bytes.
        line: The number of the line that begins there, 1-based.
        mark: A digest of the bytes before it; empty at the start of the file.
    """

    offset: int = 0
    line: int = 1
    mark: bytes = b""


START: Final = Position()


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcription:
    """What was read of a transcript.

    Messages from line `first_line` on are in `messages`: whoever kept some of these
    lines from an earlier reading lets them go and takes these.

    Attributes:
        messages: In the order of the file.
        first_line: The line where reading began; 1 when the file was not merely
            continued, so that everything kept of it is out of date.
        next: Where to read on. A last line without its end is read as far as it makes
            sense, and read again the next time.
        bad_lines: Lines that are no JSON, or are too long. They are passed over.
        silent_lines: Lines that hold a message without anything to keep.
    """

    messages: tuple[Message, ...]
    first_line: int
    next: Position
    bad_lines: int = 0
    silent_lines: int = 0


def read_transcript(
    file: str | os.PathLike[str], since: Position = START
) -> Transcription:
    """Read a transcript from a position on.

    A file that has shrunk, or holds something else before the position, is read from
    its start.

    Raises:
        OSError: it is missing, unreadable, a symbolic link or not a regular file.
    """
    with open(os.open(file, _FLAGS), "rb") as opened:
        if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
            raise OSError(22, "not a regular file", os.fspath(file))
        begin = (
            since
            if since.offset and _mark(opened, since.offset) == since.mark
            else START
        )
        opened.seek(begin.offset)
        return _read(opened, begin)


def still_holds(file: str | os.PathLike[str], read: Position) -> bool:
    """Whether what was read of a transcript up to a position still stands there."""
    try:
        with open(os.open(file, _FLAGS), "rb") as opened:
            regular = stat.S_ISREG(os.fstat(opened.fileno()).st_mode)
            return regular and (
                not read.offset or _mark(opened, read.offset) == read.mark
            )
    except OSError:
        return False


class _Line(NamedTuple):
    raw: bytes | None  # None: too long
    size: int
    ended: bool


def _read(opened: BinaryIO, begin: Position) -> Transcription:
    messages: list[Message] = []
    bad = silent = 0
    offset, number = begin.offset, begin.line
    for line in _lines(opened):
        try:
            record = _parsed(line)
        except ValueError:
            bad += line.ended
        else:
            said = said_in(record)
            if said is not None:
                text = Message(line=number, role=said.role, text=said.text, at=said.at)
                messages.append(text)
            silent += said is None and read_member(record, "type") == "message"
        if line.ended:
            offset, number = offset + line.size, number + 1
    return Transcription(
        messages=tuple(messages),
        first_line=begin.line,
        next=Position(offset, number, _mark(opened, offset)) if offset else START,
        bad_lines=bad,
        silent_lines=silent,
    )


def _lines(opened: BinaryIO) -> Iterator[_Line]:
    """Yield lines; of one that is too long only its size, whatever it takes."""
    while raw := opened.readline(MAX_LINE_BYTES + 1):
        if raw.endswith(b"\n") or len(raw) <= MAX_LINE_BYTES:
            yield _Line(raw, len(raw), raw.endswith(b"\n"))
            continue
        size = len(raw)
        while raw and not raw.endswith(b"\n"):
            raw = opened.readline(io.DEFAULT_BUFFER_SIZE)
            size += len(raw)
        yield _Line(None, size, raw.endswith(b"\n"))


def _parsed(line: _Line) -> object:
    """Read a line; an empty one is None.

    Raises:
        ValueError: it is too long, or no JSON.
    """
    if line.raw is None:
        raise ValueError("too long")
    return read_json(line.raw) if line.raw.strip() else None


def _mark(opened: BinaryIO, offset: int) -> bytes:
    """Return a digest of the last bytes before an offset."""
    from hashlib import blake2b

    start = max(offset - _MARK_BYTES, 0)
    opened.seek(start)
    before = opened.read(offset - start)
    if len(before) < offset - start:
        return b""
    return blake2b(before, digest_size=16).digest()
