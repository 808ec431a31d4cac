"""Making a holding in a server agree with the notes on this disk.

Notes are compared with the server's rows by size and times; what differs is read, and
committed every few seconds, so that whatever ends a run loses little. A rebuild fills the
next generation, which is made live when it is complete.
"""

import json
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import Stemmer
from msgspec.structs import replace

from notewell.backends.base import Run
from notewell.backends.changes import IndexedNote, Inventory, NoteChanges, note_changes
from notewell.backends.remote.records import (
    keeps_passages,
    known_note,
    note_record,
    passage_record,
)
from notewell.backends.remote.store import (
    Holding,
    NoteRecord,
    Owner,
    SpaceSnapshot,
    SpaceWriter,
)
from notewell.backends.text.analysis import TERMS_VERSION
from notewell.backends.text.chunking import CHUNKER_VERSION
from notewell.backends.text.note_analysis import analyse_note
from notewell.config import ChunkingSettings
from notewell.workspace import Note

_COMMIT_EVERY = 2.0
"""Seconds of work that a run loses when it is killed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncResult:
    """What a run has done.

    Attributes:
        done: Notes that were written or removed.
        left: Notes that are still to do.
    """

    done: int = 0
    left: int = 0


def identity_of(chunking: ChunkingSettings) -> str:
    """Return what the passages and terms of a holding depend on, but the notes."""
    unicode, stemmer = unicodedata.unidata_version, Stemmer.version()
    return json.dumps(
        {
            "chunker": f"{CHUNKER_VERSION}:{chunking.tokens}/{chunking.overlap}",
            "tokenizer": f"{TERMS_VERSION}:unicode-{unicode}:snowball-{stemmer}",
        }
    )


def holding_of(space: SpaceSnapshot, owner: Owner) -> Holding:
    """Return what a member has in a space; an empty one if that is nothing."""
    held = (each for each in space.holdings() if each.owner == owner)
    return next(held, Holding(owner=owner))


def changes_of(
    space: SpaceSnapshot, owner: Owner, found: Inventory, identity: str
) -> NoteChanges | None:
    """Compare the notes with the live generation; None: it has to be built anew."""
    holding = holding_of(space, owner)
    if holding.live is None or holding.identity != identity:
        return None
    return note_changes(found.notes, _known(space.notes_of(owner, holding.live)))


def write_holding(
    writer: SpaceWriter,
    found: Inventory,
    *,
    identity: str,
    chunking: ChunkingSettings,
    run: Run,
    deadline: float | None,
) -> SyncResult:
    """Write what differs; make a new generation live when it is complete.

    Args:
        writer: Of the holding.
        found: The notes as they are.
        identity: See `identity_of`.
        chunking: How passages are cut.
        run: Whether everything is built anew, and who hears of it.
        deadline: On `time.monotonic()`; None for no limit.
    """
    target = _target(writer, identity, force=run.force)
    _bring_over(writer, target, found)
    held = {each.path: each for each in writer.notes_of(target)}
    todo = note_changes(found.notes, _known(held.values()))
    sync = _NoteSync(writer, target, held, chunking)
    works = sync.works(todo)
    done, committed = 0, time.monotonic()
    for done, work in enumerate(works, start=1):
        work()
        run.listener.indexing(done, len(todo))
        now = time.monotonic()
        if deadline is not None and now > deadline:
            break
        if now - committed > _COMMIT_EVERY:
            writer.commit()
            committed = time.monotonic()
    left = max(0, todo.certain() - done)
    if left:
        writer.commit()
    else:
        writer.publish(target, indexed_at=int(time.time()))
    return SyncResult(done=sync.changed, left=left)


def _target(writer: SpaceWriter, identity: str, *, force: bool) -> int:
    """Return the generation to write: the live one, or one that is being built."""
    holding = writer.holding()
    if not force:
        if holding.live is not None and holding.identity == identity:
            return holding.live
        if holding.building is not None and holding.building_identity == identity:
            return holding.building
    return writer.begin_generation(identity)


def _bring_over(writer: SpaceWriter, target: int, found: Inventory) -> None:
    """Bring what cannot be read now from the live generation into the next one."""
    live = writer.holding().live
    if live is None or live == target or not found.notes.unread:
        return
    here = {each.path for each in writer.notes_of(target)}
    for record in writer.notes_of(live):
        why = found.notes.why_unread(record.path)
        if why is not None and record.path not in here:
            writer.copy_note(live, target, replace(record, problem=why))


def _known(records: Iterable[NoteRecord]) -> dict[str, IndexedNote]:
    return {each.path: known_note(each) for each in records}


class _NoteSync:
    """Writes the notes of one run.

    Attributes:
        changed: Notes that were written or removed; those that turned out to be the
            same are not counted.
    """

    def __init__(
        self,
        writer: SpaceWriter,
        generation: int,
        held: Mapping[str, NoteRecord],
        chunking: ChunkingSettings,
    ) -> None:
        self._writer = writer
        self._generation = generation
        self._held = held
        self._chunking = chunking
        self.changed = 0

    def works(self, todo: NoteChanges) -> Iterator[Callable[[], None]]:
        """Yield what there is to do, a note at a time."""
        for known in todo.removed:
            yield partial(self._remove, known.id)
        for note, _ in (*todo.changed, *todo.again):
            yield partial(self._put, note)
        for known, why in todo.unmarked():
            yield partial(self._mark, self._held[known.path], why)

    def _remove(self, note: int) -> None:
        self.changed += 1
        self._writer.delete_notes(self._generation, [note])

    def _put(self, note: Note) -> None:
        before = self._held.get(note.path)
        known = before.digest if before and before.problem is None else b""
        read = analyse_note(note.path, str(note.file), known, self._chunking)
        record = note_record(note, before, read)
        same = before is not None and before.problem == read.problem
        self.changed += not (same and (read.same or read.problem is not None))
        if before is not None and keeps_passages(read):
            self._writer.put_note(self._generation, record, None)
        else:
            passages = [passage_record(each) for each in read.passages]
            self._writer.put_note(self._generation, record, passages)

    def _mark(self, before: NoteRecord, why: str) -> None:
        """Write down why a note cannot be read now; its passages stay."""
        self.changed += 1
        record = replace(before, problem=why, generation=0)
        self._writer.put_note(self._generation, record, None)
