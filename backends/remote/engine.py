"""An engine whose index lies in a server that several machines may share.

`RemoteEngine` does the work and blocks; `RemoteBackend` is the one place in which that
work leaves an event loop. A server's engine derives from it and says which store it is.
"""

import json
import threading
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import ClassVar, Final, Self

from notewell.backends.base import (
    PLAIN_RUN,
    Findings,
    Query,
    Run,
    Site,
    Upload,
)
from notewell.backends.changes import Inventory, take_inventory
from notewell.backends.loops import (
    StoppableListener,
    WorkCancelled,
    cancellable,
    off_the_loop,
)
from notewell.backends.policy import Policy
from notewell.backends.remote.index import NewestInSpace, RemoteIndex
from notewell.backends.remote.notes import SpaceNotes
from notewell.backends.remote.store import (
    Holding,
    NoteRecord,
    Owner,
    SpaceSnapshot,
    SpaceStore,
    SpaceWriter,
)
from notewell.backends.remote.sync import (
    SyncResult,
    changes_of,
    holding_of,
    identity_of,
    write_holding,
)
from notewell.backends.text.query import parse_query, wants_newest
from notewell.backends.weighing.answer import (
    answer_from,
    unread_warnings,
    without_words,
)
from notewell.backends.weighing.candidates import IndexSearch
from notewell.backends.weighing.index import NO_EMBEDDING
from notewell.backends.weighing.verify import Verifier
from notewell.errors import BackendFailed, BackendUnavailable
from notewell.hosts import HostAgreements
from notewell.types import Freshness, IndexReport, IndexStatus, Skipped
from notewell.workspace.decoding import NOT_TEXT, holds_no_text
from notewell.workspace.layout import show_name

_COUNTED_AT_ONCE: Final = 5_000
"""Notes that are compared with the server before an empty answer is given."""

_LOOKS: Final = 0.5
"""Seconds between two looks whether another process still writes."""

_BYTES_PER_TOKEN: Final = 4
_BYTES_PER_PASSAGE: Final = 1_200
"""About, as passages are cut."""

_OUTDATED: Final = (
    "The index was built with other settings; `notewell index` builds it anew, and until"
    " then the old one answers."
)
_BUSY: Final = "Another process is indexing; its result is used."


