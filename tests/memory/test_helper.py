"""The process that goes on with an index after a command: one, quiet, without keys."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import notewell
from notewell import open_memory_sync


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """An environment of our own, with a key in it."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "OPENCLAW_STATE_DIR": str(tmp_path / "state"),
        "OPENAI_API_KEY": "sk-not-for-helpers",
    }


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A folder with one note."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "MEMORY.md").write_text("The cat is Bertrand.\n", encoding="utf-8")
    return folder


def test_a_search_from_the_shell_leaves_the_looking_to_it(
    notes: Path, environ: dict[str, str]
) -> None:
    environ["PYTHONPATH"] = str(Path(notewell.__file__).parents[1])
    with open_memory_sync(workspace=notes, environ=environ) as memory:
        memory.refresh()
    (notes / "MEMORY.md").write_text("The cat is Ada.\n", encoding="utf-8")
    line = [sys.executable, "-P", "-m", "notewell", "search", "cat", "--workspace"]

    ran = subprocess.run(
        [*line, str(notes)], env=environ, capture_output=True, timeout=300, check=True
    )
    for _ in range(3_000):
        if not pending(notes, environ):
            break
        time.sleep(0.1)

    assert b"1 note has changed" in ran.stderr
    assert pending(notes, environ) == 0
    assert list((Path(environ["OPENCLAW_STATE_DIR"]) / "helpers").iterdir())


def pending(notes: Path, environ: dict[str, str]) -> int:
    with open_memory_sync(workspace=notes, environ=environ) as memory:
        return memory.status().index.pending


def test_it_brings_the_index_up_to_date(notes: Path, environ: dict[str, str]) -> None:
    with open_memory_sync(workspace=notes, environ=environ) as memory:
        memory.refresh()
        (notes / "MEMORY.md").write_text("The cat is Ada.\n", encoding="utf-8")

        started = memory.refresh_later()

    assert started
    for _ in range(3_000):  # it gives way to everything else on this machine
        if not pending(notes, environ):
            break
        time.sleep(0.1)
    assert pending(notes, environ) == 0


def test_there_is_one_for_an_index_and_it_knows_no_key(
    notes: Path,
    environ: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = tmp_path / "told"
    python = tmp_path / "python"
    python.write_text(
        f"#!{sys.executable} -SE\n"
        "import json, os, time\n"
        "said = dict(os.environ), os.getcwd(), [os.readlink(f'/dev/fd/{n}')"
        " for n in range(3)]\n"
        f"open({str(told)!r}, 'w').write(json.dumps(said))\n"
        f"while not os.path.exists({str(tmp_path / 'end')!r}): time.sleep(0.01)\n",
        encoding="utf-8",
    )
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))

    with open_memory_sync(workspace=notes, environ=environ) as memory:
        first, second = memory.refresh_later(), memory.refresh_later()
        for _ in range(1_000):
            if told.exists() and told.read_text(encoding="utf-8"):
                break
            time.sleep(0.01)
        (tmp_path / "end").touch()
        third = None
        for _ in range(1_000):
            third = memory.refresh_later()
            if third == "started":
                break
            time.sleep(0.01)

    given, folder, streams = json.loads(told.read_text(encoding="utf-8"))
    assert (first, second, third) == ("started", "running", "started")
    assert "OPENAI_API_KEY" not in given
    assert given["NOTEWELL_OFFLINE"] == "1"
    assert folder == "/"
    assert set(streams) == {"/dev/null"}


@pytest.mark.parametrize(
    ("more", "overrides"),
    [
        ({"CI": "true"}, {}),
        ({}, {"agents.defaults.memorySearch.sync.detach": False}),
    ],
)
def test_none_is_started_where_none_is_wanted(
    more: dict[str, str],
    overrides: dict[str, object],
    notes: Path,
    environ: dict[str, str],
) -> None:
    with open_memory_sync(
        workspace=notes, environ={**environ, **more}, overrides=overrides
    ) as memory:
        assert not memory.refresh_later()


def test_none_is_started_where_nothing_can_be_written(
    notes: Path, environ: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "helpers").write_text("in the way", encoding="utf-8")

    with open_memory_sync(workspace=notes, environ=environ) as memory:
        assert not memory.refresh_later()
