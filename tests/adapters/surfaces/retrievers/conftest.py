"""A memory of a few notes, opened in both ways, and one that gives weaker answers."""

from collections.abc import AsyncGenerator, Iterator
from pathlib import Path

import pytest

from notewell import Memory, SyncMemory, open_memory, open_memory_sync


@pytest.fixture
def memory(notes: Path, environ: dict[str, str]) -> Iterator[SyncMemory]:
    with open_memory_sync(workspace=notes, environ=environ) as opened:
        yield opened


@pytest.fixture
async def async_memory(notes: Path, environ: dict[str, str]) -> AsyncGenerator[Memory]:
    async with open_memory(workspace=notes, environ=environ) as opened:
        yield opened


@pytest.fixture
def weaker_memory(notes: Path, environ: dict[str, str]) -> Iterator[SyncMemory]:
    """The engine that is configured is not installed here."""
    environ["PATH"] = ""
    with open_memory_sync(workspace=notes, environ=environ, backend="qmd") as opened:
        yield opened


@pytest.fixture
def closed_memory(notes: Path, environ: dict[str, str]) -> SyncMemory:
    opened = open_memory_sync(workspace=notes, environ=environ)
    opened.close()
    return opened