class RemoteEngine:
    """Search over one workspace by a server. Safe to share between threads."""

    def __init__(self, site: Site, store: SpaceStore, owner: Owner) -> None:
        self._site = site
        self._store = store
        self._owner = owner
        self._identity = identity_of(site.agent.search.chunking)
        self._closing = threading.Event()
        self._was_built = False

    def close(self) -> None:
        """Let go of the server."""
        self._closing.set()
        self._store.close()

    def built(self) -> bool:
        """Say whether searches are answered from the server; asked of it until they are."""
        if not self._was_built:
            with self._reading() as space:
                self._was_built = space is not None and self._live(space) is not None
        return self._was_built

    def search(self, query: Query) -> Findings:
        """Answer from the server, by one look at it.

        Raises:
            BackendError: it cannot answer.
        """
        newest = wants_newest(query)
        asked = parse_query(query.text)
        if not asked.terms and not newest:
            return without_words(NO_EMBEDDING)
        with self._reading() as space:
            holding = None if space is None else self._live(space)
            if space is None or holding is None:
                return self._nothing()
            outdated = None if holding.identity == self._identity else _OUTDATED
            notes = SpaceNotes(space, query)
            verifier = Verifier(self._site.workspace)
            if newest:
                from notewell.backends.weighing.newest import list_newest  # rare

                index = NewestInSpace(space, notes)
                found = list_newest(index, query, verifier, outdated)
            else:
                search = IndexSearch(
                    site=self._site, query=query, asked=asked, vector=NO_EMBEDDING
                )
                found = answer_from(
                    RemoteIndex(space, notes), search, verifier, outdated
                )
            stale = verifier.stale or outdated is not None
            fresh = self._freshness(space, holding, found, stale=stale)
        unread = unread_warnings(verifier.unread)
        return replace(found, freshness=fresh, warnings=(*found.warnings, *unread))

    def _nothing(self) -> Findings:
        """Answer where there is no index.

        Raises:
            BackendFailed: there was one, which somebody has removed.
        """
        if self._was_built:
            self._was_built = False
            raise BackendFailed(
                self._store.name,
                "its index has gone",
                reason="not-ready",
                remedy="run `notewell index`",
            )
        return Findings(hits=(), mode="keyword", reason="nothing-indexed")

    def _freshness(
        self, space: SpaceSnapshot, holding: Holding, found: Findings, *, stale: bool
    ) -> Freshness:
        """Say how fresh an answer is; of an empty one also what is not known yet."""
        at = _moment(holding.indexed_at)
        fresh = Freshness(indexed_at=at, stale=stale or None)
        if found.hits or holding.files > _COUNTED_AT_ONCE:
            return fresh
        here = take_inventory(self._site, spoken=False)
        todo = changes_of(space, self._owner, here, self._identity)
        pending = len(here) if todo is None else todo.certain()
        return replace(fresh, pending=pending, stale=stale or pending > 0)

    def refresh(
        self, run: Run = PLAIN_RUN, *, stop: threading.Event | None = None
    ) -> IndexReport:
        """Make the server agree with the files; see `Backend.refresh`."""
        deadline = None if run.within is None else time.monotonic() + run.within
        found = self._scanned(emptied=run.force)
        if not run.force and self._agrees(found):
            return self._report(found, SyncResult())
        if not self._may_send(run, found):
            return self._report(
                found, SyncResult(left=max(1, len(found))), self._not_sent()
            )
        self._store.prepare()
        try:
            with self._writing(run, stop or self._closing) as writer:
                found = self._scanned(emptied=run.force)
                done = write_holding(
                    writer,
                    found,
                    identity=self._identity,
                    chunking=self._site.agent.search.chunking,
                    run=run,
                    deadline=deadline,
                )
        except BackendFailed as error:
            if error.reason != "busy" or run.within is None:
                raise
            return self._report(found, None, _BUSY)
        return self._report(found, done)

    def status(self) -> IndexStatus:
        """Count what the server holds and what it lacks."""
        found = take_inventory(self._site, spoken=False)
        with self._reading() as space:
            if space is None:
                return self._counted(found, Holding(owner=self._owner), (), len(found))
            holding = holding_of(space, self._owner)
            pending = self._pending(space, found)
            held = () if holding.live is None else self._problems(space, holding.live)
        return self._counted(found, holding, held, pending)

    def _counted(
        self,
        found: Inventory,
        holding: Holding,
        held: tuple[NoteRecord, ...],
        pending: int,
    ) -> IndexStatus:
        identity: dict[str, str] = json.loads(holding.identity or "{}")
        return IndexStatus(
            location=self._store.location,
            bytes=(self._store.stored_bytes() or 0) if holding.live else 0,
            files=holding.files,
            chunks=holding.passages,
            pending=pending,
            indexed_at=_moment(holding.indexed_at),
            identity=identity,
            skipped=_skipped(held),
            warnings=(*self._store.warnings, *unread_warnings(found.unread())),
        )

    def _report(
        self, found: Inventory, done: SyncResult | None, *warnings: str
    ) -> IndexReport:
        """Count after a run.

        Args:
            done: What it did; None: what is left has to be counted.
        """
        with self._reading() as space:
            holding = Holding(owner=self._owner)
            held: tuple[NoteRecord, ...] = ()
            left = len(found) if done is None else done.left
            if space is not None:
                holding = holding_of(space, self._owner)
                if holding.live is not None:
                    held = self._problems(space, holding.live)
                if done is None:
                    left = self._pending(space, found)
        return IndexReport(
            files=holding.files,
            chunks=holding.passages,
            pending=left,
            changed=done.done if done else 0,
            skipped=(*found.skipped, *_skipped(held)),
            warnings=(*unread_warnings(found.unread()), *warnings),
        )

    def _problems(
        self, space: SpaceSnapshot, generation: int
    ) -> tuple[NoteRecord, ...]:
        records = space.notes_of(self._owner, generation)
        return tuple(each for each in records if each.problem)

    def _pending(self, space: SpaceSnapshot, found: Inventory) -> int:
        todo = changes_of(space, self._owner, found, self._identity)
        return max(1, len(found)) if todo is None else todo.certain()

    def _agrees(self, found: Inventory) -> bool:
        with self._reading() as space:
            if space is None:
                return False
            todo = changes_of(space, self._owner, found, self._identity)
            return todo is not None and not len(todo)

    def _live(self, space: SpaceSnapshot) -> Holding | None:
        """Return our holding, if it answers."""
        holding = holding_of(space, self._owner)
        return None if holding.live is None else holding

    @contextmanager
    def _reading(self) -> Generator[SpaceSnapshot | None]:
        """Lend the space; None: there is none yet."""
        with ExitStack() as lent:
            space: SpaceSnapshot | None = None
            try:
                space = lent.enter_context(self._store.snapshot())
            except BackendFailed as error:
                if error.reason != "not-ready":
                    raise
            yield space

    @contextmanager
    def _writing(self, run: Run, stop: threading.Event) -> Generator[SpaceWriter]:
        """Lend the right to write, waiting for another writer where there is time."""
        with ExitStack() as lent:
            writer = self._entered(lent, patient=run.within is None)
            if writer is None:
                run.listener.waiting()
            while writer is None:
                if stop.is_set() or self._closing.is_set():
                    raise WorkCancelled
                writer = self._entered(lent, patient=True)
            yield writer

    def _entered(self, lent: ExitStack, *, patient: bool) -> SpaceWriter | None:
        """Return the right to write; None: another process has it, and is waited for."""
        try:
            return lent.enter_context(
                self._store.writing(self._owner, wait=_LOOKS if patient else 0.0)
            )
        except BackendFailed as error:
            if error.reason != "busy" or not patient:
                raise
            return None

    def _scanned(self, *, emptied: bool) -> Inventory:
        """Walk the notes; a folder that cannot be read is not one without notes."""
        found = take_inventory(self._site, spoken=False)
        name = self._store.name
        if not emptied and found.is_bare and self._holds_notes():
            raise BackendUnavailable(
                name,
                f"nothing is left in {self._site.workspace.root}, as if its disk were"
                " not there; the index is kept as it was",
                remedy="mount the disk, or run `notewell index --force` if it is meant",
            )
        for skipped in found.unreadable():
            raise BackendUnavailable(
                name,
                f"the workspace cannot be read: {skipped.detail}",
                remedy="see its permissions; the index is kept as it was",
            )
        return found

    def _holds_notes(self) -> bool:
        with self._reading() as space:
            return space is not None and holding_of(space, self._owner).files > 0

    def _may_send(self, run: Run, found: Inventory) -> bool:
        """Whether notes stay here, or a person has agreed to the host, now or before."""
        host = self._store.host
        agreements = HostAgreements(self._site.state_dir)
        if host is None or agreements.has(host):
            return True
        size = sum(note.size for note in found.notes.notes)
        upload = Upload(
            provider=self._store.name,
            host=host,
            passages=max(len(found), round(size / _BYTES_PER_PASSAGE)),
            tokens=round(size / _BYTES_PER_TOKEN),
        )
        if not run.listener.uploading(upload):
            return False
        agreements.add(host)
        return True

    def _not_sent(self) -> str:
        return (
            f"No note was sent to {self._store.host}: `notewell index --yes` agrees, once"
            " for this host."
        )


