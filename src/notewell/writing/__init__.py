"""Writing to notes: appending what is new, and never losing what was there."""

from notewell.writing.append import Appended, append_note
from notewell.writing.locks import only_writer_of

__all__ = ["Appended", "append_note", "only_writer_of"]
