"""Whatever a client sends with an id gets an answer under that id, so that none hangs."""

import json
import os
import queue
import random
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import httpx
import mcp_types
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from notewell.adapters.surfaces.mcp.messages import MOST_BYTES, refusals
from notewell.writing import only_writer_of

if TYPE_CHECKING:
    from tests.adapters.surfaces.mcp.conftest import Listening

Json: TypeAlias = dict[str, Any]

HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}
CALL = '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":%s}'
SEARCH = CALL % '{"name":"memory_search","arguments":{"query":"%s"}}'


def deep(levels: int) -> str:
    return "[" * levels + "]" * levels


BROKEN: dict[str, tuple[bytes, int]] = {
    "half a pair": (SEARCH.replace("%s", r"\ud83c").encode(), -32700),
    "half a pair as method": (rb'{"jsonrpc":"2.0","id":7,"method":"\ud83c"}', -32700),
    "list as params": (CALL.replace("%s", "[1]").encode(), -32602),
    "empty list as params": (CALL.replace("%s", "[]").encode(), -32602),
    "text as params": (CALL.replace("%s", '"x"').encode(), -32602),
    "number as params": (CALL.replace("%s", "5").encode(), -32602),
    "no version": (b'{"id":7,"method":"ping"}', -32600),
    "another version": (b'{"jsonrpc":"1.0","id":7,"method":"ping"}', -32600),
    "a number as version": (b'{"jsonrpc":2.0,"id":7,"method":"ping"}', -32600),
    "a number as method": (b'{"jsonrpc":"2.0","id":7,"method":5}', -32600),
    "no method": (b'{"jsonrpc":"2.0","id":7}', -32600),
    "null as method": (b'{"jsonrpc":"2.0","id":7,"method":null}', -32600),
    "unknown method": (b'{"jsonrpc":"2.0","id":7,"method":"no/such"}', -32601),
    "a notification as request": (
        b'{"jsonrpc":"2.0","id":7,"method":"notifications/initialized"}',
        -32601,
    ),
    "a cancellation as request": (
        CALL.replace("tools/call", "notifications/cancelled")
        .replace("%s", '{"requestId":7}')
        .encode(),
        -32601,
    ),
    "no tool": (CALL.replace("%s", "{}").encode(), -32602),
    "a list as arguments": (
        CALL.replace("%s", '{"name":"memory_search","arguments":[1]}').encode(),
        -32602,
    ),
    "deep": (CALL.replace("%s", f'{{"a":{deep(150)}}}').encode(), -32600),
    "deeper": (CALL.replace("%s", f'{{"a":{deep(5_000)}}}').encode(), -32700),
    "deepest, and the id last": (
        f'{{"method":"ping","params":{deep(100_000)},"jsonrpc":"2.0","id":7}}'.encode(),
        -32700,
    ),
    "deep without an end": (b'{"id":7,"params":' + b"[" * 100_000, -32700),
    "not UTF-8": (SEARCH.encode().replace(b"%s", b"\xff\xfe"), -32700),
    "NaN": (CALL.replace("%s", '{"a":NaN}').encode(), -32700),
    "too large a number": (CALL.replace("%s", '{"a":1e999}').encode(), -32700),
    "broken off": (b'{"jsonrpc":"2.0","id":7,"method":"ping"', -32700),
    "something behind it": (b'{"jsonrpc":"2.0","id":7,"method":"ping"} x', -32700),
    "a comma too many": (b'{"jsonrpc":"2.0","id":7,"method":"ping",}', -32700),
    "a control character": (CALL.replace("%s", '{"a":"\x01"}').encode(), -32700),
    "a byte order mark": (b'\xef\xbb\xbf{"jsonrpc":"2.0","id":7,"method":"x"}', -32700),
    "a batch": (b'[{"jsonrpc":"2.0","id":7,"method":"ping"}]', -32600),
    "larger than any": (
        b'{"method":"ping","params":{"a":"%s"},"jsonrpc":"2.0","id":7}'
        % (b"a" * MOST_BYTES),
        -32600,
    ),
}
SOUND: dict[str, bytes] = {
    "nothing as params": b'{"jsonrpc":"2.0","id":7,"method":"tools/list","params":null}',
    "CRLF": b'{"jsonrpc":"2.0","id":7,"method":"ping"}\r',
    "CR between": b'{"jsonrpc":"2.0",\r"id":7,"method":"ping"}',
    "other line ends in it": SEARCH.replace("%s", "a\u2028b\x85c").encode(),
    "two ids": b'{"jsonrpc":"2.0","id":6,"id":7,"method":"ping"}',
    "NUL": SEARCH.replace("%s", r"a\u0000b").encode(),
    "a pair": SEARCH.replace("%s", r"\ud83c\udf89").encode(),
    "a large text": SEARCH.encode().replace(b"%s", b"ab " * 500_000),
    "too large a text": (
        CALL.replace("%s", '{"name":"memory_write","arguments":{"text":"%s"}}')
        .encode()
        .replace(b"%s", b"a" * 1_500_000)
    ),
}
ODD_IDS: dict[bytes, object] = {
    b"7.5": 7.5,
    b"7.0": 7.0,
    b"null": None,
    b"true": None,
    b"[7]": None,
    b'{"a":1}': None,
    b'"' + b"x" * 5_000 + b'"': "x" * 5_000,
    b'""': "",
    b"-7": -7,
    b"123456789012345678901234567890": 123456789012345678901234567890,
    '"\u00fc\u2028"'.encode(): "\u00fc\u2028",
    rb'"\u00fc\"\\"': '\u00fc"\\',
}


