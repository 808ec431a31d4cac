"""Who may speak to the server over HTTP, and for which conversation."""

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from mcp import types

if TYPE_CHECKING:
    from tests.adapters.surfaces.conftest import Notewell
    from tests.adapters.surfaces.mcp.conftest import Listening

INITIALIZE: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
DISCOVER: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/list",
    "params": {},
}
ACCEPT = {"Accept": "application/json, text/event-stream"}


async def test_nobody_gets_in_without_the_token_or_from_a_strange_page(
    listen: "Callable[..., Listening]",
) -> None:
    server = listen()
    good = {**ACCEPT, "Authorization": f"Bearer {server.token}"}
    port = server.origin.rpartition(":")[2]
    cases: dict[str, tuple[dict[str, str], int]] = {
        "no token": (ACCEPT, 401),
        "wrong token": ({**good, "Authorization": "Bearer " + "x" * 43}, 401),
        "not a bearer": ({**good, "Authorization": server.token}, 401),
        "strange host": ({**good, "Host": f"evil.example:{port}"}, 421),
        "strange origin": ({**good, "Origin": "http://evil.example"}, 403),
        "no port": ({**good, "Host": "127.0.0.1"}, 421),
        "own origin": ({**good, "Origin": f"http://localhost:{port}"}, 200),
        "own": (good, 200),
        "own, in lower case": (
            {**good, "Authorization": f"bearer {server.token}"},
            200,
        ),
    }

    async with httpx2.AsyncClient(timeout=300) as http:
        answers = {
            name: await http.post(server.url, json=INITIALIZE, headers=headers)
            for name, (headers, _) in cases.items()
        }
        modern = {"MCP-Protocol-Version": "2026-07-28"}
        later = await http.post(
            server.url, json=DISCOVER, headers={**cases["strange host"][0], **modern}
        )

    assert {name: answer.status_code for name, answer in answers.items()} == {
        name: code for name, (_, code) in cases.items()
    }
    assert answers["no token"].headers["WWW-Authenticate"] == "Bearer"
    assert server.token not in answers["no token"].text
    assert later.status_code == 421


async def test_each_client_speaks_for_its_own_conversation(
    listen: "Callable[..., Listening]",
) -> None:
    server = listen()
    group = {"Notewell-Session-Key": "agent:main:telegram:group:42"}

    async with server.client() as owner, server.client(group) as other:
        own = await owner.call_tool("memory_get", {"path": "MEMORY.md"})
        shared = await other.call_tool("memory_get", {"path": "MEMORY.md"})
    async with server.client({"Notewell-Chat-Type": "crowd"}) as strange:
        refused = await strange.call_tool("memory_get", {"path": "MEMORY.md"})

    assert not own.is_error
    assert shared.is_error
    assert refused.is_error
    assert text(refused).startswith("there is no chat type 'crowd'")


async def test_a_server_with_a_conversation_of_its_own_keeps_to_it(
    listen: "Callable[..., Listening]",
) -> None:
    server = listen("--session-key", "agent:main:telegram:group:42")

    async with server.client({"Notewell-Session-Key": "agent:main:main"}) as client:
        refused = await client.call_tool("memory_get", {"path": "memory/日記.md"})
    async with server.client() as client:
        hidden = await client.call_tool("memory_get", {"path": "MEMORY.md"})
        found = await client.call_tool("memory_get", {"path": "memory/日記.md"})

    assert text(refused).startswith("this server speaks for one conversation only")
    assert hidden.is_error
    assert not found.is_error


def test_the_token_is_for_its_owner_alone(
    listen: "Callable[..., Listening]", tmp_path: Path
) -> None:
    first = listen().token
    second = listen().token

    assert len(first) == 43
    assert first == second
    assert stat.S_IMODE(os.stat(tmp_path / "token").st_mode) == 0o600


@pytest.mark.parametrize(
    ("mode", "content", "said"),
    [
        (0o644, "x" * 43, "others may read the token file"),
        (0o600, "tiny", "is shorter than 16 characters"),
        (0o600, "é" * 43, "it is no text"),
    ],
)
def test_a_token_file_that_is_no_secret_is_refused(
    run: "Notewell", tmp_path: Path, mode: int, content: str, said: str
) -> None:
    file = tmp_path / "token"
    file.write_text(content, encoding="utf-8")
    file.chmod(mode)

    ran = run("mcp", "--http", "0", "--token-file", str(file))

    assert ran.code == 2
    assert said in ran.said
    assert content not in ran.said


def test_a_token_file_that_is_no_file_of_its_own_is_refused(
    run: "Notewell", tmp_path: Path
) -> None:
    real, link, pipe = (tmp_path / name for name in ("real", "link", "pipe"))
    real.write_text("x" * 43, encoding="utf-8")
    real.chmod(0o600)
    link.symlink_to(real)
    os.mkfifo(pipe, 0o600)

    through_link, from_pipe = (
        run("mcp", "--http", "0", "--token-file", str(each)) for each in (link, pipe)
    )

    assert (through_link.code, from_pipe.code) == (2, 2)
    assert "cannot be used" in through_link.said
    assert "it is no file" in from_pipe.said


def text(result: types.CallToolResult) -> str:
    [content] = result.content
    assert isinstance(content, types.TextContent)
    return content.text


def test_a_folder_that_somebody_named_for_the_token_is_not_made(
    run: "Notewell", tmp_path: Path
) -> None:
    folder = tmp_path / "nowhere"

    ran = run("mcp", "--http", "0", "--token-file", str(folder / "token"))

    assert ran.code == 2
    assert "No such file or directory" in ran.said
    assert not folder.exists()
