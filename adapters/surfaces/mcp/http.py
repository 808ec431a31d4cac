"""The server over streamable HTTP, on this machine only and for those with the token."""

import asyncio
import socket
from collections.abc import Callable
from contextlib import closing
from typing import Final

from notewell.adapters.surfaces.mcp.loading import quickly
from notewell.errors import UsageError
from notewell.memory import Memory

HOST: Final = "127.0.0.1"
PATH: Final = "/mcp"


def serve(
    memory: Memory, *, write: bool, port: int, token: str, ready: Callable[[str], None]
) -> int:
    """Serve every client that has the token, until a signal ends it.

    Args:
        memory: Not open yet.
        write: Offer memory_write.
        port: Where to listen on 127.0.0.1; 0 takes a free one.
        token: What clients send as `Authorization: Bearer`.
        ready: Told the address once connections are accepted.

    Returns:
        The exit code: 128 and the number of the signal.

    Raises:
        UsageError: the port cannot be had.
    """
    with closing(_listening(port)) as listener:
        ready(f"http://{HOST}:{listener.getsockname()[1]}{PATH}")  # the socket queues
        with quickly():
            from notewell.adapters.surfaces.mcp.web import answer

        return asyncio.run(answer(memory, listener, write=write, token=token))


def _listening(port: int) -> socket.socket:
    try:
        return socket.create_server((HOST, port))
    except OSError as problem:
        raise UsageError(
            f"port {port} on {HOST} cannot be had: {problem.strerror}",
            remedy="choose another; --http 0 takes a free one",
        ) from problem
