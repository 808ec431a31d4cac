"""Keeps the index of a server up to date, between answers."""

import asyncio
import time
from contextlib import suppress
from typing import Final

from notewell.errors import BackendError
from notewell.memory import Memory

_SLICE: Final = 1.0
"""Seconds of indexing after which a server that is to end can end. Clients wait two."""

_REST: Final = 5.0
"""Seconds after a run in which no other begins, however often somebody asks."""


class Upkeep:
    """Indexes what has changed, one run at a time. Vectors are not made here."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._run: asyncio.Task[None] | None = None
        self._next = 0.0
        self._ending = False

    def begin(self) -> None:
        """Begin a run in the background, unless one runs or has just ended."""
        busy = self._ending or (self._run is not None and not self._run.done())
        if busy or time.monotonic() < self._next or not self._wanted():
            return
        self._run = asyncio.create_task(self._refresh())

    async def close(self) -> None:
        """Wait for the end of the run, which comes soon. Twice is harmless."""
        self._ending = True
        if self._run is not None:
            await asyncio.wait([self._run])

    def _wanted(self) -> bool:
        """QMD follows a schedule of its own; and one may want only `index` to do it."""
        memory = self._memory
        own = memory.settings.memory.backend != "qmd"
        return own and memory.settings.agent(memory.agent).search.sync.on_search

    async def _refresh(self) -> None:
        pending: int | None = None
        with suppress(BackendError):  # the next answer says what is wrong
            while pending != 0 and not self._ending:
                report = await self._memory.refresh(within=_SLICE)
                if report.pending == pending:
                    break
                pending = report.pending
        self._next = time.monotonic() + _REST
