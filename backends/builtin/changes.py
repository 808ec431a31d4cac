"""What the index holds of what is on the disk, and what it lacks.

Transcripts are compared by how far they were read, notes in `notewell.backends.changes`.
Nothing is read or written here, so that an answer without hits may count what is pending,
too.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from notewell.backends.builtin.schema import Generation, IndexIdentity
from notewell.backends.builtin.store import Store
from notewell.backends.changes import IndexedNote, Inventory, NoteChanges, note_changes
from notewell.config import SearchSettings

if TYPE_CHECKING:  # most agents have notes alone
    from notewell.config.schema import SessionSyncSettings
    from notewell.sessions.files import Transcript
    from notewell.sessions.reading import Position


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
        closed=found.transcripts.closed if found.transcripts else _is_open,
    )
    return Changes(notes=notes, transcripts=spoken)


def transcript_changes(
    found: Sequence["Transcript"],
    indexed: dict[str, IndexedTranscript],
    settings: "SessionSyncSettings",
    *,
    closed: Callable[[str], bool],
) -> TranscriptChanges:
    """Compare transcripts with what a generation holds of them.

    New ones are always wanted; those that have grown when they pass a threshold.

    Args:
        found: The transcripts.
        indexed: What the index holds of them.
        settings: The thresholds.
        closed: Says of a path whether it cannot be read now, so that it is not gone.
    """
    from notewell.sessions.passages import has_news

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
    absent = [before for path, before in indexed.items() if path not in here]
    removed = [before for before in absent if not closed(before.path)]
    return TranscriptChanges(
        changed=changed,
        removed=removed,
        again=again,
        kept=len(absent) - len(removed),
    )


def _is_open(_path: str) -> bool:
    return False
