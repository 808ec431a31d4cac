"""Appending to a note: nothing that was there is ever lost."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import notewell
from notewell.errors import NoteNotWritten, PathRefused, UsageError
from notewell.workspace import Workspace
from notewell.workspace.layout import MAX_NOTE_BYTES
from notewell.writing import MAX_TEXT_BYTES, AppendResult, append_note

LOG = "memory/2026-03-01.md"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace with a folder for logs."""
    (tmp_path / "w" / "memory").mkdir(parents=True)
    return tmp_path / "w"


def append(
    root: Path, text: str, path: str = LOG, title: str | None = None
) -> AppendResult:
    workspace = Workspace(root=root)
    state = root.parent / "state"
    return append_note(workspace, path, text, state_dir=state, title=title)


@pytest.mark.parametrize(
    ("before", "text", "after", "line"),
    [
        (b"", "new", b"new\n", 1),
        (b"old\n", "new", b"old\n\nnew\n", 3),
        (b"old", "new", b"old\n\nnew\n", 3),
        (b"old\n\n", "new", b"old\n\nnew\n", 3),
        (b"- a\n", "- b", b"- a\n- b\n", 2),
        (b"- a", "- b", b"- a\n- b\n", 2),
        (b"one\ntwo\n", "one\ntwo\nthree", b"one\ntwo\nthree\n", 3),
        (b"one\ntwo\n", "one\ntwo\n\nthree", b"one\ntwo\n\nthree\n", 4),
        (b"old\r\n", "a\nb", b"old\r\n\r\na\r\nb\r\n", 3),
        (b"caf\xe9\n", "new", b"caf\xe9\n\nnew\n", 3),
        ("old\n".encode("utf-16"), "né", "old\n\nné\n".encode("utf-16"), 3),
        ("old\n".encode("utf-32"), "né", "old\n\nné\n".encode("utf-32"), 3),
        (
            "\ufeffold".encode("utf-32-be"),
            "né",
            "\ufeffold\n\nné\n".encode("utf-32-be"),
            3,
        ),
        (b"old\n", "\n\n  a  \r\nb\n\n", b"old\n\n  a  \nb\n", 3),
        (b"old\n", "a\0b\ud83c", "old\n\na\ufffdb\ufffd\n".encode(), 3),
    ],
)
def test_a_text_goes_to_the_end(
    before: bytes, text: str, after: bytes, line: int, root: Path
) -> None:
    (root / LOG).write_bytes(before)

    appended = append(root, text)

    assert (root / LOG).read_bytes() == after
    assert (appended.path, appended.start_line, appended.written) == (LOG, line, True)


def test_a_new_log_begins_with_its_title_and_is_its_owners_alone(root: Path) -> None:
    (root / "memory").rmdir()

    appended = append(root, "new", title="# 2026-03-01")

    assert (root / LOG).read_text(encoding="utf-8") == "# 2026-03-01\n\nnew\n"
    assert (appended.start_line, appended.end_line) == (3, 3)
    assert (root / LOG).stat().st_mode & 0o777 == 0o600
    assert (root / "memory").stat().st_mode & 0o777 == 0o700


def test_a_title_that_the_text_brings_itself_is_not_doubled(root: Path) -> None:
    append(root, "# 2026-03-01\n\nnew", title="# 2026-03-01")

    assert (root / LOG).read_text(encoding="utf-8") == "# 2026-03-01\n\nnew\n"


def test_a_note_keeps_its_mode_and_its_place_on_the_disk(root: Path) -> None:
    (root / LOG).write_bytes(b"old\n")
    (root / LOG).chmod(0o640)
    before = (root / LOG).stat()

    append(root, "new")

    after = (root / LOG).stat()
    assert (after.st_mode, after.st_ino) == (before.st_mode, before.st_ino)


def test_what_stands_there_is_not_written_again_but_cited(root: Path) -> None:
    (root / LOG).write_bytes(b"# Day\n\none\n\ntwo\nlines\n")

    appended = append(root, "two\nlines")

    assert appended == AppendResult(LOG, 5, 6, written=False, repeated=1)
    assert (root / LOG).read_bytes() == b"# Day\n\none\n\ntwo\nlines\n"


def test_a_link_in_the_place_of_a_note_is_refused(root: Path) -> None:
    secret = root.parent / "secret.md"
    secret.write_bytes(b"secret\n")
    (root / LOG).symlink_to(secret)

    with pytest.raises(PathRefused, match="symbolic"):
        append(root, "new")

    assert secret.read_bytes() == b"secret\n"


def test_a_link_in_the_place_of_the_folder_is_refused(root: Path) -> None:
    outside = root.parent / "outside"
    outside.mkdir()
    (root / "memory").rmdir()
    (root / "memory").symlink_to(outside)

    with pytest.raises(PathRefused, match="symbolic"):
        append(root, "new")

    assert list(outside.iterdir()) == []


