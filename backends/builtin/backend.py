"""The builtin engine as a Backend: all blocking work leaves the event loop here."""

import threading
from dataclasses import replace
from typing import Any, Self

from notewell.backends.base import (
    Findings,
    Progress,
    Query,
    Site,
    VectorWork,
    Waiting,
)
from notewell.backends.blocking import CalledOff, called_off, off_the_loop
from notewell.backends.builtin.engine import Engine
from notewell.types import IndexReport, IndexStatus


class BuiltinBackend:
    """Words and vectors in SQLite. See `notewell.backends.base.Backend`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @classmethod
    async def open(cls, site: Site) -> Self:
        """Attach to the notes of `site`."""
        return cls(await off_the_loop(Engine, site))

    async def built(self) -> bool:
        """Whether an index was ever completed, so that searches are answered by it."""
        return await off_the_loop(self._engine.built)

    async def refresh(
        self,
        *,
        force: bool = False,
        within: float | None = None,
        progress: Progress | None = None,
        waiting: Waiting | None = None,
        vectors: VectorWork | None = None,
    ) -> IndexReport:
        """Make the index agree with the files."""
        return await called_off(
            self._refreshed,
            force=force,
            within=within,
            progress=progress,
            waiting=waiting,
            vectors=vectors,
        )

    async def search(self, query: Query) -> Findings:
        """Return at most `query.limit` hits."""
        return await called_off(self._engine.search, query)

    async def status(self) -> IndexStatus:
        """Count what the index holds and what it lacks."""
        return await off_the_loop(self._engine.status)

    def nudge(self, *, changed: bool = True) -> None:
        """Say that the index should be brought up to date."""
        self._engine.nudge(changed=changed)

    async def close(self) -> None:
        """Release what the engine holds."""
        await off_the_loop(self._engine.close)

    def _refreshed(
        self,
        *,
        stop: threading.Event,
        progress: Progress | None,
        vectors: VectorWork | None,
        **how: Any,
    ) -> IndexReport:
        """Refresh until `stop` is set, which is seen at the next note or batch."""
        if vectors is not None:
            vectors = replace(vectors, progress=_until(stop, vectors.progress))
        return self._engine.refresh(
            progress=_until(stop, progress), vectors=vectors, stop=stop, **how
        )


def _until(stop: threading.Event, progress: Progress | None) -> Progress:
    def step(done: int, total: int) -> None:
        if stop.is_set():
            raise CalledOff
        if progress is not None:
            progress(done, total)

    return step
