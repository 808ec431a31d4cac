"""The server over standard input and output, for a client that starts it."""

import asyncio

from notewell.adapters.surfaces.mcp.loading import nothing_collected
from notewell.memory import Memory


def serve(memory: Memory, *, write: bool) -> None:
    """Serve one client until it closes our standard input.

    Args:
        memory: Not open yet.
        write: Offer memory_write.
    """
    with nothing_collected():
        from mcp.server.stdio import stdio_server

        from notewell.adapters.surfaces.mcp.server import make_server

    async def run() -> None:
        server = make_server(memory, write=write)
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())

    asyncio.run(run())
