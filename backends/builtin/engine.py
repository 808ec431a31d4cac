"""The engine without an event loop: readers that never wait, one writer at a time."""

import threading
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from notewell.backends.base import (
    PLAIN_RUN,
    Findings,
    Query,
    Run,
    Site,
)
from notewell.backends.builtin.changes import Inventory, take_inventory
from notewell.backends.builtin.files import size_of
from notewell.backends.builtin.identity import Identity
from notewell.backends.builtin.location import locate_index
from notewell.backends.builtin.readers import Readers, Unreadable
from notewell.backends.builtin.search import search_index, unread_warnings
from notewell.backends.builtin.store import BACKEND, Store
from notewell.backends.builtin.vectors.outcome import (
    KEYWORDS_ONLY,
    EmbedReport,
    QueryVector,
)
from notewell.errors import BackendFailed
from notewell.types import IndexReport, IndexStatus

if TYPE_CHECKING:  # loaded by those who need them: most searches write nothing
    from notewell.backends.builtin.background import Background
    from notewell.backends.builtin.vectors.engine import VectorEngine
    from notewell.backends.builtin.writer import Indexed, Writer

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

    def _leg(self) -> "VectorEngine":
        """Return what makes and compares vectors."""
        from notewell.backends.builtin.vectors.engine import IndexAccess, VectorEngine

        return VectorEngine(
            self._site, IndexAccess(reading=self._readers.one, writing=self._lent)
        )

    @cached_property
    def _writer(self) -> "Writer":
        """What writes the index: most searches need none."""
        from notewell.backends.builtin.writer import Writer

        return Writer(self._site, self._readers, self._identity, self._closing)

    def _lent(self) -> AbstractContextManager[Store]:
        return self._writer.lend()

    def _begun(self) -> "Background":
        """Begin to keep the index up to date."""
        from notewell.backends.builtin.background import Background

        return Background(
            self._site.agent.search.sync,
            lambda listener: self.refresh(Run(vectors="all", listener=listener)),
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

    def refresh_soon(self, *, changed: bool = True) -> None:
        """Let a run follow soon, in a program that stays; see `KeepsFresh`."""
        if self._background:
            self._background.refresh_soon(changed=changed)

    def search(self, query: Query, *, stop: threading.Event | None = None) -> Findings:
        """Answer from the index, or from the files when it cannot be read.

        Raises:
            WorkCancelled: `stop` was set on the way.
        """
        background = self._background
        if background is None:
            return self._found(query, stop)
        with background.searching():
            behind, busy = background.behind, background.busy
            found = self._found(query, stop)
        if not busy:
            background.after(found)
        stale = behind or bool(found.freshness.stale)  # otherwise it would have heard
        return replace(found, freshness=replace(found.freshness, stale=stale))

    def _found(self, query: Query, stop: threading.Event | None) -> Findings:
        meaning: QueryVector = KEYWORDS_ONLY
        try:
            if self._vectors and not query.keywords_only:
                if not self._site.stays:
                    self._vectors.begin()
                # Before the index is read: a provider may take seconds.
                meaning = self._vectors.meaning(query.text)
            with self._readers.one(stop) as store:
                outdated = self._identity.reason_to_replace(store)
                found = search_index(
                    self._site, store, query, meaning=meaning, outdated=outdated
                )
                if found.hits:
                    return found
                return self._with_pending(store, found, query)
        except Unreadable as error:
            from notewell.backends.builtin.fallback_scan import search_files

            # The question may have been sent away before the index turned out so.
            return search_files(
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
        here = take_inventory(self._site, spoken=spoken)
        count_pending = self._pending(store, here, spoken=spoken)
        closed = tuple(
            said for said in self._closed(here, query) if said not in found.warnings
        )
        stale = bool(found.freshness.stale) or count_pending > 0 or bool(closed)
        fresh = replace(found.freshness, pending=count_pending, stale=stale)
        return replace(found, freshness=fresh, warnings=(*found.warnings, *closed))

    def _closed(self, here: Inventory, query: Query) -> tuple[str, ...]:
        """Say what cannot be read now, of what may be seen in this conversation."""
        said = _visible(here.unread(), query)
        root = tuple(
            f"The workspace cannot be read: {each.detail}."
            for each in here.unreadable()
        )
        return (*root, *unread_warnings(said))

    def refresh(
        self, run: Run = PLAIN_RUN, *, stop: threading.Event | None = None
    ) -> IndexReport:
        """Make the index agree with the files; see `Backend.refresh`.

        Args:
            stop: Set when another writer is not to be waited for any longer.
        """
        stop = stop or self._closing
        try:
            return self._refreshed(run, stop)
        except BackendFailed as error:
            if error.reason != "corrupt":
                raise
        self._writer.begin_anew(patient=run.within is None)
        return self._refreshed(run, stop)

    def _refreshed(self, run: Run, stop: threading.Event) -> IndexReport:
        index, leg = self._writer.index, self._vectors
        if run.vectors == "none" or leg is None:
            return self._report(index(run, stop), EmbedReport())
        if run.vectors == "instant":
            indexed = index(run, stop)
            made = leg.make(run, anew=False) if indexed.done else EmbedReport()
            return self._report(indexed, made)
        if not self._writer.replaces():
            indexed = index(run, stop)
            return self._report(indexed, leg.make(run, anew=run.force))
        # The old index answers until the new one has its vectors, too.
        index(run, stop, publish=False)
        first = leg.make_next(run, anew=run.force)
        indexed = index(replace(run, force=False), stop)
        if first.failed:
            return self._report(indexed, first)
        return self._report(indexed, leg.make(run, anew=False))

    def status(self) -> IndexStatus:
        """Count what the index holds and what it lacks."""
        from notewell.backends.builtin.counting import counted, uncounted

        scanned = take_inventory(self._site)
        notice = self._location.notice
        warnings = (*((notice,) if notice else ()), *unread_warnings(scanned.unread()))
        if self._background and self._background.problem:
            warnings = (*warnings, f"The last run: {self._background.problem}")
        try:
            with self._readers.one() as store:
                if size_of(self._path) <= _CHECKED_AT_ONCE:
                    store.require_sound()
                count_pending = self._pending(store, scanned)
                settings = self._site.agent.search.store.vector
                return counted(store, self._path, count_pending, warnings, settings)
        except Unreadable as error:
            return uncounted(self._path, len(scanned), error, warnings)

    def _report(self, indexed: "Indexed", made: EmbedReport) -> IndexReport:
        """Count what the index holds now; what is pending too, if it is not known."""
        from notewell.backends.builtin.counting import counted, nothing_held

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

    def _pending(self, store: Store, scanned: Inventory, *, spoken: bool = True) -> int:
        """Count what the index lacks; without `spoken` only notes."""
        from notewell.backends.builtin.changes import count_pending, live_changes

        search = self._site.agent.search
        differing = live_changes(store, scanned, self._identity, search)
        return count_pending(differing, scanned, spoken=spoken)


def _visible(unread: Mapping[str, str], query: Query) -> dict[str, str]:
    """Return what may be named in this conversation."""
    return {path: why for path, why in unread.items() if not query.hides(path)}
