"""What listens behind `http`: uvicorn, the SDK's application, a guard before it."""

import asyncio
import hmac
import logging
import socket
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from notewell.adapters.surfaces.mcp import Offer
from notewell.adapters.surfaces.mcp.messages import (
    MOST_BYTES,
    missing_message,
    refusals,
    server_ending,
)
from notewell.adapters.surfaces.mcp.server import make_server
from notewell.adapters.surfaces.mcp.startup import on_signals
from notewell.memory import Memory

_GOODBYE: Final = 2
"""Seconds that open requests get when the server ends."""


async def answer_requests(
    memory: Memory, offer: Offer, listener: socket.socket, *, path: str, token: str
) -> int:
    """Answer what comes in at a socket until a signal comes; return the exit code."""
    app = _app(memory, offer, listener, path)
    messages = MessageFilter(app)
    config = uvicorn.Config(
        TokenGuard(messages, token),
        access_log=False,
        lifespan="off",
        log_config=None,
        timeout_graceful_shutdown=_GOODBYE,
    )
    server, loop, ending = _Server(config), asyncio.get_running_loop(), asyncio.Event()

    def end(code: int) -> None:
        server.code = code
        loop.call_soon_threadsafe(ending.set)

    on_signals(end)
    # The sessions end before the connections do, so that streams to clients end well.
    async with app.router.lifespan_context(app):
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        asked = asyncio.create_task(ending.wait())
        await asyncio.wait([serving, asked], return_when=asyncio.FIRST_COMPLETED)
        await messages.close(within=_GOODBYE)
    server.should_exit = True
    await serving
    return server.code


def _app(memory: Memory, offer: Offer, listener: socket.socket, path: str) -> Starlette:
    """Return the application, which knows us by these names only.

    A page in a browser may have its own name lead to this machine. Its requests come
    with that name and its origin, and are refused.
    """
    host, port = listener.getsockname()
    names = [f"{name}:{port}" for name in (host, "localhost")]
    return make_server(memory, offer).streamable_http_app(
        streamable_http_path=path,
        transport_security=TransportSecuritySettings(
            allowed_hosts=names, allowed_origins=[f"http://{name}" for name in names]
        ),
    )


class TokenGuard:
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


class MessageFilter:
    """Answers what the SDK would drop, or would answer without the request's id."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._open: set[asyncio.Task[None]] = set()
        self._closing = False

    async def close(self, *, within: float) -> None:
        """Take nothing more; answer what is open, by an error after some seconds."""
        self._closing = True
        if not self._open:
            return
        _, late = await asyncio.wait(self._open, timeout=within)
        if late:
            # The SDK warns that it cannot answer them, which is done here.
            logging.getLogger("mcp").setLevel(logging.ERROR)
            for answering in late:
                answering.cancel()
            await asyncio.wait(late)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass one request on, or refuse the message in it."""
        if self._closing:
            refusal = PlainTextResponse("the server is ending", status_code=503)
            await refusal(scope, receive, send)
        elif scope["type"] != "http" or scope["method"] != "POST":
            await self._app(scope, receive, send)
        else:
            answering = asyncio.create_task(self._answer(scope, receive, send))
            self._open.add(answering)
            answering.add_done_callback(self._open.discard)
            await answering

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = await _body(receive)
        if body is None:  # the client is gone
            return
        answers = refusals(body) if body.strip() else [missing_message()]
        if answers is None:
            answer_requests = _Answer(send)
            try:
                await self._app(scope, _replayed(body, receive), answer_requests.send)
            except asyncio.CancelledError:
                if not self._closing:
                    raise
                await answer_requests.end(server_ending(body))
            return
        listed = (
            b",".join(answers) if len(answers) < 2 else b"[%s]" % b",".join(answers)
        )
        status = 400 if answers else 202  # nothing is said to a notification
        refusal = Response(listed, status, media_type="application/json")
        await refusal(scope, receive, send)


class _Answer:
    """Knows how far the answer to a request has come."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._begun = self._ended = False

    async def send(self, message: Message) -> None:
        """Pass on what the SDK answers."""
        self._begun = True
        is_body = message["type"] == "http.response.body"
        self._ended = is_body and not message.get("more_body", False)
        await self._send(message)

    async def end(self, error: bytes) -> None:
        """Answer with an error, if the answer has not come to its end."""
        if not self._begun:
            start = {"status": 503, "headers": [(b"content-type", b"application/json")]}
            await self._send({"type": "http.response.start", **start})
        if not self._ended:
            # The SDK begins with a stream of events.
            body = (
                b"event: message\r\ndata: %s\r\n\r\n" % error if self._begun else error
            )
            await self._send({"type": "http.response.body", "body": body})


async def _body(receive: Receive) -> bytes | None:
    """Return what a client sends; of what is too large no more than is told of it."""
    parts: list[bytes] = []
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            return None
        part, more = message.get("body", b""), message.get("more_body", False)
        size += len(part)
        parts.append(part)
        if size > 2 * MOST_BYTES:  # the two ends are enough
            parts, size = [b"".join(parts)[:MOST_BYTES], parts[-1]], MOST_BYTES + 1
    return b"".join(parts)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Return what gives a body again that was read, and then what comes after it."""
    waiting = [body]

    async def again() -> Message:
        if waiting:
            return {"type": "http.request", "body": waiting.pop(), "more_body": False}
        return await receive()

    return again


class _Server(uvicorn.Server):
    """Ends by our signals: uvicorn's own are raised once more when it has ended."""

    code = 0

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Capture none."""
        yield
