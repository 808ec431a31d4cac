"""The folder of notes: which one it is, what is in it, and reading from it."""

from notewell.workspace.choice import Choice, choose_workspace
from notewell.workspace.document import get_document
from notewell.workspace.layout import (
    MAX_NOTE_BYTES,
    Note,
    Scan,
    Workspace,
    is_markdown,
)
from notewell.workspace.notes import NoteText, decode_note, read_note, split_lines
from notewell.workspace.paths import Located, locate
from notewell.workspace.scan import scan

__all__ = [
    "MAX_NOTE_BYTES",
    "Choice",
    "Located",
    "Note",
    "NoteText",
    "Scan",
    "Workspace",
    "choose_workspace",
    "decode_note",
    "get_document",
    "is_markdown",
    "locate",
    "read_note",
    "scan",
    "split_lines",
]
