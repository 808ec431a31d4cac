"""Messages as lines of text that can be cut into passages, and when new ones are worth it.

Each line of the text knows the line of the transcript that it stands for.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

from notewell.config.schema import SessionSyncSettings
from notewell.sessions.files import Transcript
from notewell.sessions.reading import Position, TranscriptMessage, read_transcript

_WIDEST: Final = 2_000
"""Characters of a line. A paste without line ends becomes several lines."""

_PART: Final = 8_000
"""Characters after which the next message begins another part."""

_NAMES: Final = {"user": "User", "assistant": "Assistant"}


class TranscriptText(NamedTuple):
    """A text that can be cut into passages at its line ends.

    Attributes:
        lines: Without line ends. Messages are set apart by empty lines.
        origins: For each line the line of the JSONL it comes from; they never fall.
    """

    lines: tuple[str, ...]
    origins: tuple[int, ...]

    @property
    def text(self) -> str:
        """The lines, each with LF at its end."""
        return "".join(f"{line}\n" for line in self.lines)


def transcript_text(messages: Iterable[TranscriptMessage]) -> TranscriptText:
    """Write messages one below the other, each begun with who said it.

    The lines of a message depend on it alone: what comes later changes none of them.
    """
    lines: list[str] = []
    origins: list[int] = []
    for message in messages:
        said = f"{_NAMES[message.role]}: {message.text}"
        own = [*(part for line in said.split("\n") for part in _narrow(line)), ""]
        lines.extend(own)
        origins.extend([message.line] * len(own))
    return TranscriptText(tuple(lines[:-1]), tuple(origins[:-1]))


def text_parts(said: TranscriptText) -> list[tuple[int, int]]:
    """Cut a long text where a message begins: first line of each part, and past its last.

    What comes later changes no part but the last one.

    Returns:
        Places in `said.lines`, counted from 0.
    """
    starts, size = [0], 0
    for at, line in enumerate(said.lines):
        if size > _PART and said.origins[at] != said.origins[at - 1]:
            starts.append(at)
            size = 0
        size += len(line) + 1
    return list(pairwise([*starts, len(said.lines)]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """How far a transcript has grown since it was indexed.

    Attributes:
        bytes: New bytes; negative when the file has shrunk: it is another one.
        messages: New messages; None when nobody has counted.
    """

    bytes: int
    messages: int | None = None


def is_worth_indexing(growth: Growth, settings: SessionSyncSettings) -> bool:
    """Whether a transcript has grown by `deltaBytes` or by `deltaMessages`.

    A threshold of 0 is reached by any growth. A file that has shrunk is always worth it.
    """
    if growth.bytes <= 0:
        return growth.bytes < 0
    enough = growth.bytes >= settings.delta_bytes
    count = growth.messages
    return enough or (count is not None and count >= max(settings.delta_messages, 1))


def has_news(
    transcript: Transcript, size: int, read: Position, settings: SessionSyncSettings
) -> bool:
    """Whether a transcript is worth reading on, or holds something else now.

    Args:
        transcript: As it is now.
        size: In bytes, as it was when it was read.
        read: Up to where it was read.
        settings: How much has to be new.
    """
    grown = transcript.size - size
    if is_worth_indexing(Growth(bytes=grown), settings):
        return True
    try:
        news = read_transcript(transcript.file, read)
    except OSError:
        return True  # whoever reads it is to say so
    if news.first_line != read.line:
        return True
    return is_worth_indexing(Growth(bytes=grown, messages=len(news.messages)), settings)


def _narrow(line: str) -> list[str]:
    """Cut a line into pieces of bounded width, at a space where there is one."""
    parts: list[str] = []
    while len(line) > _WIDEST:
        space = line.rfind(" ", _WIDEST // 2, _WIDEST)
        at = space + 1 if space > 0 else _WIDEST
        parts.append(line[:at])
        line = line[at:]
    return [*parts, line]
