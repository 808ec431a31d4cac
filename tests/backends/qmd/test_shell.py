"""QMD from the shell: one answer, one JSON object, and no process left behind."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import notewell

Notewell = Callable[..., Any]

EXAMPLE = Path(__file__).parents[3] / "docs" / "example"


@pytest.fixture
def run(qmd: list[str], tmp_path: Path) -> Notewell:
    """Runs a command on the example notes; returns its JSON."""
    config = tmp_path / "openclaw.json"
    settings = {"memory": {"backend": "qmd", "qmd": {"command": qmd}}}
    config.write_text(json.dumps(settings), encoding="utf-8")
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "PYTHONPATH": str(Path(notewell.__file__).parents[1]),
        "OPENCLAW_STATE_DIR": str(tmp_path / "state"),
        "OPENCLAW_CONFIG_PATH": str(config),
    }

    def run_it(*words: str) -> Any:
        done = subprocess.run(
            [sys.executable, "-m", "notewell", *words, "--json"],
            cwd=tmp_path,
            env=environ,
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run_it


def test_the_example_is_answered_and_described(run: Notewell, qmd: list[str]) -> None:
    place = ("--workspace", str(EXAMPLE))

    answer = run("search", "what did we decide about the backup retention?", *place)
    status = run("status", "--deep", *place)
    doctor = run("doctor", *place)

    best = answer["results"][0]
    lines = run("get", best["citation"], *place)
    assert (answer["backend"], answer["mode"]) == ("qmd", "search")
    assert (answer["degraded"], answer["fallbacks"]) == (False, [])
    assert best["path"] == "memory/2026-02-11.md"
    assert best["snippet"] in lines["text"]
    assert status["backend"] == "qmd"
    assert status["index"]["pending"] == 0
    assert status["index"]["details"]["runs as"] == " ".join(qmd)
    assert status["probe"]["ok"]
    [engine] = [check for check in doctor["checks"] if check["name"] == "engine"]
    assert engine["status"] == "ok"
    assert "version 2.8.3" in engine["detail"]
