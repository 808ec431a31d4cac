"""Making the index agree with the files.

A run compares the tree with the index by size and times, reads what differs,
and commits after every few notes, so that whatever ends it loses little. A
rebuild goes through the same code into the next generation.
"""

import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from functools import partial
from itertools import chain
from typing import NamedTuple

import apsw

from notewell.backends.base import Listener
from notewell.backends.builtin.changes import (
    TranscriptChanges,
    generation_changes,
    indexed_notes,
)
from notewell.backends.builtin.indexer import Indexer
from notewell.backends.builtin.schema import (
    SCHEMA_VERSION,
    Generation,
    IndexIdentity,
)
from notewell.backends.builtin.store import Store
from notewell.backends.changes import UNSETTLED, Inventory, NoteChanges, Signature
from notewell.config import SearchSettings
from notewell.workspace import Note, WorkspaceScan

_COMMIT_EVERY = 1.0
"""Seconds of work that a killed run may lose."""

_RACY_NS = 2_000_000_000
"""A file younger than this when it was read may change again within the same time
stamp (file systems tick at up to two seconds), so it is read once more next time."""


_COMMON_SHARE = 0.02
"""Share of the passages from which on a term counts as common."""

_COUNT_ANYWAY = 2_000
"""Lists up to this length are counted when they are needed."""

_GROWTH = 1.25
"""The common terms are counted again when the index has grown or shrunk so much."""


class Progress(NamedTuple):
    """How far a run came.

    Attributes:
        done: Files that were written or removed.
        removed: Those of them that were removed.
        left: Files that are still to do.
    """

    done: int
    removed: int
    left: int


def bring_up_to_date(
    store: Store,
    found: Inventory,
    *,
    identity: IndexIdentity,
    settings: SearchSettings,
    force: bool,
    deadline: float | None,
    listener: Listener,
    publish: bool = True,
) -> Progress:
    """Index what differs; make a new generation live when it is complete.

    Args:
        store: A writer; the caller holds the lock.
        settings: How passages are cut, and which transcripts are read again.
        deadline: On `time.monotonic()`; None for no limit.
        publish: Make a new generation live when it is complete; else it waits.

    """
    target = _target(store, identity, force=force)
    indexer = Indexer(store, target, settings.chunking)
    _bring_over(store, target, indexer, found.notes)
    todo = generation_changes(store, target, found, settings)
    works = chain(
        _works_on_notes(indexer, todo.notes),
        _works_on_transcripts(store, target, indexer, todo.transcripts, settings),
    )
    total = len(todo)
    done = _work_off(store, works, total, listener, deadline)
    left = max(0, todo.certain() - done)
    if not left and (publish or target == store.live()):
        files = len(found) + todo.kept()
        _complete(store, target, files, changed=total > 0)
    return Progress(indexer.changed, indexer.removed, left)


def _target(store: Store, identity: IndexIdentity, *, force: bool) -> Generation:
    """Return the generation to write: the live one, or one that is being built."""
    live, building = store.live(), store.building()
    if live and not force and identity.built(store.built_with(live)):
        if building:
            _abandon(store, building)
        return live
    if building and not force and identity.built(store.built_with(building)):
        return building
    number = 1 + max(one.number if one else 0 for one in (live, building))
    with store.connection:
        if building:
            _drop(store, building)
        store.put("schema", SCHEMA_VERSION)
        store.put("building", number)
        _drop(store, Generation(number))  # what damage may have left behind
        store.put(Generation(number).identity_key, identity.encoded())
        store.connection.execute(Generation(number).create())
    return Generation(number)


def _bring_over(
    store: Store, target: Generation, indexer: Indexer, scan: WorkspaceScan
) -> None:
    """Bring what cannot be read now from the index that answers into the next one."""
    live = store.live()
    if live is None or live == target or not scan.unread:
        return
    here = indexed_notes(store, target)
    with store.connection:
        for path, known in indexed_notes(store, live).items():
            why = scan.why_unread(path)
            if why is not None and path not in here:
                indexer.bring_over(live, known, why)


