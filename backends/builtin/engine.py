"""The engine without an event loop: readers that never wait, one writer at a time."""

import threading
import time
from collections.abc import Generator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import apsw

from notewell.backends.base import (
    Findings,
    Progress,
    Query,
    Site,
    VectorWork,
    Waiting,
)
from notewell.backends.builtin.answering import from_files, from_index
from notewell.backends.builtin.checksums import check_pages
from notewell.backends.builtin.counting import (
    Indexed,
    Told,
    counted,
    nothing_held,
    uncounted,
)
from notewell.backends.builtin.damage import explained
from notewell.backends.builtin.files import size_of, state_of
from notewell.backends.builtin.identity import Identity
from notewell.backends.builtin.location import locate_index
from notewell.backends.builtin.locking import only_writer
from notewell.backends.builtin.ondisk import OnDisk, look_at, unread_warnings
from notewell.backends.builtin.readers import Readers, Unreadable
from notewell.backends.builtin.store import BACKEND, Store
from notewell.backends.builtin.sync import (
    Differences,
    agreed,
    bring_up_to_date,
    differences,
)
from notewell.backends.builtin.vectors.outcome import WORDS_ALONE, Made, Meaning
from notewell.errors import BackendError, BackendFailed, BackendUnavailable
from notewell.types import IndexReport, IndexStatus

if TYPE_CHECKING:  # loaded by those who need them: most searches are by words alone
    from notewell.backends.builtin.background import Background
    from notewell.backends.builtin.vectors.leg import VectorLeg

_COUNTED_AT_ONCE = 5_000
"""Notes that are compared with the index before an empty answer is given."""

_CHECKED_AT_ONCE = 64 * 2**20
"""Bytes of an index that are looked over before it is counted: some 60 ms."""

_REBUILD = "run `notewell index`; no note was touched"


