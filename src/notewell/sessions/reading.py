"""Reading a transcript: line by line, forgiving, and on from where one stopped.

What people and the agent said is kept without what the machinery around them added,
and without the words with which an agent says nothing.
"""

import io
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import BinaryIO, Final, Literal, NamedTuple, TypeAlias

from notewell.files import open_regular, writable_text
from notewell.foreign import read_items, read_json, read_member
from notewell.sessions.records import SpokenRecord, spoken_elsewhere

MAX_LINE_BYTES: Final = 8 * 1024 * 1024
"""A longer line holds a picture or the output of a tool; it is passed over."""

_MARK_BYTES: Final = 256


Role: TypeAlias = Literal["user", "assistant"]

# Blocks that a model wrote as text: its thoughts, and calls of tools.
_BLOCKS: Final = re.compile(
    r"<(think(?:ing)?|reasoning|tool_calls?|tool_results?|tool_use|function_calls?"
    r"|function_results?|invoke|system-reminder)\b[^<>]*>.*?(?:</\1\s*>|\Z)",
    re.IGNORECASE | re.DOTALL,
)

# Control tokens of templates, as <|im_start|>, [INST] or [[reply_to_current]].
_TOKENS: Final = re.compile(
    r"<[|｜][^<>|｜\n]{1,60}[|｜]>|</?(?:final|s)>|\[/?INST\]|<</?SYS>>"
    r"|\[\[\s*(?:reply_to(?:_current)?|audio_as_voice)\b[^\[\]\n]{0,200}\]\]",
)

# What OpenClaw puts around a message from a channel.
_METADATA: Final = re.compile(
    r"^[A-Z][A-Za-z ]{2,60} \(untrusted(?: metadata|, for context)\):[ \t]*\n"
    r"[ \t]*```json\n.*?\n[ \t]*```[ \t]*(?:\n|\Z)",
    re.MULTILINE | re.DOTALL,
)

_STAMP: Final = re.compile(
    r"\A\[[A-Za-z]{3} [0-9]{4}-[0-9]{2}-[0-9]{2}[^\]\n]{0,40}\] ?"
)

_MESSAGE_ID: Final = re.compile(r"^\[message_id:[^\]\n]*\][ \t]*$", re.MULTILINE)

# Messages of the user's that no user wrote.
_GENERATED: Final = re.compile(
    r"\A(?:System(?: \(untrusted\))?: \[[^\]]+\]|\[cron:[^\]]+\]"
    r"|Read HEARTBEAT\.md\b|Pre-compaction memory flush\b)"
)

_BLANK: Final = re.compile(r"\n{3,}")

_LONGEST: Final = 200_000
"""Characters of a message: more is a paste or a fault, and its beginning will do."""

NO_REPLY: Final = "NO_REPLY"
"""What an agent answers to say nothing; the user never sees such an answer."""

_BEGINS: Final = re.compile(
    r"[\s*_`\"'(\[]*(?:NO_REPLY|HEARTBEAT_OK)(?![A-Za-z0-9_])", re.IGNORECASE
)

_ENDS: Final = re.compile(
    r"[\s*_`\"'(\[]*\b(?:NO_REPLY|HEARTBEAT_OK)[\s*_`\"').\]!]*\Z", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptMessage:
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

    messages: tuple[TranscriptMessage, ...]
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
    with open_regular(file) as opened:
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
        with open_regular(file) as opened:
            return not read.offset or _mark(opened, read.offset) == read.mark
    except OSError:
        return False


class _Line(NamedTuple):
    raw: bytes | None  # None: too long
    size: int
    ended: bool


class Utterance(NamedTuple):
    """One message, as it was meant.

    Attributes:
        role: Who said it.
        text: Cleaned, not empty, at most 200,000 characters.
        at: When, in UTC, or None.
    """

    role: Role
    text: str
    at: datetime | None


def utterance_of(record: object) -> Utterance | None:
    """Return what a line of a transcript says, or None when it says nothing to keep."""
    elsewhere = spoken_elsewhere(record)
    if elsewhere is not None:
        return _said_elsewhere(elsewhere)
    role = _role(read_member(record, "message", "role"))
    if read_member(record, "type") != "message" or role is None:
        return None
    text = clean_text(_written(read_member(record, "message", "content")), role)
    if not text:
        return None
    at = _moment(read_member(record, "message", "timestamp"))
    return Utterance(role, text, at or _moment(read_member(record, "timestamp")))


def _said_elsewhere(spoken: SpokenRecord) -> Utterance | None:
    role = _role(spoken.role)
    text = clean_text(spoken.text, role) if role else ""
    return Utterance(role, text, _moment(spoken.at)) if role and text else None


def _is_message(record: object) -> bool:
    return (
        read_member(record, "type") == "message" or spoken_elsewhere(record) is not None
    )


def clean_text(text: str, role: Role) -> str:
    r"""Return a text without tool calls, control tokens and silent replies.

    >>> clean_text("<think>hm</think>Noted.<|im_end|>\nNO_REPLY", "assistant")
    'Noted.'
    """
    text = writable_text(text[:_LONGEST]).replace("\r\n", "\n")
    if role == "user":
        text = _MESSAGE_ID.sub("", _METADATA.sub("", _STAMP.sub("", text)))
        if _GENERATED.match(text.lstrip()):
            return ""
    text = _TOKENS.sub("", _BLOCKS.sub("", text))
    if role == "assistant":
        text = without_silence(text)
    return _BLANK.sub("\n\n", text).strip()


def without_silence(text: str) -> str:
    """Return what an agent says besides the words that say nothing.

    A first or last line that begins with such a word is dropped whole: what follows
    there explains only why nothing is said.

    >>> without_silence("NO_REPLY"), without_silence("- a\\n\\nNO_REPLY")
    ('', '- a')
    """
    lines = text.split("\n")
    while lines and _says_nothing(lines[0]):
        lines.pop(0)
    while lines and _says_nothing(lines[-1]):
        lines.pop()
    if lines:
        lines[-1] = _ENDS.sub("", lines[-1])
    return "\n".join(lines)


def _read(opened: BinaryIO, begin: Position) -> Transcription:
    messages: list[TranscriptMessage] = []
    bad = silent = 0
    offset, number = begin.offset, begin.line
    for line in _lines(opened):
        try:
            record = _parsed(line)
        except ValueError:
            bad += line.ended
        else:
            said = utterance_of(record)
            if said is not None:
                text = TranscriptMessage(
                    line=number, role=said.role, text=said.text, at=said.at
                )
                messages.append(text)
            silent += said is None and _is_message(record)
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


def _role(value: object) -> Role | None:
    if value == "user":
        return "user"
    return "assistant" if value == "assistant" else None


def _written(content: object) -> str:
    """Return the text of a message: a string, or the blocks of type `text`."""
    if isinstance(content, str):
        return content
    blocks = (
        each for each in read_items(content) if read_member(each, "type") == "text"
    )
    texts = (read_member(block, "text") for block in blocks)
    return "\n".join(text for text in texts if isinstance(text, str))


def _moment(value: object) -> datetime | None:
    """Read a time: ISO 8601, or seconds or milliseconds since 1970."""
    try:
        if isinstance(value, str):
            found = datetime.fromisoformat(value)
            return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
        if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
            seconds = value if value < 1e11 else value / 1000
            return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None


def _says_nothing(line: str) -> bool:
    return not line.strip() or _BEGINS.match(line) is not None
