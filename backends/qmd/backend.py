"""QMD as a Backend: blocking work leaves the event loop here, and can be called off."""

from typing import Self

from notewell.backends.base import Findings, Progress, Query, Site, VectorWork, Waiting
from notewell.backends.blocking import called_off, off_the_loop
from notewell.backends.qmd.engine import Engine
from notewell.types import IndexReport, IndexStatus


class QmdBackend:
    """The external engine QMD. See `notewell.backends.base.Backend`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @classmethod
    async def open(cls, site: Site) -> Self:
        """Find QMD, and attach to its index of the notes of `site`."""
        return cls(await off_the_loop(Engine, site))

    async def built(self) -> bool:
        """Whether an index was ever completed."""
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
            self._engine.refresh,
            force=force,
            within=within,
            progress=progress,
            waiting=waiting,
            vectors=vectors is not None,
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
        """Stop what runs."""
        await off_the_loop(self._engine.close)