def _moment(seconds: int | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def _skipped(held: tuple[NoteRecord, ...]) -> tuple[Skipped, ...]:
    """Return what the server holds of notes that could not be read."""
    return tuple(
        Skipped(
            path=show_name(each.path),
            reason="not-text" if holds_no_text(each.problem) else "unreadable",
            detail=each.problem.removeprefix(f"{NOT_TEXT}: "),
        )
        for each in held
        if each.problem
    )


class RemoteBackend:
    """Words by a server. See `notewell.backends.base.Backend`. To be derived from."""

    policy: ClassVar[type[Policy]] = Policy

    def __init__(self, engine: RemoteEngine) -> None:
        self._engine = engine

    @classmethod
    def store(cls, site: Site) -> SpaceStore:
        """Return the space of a site; nothing is connected to."""
        raise NotImplementedError

    @classmethod
    def owner(cls, site: Site) -> Owner:
        """Return whose notes a site has."""
        raise NotImplementedError

    @classmethod
    async def open(cls, site: Site) -> Self:
        """Attach to the notes of `site`, and to the server."""
        return cls(await off_the_loop(cls._opened, site))

    @classmethod
    def _opened(cls, site: Site) -> RemoteEngine:
        store = cls.store(site)
        try:
            store.open()
        except BaseException:
            store.close()
            raise
        return RemoteEngine(site, store, cls.owner(site))

    async def built(self) -> bool:
        """Whether the server has an index of these notes."""
        return await off_the_loop(self._engine.built)

    async def refresh(self, run: Run = PLAIN_RUN) -> IndexReport:
        """Make the server agree with the files."""
        return await cancellable(self._refreshed, run)

    def _refreshed(self, run: Run, *, stop: threading.Event) -> IndexReport:
        """Refresh until `stop` is set, which is seen at the next note."""
        stoppable = replace(run, listener=StoppableListener(run.listener, stop))
        return self._engine.refresh(stoppable, stop=stop)

    async def search(self, query: Query) -> Findings:
        """Return at most `query.limit` hits."""
        return await off_the_loop(self._engine.search, query)

    async def status(self) -> IndexStatus:
        """Count what the server holds and what it lacks."""
        return await off_the_loop(self._engine.status)

    async def close(self) -> None:
        """Let go of the server."""
        await off_the_loop(self._engine.close)
