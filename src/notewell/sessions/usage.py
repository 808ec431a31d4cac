"""How full the context of a session is, by what its program wrote into the transcript.

Only the end of a transcript is read; how often it was compacted is counted by the bytes
that stand in such lines alone, since in a text within JSON the quotes would be escaped.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from notewell.files import open_regular
from notewell.foreign import read_json, read_member, read_names
from notewell.sessions.reading import Utterance, utterance_of

_TAIL: Final = 2 * 1024 * 1024
_BLOCK: Final = 1024 * 1024
_COMPACTED: Final = (b'"subtype":"compact_boundary"', b'"type":"compacted"')

_CLAUDE_COUNTS: Final = (
    "input_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
    "output_tokens",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextUse:
    """What a transcript of Claude Code or of Codex tells of its session.

    Attributes:
        tokens: Tokens in the context after the last answer; None where that is not told,
            or a compaction came after it.
        window: Tokens that fit; None where that is not told.
        compactions: How often the conversation was compacted.
        size: Bytes of the transcript.
        asked: What the user said last, as far as it stands near the end.
    """

    tokens: int | None = None
    window: int | None = None
    compactions: int = 0
    size: int = 0
    asked: Utterance | None = None


def context_use(file: Path) -> ContextUse:
    """Look into a transcript.

    Raises:
        OSError: it is missing, unreadable, a link or not a regular file.
    """
    with open_regular(file) as opened:
        compactions = _compactions(opened)
        size = opened.tell()
        opened.seek(max(size - _TAIL, 0))
        lines = opened.read(_TAIL).split(b"\n")
    tokens = window = None
    asked: Utterance | None = None
    settled = False
    for record in _records(lines if size <= _TAIL else lines[1:]):
        if not settled:
            settled = _is_compaction(record)
            counted = _counted(record)
            if counted is not None and not settled:
                (tokens, window), settled = counted, True
        said = utterance_of(record) if asked is None else None
        if said is not None and said.role == "user":
            asked = said
        if settled and asked is not None:
            break
    return ContextUse(
        tokens=tokens, window=window, compactions=compactions, size=size, asked=asked
    )


def _records(lines: list[bytes]) -> Iterator[object]:
    """Yield what the lines hold, the last first; one that is torn holds nothing."""
    for line in reversed(lines):
        if line.strip():
            try:
                yield read_json(line)
            except ValueError:
                continue


def _compactions(opened: BinaryIO) -> int:
    found, kept = 0, b""
    overlap = max(map(len, _COMPACTED)) - 1
    while block := opened.read(_BLOCK):
        text = kept + block
        found += sum(text.count(needle) for needle in _COMPACTED)
        # Those that stand whole in what is kept would be counted twice.
        kept = text[-overlap:]
        found -= sum(kept.count(needle) for needle in _COMPACTED)
    return found + sum(kept.count(needle) for needle in _COMPACTED)


def _is_compaction(record: object) -> bool:
    return (
        read_member(record, "subtype") == "compact_boundary"
        or read_member(record, "type") == "compacted"
    )


def _counted(record: object) -> tuple[int, int | None] | None:
    """Return the tokens that a line tells of, and the window if it names one."""
    if read_member(record, "isSidechain") is True:
        return None
    usage = read_member(record, "message", "usage")
    if read_member(record, "type") == "assistant" and read_names(usage):
        total = sum(_whole(read_member(usage, key)) or 0 for key in _CLAUDE_COUNTS)
        return (total, None) if total else None
    if read_member(record, "payload", "type") != "token_count":
        return None
    info = read_member(record, "payload", "info")
    tokens = _whole(read_member(info, "last_token_usage", "total_tokens"))
    return (
        (tokens, _whole(read_member(info, "model_context_window"))) if tokens else None
    )


def _whole(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value < 2**53:
        return None
    return value
