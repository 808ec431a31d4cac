"""How a server starts, is interrupted, and ends."""

import asyncio
import json
import os
import signal
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

if TYPE_CHECKING:
    from tests.adapters.surfaces.conftest import Notewell
    from tests.adapters.surfaces.mcp.conftest import Connect

SLOW = """
import asyncio, os, socket
from notewell.backends.loops import cancellable
from notewell.backends.builtin.engine import BuiltinBackend

def tell(word):
    with socket.create_connection(("127.0.0.1", int(os.environ["TOLD"]))) as told:
        told.sendall(word.encode())

class Slow(BuiltinBackend):
    async def built(self):
        return True

    async def search(self, query):
        tell("searching")
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            tell("stopped")
            raise

class Endless(BuiltinBackend):
    def _count(self, *, stop):
        with self._engine._readers.one(stop) as store:
            tell("searching")
            numbers = "n(i) as (select 1 union all select i + 1 from n)"
            store.rows(f"with recursive {numbers} select count(*) from n")

    async def search(self, query):
        try:
            await cancellable(self._count)
        except asyncio.CancelledError:
            tell("stopped")
            raise
"""


@pytest.fixture
def slow(environ: dict[str, str], tmp_path: Path) -> dict[str, str]:
    """An environment with installed backends that never end a search."""
    folder = tmp_path / "plugins"
    described = folder / "slow-1.0.dist-info"
    described.mkdir(parents=True)
    (folder / "slow_backend.py").write_text(SLOW, encoding="utf-8")
    (described / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: slow\nVersion: 1.0\n", encoding="utf-8"
    )
    (described / "entry_points.txt").write_text(
        "[notewell.backends]\nslow = slow_backend:Slow\nendless = slow_backend:Endless\n",
        encoding="utf-8",
    )
    return {"PYTHONPATH": f"{environ['PYTHONPATH']}{os.pathsep}{folder}"}


@pytest.mark.parametrize("backend", ["slow", "endless"])
async def test_a_search_that_the_client_gives_up_is_stopped(
    connect: "Connect", run: "Notewell", slow: dict[str, str], backend: str
) -> None:
    run("index")  # the endless one reads it
    words: asyncio.Queue[str] = asyncio.Queue()

    async def hear(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        words.put_nowait((await reader.read()).decode("utf-8"))
        writer.close()

    ear = await asyncio.start_server(hear, "127.0.0.1", 0)
    told = {"TOLD": str(ear.sockets[0].getsockname()[1])}
    async with (
        asyncio.timeout(300),
        ear,
        connect("--backend", backend, env={**slow, **told}) as client,
    ):
        call = asyncio.create_task(client.call_tool("memory_search", {"query": "x"}))
        first = await words.get()
        call.cancel()
        second = await words.get()
        read = await client.call_tool("memory_get", {"path": "MEMORY.md", "lines": 1})

    assert (first, second) == ("searching", "stopped")
    assert not read.is_error


async def test_answers_come_from_the_notes_until_the_index_is_there(
    connect: "Connect",
) -> None:
    modes: list[str] = []

    async with asyncio.timeout(300), connect("--structured") as client:
        while "hybrid" not in modes:
            found = await client.call_tool("memory_search", {"query": "gateway"})
            content = cast("dict[str, Any]", found.structured_content)
            assert [hit["path"] for hit in content["results"]] == ["MEMORY.md"]
            modes.append(content["mode"])

    assert modes[0] == "scan"
    assert set(modes) <= {"scan", "keyword", "hybrid"}


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)]
)
def test_a_signal_ends_a_server_whose_client_stays(
    command: list[str], environ: dict[str, str], number: signal.Signals, code: int
) -> None:
    with started(command, environ) as server:
        answer = exchange(server)

        server.send_signal(number)

        assert server.wait(timeout=300) == code
        assert answer["result"]["serverInfo"]["name"] == "notewell"
        assert server.stderr is not None
        assert server.stderr.read() == b""


def test_the_end_of_the_input_ends_the_server(
    command: list[str], environ: dict[str, str]
) -> None:
    with started(command, environ) as server:
        exchange(server)

        assert server.stdin is not None
        server.stdin.close()

        assert server.wait(timeout=300) == 0


def test_who_has_said_everything_still_gets_the_answers(
    command: list[str], environ: dict[str, str], notes: Path
) -> None:
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "pipe", "version": "1"},
    }
    calls: list[tuple[str, dict[str, Any]]] = [
        ("initialize", hello),
        ("tools/call", called("memory_search", {"query": "gateway"})),
        ("tools/call", called("memory_write", {"text": "- The otter swims."})),
    ]
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": at, "method": method, "params": params})
        for at, (method, params) in enumerate(calls)
    ]

    done = subprocess.run(
        [*command, "--write"],
        env=environ,
        input="\n".join(lines) + "\n",
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=True,
    )

    told = {one["id"]: one for one in map(json.loads, done.stdout.splitlines())}
    assert {*told} == {0, 1, 2}
    assert not told[1]["result"]["isError"]
    assert "Written" in told[2]["result"]["content"][0]["text"]
    assert any("otter" in file.read_text("utf-8") for file in notes.rglob("*.md"))


def called(tool: str, arguments: dict[str, str]) -> dict[str, Any]:
    return {"name": tool, "arguments": arguments}


def test_a_client_is_answered_before_anything_heavy_is_loaded(
    command: list[str], environ: dict[str, str], tmp_path: Path
) -> None:
    index = Path(environ["OPENCLAW_STATE_DIR"]) / "memory"
    loaded = "import sys, atexit; atexit.register(lambda: print(*sys.modules, file=open(sys.argv.pop(), 'w')));"
    program = f"{loaded} {command[2]}".replace("main())", "main(sys.argv[1:-1]))")

    with started(
        [command[0], "-c", program, *command[3:], str(tmp_path / "loaded")], environ
    ) as server:
        exchange(server)
        assert server.stdin is not None
        server.stdin.close()
        server.wait(timeout=300)

    modules = set((tmp_path / "loaded").read_text(encoding="utf-8").split())
    assert not modules & {"apsw", "numpy", "httpx", "rich", "llama_cpp", "torch"}
    assert not index.exists()


def test_a_mistake_in_the_configuration_is_told_at_once(
    run: "Notewell", tmp_path: Path
) -> None:
    config = tmp_path / "openclaw.json"
    config.write_text('{"memory": {"backend": 3}}', encoding="utf-8")

    ran = run("mcp", "--config", str(config))

    assert ran.code == 2
    assert "memory.backend" in ran.said
    assert ran.out == b""


def test_a_server_takes_no_folder_that_nobody_named(run: "Notewell") -> None:
    ran = run("mcp", workspace=None)

    assert ran.code == 2
    assert ran.out == b""


@contextmanager
def started(
    command: list[str], environ: dict[str, str]
) -> Generator[subprocess.Popen[bytes]]:
    """Start a server over stdio; it is killed if a test leaves it behind."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, env=environ, stdin=pipe, stdout=pipe, stderr=pipe
    ) as server:
        try:
            yield server
        finally:
            server.kill()


def exchange(server: subprocess.Popen[bytes]) -> dict[str, Any]:
    """Say hello by hand, and return the answer."""
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(json.dumps(hello).encode() + b"\n")
    server.stdin.flush()
    answer: dict[str, Any] = json.loads(server.stdout.readline())
    return answer
