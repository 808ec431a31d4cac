"""What people and the agent said, without what the machinery around them added."""

import re
from datetime import UTC, datetime
from typing import Final, Literal, NamedTuple, TypeAlias

from notewell.foreign import read_items, read_member
from notewell.sessions.silence import without_silence

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
_UNWRITABLE: Final = re.compile("[\0\ud800-\udfff]")
_LONGEST: Final = 200_000
"""Characters of a message: more is a paste or a fault, and its beginning will do."""


class Said(NamedTuple):
    """One message, as it was meant.

    Attributes:
        role: Who said it.
        text: Cleaned, not empty, at most 200,000 characters.
        at: When, in UTC, or None.
    """

    role: Role
    text: str
    at: datetime | None


def said_in(record: object) -> Said | None:
    """Return what a line of a transcript says, or None when it says nothing to keep."""
    role = _role(read_member(record, "message", "role"))
    if read_member(record, "type") != "message" or role is None:
        return None
    text = cleaned(_written(read_member(record, "message", "content")), role)
    if not text:
        return None
    at = _moment(read_member(record, "message", "timestamp"))
    return Said(role, text, at or _moment(read_member(record, "timestamp")))


def cleaned(text: str, role: Role) -> str:
    r"""Return a text without tool calls, control tokens and silent replies.

    >>> cleaned("<think>hm</think>Noted.<|im_end|>\nNO_REPLY", "assistant")
    'Noted.'
    """
    text = _UNWRITABLE.sub("\ufffd", text[:_LONGEST]).replace("\r\n", "\n")
    if role == "user":
        text = _MESSAGE_ID.sub("", _METADATA.sub("", _STAMP.sub("", text)))
        if _GENERATED.match(text.lstrip()):
            return ""
    text = _TOKENS.sub("", _BLOCKS.sub("", text))
    if role == "assistant":
        text = without_silence(text)
    return _BLANK.sub("\n\n", text).strip()


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
