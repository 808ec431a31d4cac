"""The real server in a child process, and the SDK's own client."""

import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

PROGRAM = (
    "import sys; from notewell.adapters.surfaces.cli import main; sys.exit(main())"
)

Connect: TypeAlias = Callable[..., AbstractAsyncContextManager[Client]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listening:
    """A server that listens: where, the token it wants, and its process."""

    url: str
    token: str
    process: subprocess.Popen[bytes]

    @property
    def origin(self) -> str:
        """The address without the path."""
        return self.url.removesuffix("/mcp")

    def client(
        self, headers: Mapping[str, str] = {}, mode: str = "auto"
    ) -> AbstractAsyncContextManager[Client]:
        """Return a client with the token and further headers."""
        return _over_http(self.url, {**bearer(self.token), **headers}, mode)


def bearer(token: str) -> dict[str, str]:
    """The header that a client sends."""
    return {"Authorization": f"Bearer {token}"}


@asynccontextmanager
async def _over_http(
    url: str, headers: Mapping[str, str], mode: str
) -> AsyncGenerator[Client]:
    async with httpx2.AsyncClient(headers=dict(headers), timeout=300) as http:
        transport = streamable_http_client(url, http_client=http)
        async with Client(transport, mode=mode) as client:
            yield client


@pytest.fixture
def command(notes: Path) -> list[str]:
    """The words that start the server."""
    return [sys.executable, "-c", PROGRAM, "mcp", "--workspace", str(notes)]


@pytest.fixture
def listen(
    command: list[str], environ: dict[str, str], tmp_path: Path
) -> Iterator[Callable[..., Listening]]:
    """Starts servers that listen, and ends them."""
    started: list[subprocess.Popen[bytes]] = []

    def start(*words: str, env: Mapping[str, str] = {}) -> Listening:
        token_file = tmp_path / "token"
        process = subprocess.Popen(
            [*command, "--http", "0", "--token-file", str(token_file), *words],
            env={**environ, **env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        started.append(process)
        assert process.stderr is not None
        said = process.stderr.readline().decode("utf-8")
        url = said.removeprefix("serving ").partition(";")[0]
        token = token_file.read_text(encoding="utf-8").strip()
        return Listening(url=url, token=token, process=process)

    yield start

    for process in started:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=300)


@pytest.fixture(params=["stdio", "http"])
def connect(
    request: pytest.FixtureRequest,
    command: list[str],
    environ: dict[str, str],
    listen: Callable[..., Listening],
) -> Connect:
    """Connects the SDK's client to a new server, over either transport."""

    def over_stdio(
        *words: str, mode: str = "auto", env: Mapping[str, str] = {}
    ) -> AbstractAsyncContextManager[Client]:
        return Client(
            StdioServerParameters(
                command=command[0],
                args=[*command[1:], *words],
                env={**environ, **env},
            ),
            mode=mode,
        )

    def over_http(
        *words: str, mode: str = "auto", env: Mapping[str, str] = {}
    ) -> AbstractAsyncContextManager[Client]:
        return listen(*words, env=env).client(mode=mode)

    return over_stdio if request.param == "stdio" else over_http
