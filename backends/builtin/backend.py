"""The builtin engine as a Backend: all blocking work leaves the event loop here."""

from typing import Self

from notewell.backends.base import (
    Findings,
    Progress,
    Query,
    Site,
    VectorWork,
    Waiting,
)
from notewell.backends.blocking import OffTheLoop, called_off, off_the_loop
from notewell.backends.builtin.engine import Engine
from notewell.types import IndexReport


class BuiltinBackend(OffTheLoop[Engine]):
    """Words and vectors in SQLite. See `notewell.backends.base.Backend`."""

    @classmethod
    async def open(cls, site: Site) -> Self:
        """Attach to the notes of `site`."""
        return cls(await off_the_loop(Engine, site))

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
        return await off_the_loop(
            self._engine.refresh,
            force=force,
            within=within,
            progress=progress,
            waiting=waiting,
            vectors=vectors,
        )

    async def search(self, query: Query) -> Findings:
        """Return at most `query.limit` hits."""
        return await called_off(self._engine.search, query)
