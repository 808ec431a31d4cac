"""The promises of an engine, inherited, and both parts as notewell finds them."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from notewell import open_memory, open_memory_sync
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


@pytest.mark.parametrize(
    ("session_key", "count", "reason"),
    [(None, 10, None), ("agent:main:telegram:group:-100", 0, "denied-by-scope")],
)
def test_its_policy_limits_answers_and_closes_groups(
    session_key: str | None, count: int, reason: str | None, tmp_path: Path
) -> None:
    (tmp_path / "memory").mkdir()
    for number in range(12):
        note = tmp_path / "memory" / f"{number}.md"
        note.write_text(f"Heron {number}.\n", encoding="utf-8")

    with open_memory_sync(
        workspace=tmp_path,
        backend="shelf",
        session_key=session_key,
        environ={"OPENCLAW_STATE_DIR": str(tmp_path / ".state")},
        overrides={"agents.defaults.memorySearch.query.maxResults": 12},
    ) as memory:
        found = memory.search("heron")

    assert (len(found.results), found.reason) == (count, reason)


def test_the_benchmark_measures_it_beside_the_others(tmp_path: Path) -> None:
    asked = "bench --set example --sample 3 --rounds 1 --cold 0 --json"
    who = "--backend shelf --backend builtin:keyword"

    ran = subprocess.run(
        [sys.executable, "-m", "notewell", *asked.split(), *who.split()],
        env={**os.environ, "OPENCLAW_STATE_DIR": str(tmp_path)},
        capture_output=True,
        check=True,
        timeout=120,
    )

    shelf, builtin = json.loads(ran.stdout)["contenders"]
    assert (shelf["backend"], shelf["mode"], shelf["answered"]) == (
        "shelf",
        "keyword",
        3,
    )
    assert shelf["quality"].keys() == builtin["quality"].keys()


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
