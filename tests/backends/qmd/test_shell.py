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
helper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(900)"])
signal.signal(signal.SIGTERM, lambda *_: open({file!r} + ".asked", "w").close())
with open({file!r}, "w") as pids:
    pids.write(f"{{helper.pid}} {{os.getpid()}}.")
time.sleep(900)
"""


LISTED = """
import sys
from collections import Counter

listed = Counter()
sys.addaudithook(
    lambda name, given: listed.update([str(given[0])]) if name == "os.scandir" else None
)
from notewell.adapters.surfaces.cli import main

folder, file, *words = sys.argv[1:]
code = main(words)
with open(file, "w") as told:
    told.write(str(listed[folder]))
raise SystemExit(code)
"""
"""Runs a command, and writes down how often a folder was listed."""


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


def test_notes_are_compared_with_the_index_once_a_command(
    qmd: list[str], tmp_path: Path
) -> None:
    folder = tmp_path / "notes" / "memory"
    folder.mkdir(parents=True)
    note = folder / "2026-05-01.md"
    note.write_text("The heron nests at gate four.\n", encoding="utf-8")
    environ = environ_of(tmp_path, qmd, limits={"timeoutMs": 60_000})
    environ["CI"] = "1"  # no other process compares them
    count = tmp_path / "count"

    def search(text: str) -> tuple[int, Any]:
        place = ("--workspace", str(folder.parent))
        words = (str(folder), str(count), "search", text, *place, "--json")
        done = subprocess.run(
            [sys.executable, "-c", LISTED, *words],
            cwd=tmp_path,
            env=environ,
            capture_output=True,
            encoding="utf-8",
            check=True,
            timeout=120,
        )
        return int(count.read_text(encoding="utf-8")), json.loads(done.stdout)

    search("heron")  # builds the index
    listed, answer = search("heron")
    note.write_text("The ibis nests at gate five.\n", encoding="utf-8")
    again, outdated = search("heron")
    _, last = search("ibis")
    for _ in range(60):  # an update may take longer than a command waits for
        if last["freshness"]["pending"] == 0:
            break
        time.sleep(1)
        _, last = search("ibis")

    assert (answer["freshness"]["pending"], answer["reason"]) == (0, None)
    assert listed == 2  # to count what changed, and to read the note
    assert outdated["freshness"]["pending"] == 1
    assert again > listed
    assert last["results"][0]["citation"] == "memory/2026-05-01.md#L1"
    assert (last["freshness"]["pending"], last["backend"]) == (0, "qmd")


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
            while not pids.with_name("pids.asked").exists():
                time.sleep(0.01)  # two signals at once are one
            ours.send_signal(number)  # an update is given time, unless one insists
        _, said = ours.communicate(timeout=600)

    assert ours.returncode == code
    assert b"Traceback" not in said
    left = pids.read_text(encoding="utf-8").rstrip(".").split()
    end = time.monotonic() + 60
    while any(is_alive(int(pid)) for pid in left) and time.monotonic() < end:
        time.sleep(0.01)
    assert not any(is_alive(int(pid)) for pid in left)


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        stat = Path(f"/proc/{pid}/stat")
        return not stat.exists() or ") Z" not in stat.read_text(encoding="utf-8")
    except OSError:
        return False


@pytest.fixture
def slow(faulty: "Faulty", tmp_path: Path) -> Notewell:
    """Runs a command on one note, over a QMD whose updates take longer than a command."""
    notes = tmp_path / "notes"
    (notes / "memory").mkdir(parents=True)
    (notes / "memory" / "a.md").write_text("A heron.\n", encoding="utf-8")
    hold = str(tmp_path / "hold")
    faulty.mood(
        "import os, time\n"
        "time.sleep(1.2 if command == 'update' else 0)\n"
        f"while command == 'update' and os.path.exists({hold!r}): time.sleep(0.01)\n"
    )

    def run_it(
        *words: str, sync: object = None, paths: object = (), **more: str
    ) -> subprocess.CompletedProcess[str]:
        environ = environ_of(tmp_path, faulty.command, paths=paths)
        file = tmp_path / "openclaw.json"
        settings = json.loads(file.read_text(encoding="utf-8"))
        defaults: dict[str, object] = {
            "workspace": str(notes),
            "memorySearch": {"sync": sync or {}},
        }
        settings["agents"] = {"defaults": defaults}
        file.write_text(json.dumps(settings), encoding="utf-8")
        return subprocess.run(
            [sys.executable, "-m", "notewell", *words],
            env={**environ, **more},
            capture_output=True,
            encoding="utf-8",
            check=True,
            timeout=300,
        )

    return run_it


def pending_after_a_while(run: Notewell) -> int:
    end = time.monotonic() + 1_800  # it gives way to everything else on this machine
    while True:
        status = json.loads(run("status", "--json").stdout)
        if not status["index"]["pending"] or time.monotonic() > end:
            return int(status["index"]["pending"])
        time.sleep(0.1)


def test_a_command_says_what_it_could_not_know_and_lets_a_process_go_on(
    slow: Notewell, faulty: "Faulty", tmp_path: Path
) -> None:
    slow("index")
    (tmp_path / "notes" / "memory" / "b.md").write_text("An egret.\n", encoding="utf-8")

    (tmp_path / "hold").touch()

    said = slow("search", "heron").stderr
    first, second, third = (
        json.loads(slow("search", "heron", "--json").stdout) for _ in range(3)
    )

    assert "note: 1 note has changed since the index was made" in said
    for answer in (first, second, third):
        assert answer["freshness"]["stale"] is True
        assert answer["freshness"]["pending"] >= 1  # all, while a run is under way
    (tmp_path / "hold").unlink()
    assert pending_after_a_while(slow) == 0
    assert len([call for call in faulty.calls() if call[0] == "update"]) == 2
    last = json.loads(slow("search", "heron", "--json").stdout)
    assert (last["freshness"]["stale"], last["freshness"]["pending"]) == (False, 0)


def test_a_note_that_was_remembered_is_indexed_though_it_takes_long(
    slow: Notewell, faulty: "Faulty"
) -> None:
    slow("index")

    slow("remember", "An egret.")

    assert pending_after_a_while(slow) == 0


def test_another_configuration_is_stale_and_is_made_good(
    slow: Notewell, faulty: "Faulty", tmp_path: Path
) -> None:
    slow("index")
    more = tmp_path / "more"
    more.mkdir()
    (more / "c.md").write_text("A stork.\n", encoding="utf-8")
    paths = [{"path": str(more)}]

    first = json.loads(slow("search", "heron", "--json", paths=paths).stdout)
    last, end = first, time.monotonic() + 300
    while last["freshness"]["pending"] and time.monotonic() < end:
        last = json.loads(slow("search", "heron", "--json", paths=paths).stdout)

    assert first["freshness"]["stale"] is True
    assert first["freshness"]["pending"] > 0
    assert (last["freshness"]["stale"], last["freshness"]["pending"]) == (False, 0)


@pytest.mark.parametrize(
    ("sync", "more"), [({"detach": False}, {}), (None, {"CI": "1"})]
)
def test_no_process_goes_on_where_none_is_wanted(
    sync: object, more: dict[str, str], slow: Notewell, faulty: "Faulty", tmp_path: Path
) -> None:
    slow("index")
    (tmp_path / "notes" / "memory" / "b.md").write_text("An egret.\n", encoding="utf-8")

    answer = json.loads(slow("search", "heron", "--json", sync=sync, **more).stdout)

    assert answer["freshness"]["pending"] == 1
    assert not (tmp_path / "state" / "helpers").exists()
    assert len([call for call in faulty.calls() if call[0] == "update"]) == 1


def test_what_was_not_checked_is_not_called_fresh(
    slow: Notewell, faulty: "Faulty", tmp_path: Path
) -> None:
    more = {f"n{number}.md": "A heron.\n" for number in range(5_001)}
    for name, text in more.items():
        (tmp_path / "notes" / "memory" / name).write_text(text, encoding="utf-8")
    slow("index")

    shown = slow("search", "heron")
    answer = json.loads(slow("search", "heron", "--json").stdout)

    assert answer["freshness"]["stale"] is None
    assert answer["freshness"]["pending"] is None
    assert "not checked" in shown.stderr


def test_doctor_says_that_questions_are_neither_expanded_nor_reranked(
    faulty: "Faulty", tmp_path: Path
) -> None:
    faulty.mood(
        "if command == 'status': print('Vectors: 1 embedded', flush=True)\n"
        "if command in ('status', 'embed'): __import__('os')._exit(0)"
    )
    (tmp_path / "notes" / "memory").mkdir(parents=True)
    (tmp_path / "notes" / "memory" / "a.md").write_text("heron\n", encoding="utf-8")
    environ = environ_of(tmp_path, faulty.command, searchMode="query")
    environ["QMD_EMBED_MODEL"] = __file__

    def said(*words: str) -> str:
        return subprocess.run(
            [
                sys.executable,
                "-m",
                "notewell",
                *words,
                "--workspace",
                str(tmp_path / "notes"),
                "--json",
            ],
            env=environ,
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=120,
        ).stdout

    said("index")
    checks = json.loads(said("doctor"))["checks"]

    [engine] = [
        check
        for check in checks
        if check["name"] == "engine" and check["status"] == "warning"
    ]
    assert "QMD_GENERATE_MODEL and QMD_RERANK_MODEL" in engine["detail"]
    assert "vsearch" in engine["remedy"]
