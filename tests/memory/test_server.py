"""A memory that a program holds open keeps itself up to date, and in nobody's way."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock

import notewell
from notewell import open_memory, open_memory_sync
from notewell.memory import SyncMemory
from notewell.types import SearchAnswer

Open = Callable[..., SyncMemory]


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A workspace with one note."""
    root = tmp_path.resolve() / "notes"
    (root / "memory").mkdir(parents=True)
    write(root / "MEMORY.md", "The cat is called Bertrand.")
    return root


@pytest.fixture
def serve(tmp_path: Path, notes: Path) -> Open:
    """Opens the memory for a program that stays, with these keys of `sync`."""

    def opened(**sync: object) -> SyncMemory:
        keys = {"watchDebounceMs": 50, **sync}
        return open_memory_sync(
            workspace=notes,
            server=True,
            environ={"OPENCLAW_STATE_DIR": str(tmp_path / "state")},
            overrides={
                f"agents.defaults.memorySearch.sync.{key}": value
                for key, value in keys.items()
            },
        )

    return opened


def write(file: Path, text: str) -> None:
    """Write a note."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{text}\n", encoding="utf-8")


def until(memory: SyncMemory, fine: Callable[[SearchAnswer], bool]) -> SearchAnswer:
    """Ask for the walrus until the answer is fine, for a minute at most."""
    end = time.monotonic() + 60
    while not fine(answer := memory.search("walrus")) and time.monotonic() < end:
        threading.Event().wait(0.05)
    return answer


def threads() -> list[str]:
    """Return the names of our threads that run."""
    return [one.name for one in threading.enumerate() if one.name[:9] == "notewell-"]


def test_an_index_that_is_not_there_is_built_in_the_background(serve: Open) -> None:
    with serve() as memory:
        answer = until(memory, lambda answer: answer.mode == "hybrid")

    assert (answer.mode, answer.freshness.stale) == ("hybrid", False)


def test_a_note_that_changes_is_found_without_anybody_asking_for_it(
    serve: Open, notes: Path
) -> None:
    with serve(onSearch=False) as memory:
        until(memory, lambda answer: answer.mode == "hybrid")

        write(notes / "memory" / "new" / "day.md", "A walrus came by.")
        answer = until(memory, lambda answer: bool(answer.results))

    assert [hit.path for hit in answer.results] == ["memory/new/day.md"]


def test_without_a_watcher_a_search_lets_the_index_follow(
    serve: Open, notes: Path
) -> None:
    with serve(watch=False) as memory:
        until(memory, lambda answer: answer.mode == "hybrid")

        write(notes / "memory" / "day.md", "A walrus came by.")
        answer = until(memory, lambda answer: bool(answer.results))

    assert answer.results


def test_without_watcher_and_searches_the_interval_finds_it(
    serve: Open, notes: Path
) -> None:
    sync = {"watch": False, "onSearch": False, "intervalMinutes": 0.001}
    with serve(**sync) as memory:
        until(memory, lambda answer: answer.mode == "hybrid")

        write(notes / "memory" / "day.md", "A walrus came by.")
        end = time.monotonic() + 60
        while memory.status().index.files < 2 and time.monotonic() < end:
            threading.Event().wait(0.05)

    with serve(watch=False, onSearch=False, onSessionStart=False) as memory:
        assert memory.search("walrus").results


def test_an_answer_is_stale_from_the_change_until_the_index_has_followed(
    serve: Open, notes: Path
) -> None:
    with serve() as memory:
        until(memory, lambda answer: answer.mode == "hybrid")

    sync = {"watchDebounceMs": 3_600_000, "onSearch": False, "onSessionStart": False}
    with serve(**sync) as memory:
        assert not memory.search("Bertrand").freshness.stale

        write(notes / "memory" / "day.md", "A walrus came by.")
        answer = until(memory, lambda answer: bool(answer.freshness.stale))
        other = memory.search("Bertrand")

    assert (answer.reason, answer.freshness.stale) == ("no-match", True)
    assert other.freshness.stale


def test_closing_ends_everything_also_while_another_process_indexes(
    serve: Open, notes: Path
) -> None:
    with serve() as memory:
        until(memory, lambda answer: answer.mode == "hybrid")
        location = memory.status().index.location
    write(notes / "memory" / "late.md", "It came late.")

    with FileLock(f"{location}.lock"):
        memory = serve()
        answer = memory.search("cat")
        closing = threading.Thread(target=memory.close, daemon=True)
        closing.start()
        closing.join(60)  # it would last as long as the lock, if it waited for it
        closed = not closing.is_alive()

    assert answer.results
    assert closed
    assert not threads()


async def test_a_program_with_a_loop_is_served_as_well(
    tmp_path: Path, notes: Path
) -> None:
    environ = {"OPENCLAW_STATE_DIR": str(tmp_path / "state")}
    async with open_memory(workspace=notes, server=True, environ=environ) as memory:
        assert (await memory.search("cat")).results
        assert threads()

    assert not threads()


def test_a_program_that_only_asks_once_has_nothing_running_behind_it(
    tmp_path: Path, notes: Path
) -> None:
    environ = {"OPENCLAW_STATE_DIR": str(tmp_path / "state")}

    with open_memory_sync(workspace=notes, environ=environ) as memory:
        memory.search("cat")

        assert not threads()


def test_an_index_that_another_process_built_anew_is_taken_at_once(
    serve: Open, notes: Path, tmp_path: Path
) -> None:
    with serve(watch=False, onSearch=False) as memory:
        until(memory, lambda answer: answer.mode == "hybrid")
        write(notes / "memory" / "day.md", "A walrus came by.")
        before = memory.status().index.pending
        index = ["notewell", "index", "--force", "--workspace", str(notes)]
        subprocess.run(
            [sys.executable, "-m", *index],
            env={
                "OPENCLAW_STATE_DIR": str(tmp_path / "state"),
                "PYTHONPATH": str(Path(notewell.__file__).parents[1]),
                "HOME": str(tmp_path),
            },
            check=True,
            capture_output=True,
            timeout=300,
        )
        after, status = memory.search("walrus"), memory.status()

    assert before == 1
    assert [hit.path for hit in after.results] == ["memory/day.md"]
    assert (after.mode, after.degraded, after.freshness.stale) == (
        "hybrid",
        False,
        False,
    )
    assert (status.index.pending, status.index.last_error) == (0, None)


def test_searches_of_an_index_that_is_behind_do_not_each_walk_the_notes(
    serve: Open, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve(watchDebounceMs=300) as memory:
        until(memory, lambda answer: answer.mode == "hybrid")
        until(memory, lambda answer: not answer.freshness.stale)
        walks: list[str] = []
        real = os.scandir

        def scandir(path: str) -> object:
            walks.append(str(path))
            return real(path)

        monkeypatch.setattr(os, "scandir", scandir)
        write(notes / "memory" / "day.md", "A walrus came by.")
        answers = [memory.search("Bertrand") for _ in range(20)]
        at_once = walks.count(str(notes / "memory"))
        until(memory, lambda answer: bool(answer.results))

    assert all(answer.results for answer in answers)
    assert at_once <= 1
