"""Making the index agree with the files.

A run compares the tree with the index by size and times, reads what differs,
and commits after every few notes, so that whatever ends it loses little. A
rebuild goes through the same code into the next generation.
"""

import time
from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass
from itertools import chain

import apsw

from notewell.backends.base import Progress
from notewell.backends.builtin.identity import Identity
from notewell.backends.builtin.indexer import Indexer, Known, Signature, known_notes
from notewell.backends.builtin.schema import SCHEMA_VERSION, Generation
from notewell.backends.builtin.store import Store
from notewell.backends.builtin.vocabulary import count
from notewell.config import ChunkingSettings
from notewell.workspace import Note, Scan

_COMMIT_EVERY = 1.0
"""Seconds of work that a killed run may lose."""

_RACY_NS = 2_000_000_000
"""A file younger than this when it was read may change again within the same time
stamp (file systems tick at up to two seconds), so it is read once more next time."""

_UNSETTLED = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What the tree has that the index lacks.

    Attributes:
        changed: Notes to read, with what the index holds of them.
        removed: What the index holds of notes that are gone.
        again: Notes that look the same, to read once more.
    """

    changed: list[tuple[Note, Known | None]]
    removed: list[Known]
    again: list[tuple[Note, Known | None]]

    def __len__(self) -> int:
        return self.certain() + len(self.again)

    def certain(self) -> int:
        """Count what is known to differ."""
        return len(self.changed) + len(self.removed)


def difference(scan: Scan, known: dict[str, Known]) -> Difference:
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
            young = before[1:4] == (note.size, _UNSETTLED, note.ctime_ns)
            (again if young else changed).append((note, before))
    if seen == len(known):
        return Difference(changed=changed, removed=[], again=again)
    here = {note.path for note in scan.notes}
    removed = [before for path, before in known.items() if path not in here]
    return Difference(changed=changed, removed=removed, again=again)


def bring_up_to_date(
    store: Store,
    scan: Scan,
    *,
    identity: Identity,
    chunking: ChunkingSettings,
    force: bool,
    deadline: float | None,
    progress: Progress | None,
    publish: bool = True,
) -> tuple[int, int]:
    """Index what differs; make a new generation live when it is complete.

    Args:
        store: A writer; the caller holds the lock.
        deadline: On `time.monotonic()`; None for no limit.
        publish: Make a new generation live when it is complete; else it waits.

    Returns:
        How many notes were written or removed, and how many are still to do.
    """
    target = _target(store, identity, force=force)
    todo = difference(scan, known_notes(store, target))
    indexer = Indexer(store, target, chunking)
    done = 0
    # Closed here, and not when it is collected: its last commit may fail.
    with closing(_steps(store, indexer, todo)) as steps:
        for done in steps:
            if progress:
                progress(done, len(todo))
            if deadline is not None and time.monotonic() > deadline:
                break
    left = max(0, todo.certain() - done)
    if not left and (publish or target == store.live()):
        _complete(store, target, scan, changed=bool(todo))
    return indexer.changed, left


def _target(store: Store, identity: Identity, *, force: bool) -> Generation:
    """Return the generation to write: the live one, or one that is being built."""
    live, building = store.live(), store.building()
    wanted = identity.encoded()
    if live and not force and store.get(f"identity_{live.number}") == wanted:
        if building:
            _abandon(store, building)
        return live
    if building and not force and store.get(f"identity_{building.number}") == wanted:
        return building
    number = 1 + max(one.number if one else 0 for one in (live, building))
    with store.connection:
        if building:
            _drop(store, building)
        store.put("schema", SCHEMA_VERSION)
        store.put("building", number)
        _drop(store, Generation(number))  # what damage may have left behind
        store.put(f"identity_{number}", wanted)
        store.connection.execute(Generation(number).create())
    return Generation(number)


def _steps(
    store: Store, indexer: Indexer, todo: Difference
) -> Generator[int, None, None]:
    """Do the work note by note and yield how many are done; commit now and then."""
    works = chain(
        ((None, known) for known in todo.removed),
        todo.changed,
        todo.again,
    )
    committed = time.monotonic()
    done = 0
    store.connection.execute("begin immediate")
    try:
        for done, (note, before) in enumerate(works, start=1):
            if note is None:
                assert before is not None
                indexer.remove([before])
            else:
                indexer.put(note, before, _signature(note))
            if time.monotonic() - committed > _COMMIT_EVERY:
                store.connection.execute("commit; begin immediate")
                committed = time.monotonic()
            yield done
    except GeneratorExit:
        _commit(store)  # the caller has enough; the notes that are done are whole
        raise
    except BaseException:
        # Something ended us inside a note. Half of it must not be kept.
        _roll_back(store)
        raise
    _commit(store)


def _commit(store: Store) -> None:
    try:
        store.connection.execute("commit")
    except apsw.Error:
        _roll_back(store)
        raise


def _roll_back(store: Store) -> None:
    if store.connection.in_transaction:  # SQLite may have rolled back by itself
        store.connection.execute("rollback")


def _signature(note: Note) -> Signature:
    now = time.time_ns()
    settled = all(abs(now - at) > _RACY_NS for at in (note.mtime_ns, note.ctime_ns))
    return Signature(note.size, note.mtime_ns if settled else _UNSETTLED, note.ctime_ns)


def _complete(store: Store, target: Generation, scan: Scan, *, changed: bool) -> None:
    """Record that the index agrees with the files, and publish a new generation."""
    live = store.live()
    new = live != target
    with store.connection:
        _verify(store, target, scan)
        if changed or new:
            count(store, target, force=new)
        if new:
            store.put("live", target.number)
            store.put("building", None)
            if live:
                _drop(store, live)
        agreed(store)


def agreed(store: Store) -> None:
    """Record that the index agrees with the files now."""
    store.put("indexed_at", int(time.time()))
    store.put("last_error", None)


def _verify(store: Store, target: Generation, scan: Scan) -> None:
    held = store.one(f"select count(*) from {target.files}")
    if held != len(scan.notes):
        raise RuntimeError(f"{held} notes in the index, {len(scan.notes)} on disk")


def _abandon(store: Store, generation: Generation) -> None:
    """Drop what a rebuild that was ended has left."""
    with store.connection:
        _drop(store, generation)
        store.put("building", None)


def _drop(store: Store, generation: Generation) -> None:
    store.connection.execute(generation.drop())
    store.connection.execute(
        "delete from nw_meta where key = ?", (f"identity_{generation.number}",)
    )
