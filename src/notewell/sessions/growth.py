"""When a growing transcript is worth indexing again."""

from dataclasses import dataclass

from notewell.config.schema import SessionSyncSettings
from notewell.sessions.files import Transcript
from notewell.sessions.reading import Position, read_transcript


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
