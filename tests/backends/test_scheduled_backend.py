"""An engine that has no upkeep of its own gets one, where a program stays."""

import asyncio
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Self

import pytest

from notewell import SyncMemory, open_memory, open_memory_sync
from notewell.backends.base import PLAIN_RUN, Findings, Query, Run, Site
from notewell.errors import BackendFailed
from notewell.files import read_regular
from notewell.types import Hit, IndexReport, IndexStatus
from notewell.workspace import scan


class Shelf:
    """An engine that knows the notes as they were at its last `refresh`.

    Attributes:
        runs: How often it was brought up to date.
        fails: Each run fails.
        hangs: A run does not end by itself.
        tidied: A run that was called off has cleaned up while the engine was open.
    """

    runs: ClassVar[int] = 0
    fails: ClassVar[bool] = False
    hangs: ClassVar[bool] = False
    tidied: ClassVar[bool] = False

    def __init__(self, site: Site) -> None:
        self._site = site
        self._loop = asyncio.get_running_loop()
        self._texts: Mapping[str, str] = {}
        self.closed = False

    @classmethod
    async def open(cls, site: Site) -> Self:
        return cls(site)

    async def built(self) -> bool:
        return bool(self._texts)

    async def refresh(self, run: Run = PLAIN_RUN) -> IndexReport:
        assert asyncio.get_running_loop() is self._loop
        assert not self.closed
        Shelf.runs += 1
        if Shelf.fails:
            raise BackendFailed("shelf", "it fell", reason="exit", remedy="none")
        if Shelf.hangs:
            try:
                await asyncio.Event().wait()
            finally:
                await asyncio.to_thread(threading.Event().wait, 0.1)
                Shelf.tidied = not self.closed
        notes = scan(self._site.workspace).notes
        self._texts = {note.path: read_regular(note.file).decode() for note in notes}
        return IndexReport(files=len(self._texts), chunks=len(self._texts))

    async def search(self, query: Query) -> Findings:
        hits = [
            Hit(
                path=path,
                start_line=1,
                end_line=1,
                match_line=1,
                snippet=text.strip(),
                score=1.0,
            )
            for path, text in self._texts.items()
            if query.text in text
        ]
        reason = None if hits else "no-match"
        return Findings(hits=hits, mode="keyword", reason=reason)

    async def status(self) -> IndexStatus:
        return IndexStatus(location="memory", bytes=0, files=0, chunks=0, pending=0)

    async def close(self) -> None:
        assert not self.closed
        self.closed = True


@pytest.fixture(autouse=True)
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine is installed, as another package would do it."""
    info = tmp_path / "site" / "shelf-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Name: shelf\nVersion: 1\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(
        f"[notewell.backends]\nshelf = {__name__}:Shelf\n", encoding="utf-8"
    )
    monkeypatch.setattr(sys, "path", [str(info.parent), *sys.path])
    monkeypatch.setattr(Shelf, "runs", 0)
    monkeypatch.setattr(Shelf, "fails", False)
    monkeypatch.setattr(Shelf, "hangs", False)
    monkeypatch.setattr(Shelf, "tidied", False)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A workspace with one note."""
    root = tmp_path.resolve() / "notes"
    (root / "memory").mkdir(parents=True)
    write(root / "memory" / "a.md", "A heron.")
    return root


@pytest.fixture
def arguments(notes: Path, tmp_path: Path) -> dict[str, Any]:
    """What the memory is opened with, for a program that stays."""
    return {
        "workspace": notes,
        "backend": "shelf",
        "server": True,
        "environ": {"OPENCLAW_STATE_DIR": str(tmp_path / "state")},
        "overrides": {"agents.defaults.memorySearch.sync.watchDebounceMs": 50},
    }


def write(file: Path, text: str) -> None:
    """Write a note."""
    file.write_text(f"{text}\n", encoding="utf-8")


def until(fine: Callable[[], bool]) -> None:
    """Wait until something is so, for a minute at most."""
    end = time.monotonic() + 60
    while not fine():
        assert time.monotonic() < end
        threading.Event().wait(0.02)


@pytest.mark.parametrize("fallback", ["none", "builtin"])
def test_a_note_that_changes_is_found_though_nobody_asks_for_an_update(
    notes: Path, arguments: dict[str, Any], fallback: str
) -> None:
    arguments["overrides"]["memory.fallback"] = fallback

    def found(animal: str) -> bool:
        answer = memory.search(animal)
        return answer.backend == "shelf" and bool(answer.results)

    with open_memory_sync(**arguments) as memory:
        until(lambda: found("heron"))  # the first run has read what there was
        write(notes / "memory" / "b.md", "A walrus.")
        until(lambda: found("walrus"))

    assert Shelf.runs >= 2


async def test_in_a_program_with_a_loop_runs_happen_in_that_loop(
    notes: Path, arguments: dict[str, Any]
) -> None:
    async with open_memory(**arguments) as memory:
        write(notes / "memory" / "b.md", "A walrus.")
        answer, end = await memory.search("walrus"), time.monotonic() + 60
        while not answer.results and time.monotonic() < end:
            await asyncio.sleep(0.02)
            answer = await memory.search("walrus")

    assert [hit.path for hit in answer.results] == ["memory/b.md"]


def test_a_run_that_fails_is_told_and_ends_nothing(arguments: dict[str, Any]) -> None:
    Shelf.fails = True

    with open_memory_sync(**arguments) as memory:
        until(lambda: any("it fell" in said for said in memory.status().warnings))
        answer = memory.search("heron")

    assert answer.reason in ("no-match", "nothing-indexed", None)
    assert Shelf.runs == 1


def test_an_answer_is_stale_from_the_change_until_a_run_has_followed(
    notes: Path, arguments: dict[str, Any]
) -> None:
    key = "agents.defaults.memorySearch.sync.watchDebounceMs"
    arguments["overrides"] = {key: 3_600_000, "memory.fallback": "none"}

    def stale_after_a_change(memory: SyncMemory) -> bool:
        # Again and again: whoever watches may not have begun when the first one comes.
        write(notes / "memory" / "b.md", f"A walrus at {time.monotonic()}.")
        return bool(memory.search("heron").freshness.stale)

    with open_memory_sync(**arguments) as memory:
        until(lambda: bool(memory.search("heron").results))
        before = memory.search("heron").freshness.stale
        until(lambda: stale_after_a_change(memory))

    assert not before


def test_closing_calls_off_what_runs(arguments: dict[str, Any]) -> None:
    Shelf.hangs = True

    with open_memory_sync(**arguments):
        until(lambda: Shelf.runs == 1)

    assert Shelf.tidied
    assert not [t for t in threading.enumerate() if t.name[:9] == "notewell-"]


def test_a_program_that_asks_once_has_nothing_running_behind_it(
    arguments: dict[str, Any],
) -> None:
    arguments["server"] = False

    with open_memory_sync(**arguments) as memory:
        found = memory.search("heron").results
        running = [t.name for t in threading.enumerate()]

    assert [hit.path for hit in found] == ["memory/a.md"]
    assert "notewell-schedule" not in running
    assert Shelf.runs == 1
