"""The server over streamable HTTP, on this machine only and for those with the token."""

import asyncio
import hmac
import socket
from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING, Final

from notewell.adapters.surfaces.mcp.loading import nothing_collected
from notewell.errors import UsageError
from notewell.memory import Memory

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

PATH: Final = "/mcp"
_HOST: Final = "127.0.0.1"
_GOODBYE: Final = 2
"""Seconds that open requests get when the server ends."""


def serve(
    memory: Memory, *, write: bool, port: int, token: str, ready: Callable[[str], None]
) -> None:
    """Serve every client that has the token, until a signal ends it.

    Args:
        memory: Not open yet.
        write: Offer memory_write.
        port: Where to listen on 127.0.0.1; 0 takes a free one.
        token: What clients send as `Authorization: Bearer`.
        ready: Told the address once connections are accepted.

    Raises:
        UsageError: the port cannot be had.
    """
    with closing(_listening(port)) as listener:
        port = listener.getsockname()[1]
        ready(f"http://{_HOST}:{port}{PATH}")  # the queue of the socket takes them
        asyncio.run(_serve(memory, listener, write=write, port=port, token=token))


def _listening(port: int) -> socket.socket:
    try:
        return socket.create_server((_HOST, port))
    except OSError as problem:
        raise UsageError(
            f"port {port} on {_HOST} cannot be had: {problem.strerror}",
            remedy="choose another; --http 0 takes a free one",
        ) from problem


async def _serve(
    memory: Memory, listener: socket.socket, *, write: bool, port: int, token: str
) -> None:
    with nothing_collected():
        import uvicorn
        from mcp.server.transport_security import TransportSecuritySettings

        from notewell.adapters.surfaces.mcp.server import make_server

    names = [f"{name}:{port}" for name in (_HOST, "localhost")]
    app = make_server(memory, write=write).streamable_http_app(
        streamable_http_path=PATH,
        transport_security=TransportSecuritySettings(
            allowed_hosts=names, allowed_origins=[f"http://{name}" for name in names]
        ),
    )
    config = uvicorn.Config(
        _Guard(app, token),
        access_log=False,
        log_config=None,
        timeout_graceful_shutdown=_GOODBYE,
    )
    await uvicorn.Server(config).serve(sockets=[listener])


class _Guard:
    """Lets nobody in without the token."""

    def __init__(self, app: "ASGIApp", token: str) -> None:
        self._app = app
        self._expected = f"Bearer {token}".encode("ascii")

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        if scope["type"] == "lifespan" or self._knows(scope):
            await self._app(scope, receive, send)
            return
        from starlette.responses import PlainTextResponse

        refusal = PlainTextResponse(
            "a bearer token is needed; `notewell mcp` says where it is",
            status_code=401,
            headers={"WWW-Authenticate": "Bearer"},
        )
        await refusal(scope, receive, send)

    def _knows(self, scope: "Scope") -> bool:
        given = dict(scope["headers"]).get(b"authorization", b"")
        return hmac.compare_digest(given, self._expected)
