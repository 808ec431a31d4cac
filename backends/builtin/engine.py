"""The builtin engine: readers that never wait, one writer at a time.

`Engine` does the work and blocks; `BuiltinBackend` is the one place in which that work
leaves an event loop. What only a run or a status needs is loaded when it is asked for.
"""

import threading
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Final, Self

from notewell.backends.base import (
    PLAIN_RUN,
    Findings,
    Query,
    Run,
    Site,
)
from notewell.backends.builtin.errors import IndexUnreadable
from notewell.backends.builtin.index_file import locate_index
from notewell.backends.builtin.policy import BuiltinPolicy
from notewell.backends.builtin.readers import ReaderPool
from notewell.backends.builtin.schema import IndexIdentity
from notewell.backends.builtin.search import IndexAnswer, list_from_index, search_index
from notewell.backends.builtin.store import Store
from notewell.backends.builtin.vectors.outcome import (
    KEYWORDS_ONLY,
    EmbedReport,
    QueryVector,
)
from notewell.backends.loops import StoppableListener, cancellable, off_the_loop
from notewell.backends.text.query import wants_newest
from notewell.backends.weighing.answer import unread_warnings
from notewell.errors import BackendFailed
from notewell.types import IndexReport, IndexStatus
from notewell.workspace.decoding import holds_no_text
from notewell.workspace.placeholders import WHY

if TYPE_CHECKING:  # loaded by those who need them: most searches write nothing
    from notewell.backends.base import NoteCatalogue
    from notewell.backends.builtin.background import BackgroundRefresh
    from notewell.backends.builtin.status import StatusReader
    from notewell.backends.builtin.vectors.engine import VectorEngine
    from notewell.backends.builtin.writer import IndexWriter, SyncReport

_COUNTED_AT_ONCE: Final = 5_000
"""Notes that are compared with the index before an empty answer is given."""


