"""`notewell hooks`: printed, written with consent, answered within two seconds."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.adapters.surfaces.conftest import Notewell

SESSION = "5f3c0a5e-1111-4222-8333-944455556666"


@pytest.fixture
def home(environ: dict[str, str]) -> Path:
    return Path(environ["HOME"])


def told(event: str, **more: object) -> bytes:
    """What Claude Code and Codex write to a hook."""
    common = {"session_id": SESSION, "transcript_path": None, "cwd": "/work"}
    return json.dumps({**common, "hook_event_name": event, **more}).encode("utf-8")


def said_to_model(out: bytes) -> str:
    output = json.loads(out)["hookSpecificOutput"]
    assert set(output) == {"hookEventName", "additionalContext"}
    return str(output["additionalContext"])


def test_entries_are_printed_and_nothing_is_written(
    run: "Notewell", notes: Path, home: Path
) -> None:
    ran = run("hooks", "claude-code")

    events = json.loads(ran.text)["hooks"]
    handlers = [each["hooks"][0] for [each] in events.values()]
    assert {each["timeout"] for each in handlers} == {2}
    assert all(f"--workspace {notes}" in each["command"] for each in handlers)
    assert "settings.json" in ran.said
    assert not (home / ".claude").exists()
    assert run("hooks", "codex", "--json").value["workspace"] == str(notes)


def test_openclaw_is_only_told(run: "Notewell", notes: Path) -> None:
    ran = run("hooks", "openclaw")

    defaults = json.loads(ran.text)["agents"]["defaults"]
    assert defaults["workspace"] == str(notes)
    assert defaults["compaction"]["memoryFlush"]["enabled"] is True
    assert run("hooks", "openclaw", "--write", "--yes").code == 2


def test_writing_shows_the_difference_and_needs_consent(
    run: "Notewell", home: Path
) -> None:
    file = home / ".claude" / "settings.json"
    file.parent.mkdir()
    file.write_text('{\n  "model": "opus"\n}\n', encoding="utf-8")
    before = file.read_bytes()

    refused = run("hooks", "claude-code", "--write")
    assert (refused.code, file.read_bytes()) == (2, before)
    assert '+  "hooks": {' in refused.said.replace('"model": "opus",', "")

    written = run("hooks", "claude-code", "--write", "--yes", "--json").value
    assert written["changed"]
    assert Path(written["backup"]).read_bytes() == before
    assert not run("hooks", "claude-code", "--write", "--yes", "--json").value[
        "changed"
    ]

    removed = run("hooks", "claude-code", "--remove", "--yes")
    assert (removed.code, file.read_bytes()) == (0, before)


@pytest.mark.parametrize("program", ["claude-code", "codex"])
def test_a_written_command_is_one_that_a_shell_can_run(
    run: "Notewell", environ: dict[str, str], home: Path, program: str
) -> None:
    run("hooks", program, "--write", "--yes")
    [file] = home.glob(".c*/*.json")
    [group] = json.loads(file.read_bytes())["hooks"]["SessionStart"]
    command = group["hooks"][0]["command"]

    ran = subprocess.run(
        ["/bin/sh", "-c", command],
        input=told("SessionStart", source="startup"),
        capture_output=True,
        env=environ,
        check=False,
    )

    assert (ran.returncode, ran.stderr) == (0, b"")
    if ran.stdout:  # else this machine is so busy that the hook ended itself
        assert "> The gateway port is 18789." in said_to_model(ran.stdout)
    gone = command.replace(sys.executable, "/nowhere/python")
    ran = subprocess.run(["/bin/sh", "-c", gone], capture_output=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, b"")


@pytest.mark.parametrize("words", [["--workspace", "/nowhere"], []])
def test_whatever_is_wrong_a_hook_says_nothing_and_ends_well(
    environ: dict[str, str], words: list[str]
) -> None:
    stdin = told("SessionStart", source="startup") if words else b"\xff" * 100

    ran = subprocess.run(
        [sys.executable, "-m", "notewell", "hooks", "codex", "--run", *words],
        input=stdin,
        capture_output=True,
        env=environ,
        check=False,
    )

    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")


def test_a_hook_that_is_held_up_ends_by_itself(environ: dict[str, str]) -> None:
    reading, writing = os.pipe()  # nobody writes, and nobody closes
    try:
        ran = subprocess.run(
            [sys.executable, "-m", "notewell", "hooks", "codex", "--run"],
            stdin=reading,
            capture_output=True,
            env=environ,
            timeout=300,
            check=False,
        )
    finally:
        os.close(reading)
        os.close(writing)

    assert (ran.returncode, ran.stdout) == (0, b"")


def test_two_writers_at_once_lose_nothing(
    environ: dict[str, str], notes: Path, home: Path
) -> None:
    words = ["hooks", "codex", "--workspace", str(notes), "--write", "--yes"]
    started = [
        subprocess.Popen(
            [sys.executable, "-m", "notewell", *words],
            env=environ,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for _ in range(2)
    ]

    codes = sorted(each.wait(timeout=300) for each in started)

    assert codes in ([0, 0], [0, 2])
    written: dict[str, Any] = json.loads((home / ".codex" / "hooks.json").read_bytes())
    assert [len(groups) for groups in written["hooks"].values()] == [1, 1]
