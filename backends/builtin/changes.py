"""What is on the disk, what the index holds of it, and what it lacks.

Notes are compared by size and times, transcripts by how far they were read. Nothing is
read or written here, so that an answer without hits may count what is pending, too.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from notewell.backends.base import Site
from notewell.backends.builtin.schema import Generation, IndexIdentity
from notewell.backends.builtin.store import Store
from notewell.config import SearchSettings
from notewell.types import Skipped
from notewell.workspace import Note, WorkspaceScan, scan
from notewell.workspace.decoding import holds_no_text

if TYPE_CHECKING:  # most agents have notes alone
    from notewell.config.schema import SessionSyncSettings
    from notewell.sessions import Transcripts
    from notewell.sessions.files import Transcript
    from notewell.sessions.reading import Position

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
        if self.transcripts and self.transcripts.closed:
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
    from notewell.sessions import list_transcripts

    return Inventory(
        notes=scan(site.workspace),
        transcripts=list_transcripts(site.state_dir, site.agent.id),
    )


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


def indexed_notes(store: Store, generation: Generation) -> dict[str, IndexedNote]:
    """Return every note of a generation by its path."""
    rows = store.rows(
        "select path, size, mtime_ns, ctime_ns, id, digest, problem"
        f" from {generation.files}"
        f" where id not in (select file_id from {generation.transcripts})"
    )
    return {known.path: known for known in map(IndexedNote._make, rows)}


class IndexedTranscript(NamedTuple):
    """A transcript as the index holds it.

    Attributes:
        path: As citations show it.
        size: In bytes, when it was read.
        mtime_ns: Its last change then.
        id: The id of its file row.
        problem: Why it could not be read, or None.
        read: Up to where it was read.
    """

    path: str
    size: int
    mtime_ns: int
    id: int
    problem: str | None
    read: "Position"


def indexed_transcripts(
    store: Store, tables: Generation
) -> dict[str, IndexedTranscript]:
    """Return every transcript of a generation by its path."""
    from notewell.sessions.reading import Position

    rows = store.rows(
        "select f.path, f.size, f.mtime_ns, f.id, f.problem, t.offset, t.line, t.mark"
        f" from {tables.transcripts} as t join {tables.files} as f on f.id = t.file_id"
    )
    return {
        path: IndexedTranscript(path, size, mtime_ns, key, problem, Position(*read))
        for path, size, mtime_ns, key, problem, *read in rows
    }


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


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptChanges:
    """What there is to do about transcripts.

    Attributes:
        changed: Transcripts to read, with what the index holds of them.
        removed: What the index holds of transcripts that are gone.
        again: Transcripts that could not be read, to be tried once more.
        kept: How many are in the index and cannot be looked for now.
    """

    changed: Sequence[tuple["Transcript", IndexedTranscript | None]] = ()
    removed: Sequence[IndexedTranscript] = ()
    again: Sequence[tuple["Transcript", IndexedTranscript | None]] = ()
    kept: int = 0

    def __len__(self) -> int:
        return self.certain() + len(self.again)

    def certain(self) -> int:
        """Count what is known to differ."""
        return len(self.changed) + len(self.removed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What there is to do, about notes and about transcripts."""

    notes: NoteChanges
    transcripts: TranscriptChanges | None = None

    def __len__(self) -> int:
        return len(self.notes) + (len(self.transcripts) if self.transcripts else 0)

    def certain(self) -> int:
        """Count what is known to differ."""
        spoken = self.transcripts.certain() if self.transcripts else 0
        return self.notes.certain() + spoken

    def kept(self) -> int:
        """Count what the index holds of files that cannot be read now."""
        # Not by its truth: its length may be 0.
        spoken = 0 if self.transcripts is None else self.transcripts.kept
        return len(self.notes.kept) + spoken


def live_changes(
    store: Store, found: Inventory, identity: IndexIdentity, settings: SearchSettings
) -> Changes | None:
    """Compare what there is with the index that answers.

    Returns:
        None if it has to be built anew.
    """
    live = store.live()
    if live is None or not identity.built(store.built_with(live)):
        return None
    return generation_changes(store, live, found, settings)


class Unindexed(NamedTuple):
    """What an index lacks.

    Attributes:
        pending: Files that are new, changed or gone; all there are if the index has to be
            built anew.
        gone: Those of them that are gone.
    """

    pending: int
    gone: int = 0


def count_unindexed(
    store: Store,
    found: Inventory,
    identity: IndexIdentity,
    settings: SearchSettings,
    *,
    spoken: bool = True,
) -> Unindexed:
    """Count what an index lacks; all there is if it has to be built anew.

    Args:
        spoken: Count transcripts, too.
    """
    differing = live_changes(store, found, identity, settings)
    if differing is None:
        return Unindexed(max(1, len(found)))
    counted = differing if spoken else differing.notes
    gone = len(differing.notes.removed)
    if spoken and differing.transcripts:
        gone += len(differing.transcripts.removed)
    return Unindexed(counted.certain(), gone)


def generation_changes(
    store: Store, tables: Generation, found: Inventory, settings: SearchSettings
) -> Changes:
    """Compare what there is with what a generation holds."""
    notes = note_changes(found.notes, indexed_notes(store, tables))
    held = store.one(f"select 1 from {tables.transcripts} limit 1")
    if found.transcripts is None and not held:
        return Changes(notes=notes)
    spoken = transcript_changes(
        found.transcripts.found if found.transcripts else (),
        indexed_transcripts(store, tables),
        settings.sync.sessions,
        closed=found.transcripts is not None and found.transcripts.closed,
    )
    return Changes(notes=notes, transcripts=spoken)


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


def transcript_changes(
    found: Sequence["Transcript"],
    indexed: dict[str, IndexedTranscript],
    settings: "SessionSyncSettings",
    *,
    closed: bool,
) -> TranscriptChanges:
    """Compare transcripts with what a generation holds of them.

    New ones are always wanted; those that have grown when they pass a threshold.

    Args:
        found: The transcripts.
        indexed: What the index holds of them.
        settings: The thresholds.
        closed: Their folder cannot be read now, so none of them is gone.
    """
    from notewell.sessions.passages import has_news

    if closed:
        return TranscriptChanges(kept=len(indexed))
    changed: list[tuple[Transcript, IndexedTranscript | None]] = []
    again: list[tuple[Transcript, IndexedTranscript | None]] = []
    for transcript in found:
        before = indexed.get(transcript.path)
        if before is None:
            changed.append((transcript, None))
        elif (before.size, before.mtime_ns) == (transcript.size, transcript.mtime_ns):
            if before.problem is not None:
                again.append((transcript, before))
        elif before.problem is not None or has_news(
            transcript, before.size, before.read, settings
        ):
            changed.append((transcript, before))
    here = {transcript.path for transcript in found}
    removed = [before for path, before in indexed.items() if path not in here]
    return TranscriptChanges(changed=changed, removed=removed, again=again)
