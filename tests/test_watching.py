"""Changes on disk are heard of, whatever becomes of the folders they happen in."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import notewell
from notewell.watching import Watcher, watched_folders
from notewell.workspace import Workspace


class Heard:
    """What a watcher told: waits for a change that is certain."""

    def __init__(self) -> None:
        self._changes = threading.Semaphore(0)
        self._looks = threading.Semaphore(0)
        self.warnings: list[str] = []

    def tell(self, changed: bool) -> None:
        """Be told."""
        (self._changes if changed else self._looks).release()

    def change(self, within: float = 300.0) -> bool:
        """Wait for a change."""
        return self._changes.acquire(timeout=within)

    def all_of_a_change(self) -> bool:
        """Wait for a change, and let those that came with it go."""
        heard = self.change()
        while self.change(within=0.8):
            pass  # one change may be told of in several parts
        return heard

    def look(self, within: float = 300.0) -> bool:
        """Wait until the disk is to be looked at."""
        return self._looks.acquire(timeout=within)


Watch = Callable[..., Heard]


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A workspace with a note, in a folder of its own."""
    root = tmp_path.resolve() / "above" / "notes"
    (root / "memory" / "deep").mkdir(parents=True)
    (root / "MEMORY.md").write_text("Facts.\n", encoding="utf-8")
    return root


@pytest.fixture
def watch() -> Iterator[Watch]:
    """Starts a watcher that is heard of; it ends after the test."""
    made: list[Watcher] = []

    def started(root: Path, *extra: str, transcripts: tuple[Path, ...] = ()) -> Heard:
        heard = Heard()
        workspace = Workspace(root=root, extra_paths=extra)
        watcher = Watcher(
            lambda: watched_folders(workspace, transcripts),
            heard.tell,
            warn=heard.warnings.append,
        )
        watcher.start()
        made.append(watcher)
        assert watcher.ready.wait(60)
        assert heard.look()
        return heard

    yield started
    for watcher in made:
        watcher.close()


def write(file: Path, text: str = "A walrus.\n") -> None:
    """Write a note, with its folder."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    "path", ["MEMORY.md", "memory/new.md", "memory/deep/new.md", "memory/new/new.md"]
)
def test_a_note_that_is_written_is_heard_of(
    notes: Path, watch: Watch, path: str
) -> None:
    heard = watch(notes)

    write(notes / path)

    assert heard.change()


def test_a_note_that_is_removed_is_heard_of(notes: Path, watch: Watch) -> None:
    heard = watch(notes)

    (notes / "MEMORY.md").unlink()

    assert heard.change()


@pytest.mark.parametrize("what", ["memory", "."])
def test_a_folder_that_is_replaced_is_watched_on(
    notes: Path, watch: Watch, what: str
) -> None:
    heard = watch(notes)
    folder = notes / what
    os.rename(folder, notes.parent / "gone")
    folder.mkdir(parents=True)
    write(notes / "memory" / "first.md")
    assert heard.all_of_a_change()
    assert heard.look()

    write(notes / "memory" / "second.md")

    assert heard.change()


def test_a_folder_that_is_missing_at_first_is_watched_once_it_is_there(
    tmp_path: Path, notes: Path, watch: Watch
) -> None:
    team = tmp_path.resolve() / "far" / "team"
    heard = watch(notes, str(team))
    team.mkdir(parents=True)
    assert heard.all_of_a_change()
    assert heard.look()

    write(team / "plan.md")

    assert heard.change()


def test_a_transcript_that_grows_is_heard_of(
    tmp_path: Path, notes: Path, watch: Watch
) -> None:
    folder = tmp_path / "sessions"
    folder.mkdir()
    heard = watch(notes, transcripts=(folder,))

    write(folder / "s1.jsonl", "{}\n")

    assert heard.change()


NEVER_INDEXED = (
    "memory/node_modules/pack/README.md",
    "memory/.git/x.md",
    "memory/picture.png",
    "memory/drafts/x.md",
    "../other.md",
    "unrelated.txt",
)


def test_what_is_never_indexed_is_not_heard_of(notes: Path, watch: Watch) -> None:
    (notes / "memory" / "drafts").mkdir()
    for folder in ("node_modules/pack", ".git"):
        (notes / "memory" / folder).mkdir(parents=True)
    write(notes / ".notewellignore", "memory/drafts/\n")
    heard = watch(notes)

    for path in NEVER_INDEXED:
        write(notes / path)
    write(notes / "memory" / "a.md")  # so that there is something to wait for
    assert heard.all_of_a_change()
    for path in NEVER_INDEXED:
        write(notes / path, "Another walrus.\n")

    assert not heard.change(within=1.5)


def test_heavy_folders_are_no_places_to_watch(notes: Path) -> None:
    for n in range(50):
        (notes / "memory" / "node_modules" / f"pack{n}" / "lib").mkdir(parents=True)
    write(notes / "memory" / "venv" / "pyvenv.cfg", "")
    (notes / "memory" / "venv" / "lib").mkdir()

    watched = watched_folders(Workspace(root=notes)).watched

    memory = notes / "memory"
    assert watched == {*map(str, (notes.parent, notes, memory, memory / "deep"))}


_CHILD = """
import os, resource, sys, threading
from pathlib import Path
from notewell.watching import Watcher, watched_folders
from notewell.workspace import Workspace

import watchfiles
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
workspace = Workspace(root=Path(sys.argv[1]))
warnings, looks = [], threading.Semaphore(0)

def places():
    found = watched_folders(workspace)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))  # as if none were left
    return found

def warn(text):
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    warnings.append(text)

watcher = Watcher(places, lambda changed: looks.release(), warn=warn, poll_seconds=0.01)
watcher.start()
for _ in range(5):
    assert looks.acquire(timeout=300)
watcher.close()
print(len(warnings), warnings[0], watcher.problem == warnings[0], sep="|")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's watches are Linux's")
def test_where_the_kernel_has_no_watches_left_the_disk_is_polled_with_one_warning(
    notes: Path,
) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", _CHILD, str(notes)],
        env={**os.environ, "PYTHONPATH": str(Path(notewell.__file__).parents[1])},
        check=False,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
    )

    assert ran.returncode == 0, ran.stderr
    count, said, told = ran.stdout.strip().split("|")
    assert (count, told) == ("1", "True")
    assert said.startswith("The system cannot watch more files")
