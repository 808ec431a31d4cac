"""What the notes and transcripts on disk have that the index lacks."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from notewell.backends.builtin.identity import Identity
from notewell.backends.builtin.indexer import UNSETTLED, Known, known_notes
from notewell.backends.builtin.ondisk import OnDisk
from notewell.backends.builtin.schema import Generation
from notewell.backends.builtin.store import Store
from notewell.config import SearchSettings
from notewell.workspace import Note, WorkspaceScan

if TYPE_CHECKING:  # most agents have notes alone
    from notewell.backends.builtin.transcripts.difference import Spoken


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What the tree has that the index lacks.

    Attributes:
        changed: Notes to read, with what the index holds of them.
        removed: What the index holds of notes that are gone.
        again: Notes that look the same, to read once more.
        kept: What the index holds of notes that cannot be read now, and why.
    """

    changed: list[tuple[Note, Known | None]]
    removed: list[Known]
    again: list[tuple[Note, Known | None]]
    kept: list[tuple[Known, str]] = field(default_factory=list[tuple[Known, str]])

    def __len__(self) -> int:
        return self.certain() + len(self.again) + len(self.unmarked())

    def unmarked(self) -> list[tuple[Known, str]]:
        """Return what is kept and not yet known as such, with the reason."""
        return [(known, why) for known, why in self.kept if known.problem != why]

    def certain(self) -> int:
        """Count what is known to differ."""
        return len(self.changed) + len(self.removed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Differences:
    """What there is to do, about notes and about transcripts."""

    notes: Difference
    spoken: "Spoken | None" = None

    def __len__(self) -> int:
        return len(self.notes) + (len(self.spoken) if self.spoken else 0)

    def certain(self) -> int:
        """Count what is known to differ."""
        return self.notes.certain() + (self.spoken.certain() if self.spoken else 0)

    def kept(self) -> int:
        """Count what the index holds of files that cannot be read now."""
        spoken = 0 if self.spoken is None else self.spoken.kept  # its length may be 0
        return len(self.notes.kept) + spoken


def changes(
    store: Store, found: OnDisk, identity: Identity, settings: SearchSettings
) -> Differences | None:
    """Compare what there is with the index that answers.

    Returns:
        None if it has to be built anew.
    """
    live = store.live()
    if live is None or not identity.built(store, live):
        return None
    return differences(store, live, found, settings)


def pending(
    differing: Differences | None, found: OnDisk, *, spoken: bool = True
) -> int:
    """Count what an index lacks; all there is if it has to be built anew.

    Args:
        spoken: Count transcripts, too.
    """
    if differing is None:
        return max(1, len(found))
    return (differing if spoken else differing.notes).certain()


def differences(
    store: Store, tables: Generation, found: OnDisk, settings: SearchSettings
) -> Differences:
    """Compare what there is with what a generation holds."""
    notes = difference(found.notes, known_notes(store, tables))
    held = store.one(f"select 1 from {tables.transcripts} limit 1")
    if found.transcripts is None and not held:
        return Differences(notes=notes)
    from notewell.backends.builtin.transcripts.difference import (
        heard_transcripts,
        spoken_difference,
    )

    spoken = spoken_difference(
        found.transcripts.found if found.transcripts else (),
        heard_transcripts(store, tables),
        settings.sync.sessions,
        closed=found.transcripts is not None and found.transcripts.closed,
    )
    return Differences(notes=notes, spoken=spoken)


def difference(scan: WorkspaceScan, known: dict[str, Known]) -> Difference:
    """Compare a scan with what a generation holds, by size and times."""
    changed: list[tuple[Note, Known | None]] = []
    again: list[tuple[Note, Known | None]] = []
    seen = 0
    for note in scan.notes:
        before = known.get(note.path)
        seen += before is not None
        # Size, mtime and ctime, as slices: there may be a great many notes.
        if before is None:
            changed.append((note, None))
        elif before.problem is not None and before[1:4] == note[2:5]:
            again.append((note, before))  # what could not be read may be readable now
        elif before[1:4] != note[2:5]:
            young = before[1:4] == (note.size, UNSETTLED, note.ctime_ns)
            (again if young else changed).append((note, before))
    if seen == len(known):
        return Difference(changed=changed, removed=[], again=again)
    here = {note.path for note in scan.notes}
    absent = [before for path, before in known.items() if path not in here]
    closed = [(before, scan.why_unread(before.path)) for before in absent]
    return Difference(
        changed=changed,
        removed=[before for before, why in closed if why is None],
        again=again,
        kept=[(before, why) for before, why in closed if why is not None],
    )
