"""Writing to notes: appending what is new, and never losing what was there."""

from notewell.writing.append import (
    MAX_TEXT_BYTES,
    AppendResult,
    append_note,
    finish_notes,
)
from notewell.writing.locks import only_writer_of

__all__ = [
    "MAX_TEXT_BYTES",
    "AppendResult",
    "append_note",
    "finish_notes",
    "only_writer_of",
]
