"""One `qmd mcp` that stays: an answer costs milliseconds instead of a start of Node.

It is spoken to over its standard streams, never over HTTP, which has no
authentication. It ends when its input closes, so it cannot outlive us.
"""

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, cast

from notewell.backends.qmd.answer import QmdHit, parse_hits
from notewell.foreign import read_member
from notewell.process import LinePipe, OutputTooLong

IDLE_SECONDS: Final = 600.0
"""A daemon that nobody asked anything for so long is stopped."""

_HUNG_SECONDS: Final = 60.0
"""A daemon that has answered nothing for so long, though it was asked, is stopped."""

_PROTOCOL: Final = "2025-06-18"


class DaemonFailed(Exception):
    """The daemon did not answer; it is gone, and the command line may still work."""


class DaemonLate(DaemonFailed):
    """The answer did not come in time. The daemon may be loading a model."""


class Daemon:
    """A `qmd mcp` on one index. Safe to share between tasks, which take turns."""

    def __init__(
        self, command: Sequence[str], *, environ: Mapping[str, str], folder: Path
    ) -> None:
        self._command = (*command, "mcp")
        self._environ = environ
        self._folder = folder
        self._turn = asyncio.Lock()
        self._pipe: LinePipe | None = None
        self._number = 0
        self._idle: asyncio.TimerHandle | None = None
        self._closing: asyncio.Task[None] | None = None
        self._late_since: float | None = None

    @property
    def pid(self) -> int | None:
        """The process, when there is one."""
        return self._pipe.pid if self._pipe else None

    async def typed(
        self,
        searches: Sequence[tuple[str, str]],
        names: Sequence[str],
        *,
        count: int,
        within: float,
    ) -> list[QmdHit]:
        """Return what several typed searches find, fused by rank; starts it if needed.

        Raises:
            DaemonFailed: there is no answer.
        """
        arguments = {
            "searches": [{"type": kind, "query": query} for kind, query in searches],
            "collections": list(names),
            "limit": count,
            "candidateLimit": count,
            "rerank": False,
        }
        parameters = {"name": "query", "arguments": arguments}
        result = await self._call("tools/call", parameters, within)
        results = read_member(result, "structuredContent", "results")
        documents = None if result.get("isError") else parse_hits(results)
        if documents is None:
            raise DaemonFailed("it answered with something else than documents")
        return documents

    async def close(self) -> None:
        """Stop it; the next question starts it again."""
        async with self._turn:
            await self._end()

    async def _call(
        self, method: str, parameters: object, within: float
    ) -> dict[str, Any]:
        try:
            async with asyncio.timeout(within), self._turn:
                return await self._asked(method, parameters)
        except TimeoutError as exc:
            raise DaemonLate("its time is up") from exc

    async def _asked(self, method: str, parameters: object) -> dict[str, Any]:
        """Ask it, and end it if it failed; one that is late lives on."""
        try:
            if self.pid is None:
                await self._start()
            result = await self._ask(method, parameters)
        except asyncio.CancelledError:
            await self._end_if_hung()
            raise
        except OSError as exc:
            await self._end()
            raise DaemonFailed(exc.strerror or "it is gone") from exc
        except BaseException:
            await self._end()
            raise
        else:
            self._late_since = None
            return result
        finally:
            self._wait_for_more()

    async def _start(self) -> None:
        await self._end()
        self._pipe = await LinePipe.open(
            self._command, environ=self._environ, folder=self._folder
        )
        hello = {
            "protocolVersion": _PROTOCOL,
            "capabilities": {},
            "clientInfo": {"name": "notewell", "version": "1"},
        }
        try:
            await self._ask("initialize", hello)
        except asyncio.CancelledError:
            await self._end()
            raise
        await self._send({"method": "notifications/initialized"})

    async def _ask(self, method: str, parameters: object) -> dict[str, Any]:
        self._number += 1
        await self._send({"id": self._number, "method": method, "params": parameters})
        while True:
            message = await self._message()
            if message.get("id") == self._number and "method" not in message:
                break
        result = message.get("result")
        if not isinstance(result, dict):
            raise DaemonFailed("it refused the question")
        return cast("dict[str, Any]", result)

    async def _send(self, message: dict[str, object]) -> None:
        assert self._pipe is not None
        text = json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":"))
        await self._pipe.send(text.encode())

    async def _message(self) -> dict[str, Any]:
        """Return the next JSON object that it prints; other lines are noise."""
        assert self._pipe is not None
        while True:
            try:
                line = await self._pipe.receive()
            except OutputTooLong as exc:
                raise DaemonFailed("it prints without end") from exc
            except EOFError as exc:
                raise DaemonFailed("it ended") from exc
            try:
                message = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(message, dict):
                return cast("dict[str, Any]", message)

    async def _end_if_hung(self) -> None:
        """End it if it has been late for long; late answers are told by their number."""
        now = time.monotonic()
        if self._late_since is None:
            self._late_since = now
        elif now - self._late_since > _HUNG_SECONDS:
            await self._end()

    async def _end(self) -> None:
        self._late_since = None
        if self._idle:
            self._idle.cancel()
        pipe, self._pipe = self._pipe, None
        if pipe is not None:
            await pipe.close()

    def _wait_for_more(self) -> None:
        """Start the clock after which a daemon that nobody asks is stopped."""
        if self._idle:
            self._idle.cancel()
        if self._pipe is not None:
            loop = asyncio.get_running_loop()
            self._idle = loop.call_later(IDLE_SECONDS, self._stop_soon)

    def _stop_soon(self) -> None:
        self._closing = asyncio.ensure_future(self.close())
