"""Writing an index: who may, into which file, and what a run over the texts does."""

import threading
import time
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass

import apsw

from notewell.backends.base import Run, Site
from notewell.backends.builtin.changes import live_changes
from notewell.backends.builtin.errors import BACKEND, IndexUnreadable, backend_errors
from notewell.backends.builtin.index_file import check_pages, index_state
from notewell.backends.builtin.locking import writer_lock
from notewell.backends.builtin.readers import ReaderPool
from notewell.backends.builtin.schema import IndexIdentity
from notewell.backends.builtin.store import Store
from notewell.backends.builtin.sync import Progress, agreed, bring_up_to_date
from notewell.backends.changes import Inventory, take_inventory
from notewell.errors import BackendError, BackendFailed, BackendUnavailable


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncReport:
    """What a run over the texts has done.

    Attributes:
        scanned: The files as they were found.
        done: Notes that were written or removed.
        removed: Those of them that were removed.
        left: Notes that are still to do; None when that has to be counted.
        warnings: What a person should know.
    """

    scanned: Inventory
    done: int = 0
    removed: int = 0
    left: int | None = 0
    warnings: tuple[str, ...] = ()


class IndexWriter:
    """Writes the index of one workspace. Safe to share between threads."""

    def __init__(
        self,
        site: Site,
        readers: ReaderPool,
        identity: IndexIdentity,
        closing: threading.Event,
    ) -> None:
        """Take what `readers` read; `closing` is set when nobody is waited for."""
        self._site = site
        self._path = readers.path
        self._readers = readers
        self._identity = identity
        self._closing = closing

    def index(
        self, run: Run, stop: threading.Event, *, publish: bool = True
    ) -> SyncReport:
        """Make the text index agree with the files.

        Args:
            run: How.
            stop: Set when another writer is not to be waited for any longer.
            publish: Make an index that was built anew the one that answers.

        Raises:
            BackendError: the files cannot be read, or the index cannot be written.
        """
        deadline = None if run.within is None else time.monotonic() + run.within
        patient = run.within is None
        before = index_state(self._path)
        scanned = self._scanned(emptied=run.force)
        if not run.force and self._agrees(scanned):
            if patient:
                self._settle()
            return SyncReport(scanned=scanned)
        with writer_lock(
            self._path, patient=patient, listener=run.listener, closing=stop
        ) as mine:
            if not mine:
                busy = "Another process is indexing; its result is used."
                return SyncReport(scanned=scanned, left=None, warnings=(busy,))
            if index_state(self._path) != before:
                # Whoever wrote since may know newer notes than this scan does.
                scanned = self._scanned()
            with backend_errors(self._path):
                done = self._write(scanned, run, deadline, publish=publish)
        return SyncReport(
            scanned=scanned, done=done.done, removed=done.removed, left=done.left
        )

    def replaces(self) -> bool:
        """Say whether the next run builds another index beside the one that answers."""
        try:
            with self._readers.one() as store:
                live = store.live()
                return live is None or not self._identity.built(store.built_with(live))
        except IndexUnreadable:
            return False

    def begin_anew(self, *, patient: bool) -> None:
        """Remove a damaged index, unless another process is about to.

        Args:
            patient: Wait for whoever writes.
        """
        with (
            writer_lock(self._path, patient=patient) as mine,
            backend_errors(self._path),
        ):
            if mine:
                self._begin_anew()

    @contextmanager
    def lend(self) -> Generator[Store]:
        """Lend a connection that may write vectors, with the lock.

        Raises:
            BackendError: it cannot be written, or the engine is closing.
        """
        from notewell.backends.builtin.vectors.maintenance import carry_over, has_older

        lock = writer_lock(self._path, patient=True, closing=self._closing)
        with lock, backend_errors(self._path), closing(self._opened()) as store:
            if has_older(store):
                carry_over(store)
            yield store

    def empty_log(self) -> None:
        """Leave nothing in the log of the index, if nobody else writes now."""
        with writer_lock(self._path, patient=False) as mine:
            if mine:
                with suppress(apsw.Error):
                    Store.empty_log_of(self._path)

    def _scanned(self, *, emptied: bool = False) -> Inventory:
        """Walk the notes; a folder that cannot be read is not one without notes.

        Args:
            emptied: Take an empty folder for one that somebody has emptied, and not for
                the place of a disk that is not there.
        """
        scanned = take_inventory(self._site)
        if not emptied and scanned.is_bare and self._holds_notes():
            raise BackendUnavailable(
                BACKEND,
                f"nothing is left in {self._site.workspace.root}, as if its disk were"
                " not there; the index is kept as it was",
                remedy="mount the disk, or run `notewell index --force` if it is meant",
            )
        for skipped in scanned.unreadable():
            raise BackendUnavailable(
                BACKEND,
                f"the workspace cannot be read: {skipped.detail}",
                remedy="see its permissions; the index is kept as it was",
            )
        return scanned

    def _holds_notes(self) -> bool:
        """Say whether the index knows any note."""
        with suppress(IndexUnreadable), self._readers.one() as store:
            live = store.live()
            return live is not None and store.one(f"select 1 from {live.files}") == 1
        return False

    def _agrees(self, scanned: Inventory) -> bool:
        """Say, without a lock, whether there is nothing to do."""
        if self._readers.found_damage:
            return False
        try:
            with self._readers.one() as store:
                found = live_changes(
                    store, scanned, self._identity, self._site.agent.search
                )
        except IndexUnreadable:
            return False
        return found is not None and not len(found)

    def _write(
        self, scanned: Inventory, run: Run, deadline: float | None, *, publish: bool
    ) -> Progress:
        if self._readers.found_damage:
            self._begin_anew()
        with closing(self._opened()) as store:
            try:
                progress = bring_up_to_date(
                    store,
                    scanned,
                    identity=self._identity,
                    settings=self._site.agent.search,
                    force=run.force,
                    deadline=deadline,
                    listener=run.listener,
                    publish=publish,
                )
                if deadline is None:
                    self._look_over(store)
                store.empty_log()
            except apsw.Error as error:
                with suppress(apsw.Error):
                    store.put("last_error", str(error))
                raise
        return progress

    def _opened(self) -> Store:
        """Open for writing; an index of another version makes room for ours."""
        store = Store.writer(self._path)
        try:
            usable = store.is_writable_here and store.is_readable_here()
        except BaseException:
            store.close()
            raise
        if usable:
            return store
        store.close()
        self._begin_anew()
        return Store.writer(self._path)

    def _begin_anew(self) -> None:
        """Remove the index, but for the vectors that can be read; see `salvage`."""
        from notewell.backends.builtin.salvage import begin_anew  # rarely needed

        begin_anew(self._path)
        self._readers.forget_damage()

    def _settle(self) -> None:
        """Write down that the index was found to agree with the files, if it is easy.

        Raises:
            BackendFailed: the index turned out to be damaged.
        """
        try:
            with writer_lock(self._path, patient=False) as mine:
                if mine:
                    with backend_errors(self._path), closing(self._opened()) as store:
                        agreed(store)
                        self._look_over(store)
                        store.empty_log()
        except BackendError as error:
            if isinstance(error, BackendFailed) and error.reason == "corrupt":
                raise

    def _look_over(self, store: Store) -> None:
        """See that the index is whole, as far as a budget goes; the next run goes on."""
        first = store.require_whole().get("checked") or 0
        following = check_pages(self._path, first)
        if following != first:
            store.put("checked", following)
