"""What listens behind `http`: uvicorn, the SDK's application, a guard before it."""

import hmac
import socket
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from notewell.adapters.surfaces.mcp.http import HOST, PATH
from notewell.adapters.surfaces.mcp.server import make_server
from notewell.adapters.surfaces.mcp.signals import on_signals
from notewell.memory import Memory

_GOODBYE: Final = 2
"""Seconds that open requests get when the server ends."""


async def answer(
    memory: Memory, listener: socket.socket, *, write: bool, token: str
) -> int:
    """Answer what comes in at a socket until a signal comes; return the exit code."""
    app = _app(memory, write=write, port=listener.getsockname()[1])
    config = uvicorn.Config(
        Guard(app, token),
        access_log=False,
        log_config=None,
        timeout_graceful_shutdown=_GOODBYE,
    )
    server = _Server(config)
    on_signals(server.end)
    await server.serve(sockets=[listener])
    return server.code


def _app(memory: Memory, *, write: bool, port: int) -> Starlette:
    """Return the application, which knows us by these names only.

    A page in a browser may have its own name lead to this machine. Its requests come
    with that name and its origin, and are refused.
    """
    names = [f"{name}:{port}" for name in (HOST, "localhost")]
    return make_server(memory, write=write).streamable_http_app(
        streamable_http_path=PATH,
        transport_security=TransportSecuritySettings(
            allowed_hosts=names, allowed_origins=[f"http://{name}" for name in names]
        ),
    )


class Guard:
    """Lets nobody in without the token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token.encode("ascii")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or refuse it."""
        if scope["type"] == "lifespan" or self._knows(scope):
            await self._app(scope, receive, send)
            return
        refusal = PlainTextResponse(
            "a bearer token is needed; `notewell mcp --http` says where it is",
            status_code=401,
            headers={"WWW-Authenticate": "Bearer"},
        )
        await refusal(scope, receive, send)

    def _knows(self, scope: Scope) -> bool:
        given = dict(scope["headers"]).get(b"authorization", b"")
        scheme, _, token = given.partition(b" ")
        return scheme.lower() == b"bearer" and hmac.compare_digest(token, self._token)


class _Server(uvicorn.Server):
    """Ends by our signals: uvicorn's own are raised once more when it has ended."""

    code = 0

    def end(self, code: int) -> None:
        """Take no more requests, and finish."""
        self.code = code
        self.should_exit = True

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Capture none."""
        yield