class Engine:
    """Search over one workspace. Safe to share between threads."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._location = locate_index(site)
        self._path = self._location.path
        self._identity = IndexIdentity.current(
            site.workspace.root, site.agent.search.chunking
        )
        self._readers = ReaderPool(self._path, self._identity.workspace)
        self._vectors = self._vector_engine() if site.embedding.first else None
        self._closing = threading.Event()
        self._background = self._background_refresh() if site.stays else None

    def _vector_engine(self) -> "VectorEngine":
        """Return what makes and compares vectors."""
        from notewell.backends.builtin.vectors.engine import VectorEngine
        from notewell.backends.builtin.vectors.sets import IndexAccess

        return VectorEngine(
            self._site, IndexAccess(reading=self._readers.one, writing=self._lent)
        )

    @cached_property
    def _writer(self) -> "IndexWriter":
        """What writes the index: most searches need none."""
        from notewell.backends.builtin.writer import IndexWriter

        return IndexWriter(self._site, self._readers, self._identity, self._closing)

    def _lent(self) -> AbstractContextManager[Store]:
        return self._writer.lend()

    def _background_refresh(self) -> "BackgroundRefresh":
        """Begin to keep the index up to date."""
        from notewell.backends.builtin.background import BackgroundRefresh

        return BackgroundRefresh(
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
        except IndexUnreadable as error:
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
        vector: QueryVector = KEYWORDS_ONLY
        try:
            if self._vectors and not query.keywords_only:
                if not self._site.stays:
                    self._vectors.begin()
                # Before the index is read: a provider may take seconds.
                vector = self._vectors.query_vector(query.text)
            with self._readers.one(stop) as store:
                outdated = self._identity.reason_to_replace(
                    store.built_with(store.live())
                )
                answer = self._answer(store, query, vector, outdated)
                if answer.findings.hits:
                    return _told(answer.findings, answer.unread)
                return self._with_pending(store, answer, query)
        except IndexUnreadable as error:
            from notewell.backends.builtin.fallback_scan import search_files

            # The question may have been sent away before the index turned out so.
            return search_files(self._site, query, error, vector=vector, stop=stop)

    def _answer(
        self, store: Store, query: Query, vector: QueryVector, outdated: str | None
    ) -> IndexAnswer:
        if wants_newest(query):
            return list_from_index(self._site, store, query, outdated)
        return search_index(self._site, store, query, vector=vector, outdated=outdated)

    def _with_pending(
        self, store: Store, answer: IndexAnswer, query: Query
    ) -> Findings:
        """Say of an empty answer what the index does not know yet, and cannot know.

        Large workspaces are not walked on the way to an answer: `pending` stays None.
        """
        found, unread = answer
        live = store.live()
        if live is None or found.reason not in ("no-match", "nothing-indexed"):
            return _told(found, unread)
        if store.one(f"select count(*) from {live.files}") > _COUNTED_AT_ONCE:
            return _told(found, {**unread, **_visible(store.problems(live), query)})
        from notewell.backends.builtin.changes import count_unindexed
        from notewell.backends.changes import take_inventory

        spoken = "sessions" in query.sources
        here = take_inventory(self._site, spoken=spoken)
        pending = count_unindexed(
            store, here, self._identity, self._site.agent.search, spoken=spoken
        ).pending
        textless = {
            path: why
            for path, why in store.problems(live).items()
            if holds_no_text(why)
        }
        waiting = {**unread, **_visible(here.unread(), query)}
        unread = {**_visible(textless, query), **waiting}
        closed = tuple(
            f"The workspace cannot be read: {each.detail}."
            for each in here.unreadable()
        )
        soon = [why for why in waiting.values() if why != WHY]
        stale = bool(found.freshness.stale or pending or soon or closed)
        return _told(
            replace(
                found,
                freshness=replace(found.freshness, pending=pending, stale=stale),
                warnings=(*found.warnings, *closed),
            ),
            unread,
        )

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
        if run.vectors == "none" or self._vectors is None:
            return self._status.report(self._writer.index(run, stop), EmbedReport())
        synced, embedded = self._with_vectors(self._vectors, run, stop)
        self._writer.empty_log()
        return self._status.report(synced, embedded)

    def _with_vectors(
        self, vectors: "VectorEngine", run: Run, stop: threading.Event
    ) -> "tuple[SyncReport, EmbedReport]":
        index = self._writer.index
        if run.vectors == "instant":
            synced = index(run, stop)
            made = vectors.make(run, anew=False) if synced.done else EmbedReport()
            return synced, made
        if not self._writer.replaces():
            return index(run, stop), vectors.make(run, anew=run.force)
        # The old index answers until the new one has its vectors, too.
        index(run, stop, publish=False)
        first = vectors.make_next(run, anew=run.force)
        synced = index(replace(run, force=False), stop)
        return synced, first if first.failed else vectors.make(run, anew=False)

    def status(self) -> IndexStatus:
        """Count what the index holds and what it lacks."""
        problem = self._background.problem if self._background else None
        return self._status.status(problem)

    @cached_property
    def _status(self) -> "StatusReader":
        """What counts: a search does not."""
        from notewell.backends.builtin.status import StatusReader

        return StatusReader(self._site, self._location, self._readers, self._identity)


def _told(found: Findings, unread: Mapping[str, str]) -> Findings:
    """Say in an answer what cannot be read now."""
    if not unread:
        return found
    return replace(found, warnings=(*found.warnings, *unread_warnings(unread)))


def _visible(unread: Mapping[str, str], query: Query) -> dict[str, str]:
    """Return what may be named in this conversation."""
    return {path: why for path, why in unread.items() if not query.hides(path)}


class BuiltinBackend:
    """Words and vectors in SQLite. See `notewell.backends.base.Backend`."""

    policy = BuiltinPolicy

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @classmethod
    async def open(cls, site: Site) -> Self:
        """Attach to the notes of `site`."""
        return cls(await off_the_loop(Engine, site))

    @classmethod
    def catalogue(cls, site: Site) -> "AbstractContextManager[NoteCatalogue]":
        """Lend what the index knows of names and links; see `HasCatalogue`."""
        from notewell.backends.builtin.catalogue import open_catalogue

        return open_catalogue(site)

    async def built(self) -> bool:
        """Whether an index was ever completed, so that searches are answered by it."""
        return await off_the_loop(self._engine.built)

    async def refresh(self, run: Run = PLAIN_RUN) -> IndexReport:
        """Make the index agree with the files."""
        return await cancellable(self._refreshed, run)

    async def search(self, query: Query) -> Findings:
        """Return at most `query.limit` hits."""
        return await cancellable(self._engine.search, query)

    async def status(self) -> IndexStatus:
        """Count what the index holds and what it lacks."""
        return await off_the_loop(self._engine.status)

    def refresh_soon(self, *, changed: bool = True) -> None:
        """Say that the index should be brought up to date."""
        self._engine.refresh_soon(changed=changed)

    async def close(self) -> None:
        """Release what the engine holds."""
        await off_the_loop(self._engine.close)

    def _refreshed(self, run: Run, *, stop: threading.Event) -> IndexReport:
        """Refresh until `stop` is set, which is seen at the next note or batch."""
        stoppable = replace(run, listener=StoppableListener(run.listener, stop))
        return self._engine.refresh(stoppable, stop=stop)