class Engine:
    """Search over one workspace. Safe to share between threads."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._location = locate_index(site)
        self._path = self._location.path
        self._identity = Identity.current(
            site.workspace.root, site.agent.search.chunking
        )
        self._readers = Readers(self._path, self._identity.workspace)
        self._vectors = self._leg() if site.embedding.first else None
        self._closing = threading.Event()
        self._background = self._begun() if site.stays else None

    def _leg(self) -> "VectorLeg":
        """Return what makes and compares vectors."""
        from notewell.backends.builtin.vectors.leg import Access, VectorLeg

        return VectorLeg(
            self._site, Access(reading=self._readers.one, writing=self._writing)
        )

    def _begun(self) -> "Background":
        """Begin to keep the index up to date."""
        from notewell.backends.builtin.background import Background

        return Background(
            self._site.agent.search.sync,
            lambda progress, vectors: self.refresh(
                force=False, within=None, progress=progress, vectors=vectors
            ),
        )

    def close(self) -> None:
        """End what runs in the background; close every connection and provider."""
        self._closing.set()
        if self._background:
            self._background.close()
        if self._vectors:
            self._vectors.close()
        self._readers.close()

    def built(self) -> bool:
        """Say whether searches are answered from an index of this workspace."""
        try:
            with self._readers.one():
                return True
        except Unreadable as error:
            # A damaged index is not built anew on the way to an answer.
            return error.reason != "not-ready"

    def nudge(self, *, changed: bool = True) -> None:
        """Let a run follow soon, in a program that stays; see `Nudged`."""
        if self._background:
            self._background.nudge(changed=changed)

    def search(self, query: Query, *, stop: threading.Event | None = None) -> Findings:
        """Answer from the index, or from the files when it cannot be read.

        Raises:
            CalledOff: `stop` was set on the way.
        """
        background = self._background
        if background is None:
            return self._found(query, stop)
        with background.searching():
            behind, busy = background.behind, background.busy
            found = self._found(query, stop)
        if not busy:
            background.after(found)
        if not behind:
            return found
        return replace(found, freshness=replace(found.freshness, stale=True))

    def _found(self, query: Query, stop: threading.Event | None) -> Findings:
        meaning: Meaning = WORDS_ALONE
        try:
            if self._vectors:
                if not self._site.stays:
                    self._vectors.begin()
                # Before the index is read: a provider may take seconds.
                meaning = self._vectors.meaning(query.text)
            with self._readers.one(stop) as store:
                outdated = self._outdated(store)
                found = from_index(
                    self._site, store, query, meaning=meaning, outdated=outdated
                )
                if found.hits:
                    return found
                return self._with_pending(store, found, query)
        except Unreadable as error:
            # The question may have been sent away before the index turned out so.
            return from_files(
                self._site, query, error.reason, error.why, meaning=meaning, stop=stop
            )

    def _with_pending(self, store: Store, found: Findings, query: Query) -> Findings:
        """Say of an empty answer how many files the index does not know yet.

        Large workspaces are not walked on the way to an answer: `pending` stays None.
        """
        live = store.live()
        if live is None or found.reason not in ("no-match", "nothing-indexed"):
            return found
        if store.one(f"select count(*) from {live.files}") > _COUNTED_AT_ONCE:
            last = dict(
                store.rows(
                    f"select path, problem from {live.files} where problem is not null"
                )
            )
            closed = unread_warnings(_visible(last, query))
            return replace(found, warnings=(*found.warnings, *closed))
        spoken = "sessions" in query.sources
        here = look_at(self._site, spoken=spoken)
        pending = self._pending(store, here, spoken=spoken)
        closed = tuple(
            said for said in self._closed(here, query) if said not in found.warnings
        )
        stale = found.freshness.stale or pending > 0 or bool(closed)
        fresh = replace(found.freshness, pending=pending, stale=stale)
        return replace(found, freshness=fresh, warnings=(*found.warnings, *closed))

    def _closed(self, here: OnDisk, query: Query) -> tuple[str, ...]:
        """Say what cannot be read now, of what may be seen in this conversation."""
        said = _visible(here.unread(), query)
        root = tuple(
            f"The workspace cannot be read: {each.detail}."
            for each in here.unreadable()
        )
        return (*root, *unread_warnings(said))

    def refresh(
        self,
        *,
        force: bool,
        within: float | None,
        progress: Progress | None,
        waiting: Waiting | None = None,
        vectors: VectorWork | None = None,
        stop: threading.Event | None = None,
    ) -> IndexReport:
        """Make the index agree with the files; see `Backend.refresh`.

        Args:
            stop: Set when another writer is not to be waited for any longer.
        """
        told = Told(progress=progress, waiting=waiting, stop=stop or self._closing)
        try:
            return self._refreshed(force, within, told, vectors)
        except BackendFailed as error:
            if error.reason != "corrupt":
                raise
        patient = within is None
        with only_writer(self._path, patient=patient) as mine, explained(self._path):
            if mine:
                self._begin_anew()
        return self._refreshed(force, within, told, vectors)

    def _refreshed(
        self,
        force: bool,
        within: float | None,
        told: Told,
        vectors: VectorWork | None,
    ) -> IndexReport:
        leg = self._vectors
        if vectors is None or leg is None:
            return self._report(self._index(force, within, told), Made())
        if vectors.at_once:
            indexed = self._index(force, within, told)
            made = leg.make(vectors, anew=False) if indexed.done else Made()
            return self._report(indexed, made)
        if not self._is_replaced():
            indexed = self._index(force, within, told)
            return self._report(indexed, leg.make(vectors, anew=force))
        # The old index answers until the new one has its vectors, too.
        self._index(force, within, told, publish=False)
        first = leg.make_next(vectors, anew=force)
        indexed = self._index(False, within, told)
        if first.failed:
            return self._report(indexed, first)
        return self._report(indexed, leg.make(vectors, anew=False))

    def _index(
        self, force: bool, within: float | None, told: Told, *, publish: bool = True
    ) -> Indexed:
        """Make the text index agree with the files."""
        deadline = None if within is None else time.monotonic() + within
        before = state_of(self._path)
        scanned = self._scanned(emptied=force)
        if not force and self._agrees(scanned):
            if within is None:
                self._settle()
            return Indexed(scanned=scanned)
        patient = within is None
        with only_writer(
            self._path, patient=patient, waiting=told.waiting, closing=told.stop
        ) as mine:
            if not mine:
                busy = "Another process is indexing; its result is used."
                return Indexed(scanned=scanned, left=None, warnings=(busy,))
            if state_of(self._path) != before:
                # Whoever wrote since may know newer notes than this scan does.
                scanned = self._scanned()
            with explained(self._path):
                done, left = self._write(
                    scanned, force, deadline, told.progress, publish=publish
                )
        return Indexed(scanned=scanned, done=done, left=left)

    def status(self) -> IndexStatus:
        """Count what the index holds and what it lacks."""
        scanned = look_at(self._site)
        notice = self._location.notice
        warnings = (*((notice,) if notice else ()), *unread_warnings(scanned.unread()))
        if self._background and self._background.problem:
            warnings = (*warnings, f"The last run: {self._background.problem}")
        try:
            with self._readers.one() as store:
                if size_of(self._path) <= _CHECKED_AT_ONCE:
                    store.require_sound()
                pending = self._pending(store, scanned)
                settings = self._site.agent.search.store.vector
                return counted(store, self._path, pending, warnings, settings)
        except Unreadable as error:
            return uncounted(self._path, len(scanned), error, warnings)

    def _report(self, indexed: Indexed, made: Made) -> IndexReport:
        """Count what the index holds now; what is pending too, if it is not known."""
        notice = (self._location.notice,) if self._location.notice else ()
        closed = unread_warnings(indexed.scanned.unread())
        warnings = (*notice, *closed, *indexed.warnings, *made.warnings)
        try:
            with self._readers.one() as store:
                left = indexed.left
                if left is None:
                    left = self._pending(store, indexed.scanned)
                settings = self._site.agent.search.store.vector
                held = counted(store, self._path, left, (), settings)
        except Unreadable as error:
            if error.reason in ("not-ready", "version") and indexed.left == 0:
                replaced = f"Another program has replaced the index: {error.why}."
                return nothing_held(indexed, (*warnings, replaced))
            if indexed.left == 0:
                raise BackendFailed(
                    BACKEND, error.why, reason=error.reason, remedy=_REBUILD
                ) from error
            return nothing_held(indexed, warnings)
        return IndexReport(
            files=held.files,
            chunks=held.chunks,
            embedded=made.embedded,
            pending=held.pending,
            changed=indexed.done,
            skipped=(*indexed.scanned.skipped, *held.skipped),
            local_to_remote=made.local_to_remote,
            warnings=warnings,
        )

    def _scanned(self, *, emptied: bool = False) -> OnDisk:
        """Walk the notes; a folder that cannot be read is not one without notes.

        Args:
            emptied: Take an empty folder for one that somebody has emptied, and not for
                the place of a disk that is not there.
        """
        scanned = look_at(self._site)
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
        with suppress(Unreadable), self._readers.one() as store:
            live = store.live()
            return live is not None and store.one(f"select 1 from {live.files}") == 1
        return False

    def _agrees(self, scanned: OnDisk) -> bool:
        """Say, without a lock, whether there is nothing to do."""
        if self._readers.found_damage:
            return False
        try:
            with self._readers.one() as store:
                changes = self._changes(store, scanned)
        except Unreadable:
            return False
        return changes is not None and not len(changes)

    def _changes(self, store: Store, scanned: OnDisk) -> Differences | None:
        """Compare the notes with the index; None if it has to be built anew."""
        live = store.live()
        if live is None or not self._is_current(store):
            return None
        return differences(store, live, scanned, self._site.agent.search)

    def _outdated(self, store: Store) -> str | None:
        """Say why the index has to be built anew; None if it has not."""
        live = store.live()
        built = store.get(f"identity_{live.number}") if live else None
        if built is None or built == self._identity.encoded():
            return None
        return self._identity.reason_to_replace(Identity.decoded(built))

    def _is_current(self, store: Store) -> bool:
        live = store.live()
        identity = self._identity.encoded()
        return bool(live and store.get(f"identity_{live.number}") == identity)

    def _is_replaced(self) -> bool:
        """Say whether the next run builds another index beside the one that answers."""
        try:
            with self._readers.one() as store:
                return not self._is_current(store)
        except Unreadable:
            return False

    def _pending(self, store: Store, scanned: OnDisk, *, spoken: bool = True) -> int:
        """Count what the index lacks; without `spoken` only notes."""
        changes = self._changes(store, scanned)
        if changes is None:
            return max(1, len(scanned))
        return (changes if spoken else changes.notes).certain()

    def _write(
        self,
        scanned: OnDisk,
        force: bool,
        deadline: float | None,
        progress: Progress | None,
        *,
        publish: bool,
    ) -> tuple[int, int]:
        if self._readers.found_damage:
            self._begin_anew()
        store = self._writer()
        try:
            counts = bring_up_to_date(
                store,
                scanned,
                identity=self._identity,
                settings=self._site.agent.search,
                force=force,
                deadline=deadline,
                progress=progress,
                publish=publish,
            )
            if deadline is None:
                self._look_over(store)
            return counts
        except apsw.Error as error:
            _note_failure(store, error)
            raise
        finally:
            store.close()

    def _writer(self) -> Store:
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

    @contextmanager
    def _writing(self) -> Generator[Store]:
        """Lend a connection that may write vectors, with the lock."""
        lock = only_writer(self._path, patient=True, closing=self._closing)
        with lock, explained(self._path):
            store = self._writer()
            try:
                if store.get("vectors_version") == 1:
                    from notewell.backends.builtin.vectors.older import carry_over

                    carry_over(store)
                yield store
            finally:
                store.close()

    def _settle(self) -> None:
        """Write down that the index was found to agree with the files, if it is easy.

        Raises:
            BackendFailed: the index turned out to be damaged.
        """
        try:
            with only_writer(self._path, patient=False) as mine:
                if mine:
                    with explained(self._path), closing(self._writer()) as store:
                        agreed(store)
                        self._look_over(store)
        except BackendError as error:
            if isinstance(error, BackendFailed) and error.reason == "corrupt":
                raise

    def _look_over(self, store: Store) -> None:
        """See that the index is whole, as far as a budget goes; the next run goes on."""
        first = store.require_whole().get("checked") or 0
        following = check_pages(self._path, first)
        if following != first:
            store.put("checked", following)


def _visible(unread: Mapping[str, str], query: Query) -> dict[str, str]:
    """Return what may be named in this conversation."""
    return {path: why for path, why in unread.items() if not query.hides(path)}


def _note_failure(store: Store, error: apsw.Error) -> None:
    with suppress(apsw.Error):
        store.put("last_error", str(error))
