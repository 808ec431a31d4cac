"""Upkeep for engines that have none: by their own `refresh`, where a program stays.

An engine may belong to the event loop in which it was opened, so its runs happen there.
Only their times are kept by a thread.
"""

from dataclasses import replace
from typing import ClassVar, Final, Self

from notewell.backends.base import (
    PLAIN_RUN,
    Backend,
    Findings,
    Query,
    Run,
    Site,
)
from notewell.backends.blocking import InLoop, off_the_loop
from notewell.backends.schedule import Rhythm, Schedule
from notewell.types import IndexReport, IndexStatus

_CLOSING: Final = 5.0


def kept_up(engine: type[Backend]) -> "type[Upkeep]":
    """Return an engine that is like another one and keeps its index up to date."""
    return type(f"KeptUp{engine.__name__}", (Upkeep,), {"engine": engine})


class Upkeep:
    """A backend with a rhythm that is not its own. See `Backend` and `Nudged`.

    Attributes:
        engine: The engine that is kept up to date.
    """

    engine: ClassVar[type[Backend]]

    def __init__(self, backend: Backend, site: Site) -> None:
        self._backend = backend
        self._run = InLoop(lambda: backend.refresh(Run(vectors="all")))
        settings = site.agent.search.sync
        self._on_search = settings.on_search
        self._schedule = Schedule(Rhythm.of(settings), update=self._run)
        self._schedule.start()

    @classmethod
    async def open(cls, site: Site) -> Self:
        """Open the engine, and begin to keep it up to date."""
        return cls(await cls.engine.open(site), site)

    async def built(self) -> bool:
        """Whether an index was ever completed."""
        return await self._backend.built()

    async def refresh(self, run: Run = PLAIN_RUN) -> IndexReport:
        """Make the index agree with the files."""
        return await self._backend.refresh(run)

    async def search(self, query: Query) -> Findings:
        """Return at most `query.limit` hits, and let a run follow."""
        behind, busy = self._schedule.behind, self._schedule.busy
        found = await self._backend.search(query)
        outdated = found.freshness.stale or bool(found.freshness.pending)
        if not busy and (outdated or self._on_search):
            self.nudge(changed=outdated)
        if not behind:
            return found
        return replace(found, freshness=replace(found.freshness, stale=True))

    async def status(self) -> IndexStatus:
        """Count what the index holds, and say how the last run went."""
        status, problem = await self._backend.status(), self._schedule.problem
        if problem is None:
            return status
        return replace(status, warnings=(*status.warnings, f"The last run: {problem}"))

    def nudge(self, *, changed: bool = True) -> None:
        """Say that the index should be brought up to date."""
        self._schedule.nudge(changed=changed)

    async def close(self) -> None:
        """Call off what runs, and close the backend."""
        await off_the_loop(self._schedule.close, _CLOSING)
        await self._run.ended(_CLOSING)
        await self._backend.close()
