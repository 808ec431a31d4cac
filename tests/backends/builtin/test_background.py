"""In a program that stays, an index that is gone comes back while searches go on."""

import asyncio
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from notewell import Memory, open_memory, open_memory_sync
from notewell.backends.base import Findings, Listener
from notewell.backends.builtin.background import BackgroundRefresh
from notewell.config import SyncSettings
from notewell.types import Freshness, SearchAnswer

DEBOUNCE_MS: Final = 1_000
PATIENCE: Final = 8.0
"""Seconds: less than the ten debounces after which changes without end are cut short."""


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state folder for memories that are opened without more."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("OPENCLAW_STATE_DIR", str(tmp_path / "state"))
    settings = tmp_path / "settings.json"  # it outlives the state folder
    settings.write_text('{"memory": {"search": {"provider": "none"}}}', "utf-8")
    monkeypatch.setenv("OPENCLAW_CONFIG_PATH", str(settings))
    return tmp_path / "state"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A workspace with two notes."""
    folder = tmp_path / "notes" / "memory"
    folder.mkdir(parents=True)
    for name in ("pool", "gateway"):
        (folder / f"{name}.md").write_text(f"A heron at the {name}.\n", "utf-8")
    return folder.parent


def seconds_until(happened: Callable[[], bool]) -> float:
    """Ask again and again, and return after how many seconds it had happened."""
    began = time.monotonic()
    while not happened():
        assert time.monotonic() - began < 60
        time.sleep(0.02)
    return time.monotonic() - began


def test_searches_that_go_on_do_not_put_off_the_run_that_they_ask_for() -> None:
    ran = threading.Event()

    def refresh(listener: Listener) -> None:
        ran.set()

    settings = SyncSettings(watch_debounce_ms=DEBOUNCE_MS, on_session_start=False)
    background = BackgroundRefresh(settings, refresh)
    behind = Findings(hits=(), mode="scan", freshness=Freshness(pending=2))

    def found_behind() -> bool:
        background.after(behind)
        return ran.is_set()

    try:
        assert seconds_until(found_behind) < PATIENCE
    finally:
        background.close()


def test_an_index_whose_folder_was_removed_is_built_again(
    notes: Path, state: Path
) -> None:
    with open_memory_sync(workspace=notes, server=True) as memory:
        seconds_until(lambda: memory.search("heron").mode != "scan")
        shutil.rmtree(state)

        first = memory.search("heron")
        seconds_until(lambda: memory.search("heron").mode != "scan")

        assert (first.mode, first.degraded, len(first.results)) == ("scan", True, 2)
        healed = memory.search("heron")
        assert {hit.path for hit in healed.results} == {
            "memory/pool.md",
            "memory/gateway.md",
        }
        assert not [step for step in healed.fallbacks if step.kind == "lexical-index"]


def test_so_it_is_in_an_event_loop(notes: Path, state: Path) -> None:
    async def by_the_index(memory: Memory) -> SearchAnswer:
        for _ in range(1_000):
            answer = await memory.search("heron")
            if answer.mode != "scan":
                return answer
            await asyncio.sleep(0.05)
        raise AssertionError("the index does not come back")

    async def twice() -> SearchAnswer:
        async with open_memory(workspace=notes, server=True) as memory:
            await by_the_index(memory)
            await asyncio.to_thread(shutil.rmtree, state)
            return await by_the_index(memory)

    assert len(asyncio.run(twice()).results) == 2
