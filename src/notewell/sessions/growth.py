"""When a growing transcript is worth indexing again: a pure decision."""

from dataclasses import dataclass

from notewell.config.search import SessionSyncSettings


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
