"""The server over standard input and output, for a client that starts it."""

import asyncio
from typing import TYPE_CHECKING

from notewell.adapters.surfaces.mcp.entrance import Entrance
from notewell.adapters.surfaces.mcp.loading import quickly
from notewell.memory import Memory

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from mcp.shared._stream_protocols import WriteStream
    from mcp.shared.message import SessionMessage


def serve(memory: Memory, *, write: bool) -> int:
    """Serve one client until it closes our standard input, or a signal comes.

    Args:
        memory: Not open yet.
        write: Offer memory_write.

    Returns:
        The exit code: 0, or 128 and the number of the signal.
    """
    entrance = Entrance()
    with quickly():
        import anyio
        from mcp.server.stdio import stdio_server

        from notewell.adapters.surfaces.mcp.server import make_server

    async def run() -> int:
        server = make_server(memory, write=write)
        out = anyio.wrap_file(entrance.output())
        async with stdio_server(stdout=out) as (reading, writing):
            once = _Once(writing, entrance)
            await server.run(reading, once, server.create_initialization_options())
        return entrance.code

    return asyncio.run(run())


class _Once:
    """What the SDK writes, without its answer to what was answered at the entrance."""

    def __init__(self, inner: "WriteStream[SessionMessage]", entrance: Entrance):
        self._inner = inner
        self._entrance = entrance

    async def send(self, item: "SessionMessage", /) -> None:
        """Send a message to the client, if it has not got it."""
        message = item.message
        greeted = self._entrance.greeted
        if greeted is not None and getattr(message, "id", None) == greeted:
            self._entrance.greeted = None
            if hasattr(message, "result"):
                return
        await self._inner.send(item)

    async def aclose(self) -> None:
        """Close the stream."""
        await self._inner.aclose()

    async def __aenter__(self) -> "Self":
        """Lend the stream."""
        return self

    async def __aexit__(
        self,
        exc_type: "type[BaseException] | None",
        exc_val: "BaseException | None",
        exc_tb: "TracebackType | None",
    ) -> None:
        """Close the stream."""
        await self.aclose()
