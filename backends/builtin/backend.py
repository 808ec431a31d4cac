"""The builtin engine as a Backend: all blocking work leaves the event loop here."""

import sys
from collections.abc import Callable
from typing import ParamSpec, Self, TypeVar

from notewell.backends.base import Findings, Progress, Query, Site
from notewell.backends.builtin.engine import Engine
from notewell.types import IndexReport, IndexStatus

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")


class BuiltinBackend:
    """Full-text search in SQLite. See `notewell.backends.base.Backend`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @classmethod
    async def open(cls, site: Site) -> Self:
        """Attach to the notes of `site`."""
        return cls(await _off_the_loop(Engine, site))

    async def built(self) -> bool:
        """Whether searches are answered from an index of this workspace."""
        return await _off_the_loop(self._engine.built)

    async def refresh(
        self,
        *,
        force: bool = False,
        within: float | None = None,
        progress: Progress | None = None,
    ) -> IndexReport:
        """Make the index agree with the files."""
        return await _off_the_loop(
            self._engine.refresh, force=force, within=within, progress=progress
        )

    async def search(self, query: Query) -> Findings:
        """Return at most `query.limit` hits."""
        return await _off_the_loop(self._engine.search, query)

    async def status(self) -> IndexStatus:
        """Count what the index holds and what it lacks."""
        return await _off_the_loop(self._engine.status)

    async def close(self) -> None:
        """Close the index."""
        await _off_the_loop(self._engine.close)


async def _off_the_loop(
    work: Callable[_Given, _Result], *args: _Given.args, **kwargs: _Given.kwargs
) -> _Result:
    """Run blocking work in a thread, if there is an event loop to keep free.

    Without a loop (the synchronous facade) it runs here and now, and asyncio, which
    takes longer to import than a search takes, is never loaded.
    """
    events = sys.modules.get("asyncio.events")
    if events is None or events._get_running_loop() is None:
        return work(*args, **kwargs)
    import asyncio

    return await asyncio.to_thread(work, *args, **kwargs)
