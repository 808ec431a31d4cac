"""The builtin engine as a Backend: all blocking work leaves the event loop here."""

import threading
from dataclasses import replace
from typing import Self

from notewell.backends.base import (
    PLAIN_RUN,
    Findings,
    Listener,
    Query,
    Run,
    Site,
    Upload,
)
from notewell.backends.blocking import WorkCancelled, cancellable, off_the_loop
from notewell.backends.builtin.engine import Engine
from notewell.backends.builtin.policy import BuiltinPolicy
from notewell.types import IndexReport, IndexStatus


class BuiltinBackend:
    """Words and vectors in SQLite. See `notewell.backends.base.Backend`."""

    policy = BuiltinPolicy

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @classmethod
    async def open(cls, site: Site) -> Self:
        """Attach to the notes of `site`."""
        return cls(await off_the_loop(Engine, site))

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
        stoppable = replace(run, listener=_Stoppable(run.listener, stop))
        return self._engine.refresh(stoppable, stop=stop)


class _Stoppable(Listener):
    """A listener that ends the run once an event is set."""

    def __init__(self, listener: Listener, stop: threading.Event) -> None:
        self._listener = listener
        self._stop = stop

    def indexing(self, done: int, total: int) -> None:
        self._check()
        self._listener.indexing(done, total)

    def embedding(self, done: int, total: int) -> None:
        self._check()
        self._listener.embedding(done, total)

    def waiting(self) -> None:
        self._listener.waiting()

    def uploading(self, upload: Upload) -> None:
        self._listener.uploading(upload)

    def fetching(self, have: int, total: int | None) -> None:
        self._listener.fetching(have, total)

    def _check(self) -> None:
        if self._stop.is_set():
            raise WorkCancelled
