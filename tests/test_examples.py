"""The examples run, and end as they say."""

import asyncio
import json
import os
import runpy
import shutil
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from typing import Any
from zipfile import ZipFile

import pytest

import notewell

ROOT = Path(__file__).resolve().parents[1]


def test_a_day_in_the_life_finds_in_the_evening_what_the_morning_wrote(
    tmp_path: Path,
) -> None:
    ran = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "day_in_the_life.py"), str(tmp_path)],
        env={"PYTHONPATH": str(Path(notewell.__file__).parents[1]), "HOME": "/"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
        timeout=300,
    )

    before, after = ran.stdout.split("the agent is restarted\n")
    [log] = (tmp_path / "workspace" / "memory").iterdir()
    lines = log.read_text(encoding="utf-8").splitlines()
    assert "behind the clock. (MEMORY.md#L3)" in before
    assert before.count("tokens are expected") == 2
    assert before.count("no news") == 1
    assert lines[2:] == [
        "- the boiler is serviced on 12 March by Aldous Heating.",
        "- By the way, we decided to keep the old lease until June.",
    ]
    assert f"loaded MEMORY.md#L1-L3, memory/{log.name}#L1-L4" in after
    assert f"Aldous Heating. (memory/{log.name}#L3)" in after
    assert f"lease until June. (memory/{log.name}#L4)" in after


def test_the_example_plugin_keeps_the_promises_of_an_engine(tmp_path: Path) -> None:
    source = tmp_path / "plugin"
    shutil.copytree(ROOT / "examples" / "plugin", source)
    installed = tmp_path / "installed"
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", "."]
    subprocess.run(build, cwd=source, check=True, timeout=300, capture_output=True)
    [wheel] = source.glob("*.whl")
    ZipFile(wheel).extractall(installed)
    paths = (str(installed), str(Path(notewell.__file__).parents[1]))

    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"],
        cwd=source,
        env={"PYTHONPATH": os.pathsep.join(paths), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )

    assert ran.returncode == 0, ran.stdout
    assert "47 passed" in ran.stdout


@pytest.mark.parametrize(
    ("example", "needs"),
    [
        ("langchain_retriever", "langchain_core"),
        ("llama_index_retriever", "llama_index"),
    ],
)
def test_a_retriever_puts_the_notes_with_their_citations_before_a_model(
    example: str,
    needs: str,
    workspace: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if find_spec(needs) is None:
        pytest.skip(f"{needs} is not installed")
    monkeypatch.setattr(sys, "argv", [example, str(workspace), "Where is the key?"])

    runpy.run_path(str(ROOT / "examples" / f"{example}.py"), run_name="__main__")

    told = capsys.readouterr().out
    assert "MEMORY.md#L1-L3" in told
    assert "- The spare key hangs behind the clock." in told.splitlines()
    assert "Where is the key?" in told


def test_the_loop_lets_a_model_search_until_it_answers(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = {"name": "memory_search", "arguments": '{"query": "spare key"}'}
    call = {"id": "c1", "type": "function", "function": search}
    replies = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "assistant", "content": "Behind the clock (MEMORY.md#L3)."},
    ]
    monkeypatch.setenv("MODEL", "scripted")

    with chat_completions(replies) as (url, heard):
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        loop = runpy.run_path(str(ROOT / "examples" / "agent_loop.py"))
        said = asyncio.run(loop["ask"](str(workspace), "Where is the key?"))

    first, second = heard
    assert said == "Behind the clock (MEMORY.md#L3)."
    assert first["model"] == "scripted"
    assert first["tools"][0]["function"]["name"] == "memory_search"
    assert second["messages"][-1]["tool_call_id"] == "c1"
    assert "hangs behind the clock" in second["messages"][-1]["content"]


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one fact, searched by the settings that come with notewell."""
    notes = tmp_path / "notes"
    notes.mkdir()
    facts = "# Facts\n\n- The spare key hangs behind the clock.\n"
    (notes / "MEMORY.md").write_text(facts, encoding="utf-8")
    monkeypatch.setenv("OPENCLAW_STATE_DIR", str(tmp_path / "state"))
    return notes


@contextmanager
def chat_completions(
    replies: list[dict[str, Any]],
) -> Generator[tuple[str, list[dict[str, Any]]]]:
    """Serve OpenAI's Chat Completions from a script; yield its address, and what it hears."""
    heard: list[dict[str, Any]] = []
    left = iter(replies)

    class Scripted(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            size = int(self.headers["Content-Length"])
            heard.append(json.loads(self.rfile.read(size)))
            body = json.dumps({"choices": [{"message": next(left)}]}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Scripted) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1", heard
        server.shutdown()
