"""The engine without an event loop: readers that never wait, one writer at a time."""

import os
import time
from contextlib import closing, suppress
from dataclasses import replace

import apsw

from notewell.backends.base import Findings, Progress, Query, Site, Waiting
from notewell.backends.builtin.answering import from_files, from_index
from notewell.backends.builtin.identity import Identity
from notewell.backends.builtin.indexer import known_notes
from notewell.backends.builtin.location import locate_index
from notewell.backends.builtin.locking import only_writer
from notewell.backends.builtin.readers import Readers, Unreadable
from notewell.backends.builtin.schema import Generation
from notewell.backends.builtin.store import (
    BACKEND,
    SIDE_FILES,
    Store,
    discard,
    explained,
    is_spoilt,
    size_of,
)
from notewell.backends.builtin.sync import (
    Difference,
    agreed,
    bring_up_to_date,
    difference,
)
from notewell.errors import BackendError, BackendFailed, BackendUnavailable
from notewell.types import IndexReport, IndexStatus, Skipped
from notewell.workspace import Scan, scan

_COUNTED_AT_ONCE = 5_000
"""Notes that are compared with the index before an empty answer is given."""

_REBUILD = "run `notewell index`; no note was touched"


class Engine:
    """Keyword search over one workspace. Safe to share between threads."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._location = locate_index(site)
        self._path = self._location.path
        self._identity = Identity.current(
            site.workspace.root, site.agent.search.chunking
        )
        self._readers = Readers(self._path, self._identity.workspace)

    def close(self) -> None:
        """Close every connection."""
        self._readers.close()

    def built(self) -> bool:
        """Say whether searches are answered from an index of this workspace."""
        try:
            with self._readers.one():
                return True
        except Unreadable as error:
            # A damaged index is not built anew on the way to an answer.
            return error.reason != "not-ready"

    def search(self, query: Query) -> Findings:
        """Answer from the index, or from the files when it cannot be read."""
        try:
            with self._readers.one() as store:
                outdated = not self._is_current(store)
                found = from_index(self._site, store, query, outdated=outdated)
                return found if found.hits else self._with_pending(store, found)
        except Unreadable as error:
            return from_files(self._site, query, error.reason, error.why)

    def _with_pending(self, store: Store, found: Findings) -> Findings:
        """Say of an empty answer how many notes the index does not know yet.

        Large workspaces are not walked on the way to an answer: `pending` stays None.
        """
        live = store.live()
        if live is None or found.reason not in ("no-match", "nothing-indexed"):
            return found
        if store.one(f"select count(*) from {live.files}") > _COUNTED_AT_ONCE:
            return found
        pending = self._pending(store, scan(self._site.workspace))
        fresh = replace(
            found.freshness, pending=pending, stale=found.freshness.stale or pending > 0
        )
        return replace(found, freshness=fresh)

    def refresh(
        self,
        *,
        force: bool,
        within: float | None,
        progress: Progress | None,
        waiting: Waiting | None = None,
    ) -> IndexReport:
        """Make the index agree with the files; see `Backend.refresh`."""
        deadline = None if within is None else time.monotonic() + within
        before = self._state_of_file()
        scanned = self._scanned()
        if not force and self._agrees(scanned):
            if within is None:
                self._record_agreement()
            return self._report(scanned, done=0, pending=0)
        patient = within is None
        with only_writer(self._path, patient=patient, waiting=waiting) as mine:
            if not mine:
                busy = "Another process is indexing; its result is used."
                return self._report(scanned, done=0, pending=None, warnings=(busy,))
            if self._state_of_file() != before:
                # Whoever wrote since may know newer notes than this scan does.
                scanned = self._scanned()
            with explained(self._path):
                done, left = self._write(scanned, force, deadline, progress)
        return self._report(scanned, done=done, pending=left)

    def status(self) -> IndexStatus:
        """Count what the index holds and what it lacks."""
        scanned = scan(self._site.workspace)
        notice = self._location.notice
        warnings = (notice,) if notice else ()
        try:
            with self._readers.one() as store:
                return self._counted(store, self._pending(store, scanned), warnings)
        except Unreadable as error:
            return IndexStatus(
                location=str(self._path),
                bytes=size_of(self._path),
                files=0,
                chunks=0,
                pending=len(scanned.notes),
                last_error=None if error.reason == "not-ready" else error.why,
                warnings=warnings,
            )

    def _scanned(self) -> Scan:
        """Walk the notes; a folder that cannot be read is not one without notes."""
        scanned = scan(self._site.workspace)
        for skipped in scanned.skipped:
            if skipped.path == "." and skipped.reason in ("unreadable", "missing"):
                raise BackendUnavailable(
                    BACKEND,
                    f"the workspace cannot be read: {skipped.detail}",
                    remedy="see its permissions; the index is kept as it was",
                )
        return scanned

    def _agrees(self, scanned: Scan) -> bool:
        """Say, without a lock, whether there is nothing to do."""
        if self._readers.found_damage:
            return False
        try:
            with self._readers.one() as store:
                changes = self._changes(store, scanned)
        except Unreadable:
            return False
        return changes is not None and not len(changes)

    def _changes(self, store: Store, scanned: Scan) -> Difference | None:
        """Compare the notes with the index; None if it has to be built anew."""
        live = store.live()
        if live is None or not self._is_current(store):
            return None
        return difference(scanned, known_notes(store, live))

    def _is_current(self, store: Store) -> bool:
        live = store.live()
        identity = self._identity.encoded()
        return bool(live and store.get(f"identity_{live.number}") == identity)

    def _pending(self, store: Store, scanned: Scan) -> int:
        changes = self._changes(store, scanned)
        return max(1, len(scanned.notes)) if changes is None else changes.certain()

    def _write(
        self,
        scanned: Scan,
        force: bool,
        deadline: float | None,
        progress: Progress | None,
    ) -> tuple[int, int]:
        if self._readers.found_damage:
            discard(self._path)
            self._readers.forget_damage()
        for attempt in (1, 2):
            store = None
            try:
                store = self._writer()
                return bring_up_to_date(
                    store,
                    scanned,
                    identity=self._identity,
                    chunking=self._site.agent.search.chunking,
                    force=force,
                    deadline=deadline,
                    progress=progress,
                )
            except apsw.Error as error:
                if store:
                    _note_failure(store, error)
                if attempt == 2 or not is_spoilt(error):
                    raise
                discard(self._path)
            finally:
                if store:
                    store.close()
        raise AssertionError("unreachable")

    def _writer(self) -> Store:
        """Open for writing; an index of another version makes room for ours."""
        store = Store.writer(self._path)
        if store.get("schema") is None or store.is_readable_here():
            return store
        store.close()
        discard(self._path)
        return Store.writer(self._path)

    def _record_agreement(self) -> None:
        """Write down that the index was found to agree with the files, if it is easy."""
        with suppress(BackendError), only_writer(self._path, patient=False) as mine:
            if mine:
                with explained(self._path), closing(self._writer()) as store:
                    agreed(store)

    def _state_of_file(self) -> tuple[tuple[int, ...], ...]:
        """Return something that differs once another process has written."""
        return tuple(_state(f"{self._path}{suffix}") for suffix in SIDE_FILES)

    def _report(
        self,
        scanned: Scan,
        *,
        done: int,
        pending: int | None,
        warnings: tuple[str, ...] = (),
    ) -> IndexReport:
        """Count what the index holds now; `pending` too, if it is None."""
        notice = (self._location.notice,) if self._location.notice else ()
        try:
            with self._readers.one() as store:
                if pending is None:
                    pending = self._pending(store, scanned)
                counted = self._counted(store, pending, ())
        except Unreadable as error:
            if pending == 0:
                raise BackendFailed(
                    BACKEND, error.why, reason=error.reason, remedy=_REBUILD
                ) from error
            return IndexReport(
                files=0,
                chunks=0,
                pending=pending or len(scanned.notes),
                changed=done,
                skipped=scanned.skipped,
                warnings=(*notice, *warnings),
            )
        return IndexReport(
            files=counted.files,
            chunks=counted.chunks,
            pending=counted.pending,
            changed=done,
            skipped=(*scanned.skipped, *counted.skipped),
            warnings=(*notice, *warnings),
        )

    def _counted(
        self, store: Store, pending: int, warnings: tuple[str, ...]
    ) -> IndexStatus:
        live = store.live()
        assert live is not None
        identity = Identity.decoded(store.get(f"identity_{live.number}"))
        return IndexStatus(
            location=str(self._path),
            bytes=size_of(self._path),
            files=store.one(f"select count(*) from {live.files} where problem is null"),
            chunks=store.one(f"select count(*) from {live.chunks}"),
            pending=pending,
            indexed_at=store.indexed_at(),
            last_error=store.get("last_error"),
            identity={
                "chunker": identity.chunker,
                "tokenizer": identity.tokenizer,
                "provider": "none",
            },
            skipped=self._problems(store, live),
            warnings=warnings,
        )

    def _problems(self, store: Store, live: Generation) -> tuple[Skipped, ...]:
        rows = store.rows(
            f"select path, problem from {live.files} where problem is not null"
            " order by path"
        )
        return tuple(
            Skipped(path=p, reason="unreadable", detail=why) for p, why in rows
        )


def _note_failure(store: Store, error: apsw.Error) -> None:
    with suppress(apsw.Error):
        store.put("last_error", str(error))


def _state(file: str) -> tuple[int, ...]:
    try:
        found = os.stat(file)
    except OSError:
        return ()
    return (found.st_ino, found.st_size, found.st_mtime_ns)
