"""The terminal sessions on the pages, typed on a terminal, print what the pages show."""

import fcntl
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import termios
from datetime import date
from pathlib import Path

import pytest

import notewell

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "docs" / "tutorial.md", ROOT / "docs" / "how-to" / "cjk.md"]
DAY = "2026-03-16"
"""The day on which the pages were typed."""

ERASED = re.compile(r"[^\n]*\n(?:\x1b\[\?25h)?\r?\x1b\[1A\x1b\[2K")
"""A line, and how a progress bar takes it away again."""

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\]8;;[^\x1b]*\x1b\\")


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """A reader's environment: a home, and the command as if it were installed."""
    installed = tmp_path / "bin"
    installed.mkdir()
    for name, words in (("python", ""), ("notewell", " -m notewell")):
        command = installed / name
        command.write_text(
            f'#!/bin/sh\nexec "{sys.executable}"{words} "$@"\n', encoding="utf-8"
        )
        command.chmod(0o755)
    return {
        "HOME": str(tmp_path),
        "PATH": f"{installed}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(Path(notewell.__file__).parents[1]),
        "LC_ALL": "C.UTF-8",
        "TERM": "xterm-256color",
        "CI": "1",  # no process goes on when a command has ended
    }


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """What the pages use of a fresh clone."""
    for part in ("docs/example", "examples"):
        shutil.copytree(ROOT / part, tmp_path / "clone" / part)
    return tmp_path / "clone"


def on_a_terminal(command: str, environ: dict[str, str], folder: Path) -> str:
    """Return all that a terminal of 80 columns shows in the end."""
    near, far = pty.openpty()
    fcntl.ioctl(far, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 80, 0, 0))
    child = subprocess.Popen(
        ["sh", "-c", command],
        env=environ,
        cwd=folder,
        stdin=far,
        stdout=far,
        stderr=far,
    )
    os.close(far)
    sent = b""
    while piece := _read(near):
        sent += piece
    os.close(near)
    assert child.wait(timeout=300) == 0, sent
    text = ERASED.sub("", sent.decode("utf-8").replace("\r\n", "\n"))
    lines = ESCAPES.sub("", text).split("\n")
    return "\n".join(line.rstrip() for line in lines)


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:  # Linux says so when the last writer has gone
        return b""


def as_on_the_page(shown: str, today: set[str]) -> str:
    """Write what differs from run to run as the pages have it."""
    for day in today:
        shown = shown.replace(day, DAY)
    return re.sub(r"\d[\d,.]* m?s\b", "4 ms", shown)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_command_prints_what_the_page_shows(
    page: Path, clone: Path, environ: dict[str, str]
) -> None:
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"^```console\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    commands = re.findall(r"^\$ (.*)", "".join(blocks), re.MULTILINE)
    before = str(date.today())

    shown = "".join(
        f"$ {command}\n{on_a_terminal(command, environ, clone)}" for command in commands
    )

    today = {before, str(date.today())}  # midnight may have passed
    assert as_on_the_page(shown, today) == "".join(blocks)
