"""`notewell watch`: a readable log, an index that follows, a clean end."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import notewell

if TYPE_CHECKING:
    from tests.adapters.surfaces.conftest import Notewell


# Whoever runs the tests in the background may have Ctrl-C ignored, and children inherit it.
_START = """
import runpy, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
runpy.run_module("notewell", run_name="__main__", alter_sys=True)
"""


class Watch:
    """A `notewell watch` that runs on a folder of notes."""

    def __init__(self, tmp_path: Path) -> None:
        self.notes = tmp_path.resolve() / "notes"
        (self.notes / "memory").mkdir(parents=True)
        self.write("MEMORY.md", "The cat is called Bertrand.\n")
        self.environ = {
            **os.environ,
            "OPENCLAW_STATE_DIR": str(tmp_path / "state"),
            "PYTHONPATH": str(Path(notewell.__file__).parents[1]),
        }
        self.process = self.start("watch")

    def start(self, command: str, *words: str) -> "subprocess.Popen[str]":
        """Start a command on the same notes."""
        line = [sys.executable, "-c", _START, command, "--workspace"]
        return subprocess.Popen(
            [*line, str(self.notes), *words],
            env=self.environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )

    def write(self, path: str, text: str) -> None:
        """Write a note."""
        (self.notes / path).write_text(text, encoding="utf-8")

    def said(self) -> str:
        """Wait for the next line, and return it without its time."""
        assert self.process.stdout
        line = self.process.stdout.readline()
        assert line[2:6:3] == "::"
        return line[10:].rstrip("\n")


@pytest.fixture
def watch(tmp_path: Path) -> Iterator[Watch]:
    """Starts watching a folder of one note."""
    started = Watch(tmp_path)
    yield started
    if started.process.poll() is None:
        started.process.kill()
    started.process.communicate()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_what_happens_is_written_and_the_end_is_clean(
    watch: Watch, how: signal.Signals
) -> None:
    assert watch.said() == f"watching {watch.notes}"
    assert watch.said() == "1 changed, 1 file, 1 passage, 1 with a vector"

    watch.write("memory/day.md", "A walrus came by.\n")
    assert watch.said() == "1 changed, 2 files, 2 passages, 2 with a vector"
    asked = watch.start("search", "walrus", "--json")
    found, _ = asked.communicate(timeout=300)
    watch.process.send_signal(how)

    assert '"path":"memory/day.md"' in found
    assert watch.said() in ("stopped", "stopped, 1 command served")  # if it was in time
    _, complaints = watch.process.communicate(timeout=300)
    assert (watch.process.returncode, complaints) == (0, "")


def test_a_note_that_vanishes_is_forgotten(watch: Watch) -> None:
    watch.said()
    watch.said()

    (watch.notes / "MEMORY.md").unlink()

    assert watch.said() == "1 removed, 0 files, 0 passages"


def test_json_is_refused(run: "Notewell") -> None:
    ran = run("watch", "--json")

    assert ran.code == 2
    assert "no JSON" in ran.said + ran.text
