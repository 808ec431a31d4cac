"""What is on the disk, and how notes differ from what an index holds of them.

Notes are compared by size and times. Nothing is read or written here.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from notewell.backends.base import Site
from notewell.types import Skipped
from notewell.workspace import Note, WorkspaceScan, scan
from notewell.workspace.decoding import holds_no_text

if TYPE_CHECKING:  # most agents have notes alone
    from notewell.sessions import Transcripts

UNSETTLED: Final = -1
"""The time of a last change that was so recent that another one may not show."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory:
    """Notes and transcripts as they were found.

    Attributes:
        notes: The notes.
        transcripts: The agent's transcripts; None when they are no source.
    """

    notes: WorkspaceScan
    transcripts: "Transcripts | None" = None

    def __len__(self) -> int:
        spoken = self.transcripts.found if self.transcripts else ()
        return len(self.notes.notes) + len(spoken)

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """What is left out."""
        spoken = self.transcripts.skipped if self.transcripts else ()
        return (*self.notes.skipped, *spoken)

    def unreadable(self) -> Iterator[Skipped]:
        """Yield why the folder of notes itself cannot be read."""
        for skipped in self.notes.skipped:
            if skipped.path == "." and skipped.reason in ("unreadable", "missing"):
                yield skipped

    def unread(self) -> dict[str, str]:
        """Return what is there, or should be, and cannot be read now: why, by path."""
        unread = {path: why for path, why in self.notes.unread.items() if path != "."}
        if self.transcripts and self.transcripts.closed("sessions"):
            unread["sessions"] = "the folder cannot be read"
        return unread

    @property
    def is_bare(self) -> bool:
        """Whether the folder of notes is there and holds nothing at all."""
        if self.notes.notes or len(self.notes.folders) != 1:
            return False
        with suppress(OSError):
            return not os.listdir(self.notes.folders[0])
        return False


def take_inventory(site: Site, *, spoken: bool = True) -> Inventory:
    """Find everything that belongs into the index of a site, or only its notes."""
    if not (site.transcripts and spoken):
        return Inventory(notes=scan(site.workspace))
    return Inventory(notes=scan(site.workspace), transcripts=site.list_transcripts())


class Signature(NamedTuple):
    """What tells from outside whether a file may have changed."""

    size: int
    mtime_ns: int
    ctime_ns: int


class IndexedNote(NamedTuple):
    """A note as the index holds it."""

    path: str
    size: int
    mtime_ns: int
    ctime_ns: int
    id: int
    digest: bytes
    problem: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteChanges:
    """What the tree has that the index lacks.

    Attributes:
        changed: Notes to read, with what the index holds of them.
        removed: What the index holds of notes that are gone.
        again: Notes that look the same, to read once more.
        kept: What the index holds of notes that cannot be read now, and why.
    """

    changed: list[tuple[Note, IndexedNote | None]]
    removed: list[IndexedNote]
    again: list[tuple[Note, IndexedNote | None]]
    kept: list[tuple[IndexedNote, str]] = field(
        default_factory=list[tuple[IndexedNote, str]]
    )

    def __len__(self) -> int:
        return self.certain() + len(self.again) + len(self.unmarked())

    def unmarked(self) -> list[tuple[IndexedNote, str]]:
        """Return what is kept and not yet known as such, with the reason."""
        return [(known, why) for known, why in self.kept if known.problem != why]

    def certain(self) -> int:
        """Count what is known to differ."""
        return len(self.changed) + len(self.removed)


def note_changes(scan: WorkspaceScan, known: dict[str, IndexedNote]) -> NoteChanges:
    """Compare a scan with what a generation holds, by size and times."""
    changed: list[tuple[Note, IndexedNote | None]] = []
    again: list[tuple[Note, IndexedNote | None]] = []
    seen = 0
    for note in scan.notes:
        before = known.get(note.path)
        seen += before is not None
        # Size, mtime and ctime, as slices: there may be a great many notes.
        if before is None:
            changed.append((note, None))
        elif before.problem is not None and before[1:4] == note[2:5]:
            if not holds_no_text(before.problem):  # that is so until the file changes
                again.append((note, before))
        elif before[1:4] != note[2:5]:
            young = before[1:4] == (note.size, UNSETTLED, note.ctime_ns)
            (again if young else changed).append((note, before))
    if seen == len(known):
        return NoteChanges(changed=changed, removed=[], again=again)
    here = {note.path for note in scan.notes}
    absent = [before for path, before in known.items() if path not in here]
    closed = [(before, scan.why_unread(before.path)) for before in absent]
    return NoteChanges(
        changed=changed,
        removed=[before for before, why in closed if why is None],
        again=again,
        kept=[(before, why) for before, why in closed if why is not None],
    )
