"""The server over standard input and output, for a client that starts it."""

import asyncio
import os
import threading
from typing import Final

from notewell.adapters.surfaces.mcp.loading import quickly
from notewell.adapters.surfaces.mcp.signals import on_signals
from notewell.memory import Memory

_STDIN: Final = 0
_AT_ONCE: Final = 65_536


def serve(memory: Memory, *, write: bool) -> int:
    """Serve one client until it closes our standard input, or a signal comes.

    Args:
        memory: Not open yet.
        write: Offer memory_write.

    Returns:
        The exit code: 0, or 128 and the number of the signal.
    """
    with quickly():
        from mcp.server.stdio import stdio_server

        from notewell.adapters.surfaces.mcp.server import make_server

    async def run() -> int:
        ending = _Ending()
        server = make_server(memory, write=write)
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())
        return ending.code

    return asyncio.run(run())


class _Ending:
    """Ends our standard input at a signal, though the client holds it open.

    The SDK waits for lines in a thread that nothing but the end of the input wakes.
    So it reads from a pipe, which a thread of ours fills from the real one.
    """

    def __init__(self) -> None:
        self.code = 0
        source = os.dup(_STDIN)
        reading, self._writing = os.pipe()
        os.dup2(reading, _STDIN)
        os.close(reading)
        threading.Thread(target=self._pass_on, args=(source,), daemon=True).start()
        on_signals(self._signalled)

    def _pass_on(self, source: int) -> None:
        while some := os.read(source, _AT_ONCE):
            rest = memoryview(some)
            while rest:
                rest = rest[os.write(self._writing, rest) :]
        self._end()

    def _signalled(self, code: int) -> None:
        self.code = code
        self._end()

    def _end(self) -> None:
        """Close the pipe. Its number stays taken, so that nothing else gets it."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._writing)
        os.close(nowhere)
