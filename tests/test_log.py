"""What a program hears of our work by the standard module for logging."""

import logging
import subprocess
import sys
from pathlib import Path

import pytest

import notewell
from notewell import open_memory_sync

NOTE = "# Gateway\n\nThe gateway restarts at four; its word is xylophone.\n"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "MEMORY.md").write_text(NOTE, encoding="utf-8")
    return folder


def test_searches_and_runs_are_told_without_a_word_of_notes_or_questions(
    notes: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="notewell")
    environ = {"OPENCLAW_STATE_DIR": str(tmp_path / "state"), "PATH": ""}

    with open_memory_sync(workspace=notes, environ=environ) as memory:
        memory.refresh()
        memory.search("xylophone")

    told = [(record.name, record.levelname) for record in caplog.records]
    assert ("notewell.memory", "INFO") in told
    assert ("notewell.memory", "DEBUG") in told
    assert "builtin answered, hybrid: 1 results" in caplog.text
    assert "xylophone" not in caplog.text


def test_every_step_down_is_a_warning(
    notes: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    environ = {"OPENCLAW_STATE_DIR": str(tmp_path / "state"), "PATH": ""}

    with open_memory_sync(workspace=notes, environ=environ, backend="qmd") as memory:
        memory.search("xylophone")

    warnings = [it.message for it in caplog.records if it.levelname == "WARNING"]
    assert "builtin instead of qmd: missing" in warnings


def test_nobody_who_has_not_asked_hears_anything(notes: Path, tmp_path: Path) -> None:
    program = (
        "import logging, sys\n"
        "from notewell import open_memory_sync\n"
        "environ = {'OPENCLAW_STATE_DIR': sys.argv[2], 'PATH': ''}\n"
        "with open_memory_sync(workspace=sys.argv[1], backend='qmd', environ=environ)"
        " as memory:\n"
        "    assert memory.search('xylophone').fallbacks\n"
    )

    ran = subprocess.run(
        [sys.executable, "-c", program, str(notes), str(tmp_path / "state")],
        env={"PYTHONPATH": str(Path(notewell.__file__).parents[1])},
        capture_output=True,
        check=True,
        timeout=300,
    )

    assert ran.stdout == ran.stderr == b""
