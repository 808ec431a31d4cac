"""Many searches while notes change, updates run and QMD is killed at random."""

import asyncio
import os
import random
import signal
from typing import TYPE_CHECKING

import pytest

from notewell import process
from notewell.backends.base import Query
from notewell.backends.fallback import FallbackBackend

if TYPE_CHECKING:
    from tests.backends.qmd.conftest import Notes


@pytest.mark.parametrize(
    "searches", [100, pytest.param(2000, marks=pytest.mark.soak)], ids=str
)
async def test_no_wrong_line_no_lost_note_no_process_left(
    searches: int, qmd: list[str], notes: "Notes"
) -> None:
    chance = random.Random(20_260_301)
    stable = {f"memory/stable-{n}.md": f"# N{n}\n\nstable{n}x\n" for n in range(10)}
    notes.write(stable)
    site = notes.site(qmd, transport="daemon", limits_timeoutMs=10_000)
    pair = await FallbackBackend.open(site, cool_down=0.2)
    await pair.refresh()
    changing: dict[str, str] = {}
    updating: asyncio.Task[object] | None = None

    for number in range(searches):
        path = f"memory/changing-{chance.randrange(15)}.md"
        changing[path] = f"\n{'line' * chance.randrange(3)}\nword{number}x\n"
        notes.write({path: changing[path]})
        if number % 20 == 0 and (updating is None or updating.done()):
            updating = asyncio.create_task(pair.refresh())
        if chance.random() < 0.04:
            kill_one(chance)
        wanted = chance.randrange(10)
        old = f"word{chance.randrange(number + 1)}x"

        found = notes.check(await pair.search(Query(text=f"stable{wanted}x", limit=3)))
        notes.check(await pair.search(Query(text=old, limit=3)))

        assert found.hits[0].path == f"memory/stable-{wanted}.md"
        assert found.hits[0].match_line == 3
        assert found.backend is None or found.fallbacks

    assert updating is not None
    await updating
    await asyncio.sleep(0.2)
    report = await pair.refresh()
    for path, text in {**stable, **changing}.items():
        found = await pair.search(Query(text=text.split()[-1], limit=3))
        assert [hit.path for hit in found.hits] == [path]
        assert found.backend is None
    await pair.close()
    assert report.pending == 0
    assert not process.RUNNING


def kill_one(chance: random.Random) -> None:
    """Kill one of the programs that run, whatever it is doing."""
    running = sorted(one.pid for one in process.RUNNING if one.returncode is None)
    if running:
        os.killpg(chance.choice(running), signal.SIGKILL)