class Raw:
    """A server over stdio, and a client that sends bytes."""

    def __init__(self, command: list[str], environ: dict[str, str]) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            [*command, "--write"], env=environ, stdin=pipe, stdout=pipe, stderr=pipe
        )
        self._heard: queue.Queue[Json] = queue.Queue()
        self._answers: dict[object, Json] = {}
        threading.Thread(target=self._hear, daemon=True).start()
        hello = {"jsonrpc": "2.0", "id": "hello", "method": "initialize"}
        self.send(json.dumps({**hello, "params": HELLO}).encode())
        self.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        self.answer("hello")

    def send(self, line: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def answer(self, request: object, *, within: float = 300) -> Json:
        """Return the answer to a request. Raises queue.Empty when there is none."""
        until = time.monotonic() + within
        while _key(request) not in self._answers:
            heard = self._heard.get(timeout=max(until - time.monotonic(), 0.001))
            self._answers[_key(heard.get("id"))] = heard
        return self._answers.pop(_key(request))

    def _hear(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self._heard.put(json.loads(line))


def _key(request: object) -> object:
    return type(request), request


@contextmanager
def raw(command: list[str], environ: dict[str, str]) -> Generator[Raw]:
    """Start a server, which is killed if a test leaves it behind."""
    server = Raw(command, environ)
    try:
        yield server
    finally:
        server.process.kill()
        server.process.communicate()


def test_over_stdio_every_message_with_an_id_is_answered(
    command: list[str], environ: dict[str, str]
) -> None:
    with raw(command, environ) as server:
        broken: dict[str, int] = {}
        for name, (message, _) in BROKEN.items():
            server.send(message)
            broken[name] = server.answer(7)["error"]["code"]
        sound: dict[str, bool] = {}
        for name, message in SOUND.items():
            server.send(message)
            sound[name] = "result" in server.answer(7)
        for written, told in ODD_IDS.items():
            server.send(b'{"jsonrpc":"2.0","id":%s,"method":"ping"}' % written)
            server.answer(told)
        server.send(b'[{"jsonrpc":"2.0","id":8,"method":"ping"},{"id":"9"},5]')
        batch = [server.answer(8), server.answer("9")]

    assert broken == {name: code for name, (_, code) in BROKEN.items()}
    assert sound == dict.fromkeys(SOUND, True)
    assert all("batch" in one["error"]["message"] for one in batch)


def test_over_http_every_message_with_an_id_is_answered(
    listen: "Callable[..., Listening]",
) -> None:
    server = listen("--write")
    with http_client(server) as client:
        broken = {
            name: answer_in(client.post(server.url, content=message))
            for name, (message, _) in BROKEN.items()
        }
        sound = {
            name: answer_in(client.post(server.url, content=message))
            for name, message in SOUND.items()
        }
        odd = {
            written: answer_in(
                client.post(
                    server.url,
                    content=b'{"jsonrpc":"2.0","id":%s,"method":"ping"}' % written,
                )
            )
            for written in ODD_IDS
        }

    assert {
        name: (one["id"], one["error"]["code"]) for name, one in broken.items()
    } == {name: (7, code) for name, (_, code) in BROKEN.items()}
    assert all(one["id"] == 7 and "result" in one for one in sound.values())
    assert {written: one["id"] for written, one in odd.items()} == ODD_IDS


@contextmanager
def http_client(server: "Listening") -> Generator[httpx.Client]:
    """A client that sends bytes, in a session."""
    headers = {
        "Authorization": f"Bearer {server.token}",
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
        "mcp-protocol-version": "2025-06-18",
    }
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}
    with httpx.Client(headers=headers, timeout=300) as client:
        answer = client.post(server.url, json=hello)
        client.headers["mcp-session-id"] = answer.headers["mcp-session-id"]
        ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        client.post(server.url, json=ready)
        yield client


def answer_in(response: httpx.Response) -> Json:
    """Return the one answer in a response, which may be a stream of events."""
    events = [
        line.removeprefix("data: ")
        for line in response.text.split("\r\n")
        if line.startswith("data: {")
    ]
    written = (events[-1] if events else response.text).removeprefix("[")
    answer: Json = json.JSONDecoder().raw_decode(written)[0]
    return answer


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)
MESSAGES = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | VALUES,
        "id": st.integers(0, 99) | VALUES,
        "method": st.sampled_from(["ping", "tools/list"]) | VALUES,
        "params": st.dictionaries(st.text(max_size=3), VALUES, max_size=2) | VALUES,
    },
)


