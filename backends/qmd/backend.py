"""QMD as a Backend: blocking work leaves the event loop here, and can be called off."""

from typing import Self

from notewell.backends.base import (
    Bounds,
    Findings,
    Progress,
    Query,
    Site,
    VectorWork,
    Waiting,
)
from notewell.backends.blocking import OffTheLoop, called_off, off_the_loop
from notewell.backends.qmd.engine import Engine
from notewell.backends.qmd.outlook import bounds
from notewell.types import IndexReport


class QmdBackend(OffTheLoop[Engine]):
    """The external engine QMD. See `notewell.backends.base.Backend`."""

    @classmethod
    async def open(cls, site: Site) -> Self:
        """Find QMD, and attach to its index of the notes of `site`."""
        return cls(await off_the_loop(Engine, site))

    @classmethod
    def bounds(cls, site: Site) -> Bounds:
        """Return what was configured to be read and shown; see `Bounded`."""
        return bounds(site)

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
