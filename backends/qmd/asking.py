"""Putting searches to QMD: by the daemon where there is one, else by its commands."""

import asyncio
import time
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Final

from notewell.backends.qmd.answer import Document
from notewell.backends.qmd.client import Client, timed_out
from notewell.backends.qmd.daemon import Daemon, DaemonFailed, DaemonLate
from notewell.backends.qmd.words import MOST_SEARCHES

COMPLETE: Final = 20
"""Documents that QMD takes of each typed search and collection."""

_MOST_FUSED: Final = 400
_DAEMON_CHANCES: Final = 2
_DAEMON_REST: Final = 60.0
"""Seconds for which a daemon that failed twice in a row is not tried again."""

_FEW_CALLS: Final = 4
"""Searches of an older version, which takes one a call."""


class Budget:
    """The time that is left for an answer."""

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return self._until - time.monotonic()

    def part(self, share: float) -> "Budget":
        """Return a budget of a share of what is left."""
        return Budget(self.left * share)


class Asking:
    """Searches one generation of an index. Safe to share between tasks.

    Attributes:
        daemon: The daemon, if this version and the settings allow one.
    """

    def __init__(self, client: Client, *, transport: str, stays: bool) -> None:
        """Ask through `client`.

        Args:
            transport: `memory.qmd.transport`.
            stays: Our own program stays, so a daemon is worth its start at once.
        """
        self._client = client
        self._eager = stays or transport == "daemon"
        self._questions = 0
        self._failures = 0
        self._rests_until = 0.0
        self._models = asyncio.Lock()  # loaded by one process at a time
        self.daemon: Daemon | None = None
        if transport != "cli" and client.program.abilities.daemon:
            self.daemon = Daemon(
                client.command, environ=client.environ, folder=client.folder
            )

    def begin(self, names: Sequence[str]) -> "Question":
        """Begin a question about these collections; it may take several searches."""
        self._questions += 1
        return Question(self, names)

    async def typed(
        self, searches: Sequence[tuple[str, str]], names: Sequence[str], budget: Budget
    ) -> list[Document]:
        """Return what any of the searches finds, fused by rank.

        Raises:
            BackendError: QMD failed, by the daemon and by its commands.
        """
        searches = searches[:MOST_SEARCHES]
        if not self._client.program.abilities.typed:
            return await self._one_by_one(
                [query for _, query in searches], names, budget
            )
        found = await self._by_daemon(searches, names, budget)
        if found is not None:
            return found
        async with self._models if _loads_model(searches) else nullcontext():
            return await self._client.typed(
                searches,
                names,
                count=_MOST_FUSED,
                within=budget.left,
            )

    async def _by_daemon(
        self, searches: Sequence[tuple[str, str]], names: Sequence[str], budget: Budget
    ) -> list[Document] | None:
        """Return what the daemon finds; None if it is not there, or not well.

        Raises:
            BackendTimeout: it is there, and takes too long.
        """
        if self.daemon is None or not self._uses_daemon():
            return None
        within = budget.left
        try:
            found = await self.daemon.typed(
                searches,
                names,
                count=_MOST_FUSED,
                within=within,
            )
        except DaemonLate as late:
            raise timed_out("mcp", within) from late
        except DaemonFailed:
            self._failures += 1
            if self._failures >= _DAEMON_CHANCES:
                self._rests_until = time.monotonic() + _DAEMON_REST
            return None
        self._failures = 0
        return found

    async def reranked(
        self, text: str, names: Sequence[str], budget: Budget
    ) -> list[Document]:
        """Return what QMD's own `query` finds, with all of its models.

        Raises:
            BackendError: QMD failed.
        """
        async with self._models:
            return await self._client.reranked(
                text,
                names,
                count=COMPLETE,
                within=budget.left,
            )

    async def listed(
        self, query: str, names: Sequence[str], count: int, budget: Budget
    ) -> list[Document]:
        """Return up to `count` documents that hold every word.

        Raises:
            BackendError: QMD failed.
        """
        return await self._client.listed(query, names, count=count, within=budget.left)

    async def close(self) -> None:
        """Stop the daemon."""
        if self.daemon is not None:
            await self.daemon.close()

    def _uses_daemon(self) -> bool:
        """Say whether the daemon is asked: from the second question on, if it works.

        A command that asks once and ends would wait longer for its start.
        """
        rested = time.monotonic() >= self._rests_until
        return rested and (self._eager or self._questions > 1)

    async def _one_by_one(
        self, queries: Sequence[str], names: Sequence[str], budget: Budget
    ) -> list[Document]:
        found: dict[tuple[str, str], Document] = {}
        for query in queries[:_FEW_CALLS]:
            if found and budget.left < 1:
                break
            for document in await self.listed(query, names, COMPLETE, budget):
                found.setdefault((document.collection, document.path), document)
        return list(found.values())


class Question:
    """Asks about some of the collections; without any it finds nothing."""

    def __init__(self, asking: Asking, names: Sequence[str]) -> None:
        self._asking = asking
        self._names = names

    async def typed(
        self, searches: Sequence[tuple[str, str]], budget: Budget
    ) -> list[Document]:
        """Ask by `Asking.typed`."""
        names = self._names
        return await self._asking.typed(searches, names, budget) if names else []

    async def reranked(self, text: str, budget: Budget) -> list[Document]:
        """Ask by `Asking.reranked`."""
        names = self._names
        return await self._asking.reranked(text, names, budget) if names else []

    async def listed(self, query: str, count: int, budget: Budget) -> list[Document]:
        """Ask by `Asking.listed`."""
        names = self._names
        return await self._asking.listed(query, names, count, budget) if names else []


def _loads_model(searches: Sequence[tuple[str, str]]) -> bool:
    return any(kind != "lex" for kind, _ in searches)
