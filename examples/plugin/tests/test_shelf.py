"""The promises of an engine, inherited, and both parts as notewell finds them."""

import asyncio
from pathlib import Path

import pytest

from notewell import open_memory
from notewell.backends.contract import BackendContract
from notewell_shelf.backend import Shelf


class TestShelf(BackendContract):
    """Every promise of `notewell.backends.base`, on our engine."""

    pytestmark = pytest.mark.asyncio
    engine = Shelf


def test_notewell_finds_the_backend_by_its_name(tmp_path: Path) -> None:
    answer = asyncio.run(_ask(tmp_path, {"memory.backend": "shelf"}))

    assert answer == ("shelf", "keyword", None)


def test_notewell_finds_the_provider_by_its_name(tmp_path: Path) -> None:
    named: dict[str, object] = {"agents.defaults.memorySearch.provider": "letters"}

    answer = asyncio.run(_ask(tmp_path, named))

    assert answer == ("builtin", "hybrid", "letters")


async def _ask(
    folder: Path, settings: dict[str, object]
) -> tuple[str, str, str | None]:
    """Ask where a bird is named; return the backend, the mode and the provider."""
    (folder / "heron.md").write_text("The heron is called Otto.\n", encoding="utf-8")
    async with open_memory(
        workspace=folder,
        environ={"OPENCLAW_STATE_DIR": str(folder / ".state")},
        overrides=settings,
    ) as memory:
        await memory.refresh()
        found = await memory.search("heron")
    assert [hit.path for hit in found.results] == ["heron.md"]
    return found.backend, found.mode, found.provider