SWAPPED = """
import os, sys
from pathlib import Path
from notewell.errors import NotewellError
from notewell.workspace import Workspace
from notewell.writing import append_note

root, outside, swap_at, log = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4]
memory, opened = root / "memory", 0

def swap(event, args):
    global opened
    if event != "open" or not str(args[0]).endswith(("/memory", "2026-03-01.md")):
        return
    opened += 1
    if opened == swap_at:
        os.rename(memory, root / "moved")
        os.symlink(outside, memory)

sys.addaudithook(swap)
try:
    append_note(Workspace(root=root), log, "new", state_dir=root.parent / "s")
except NotewellError as error:
    print(error.kind)
print(opened)
"""


@pytest.mark.parametrize("there", [True, False], ids=["a note", "a new note"])
@pytest.mark.parametrize("swap_at", [1, 2, 3, 4])
def test_a_folder_that_becomes_a_link_meanwhile_leads_no_text_outside(
    root: Path, swap_at: int, there: bool
) -> None:
    outside = root.parent / "outside"
    outside.mkdir()
    if there:
        (root / LOG).write_bytes(b"old\n")
        (outside / Path(LOG).name).write_bytes(b"outside\n")

    ran = child(SWAPPED, root, outside, swap_at, LOG)

    assert int(ran.stdout.split()[-1]) >= 2  # something was opened
    left = [each.read_bytes() for each in outside.iterdir()]
    assert left == ([b"outside\n"] if there else [])


def test_a_pipe_in_the_place_of_a_note_is_refused_at_once(root: Path) -> None:
    os.mkfifo(root / LOG)

    with pytest.raises(PathRefused, match="not a regular file"):
        append(root, "new")


def test_a_note_that_nobody_would_read_is_not_written(root: Path) -> None:
    (root / ".notewellignore").write_bytes(b"memory/\n")

    with pytest.raises(PathRefused, match="notewellignore"):
        append(root, "new")


def test_a_note_is_not_made_larger_than_what_is_read(root: Path) -> None:
    with open(root / LOG, "wb") as opened:
        opened.truncate(MAX_NOTE_BYTES - 2)

    with pytest.raises(NoteNotWritten, match="bytes"):
        append(root, "new")

    assert (root / LOG).stat().st_size == MAX_NOTE_BYTES - 2


def test_a_text_of_more_than_a_million_bytes_is_refused(root: Path) -> None:
    most = MAX_TEXT_BYTES
    append(root, "x" * most)

    for text in ("y" * (most + 1), "\u00fc" * (most // 2 + 1), "\ud83c" * (most + 1)):
        with pytest.raises(UsageError, match="more than 1,000,000"):
            append(root, text)

    assert (root / LOG).stat().st_size == most + 1


FULL_DISK = """
import resource, sys
from pathlib import Path
from notewell.errors import NoteNotWritten
from notewell.workspace import Workspace
from notewell.writing import append_note

root = Path(sys.argv[1])
append_note(Workspace(root=root), "memory/x.md", "first", state_dir=root.parent / "s")
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
for name in ("memory/2026-03-01.md", "memory/new.md"):
    try:
        append_note(
            Workspace(root=root), name, "x" * 50_000, state_dir=root.parent / "s"
        )
    except NoteNotWritten as error:
        print(error.kind)
"""


def test_a_full_disk_leaves_the_note_as_it_was(root: Path) -> None:
    (root / LOG).write_bytes(b"old\n")

    ran = child(FULL_DISK, root)

    assert ran.stdout.split() == ["unavailable", "unavailable"]
    assert (root / LOG).read_bytes() == b"old\n"
    assert not (root / "memory" / "new.md").exists()


MANY = """
import sys
from pathlib import Path
from notewell.workspace import Workspace
from notewell.writing import append_note

root = Path(sys.argv[1])
for number in range(30):
    append_note(
        Workspace(root=root), "memory/2026-03-01.md", f"- {sys.argv[2]} {number}\\n- same",
        state_dir=root.parent / "s", title="# Day",
    )
"""


def test_several_processes_lose_nothing_and_repeat_nothing(root: Path) -> None:
    names = ("one", "two", "three")
    running = [start(MANY, root, name) for name in names]

    for process in running:
        assert process.wait(timeout=300) == 0

    lines = (root / LOG).read_text(encoding="utf-8").splitlines()
    expected = [f"- {name} {number}" for name in names for number in range(30)]
    assert sorted(lines) == sorted(["# Day", "", "- same", *expected])


OTHERS = """
import os, sys
from pathlib import Path
file = Path(sys.argv[1]) / "memory/2026-03-01.md"
for number in range(300):
    with open(file, "ab") as opened:
        opened.write(b"other %d\\n" % number)
"""


def test_what_another_program_appends_meanwhile_stays(root: Path) -> None:
    (root / LOG).write_bytes(b"# Day\n")
    other = start(OTHERS, root)

    for number in range(30):
        append(root, f"- own {number}")

    assert other.wait(timeout=300) == 0
    lines = (root / LOG).read_text(encoding="utf-8").splitlines()
    assert sum(line.startswith("other ") for line in lines) == 300
    assert sum(line.startswith("- own ") for line in lines) == 30


def start(code: str, *arguments: object) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        env={"PYTHONPATH": str(Path(notewell.__file__).parents[1])},
    )


def child(code: str, *arguments: object) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        env={"PYTHONPATH": str(Path(notewell.__file__).parents[1])},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
        timeout=300,
    )