def _works_on_notes(
    indexer: Indexer, todo: NoteChanges
) -> Iterator[Callable[[], None]]:
    for known in todo.removed:
        yield partial(indexer.remove, [known])
    for note, before in (*todo.changed, *todo.again):
        yield partial(indexer.put, note, before, _signature(note))
    for known, why in todo.unmarked():
        yield partial(indexer.mark, known, why)


def _works_on_transcripts(
    store: Store,
    target: Generation,
    indexer: Indexer,
    todo: TranscriptChanges | None,
    settings: SearchSettings,
) -> Iterator[Callable[[], None]]:
    if not todo:
        return
    from notewell.backends.builtin.transcripts import TranscriptIndexer

    spoken = TranscriptIndexer(store, target, indexer, settings.chunking)
    for indexed in todo.removed:
        yield partial(spoken.remove, indexed)
    for transcript, before in (*todo.changed, *todo.again):
        yield partial(spoken.put, transcript, before)


def _work_off(
    store: Store,
    works: Iterable[Callable[[], None]],
    total: int,
    listener: Listener,
    deadline: float | None,
) -> int:
    """Do the work until the deadline; return how much of it is done."""
    done = 0
    # Closed here, and not when it is collected: its last commit may fail.
    with closing(_steps(store, works)) as steps:
        for done in steps:
            listener.indexing(done, total)
            if deadline is not None and time.monotonic() > deadline:
                break
    return done


def _steps(
    store: Store, works: Iterable[Callable[[], None]]
) -> Generator[int, None, None]:
    """Do the work file by file and yield how many are done; commit now and then."""
    committed = time.monotonic()
    done = 0
    store.connection.execute("begin immediate")
    try:
        for done, work in enumerate(works, start=1):
            work()
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
    return Signature(note.size, note.mtime_ns if settled else UNSETTLED, note.ctime_ns)


def _complete(store: Store, target: Generation, files: int, *, changed: bool) -> None:
    """Record that the index agrees with the files, and publish a new generation."""
    live = store.live()
    new = live != target
    with store.connection:
        _verify(store, target, files)
        if changed or new:
            _record_statistics(store, target, force=new)
        if new:
            store.put("live", target.number)
            store.put("building", None)
            if live:
                _drop(store, live)
        agreed(store)


def _record_statistics(store: Store, generation: Generation, *, force: bool) -> None:
    """Record the number of passages and their mean length, and the common terms.

    The common terms are left as they are while the index keeps about its size.
    """
    total, mean = store.rows(
        f"select count(*), coalesce(avg(length), 0) from {generation.chunks}"
    )[0]
    counted = store.get("common_counted_at") or 0
    steady = not force and counted / _GROWTH <= total <= counted * _GROWTH
    store.put("passages", total)
    store.put("mean_length", max(1, round(mean)))
    if not steady:
        _count_common(store, generation, total)


def _count_common(store: Store, generation: Generation, total: int) -> None:
    least = max(_COUNT_ANYWAY, int(total * _COMMON_SHARE))
    store.connection.execute(f"delete from {generation.common}")
    if total > least:
        store.connection.execute(
            f"insert into {generation.common}"
            f" select term, doc from {generation.vocabulary} where doc > ?",
            (least,),
        )
    store.put("common_counted_at", total)


def agreed(store: Store) -> None:
    """Record that the index agrees with the files now."""
    store.put_all({"indexed_at": int(time.time()), "last_error": None})


def _verify(store: Store, target: Generation, files: int) -> None:
    held = store.one(f"select count(*) from {target.files}")
    if held != files:
        raise RuntimeError(f"{held} files in the index, {files} on disk")


def _abandon(store: Store, generation: Generation) -> None:
    """Drop what a rebuild that was ended has left."""
    with store.connection:
        _drop(store, generation)
        store.put("building", None)


def _drop(store: Store, generation: Generation) -> None:
    store.connection.execute(generation.drop())
    store.connection.execute(
        "delete from nw_meta where key = ?", (generation.identity_key,)
    )
