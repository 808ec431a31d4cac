"""QMD from the shell: one answer, one JSON object, and no process left behind."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import notewell

if TYPE_CHECKING:
    from tests.backends.qmd.conftest import Faulty

Notewell = Callable[..., Any]

EXAMPLE = Path(__file__).parents[3] / "docs" / "example"


HANGS = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
helper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
with open({file!r}, "w") as pids:
    pids.write(f"{{helper.pid}} {{os.getpid()}}.")
time.sleep(60)
"""


def environ_of(folder: Path, command: list[str], **qmd: object) -> dict[str, str]:
    """Return an environment in which notewell asks that QMD."""
    config = folder / "openclaw.json"
    settings = {"memory": {"backend": "qmd", "qmd": {"command": command, **qmd}}}
    config.write_text(json.dumps(settings), encoding="utf-8")
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "PYTHONPATH": str(Path(notewell.__file__).parents[1]),
        "OPENCLAW_STATE_DIR": str(folder / "state"),
        "OPENCLAW_CONFIG_PATH": str(config),
    }


@pytest.fixture
def run(qmd: list[str], tmp_path: Path) -> Notewell:
    """Runs a command on the example notes; returns its JSON."""
    environ = environ_of(tmp_path, qmd)

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


@pytest.mark.parametrize("command", ["search", "index"])
@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)],
)
def test_a_command_that_is_ended_while_qmd_hangs_leaves_nothing_running(
    number: signal.Signals, code: int, command: str, faulty: "Faulty", tmp_path: Path
) -> None:
    notes, pids = tmp_path / "notes", tmp_path / "pids"
    notes.mkdir()
    (notes / "a.md").write_text("A heron.\n", encoding="utf-8")
    limits = {"timeoutMs": 60_000}
    environ = environ_of(tmp_path, faulty.command, limits=limits)
    words = [sys.executable, "-m", "notewell"]
    place = ["--workspace", str(notes)]
    subprocess.run(
        [*words, "index", *place], env=environ, check=True, capture_output=True
    )
    faulty.mood(HANGS.format(file=str(pids)))
    (notes / "b.md").write_text("An egret.\n", encoding="utf-8")

    asked = [*words, command, *place, *(["heron"] if command == "search" else [])]
    with subprocess.Popen(asked, env=environ, stderr=subprocess.PIPE) as ours:
        while not (pids.exists() and pids.read_text(encoding="utf-8").endswith(".")):
            time.sleep(0.01)
        ours.send_signal(number)
        if command == "index" and number != signal.SIGKILL:
            ours.send_signal(number)  # an update is given time, unless one insists
        _, said = ours.communicate(timeout=50)

    assert ours.returncode == code
    assert b"Traceback" not in said
    left = pids.read_text(encoding="utf-8").rstrip(".").split()
    for _ in range(200):
        if not any(is_alive(int(pid)) for pid in left):
            break
        time.sleep(0.01)
    assert not any(is_alive(int(pid)) for pid in left)


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        stat = Path(f"/proc/{pid}/stat")
        return not stat.exists() or ") Z" not in stat.read_text(encoding="utf-8")
    except OSError:
        return False
