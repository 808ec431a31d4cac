"""What a client is answered first, while most of the server is still being loaded."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from notewell.adapters.surfaces.mcp.startup import VERSIONS

Message: TypeAlias = dict[str, Any]
Say: TypeAlias = Callable[..., list[Message]]
LIST: Message = {"jsonrpc": "2.0", "id": "next", "method": "tools/list", "params": {}}
DONE: Message = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def initialize(version: str = "2025-06-18", **changed: object) -> Message:
    """The question with which a client begins."""
    params = {
        "protocolVersion": version,
        "capabilities": {"roots": {"listChanged": True}},
        "clientInfo": {"name": "test", "version": "1"},
    }
    return {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {**params, **changed},
    }


def framed(*messages: Message) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in messages)


@pytest.fixture
def say(command: list[str], environ: dict[str, str]) -> Say:
    """Says everything to a new server and returns all that it answers."""

    def to_a_server(said: bytes, until: object = 1) -> list[Message]:
        pipe = subprocess.PIPE
        with subprocess.Popen(
            command, env=environ, stdin=pipe, stdout=pipe, stderr=pipe
        ) as server:
            assert server.stdin is not None
            assert server.stdout is not None
            server.stdin.write(said)
            server.stdin.flush()
            answers = [json.loads(server.stdout.readline())]
            while answers[-1]["id"] != until:
                answers.append(json.loads(server.stdout.readline()))
            rest, complaints = server.communicate(timeout=300)
        assert complaints == b""
        return [*answers, *map(json.loads, rest.splitlines())]

    return to_a_server


def test_every_version_that_begins_so_is_known() -> None:
    assert VERSIONS == HANDSHAKE_PROTOCOL_VERSIONS


@pytest.mark.parametrize("version", [VERSIONS[0], VERSIONS[-1]])
def test_the_greeting_is_what_the_sdk_would_have_said(say: Say, version: str) -> None:
    hello = framed(initialize(version))

    [greeted] = say(hello)
    [by_the_sdk] = say(framed(DONE) + hello)

    assert greeted == by_the_sdk


@pytest.mark.parametrize("version", [VERSIONS[0], VERSIONS[-1]])
def test_the_tools_are_listed_as_the_sdk_would_list_them(
    say: Say, version: str
) -> None:
    meta: dict[str, object] = {}
    by_the_sdk = {**LIST, "id": "sdk", "params": {"_meta": meta}}

    _, first, second = say(framed(initialize(version), DONE, LIST, by_the_sdk), "sdk")

    assert first["result"]["tools"]
    assert {**first, "id": "sdk"} == second


def test_a_client_is_greeted_though_the_sdk_takes_for_ever(
    command: list[str], environ: dict[str, str], tmp_path: Path
) -> None:
    stuck = tmp_path / "stuck" / "mcp"
    stuck.mkdir(parents=True)
    os.mkfifo(tmp_path / "never")
    (stuck / "__init__.py").write_text(
        f"open({str(tmp_path / 'never')!r})", encoding="utf-8"
    )
    path = f"{stuck.parent}{os.pathsep}{environ['PYTHONPATH']}"
    pipe = subprocess.PIPE

    with subprocess.Popen(
        command, env={**environ, "PYTHONPATH": path}, stdin=pipe, stdout=pipe
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(framed(initialize(), DONE, LIST))
        server.stdin.flush()
        answer, tools = (json.loads(server.stdout.readline()) for _ in range(2))
        server.kill()

    assert answer["result"]["serverInfo"]["name"] == "notewell"
    assert len(tools["result"]["tools"]) == 3


@pytest.mark.parametrize("request_id", [0, "一"])
def test_the_first_question_is_answered_once_and_the_next_after_it(
    say: Say, request_id: object
) -> None:
    hello = {**initialize(), "id": request_id}

    first, second = say(framed(hello, DONE, LIST), until="next")

    assert first["id"] == request_id
    assert second["id"] == "next"
    assert [tool["name"] for tool in second["result"]["tools"]] == [
        "memory_search",
        "memory_get",
        "memory_links",
    ]


@pytest.mark.parametrize(
    "hello",
    [
        initialize("1999-01-01"),
        initialize(clientInfo={"name": "no version"}),
        initialize(capabilities={"roots": 3}),
    ],
)
def test_an_unusual_question_is_left_to_the_sdk(say: Say, hello: Message) -> None:
    [answer] = say(framed(hello))

    told = answer.get("result", {}).get("protocolVersion")
    assert ("error" in answer) or told == VERSIONS[-1]


@pytest.mark.parametrize("first", [b"no json\n", b"[" * 100_000 + b"\n"])
def test_noise_is_survived(say: Say, first: bytes) -> None:
    noise = b'\n\xff\xfe\x00\n{"jsonrpc":"2.0","id":true}\n' + b"x" * 200_000 + b"\n"

    answers = say(first + noise + framed(initialize(), DONE, LIST), until="next")

    assert [each["id"] for each in answers if "result" in each] == [1, "next"]
