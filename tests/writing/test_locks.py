"""One writer at a time: who waits is told for whom, and our state may be read-only."""

import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from notewell.errors import NoteNotWritten
from notewell.writing import only_writer_of

HOLDER = """
import sys
from pathlib import Path
from notewell.writing import only_writer_of

with only_writer_of(Path(sys.argv[1]), state_dir=Path(sys.argv[2])):
    print("held", flush=True)
    sys.stdin.read()
"""

WRITER = """
import os, sys
from pathlib import Path
from notewell import open_memory_sync

def remember(root, state, *texts):
    environ = {"OPENCLAW_STATE_DIR": str(state)}
    with open_memory_sync(workspace=root, environ=environ) as memory:
        return [memory.remember(text) for text in texts][-1]

root, state, name, warm = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], sys.argv[4]
remember(warm, f"{warm}/state", "- all that is needed is imported by now")
os.getuid() or os.setuid(65534)
remembered = remember(root, state, *(f"- {name} {number}" for number in range(8)))
print(remembered.written, remembered.indexed, *remembered.warnings, sep="|")
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder of notes."""
    (tmp_path / "w").mkdir()
    return tmp_path / "w"


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that any user can enter, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp(prefix="notewell-test-")).resolve()
    folder.chmod(0o755)
    yield folder
    for path, folders, _ in os.walk(folder):
        for name in folders:
            os.chmod(os.path.join(path, name), 0o700)
    shutil.rmtree(folder)


def started(code: str, *words: object) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, words)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


def test_who_waits_is_told_which_process_is_writing(
    place: Path, tmp_path: Path
) -> None:
    with started(HOLDER, place, tmp_path / "state") as holder:
        assert holder.stdout
        assert holder.stdout.readline() == "held\n"

        with (
            pytest.raises(NoteNotWritten, match=f"process {holder.pid} ") as refused,
            only_writer_of(place, state_dir=tmp_path / "state", patience=0.1),
        ):
            raise AssertionError("two writers")

        holder.communicate("")
    assert "no fault of the disk" in refused.value.remedy
    assert f"process {holder.pid}" in refused.value.remedy


def test_who_waits_is_told_that_it_is_this_program(place: Path, tmp_path: Path) -> None:
    state, said = tmp_path / "state", list[str]()

    def write_too() -> None:
        try:
            with only_writer_of(place, state_dir=state, patience=0.1):
                said.append("two writers")
        except NoteNotWritten as refused:
            said.append(refused.message)

    with only_writer_of(place, state_dir=state):
        other = threading.Thread(target=write_too)
        other.start()
        other.join()

    [message] = said
    assert "another task of this program" in message


@pytest.mark.parametrize("there", [True, False], ids=["a folder", "nothing"])
def test_a_state_folder_that_is_read_only_keeps_nobody_from_remembering(
    open_folder: Path, tmp_path: Path, there: bool
) -> None:
    root, state = open_folder / "notes", open_folder / "closed" / "state"
    (root / "memory").mkdir(parents=True)
    for folder in (root, root / "memory"):
        folder.chmod(0o777)
    (state / "memory" if there else state.parent).mkdir(parents=True)
    for folder in (open_folder / "closed", state, state / "memory"):
        if folder.exists():
            folder.chmod(0o555)

    names = ("one", "two")
    for name in names:
        (tmp_path / name).mkdir()
    writers = [started(WRITER, root, state, name, tmp_path / name) for name in names]
    ended = [writer.communicate(timeout=120) for writer in writers]

    assert [writer.returncode for writer in writers] == [0, 0], ended
    assert all(said.startswith("True|") for said, _ in ended)
    [log] = (root / "memory").iterdir()
    lines = log.read_text(encoding="utf-8").splitlines()
    expected = [f"- {name} {n}" for name in names for n in range(8)]
    assert sorted(lines[2:]) == sorted(expected)
