"""A server on this machine that speaks as the providers publish, with faults."""

import hashlib
import json
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from typing import Any, ClassVar, TypeAlias, cast

import pytest

from notewell.adapters.embeddings.base import (
    Embedder,
    EmbeddingSettings,
    KeyLookup,
    Provider,
    RetryPolicy,
)
from notewell.config import Secret

KEY = "sk-verysecret"


@dataclass(frozen=True, kw_only=True)
class Seen:
    """A request that arrived."""

    path: str
    headers: Mapping[str, str]
    body: Any
    method: str = "POST"

    @property
    def texts(self) -> list[str]:
        return cast("list[str]", self.body["input"])


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What is sent back.

    Attributes:
        raw: Sent instead of `body`.
        cut: The connection is closed in the middle.
        after: Sent only when this is set.
    """

    status: int = 200
    body: Any = None
    raw: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    cut: bool = False
    after: threading.Event | None = None

    def content(self) -> bytes:
        return json.dumps(self.body).encode() if self.raw is None else self.raw


Behaviour: TypeAlias = Callable[[Seen], Reply]


class Handler(BaseHTTPRequestHandler):
    """Records what arrives at a server, and sends what it decides."""

    server_of_test: "ClassVar[Server]"
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self.do_POST()

    def do_DELETE(self) -> None:
        self.do_POST()

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers["Content-Length"] or 0))
        plain = self.headers["Content-Type"] == "application/json"
        seen = Seen(
            path=self.path,
            headers={k.lower(): v for k, v in self.headers.items()},
            body=json.loads(content) if plain else content,
            method=self.command,
        )
        self.server_of_test.seen.append(seen)
        server = self.server_of_test
        first = server.first
        self._send(first.pop(0) if first else server.behave(seen))

    def _send(self, reply: Reply) -> None:
        if reply.after is not None:
            reply.after.wait(60)
        content = reply.content()
        try:
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content[:5] if reply.cut else content)
        except OSError:  # the client did not wait
            self.close_connection = True
        self.close_connection = self.close_connection or reply.cut

    def log_message(self, format: str, *args: object) -> None:
        pass


class Server:
    """The server.

    Attributes:
        seen: What was asked.
        behave: Decides what is answered when nothing is left in `first`.
        first: What is answered first, one after another.
    """

    reply = Reply

    def __init__(self, port: int = 0) -> None:
        self.seen: list[Seen] = []
        self.behave: Behaviour = self.embeds
        self.first: list[Reply] = []

        class Own(Handler):
            server_of_test = self

        self._http = ThreadingHTTPServer(("127.0.0.1", port), Own)
        self._http.daemon_threads = True
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.01}
        )
        self._thread.start()

    def embeds(self, seen: Seen) -> Reply:
        """Answer as OpenAI does, with vectors of four numbers."""
        texts = enumerate(seen.texts)
        data = [{"index": i, "embedding": self.vector(text)} for i, text in texts]
        return Reply(body={"object": "list", "data": data})

    def vector(self, text: str, dimension: int = 4) -> list[float]:
        """Return numbers that depend on the text alone."""
        digest = hashlib.sha256(text.encode("utf-8", "replace")).digest()
        return [float(byte) + 1 for byte in digest[:dimension]]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.close()


@pytest.fixture
def looked_up() -> Iterator[list[str]]:
    """The names that are looked up during a test, as the interpreter reports them."""
    hosts: list[str] = []
    _LISTENING.append(hosts)
    yield hosts
    _LISTENING.remove(hosts)


_LISTENING: list[list[str]] = []


def _hear(event: str, args: tuple[object, ...]) -> None:
    if event == "socket.getaddrinfo" and not _is_address(str(args[0])):
        for hosts in _LISTENING:
            hosts.append(str(args[0]))


def _is_address(host: str) -> bool:
    with suppress(ValueError):
        return bool(ip_address(host))
    return False


sys.addaudithook(_hear)


QUICK = RetryPolicy(connect=2.0, total=5.0, attempts=3, pause=0.001)


class Asks:
    """Makes requests for a provider at the server."""

    def __init__(self, server: Server, state: Path) -> None:
        self._server = server
        self._state = state

    def __call__(self, name: str = "openai", /, **changes: Any) -> EmbeddingSettings:
        stated: dict[str, Any] = {
            "state_dir": self._state,
            "endpoint": self._server.url,
            "endpoint_key": "remote.baseUrl",
            "model_key": "memorySearch.model",
            "key": KeyLookup(key=Secret(KEY), places="OPENAI_API_KEY"),
            "query": QUICK,
            "document": QUICK,
        }
        return EmbeddingSettings(name=name, **{**stated, **changes})


@pytest.fixture
def asks(server: Server, tmp_path: Path) -> Asks:
    return Asks(server, tmp_path)


Opened: TypeAlias = Callable[[Provider], Embedder]
"""Opens a provider; what was opened is closed after the test."""


@pytest.fixture
def opened(server: Server) -> Iterator[Opened]:
    embedders: list[Embedder] = []

    def open_(provider: Provider) -> Embedder:
        embedders.append(provider.open())
        return embedders[-1]

    yield open_
    for embedder in embedders:
        embedder.close()
