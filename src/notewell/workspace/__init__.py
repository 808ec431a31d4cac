"""The folder of notes: which one it is, what is in it, and reading from it."""

from notewell.workspace.choice import choose_workspace
from notewell.workspace.document import get_document
from notewell.workspace.finding import NameAids, locate
from notewell.workspace.layout import (
    Note,
    Workspace,
    WorkspaceScan,
    nanoseconds,
    read_note,
    split_lines,
)
from notewell.workspace.names import NamedNote, NoteNames
from notewell.workspace.paths import Locator, NoteLocation
from notewell.workspace.scan import scan

__all__ = [
    "Locator",
    "NameAids",
    "NamedNote",
    "Note",
    "NoteLocation",
    "NoteNames",
    "Workspace",
    "WorkspaceScan",
    "choose_workspace",
    "get_document",
    "locate",
    "nanoseconds",
    "read_note",
    "scan",
    "split_lines",
]