@given(MESSAGES)
def test_what_is_passed_on_is_a_message_to_the_sdk(message: Json) -> None:
    line = json.dumps(message).encode()

    if refusals(line) is not None or ("method" not in message):
        return

    try:
        mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError as problem:
        raise AssertionError(line) from problem


@given(st.binary(max_size=60))
def test_any_bytes_are_passed_on_or_answered_in_json(line: bytes) -> None:
    for answer in refusals(line) or ():
        assert "error" in json.loads(answer)


class Anything:
    """Requests with an id, of which nothing else is sure."""

    def __init__(self, seed: int) -> None:
        self._dice = random.Random(seed)

    def request(self, number: int) -> bytes:
        """Return a request with this id."""
        dice = self._dice
        members = {
            "jsonrpc": self._mostly('"2.0"'),
            "id": str(number),
            "method": self._mostly(json.dumps(dice.choice(self._METHODS))),
            "params": self._mostly(dice.choice(self._PARAMS)),
        }
        kept = [key for key in members if key == "id" or dice.random() < 0.95]
        dice.shuffle(kept)
        parts = [f'"{key}":{members[key]}'.encode() for key in kept]
        place = kept.index("id")
        if dice.random() < 0.3:  # behind the id anything may be broken
            parts[place + 1 :] = [self._damaged(part) for part in parts[place + 1 :]]
        return b"{" + b",".join(parts) + b"}"

    def _mostly(self, usual: str) -> str:
        return usual if self._dice.random() < 0.7 else self._dice.choice(self._VALUES)

    def _damaged(self, part: bytes) -> bytes:
        at = self._dice.randrange(len(part))
        some = self._dice.choice(
            [b"", b"\xff", b'"', b"\\", b"{", b"[", b"\0", b"\\ud8"]
        )
        return part[:at] + some + part[at + self._dice.randrange(2) :]

    _METHODS = (
        "ping",
        "tools/list",
        "tools/call",
        "resources/list",
        "resources/read",
        "prompts/list",
        "prompts/get",
        "initialize",
        "notifications/initialized",
        "notifications/cancelled",
        "completion/complete",
        "logging/setLevel",
        "",
        "no/such",
    )
    _PARAMS = (
        "{}",
        "null",
        '{"name":"memory_search","arguments":{"query":"gateway"}}',
        '{"name":"memory_search","arguments":{"query":"\\ud83c","maxResults":-1}}',
        '{"name":"memory_get","arguments":{"path":"../x","from":1e30}}',
        '{"name":"memory_get","arguments":{"path":"MEMORY.md","lines":"x"}}',
        '{"name":"memory_write","arguments":{"text":"- a"}}',
        '{"name":"memory_write","arguments":{"text":["a"]}}',
        '{"uri":"memory:MEMORY.md"}',
        '{"uri":"file:///etc/passwd"}',
        '{"name":"memory_flush"}',
        '{"requestId":1}',
        '{"_meta":{"progressToken":{}}}',
        '{"cursor":"x"}',
    )
    _VALUES = (
        "null",
        "true",
        "5",
        "1e400",
        '"x"',
        '"\\ud83c"',
        "[]",
        "[1]",
        "{}",
        '{"a":[{}]}',
        "[" * 300 + "]" * 300,
        '"' + "x" * 70_000 + '"',
    )


