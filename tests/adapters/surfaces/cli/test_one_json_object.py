"""With --json there is exactly one JSON object on stdout, whatever happens."""

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.adapters.surfaces.conftest import Notewell


@pytest.mark.parametrize(
    "line",
    [
        ["search", "gateway"],
        ["search", "nothing-of-that-kind"],
        ["search", ""],
        ["get", "MEMORY.md"],
        ["get", "memory/nope.md"],
        ["remember", "a"],
        ["remember", "--long-term", "a"],
        ["context"],
        ["context", "--max-chars", "10"],
        ["index"],
        ["index", "--force"],
        ["status"],
        ["status", "--deep"],
        ["config"],
        ["--version"],
    ],
    ids=" ".join,
)
def test_an_answer_is_one_object(line: list[str], run: "Notewell") -> None:
    ran = run(*line, "--json")

    assert ran.code == 0
    assert "error" not in ran.value


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (["--json"], "usage"),
        (["--json", "search"], "usage"),
        (["search", "--json"], "usage"),
        (["serach", "x", "--json"], "usage"),
        (["bench", "--queries", "gone.jsonl", "--json"], "usage"),
        (["search", "x", "--nope", "--json"], "usage"),
        (["search", "x", "--json", "--max-results"], "usage"),
        (["search", "x", "--json", "--max-results", "0"], "usage"),
        (["search", "x", "--json", "--max-results", "many"], "usage"),
        (["search", "x", "--json", "--min-score", "nan"], "usage"),
        (["search", "x", "--json", "--min-score", "1.1"], "usage"),
        (["search", "x", "--json", "--source", "diary"], "usage"),
        (["search", "x", "--query", "y", "--json"], "usage"),
        (["search", "x", "--json=yes"], "usage"),
        (["search", "x", "--json", "--agent", ""], "usage"),
        (["search", "x", "--json", "--agent", "nobody"], "usage"),
        (["search", "x", "--json", "--workspace", "/no/such/folder"], "usage"),
        (["get", "--json"], "usage"),
        (["remember", "--json"], "usage"),
        (["context", "--json", "--max-chars", "0"], "usage"),
        (["context", "--json", "--kind", "family"], "usage"),
        (["context", "a.md", "--json"], "usage"),
        (["get", "a.md", "--from", "0", "--json"], "usage"),
        (["get", "../outside.md", "--json"], "path-refused"),
        (["get", "/etc/passwd", "--json"], "path-refused"),
        (["config", "--json", "--config", "/no/such/file"], "config"),
        (["status", "--json", "--config", "/no/such/file"], "config"),
    ],
    ids=repr,
)
def test_a_refusal_is_one_object_too(
    line: list[str], kind: str, run: "Notewell"
) -> None:
    ran = run(*line)

    assert ran.code == 2
    assert ran.value["error"]["type"] == kind
    assert set(ran.value["error"]) == {"type", "message", "remedy"}
    assert ran.value["error"]["message"]


@pytest.mark.parametrize(
    "content",
    [
        b"{",
        b"[]",
        b"\xff\xfe",
        b'{"memory": {"backend": 5}}',
        b'{"agents": {"defaults": {"memorySearch": {"enabled": "x"}}}}',
    ],
)
def test_a_broken_configuration_is_one_object(
    content: bytes, run: "Notewell", tmp_path: Path
) -> None:
    file = tmp_path / "openclaw.json"
    file.write_bytes(content)

    ran = run("search", "x", "--json", "--config", str(file))

    assert ran.code == 2
    assert ran.value["error"]["type"] == "config"


def test_warnings_stay_out_of_stdout(run: "Notewell", tmp_path: Path) -> None:
    file = tmp_path / "openclaw.json"
    file.write_text('{"memory": {"citatoins": "on"}}', encoding="utf-8")

    ran = run("search", "gateway", "--json", "--config", str(file))

    assert ran.code == 0
    assert ran.value["results"]


@pytest.mark.parametrize("flags", [[], ["--verbose"]], ids=["quiet", "verbose"])
def test_a_fault_shows_no_note_text_and_its_trace_only_when_asked(
    flags: list[str], environ: dict[str, str]
) -> None:
    program = (
        "import sys, notewell.memory\n"
        "from notewell.adapters.surfaces.cli import main\n"
        "def fail(**_): raise ValueError('the text of a note')\n"
        "notewell.memory.open_memory_sync = fail\n"
        "sys.exit(main())\n"
    )

    ran = subprocess.run(
        [sys.executable, "-c", program, "search", "x", "--json", *flags],
        env=environ,
        capture_output=True,
        timeout=300,
        check=False,
    )

    error = json.loads(ran.stdout)["error"]
    assert (ran.returncode, error["type"]) == (1, "internal")
    assert "ValueError" in error["message"]
    assert b"the text of a note" not in ran.stdout
    assert (b"the text of a note" in ran.stderr) is bool(flags)
    assert (b"Traceback" in ran.stderr) is bool(flags)
