"""Days of changes in a minute: index and disk agree, memory stays flat, searches go on."""

import os
import random
import shutil
import statistics
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from notewell import open_memory_sync
from notewell.memory import SyncMemory

FILES = int(os.environ.get("NOTEWELL_SOAK_FILES", "10000"))
SECONDS = float(os.environ.get("NOTEWELL_SOAK_SECONDS", "60"))
WORDS = [f"w{n}x" for n in range(4_000)]
_YEARS = 3 * 365 * 86_400


class Disk:
    """A folder of notes to which everything happens that happens to folders."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._dice = random.Random(5)
        for number in range(FILES):
            self._write(root / "memory" / f"d{number % 40}" / f"n{number}.md")

    def happen(self) -> None:
        """Let one thing happen."""
        self._dice.choice(
            (self._edit, self._edit, self._edit, self._delete, self._rename, self._swap)
        )()

    def _edit(self) -> None:
        file = self._any()
        self._write(file)
        if self._dice.random() < 0.3:  # written by a clock that is far off
            when = time.time() + self._dice.uniform(-_YEARS, _YEARS)
            os.utime(file, (when, when))

    def _delete(self) -> None:
        self._any().unlink()
        self._write(self._folder() / f"m{self._dice.random()}.md")

    def _rename(self) -> None:
        file = self._any()
        os.replace(file, self._folder() / file.name)

    def _swap(self) -> None:
        """Put a copy of a folder in its place, with one note less."""
        folder = self._folder()
        shutil.copytree(folder, self._root / "copy")
        os.rename(folder, self._root / "old")
        os.rename(self._root / "copy", folder)
        shutil.rmtree(self._root / "old")

    def _folder(self) -> Path:
        return self._root / "memory" / f"d{self._dice.randrange(40)}"

    def _any(self) -> Path:
        while not (files := sorted(self._folder().iterdir())):
            continue
        return self._dice.choice(files)

    def _write(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        words = " ".join(self._dice.choices(WORDS, k=60))
        file.write_text(f"# {file.name}\n\n{words}\n", encoding="utf-8")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[SyncMemory]:
    """A memory that is held open on a folder of notes."""
    with open_memory_sync(
        workspace=tmp_path / "notes",
        server=True,
        environ={"OPENCLAW_STATE_DIR": str(tmp_path / "state")},
        overrides={"agents.defaults.memorySearch.sync.watchDebounceMs": 200},
    ) as opened:
        yield opened


@pytest.fixture
def disk(tmp_path: Path) -> Disk:
    """The folder, with its notes."""
    return Disk(tmp_path / "notes")


@pytest.mark.soak
def test_after_everything_that_may_happen_index_and_disk_agree(
    disk: Disk, memory: SyncMemory
) -> None:
    settle(memory)
    idle = [ask(memory) for _ in range(200)]
    before, stop = resident(), threading.Event()
    changes = threading.Thread(target=happening, args=(disk, stop))
    changes.start()

    busy: list[float] = []
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        busy.append(ask(memory))
        stop.wait(0.01)
    stop.set()
    changes.join()
    settle(memory)

    status = memory.status()
    assert (status.index.pending, status.index.files) == (0, status.disk_files)
    assert resident() - before < 60_000_000
    assert statistics.median(busy) < 2 * statistics.median(idle)


def happening(disk: Disk, stop: threading.Event) -> None:
    """Let things happen until it is enough."""
    while not stop.wait(0.02):
        disk.happen()


def settle(memory: SyncMemory) -> None:
    """Wait until the index has followed."""
    end = time.monotonic() + 120
    while time.monotonic() < end:
        answer = memory.search("w1x")
        followed = answer.mode == "hybrid" and not answer.freshness.stale
        if followed and not memory.status().index.pending:
            return
        threading.Event().wait(0.5)
    raise AssertionError("the index did not follow")


def ask(memory: SyncMemory) -> float:
    """Put a question; return the seconds it took."""
    word = random.choice(WORDS)
    began = time.perf_counter()
    assert memory.search(word).results
    return time.perf_counter() - began


def resident() -> int:
    """Return the bytes of memory that this process holds now."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")