@pytest.mark.parametrize(
    "count", [150, pytest.param(5_000, marks=pytest.mark.soak)], ids=str
)
def test_any_request_with_an_id_is_answered(
    command: list[str], environ: dict[str, str], count: int
) -> None:
    anything = Anything(20261201)
    with raw(command, environ) as server:
        for number in range(count):
            sent = anything.request(number)
            server.send(sent)
            try:
                answer = server.answer(number)
            except queue.Empty:
                raise AssertionError(f"no answer to {sent[:500]!r}") from None
            assert ("result" in answer) != ("error" in answer)
        assert server.process.poll() is None


def test_requests_that_come_before_the_greeting_are_answered(
    command: list[str], environ: dict[str, str]
) -> None:
    pipe = subprocess.PIPE
    lines = [
        SEARCH.encode(),
        b"hello",
        b'{"id":8,"jsonrpc":"2.0","method":"tools/list"}',
    ]
    with subprocess.Popen(
        command, env=environ, stdin=pipe, stdout=pipe, stderr=pipe
    ) as server:
        assert server.stdin
        assert server.stdout
        server.stdin.write(b"\n".join(lines) + b"\n")
        server.stdin.flush()
        heard = [json.loads(server.stdout.readline()) for _ in lines]
        server.communicate(timeout=300)

    assert sorted(str(each["id"]) for each in heard) == ["7", "8", "None"]


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)]
)
def test_a_signal_ends_a_server_with_open_requests_quietly(
    command: list[str],
    environ: dict[str, str],
    notes: Path,
    number: signal.Signals,
    code: int,
) -> None:
    state = Path(environ["OPENCLAW_STATE_DIR"])
    with raw(command, environ) as server:
        with only_writer_of(notes.resolve(), state_dir=state):
            write_some(server)
            server.process.send_signal(number)
            assert server.process.wait(timeout=300) == code
        assert server.process.stderr
        assert server.process.stderr.read() == b""
    assert "- note" not in "".join(
        each.read_text(encoding="utf-8") for each in notes.rglob("*.md")
    )


def write_some(server: Raw) -> None:
    """Send requests that wait for whoever is writing, and see that they have begun."""
    for each in range(4):
        arguments = {"name": "memory_write", "arguments": {"text": f"- note {each}"}}
        request = {"jsonrpc": "2.0", "id": each, "method": "tools/call"}
        server.send(json.dumps({**request, "params": arguments}).encode())
    server.send(b'{"jsonrpc":"2.0","id":"last","method":"ping"}')
    server.answer("last")
    with pytest.raises(queue.Empty):
        server.answer(0, within=1)


def test_over_http_open_requests_are_answered_when_a_signal_ends_the_server(
    listen: "Callable[..., Listening]", environ: dict[str, str], notes: Path
) -> None:
    state, said = Path(environ["OPENCLAW_STATE_DIR"]), list[Json]()
    server = listen("--write")
    with http_client(server) as client:

        def write() -> None:
            text = '{"name":"memory_write","arguments":{"text":"- note"}}'
            message = CALL.replace("%s", text)
            said.append(answer_in(client.post(server.url, content=message)))

        with only_writer_of(notes.resolve(), state_dir=state):
            waiting = [threading.Thread(target=write) for _ in range(3)]
            for each in waiting:
                each.start()
            time.sleep(
                1
            )  # until they wait; earlier they would be answered all the same
            server.process.send_signal(signal.SIGTERM)
            assert server.process.wait(timeout=300) == 143
        for each in waiting:
            each.join()

    assert server.process.stderr
    assert server.process.stderr.read() == b""
    assert [each["error"]["message"] for each in said] == ["the server is ending"] * 3


def test_a_client_that_reads_no_more_ends_the_server_quietly(
    command: list[str], environ: dict[str, str]
) -> None:
    reading, writing = os.pipe()
    with subprocess.Popen(
        command,
        env=environ,
        stdin=subprocess.PIPE,
        stdout=writing,
        stderr=subprocess.PIPE,
    ) as server:
        os.close(writing)
        os.close(reading)
        assert server.stdin
        assert server.stderr
        server.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        server.stdin.flush()

        assert server.wait(timeout=300) == 0
        assert server.stderr.read() == b""
