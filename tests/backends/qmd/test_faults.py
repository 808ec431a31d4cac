"""When QMD is slow, broken or talks nonsense: the answer still comes, and says so."""

import asyncio
import os
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec import structs

from notewell.backends.base import Findings, Query
from notewell.backends.fallback import FallbackBackend, open_with_fallback
from notewell.backends.qmd.engine import QmdBackend
from notewell.errors import BackendError, BackendFailed, BackendTimeout

if TYPE_CHECKING:
    from tests.backends.qmd.conftest import Faulty, Notes

HANGS = """
import subprocess, time
helper = subprocess.Popen(["sleep", "60"])
open({file!r}, "w").write(f"{{helper.pid}} {{__import__('os').getpid()}}")
time.sleep(60)
"""


@pytest.fixture
async def pair(notes: "Notes", faulty: "Faulty") -> AsyncIterator[FallbackBackend]:
    """QMD with builtin behind it, both with an index, and a very short cool-down."""
    site = notes.site(faulty.command, limits_timeoutMs=1000)
    opened = await FallbackBackend.open(site, cool_down=0.2)
    await opened.refresh()
    yield opened
    await opened.close()


def steps(found: Findings) -> list[tuple[str, str, str, str]]:
    return [(s.kind, s.from_, s.to, s.reason) for s in found.fallbacks]


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        stat = Path(f"/proc/{pid}/stat")
        return not stat.exists() or ") Z" not in stat.read_text(encoding="utf-8")
    except OSError:
        return False


async def test_a_healthy_program_answers(notes: "Notes", pair: FallbackBackend) -> None:
    found = notes.check(await pair.search(Query(text="heron", limit=6)))

    assert [hit.citation for hit in found.hits] == ["memory/a.md#L1-L3"]
    assert (found.backend, found.mode, found.fallbacks) == (None, "search", ())


async def test_a_program_that_hangs_is_gone_in_time_and_asked_again_later(
    notes: "Notes", faulty: "Faulty", pair: FallbackBackend, tmp_path: Path
) -> None:
    faulty.mood(HANGS.format(file=str(tmp_path / "pids")))
    started = time.monotonic()

    first = notes.check(await pair.search(Query(text="heron", limit=6)))
    took = time.monotonic() - started
    second = await pair.search(Query(text="heron", limit=6))
    faulty.mood("well")
    await asyncio.sleep(0.3)
    third = await pair.search(Query(text="heron", limit=6))

    assert first.hits
    assert first.backend == "builtin"
    assert steps(first) == [("backend", "qmd", "builtin", "timeout")]
    assert "memory.qmd.limits.timeoutMs" in first.fallbacks[0].message
    assert first.degraded
    assert took < 5
    pids = (tmp_path / "pids").read_text(encoding="utf-8").split()
    assert not any(is_alive(int(pid)) for pid in pids)
    assert steps(second) == [("backend", "qmd", "builtin", "cooldown")]
    assert (third.backend, third.fallbacks) == (None, ())


@pytest.mark.parametrize(
    ("mood", "reason"),
    [
        ("print('no json', flush=True); __import__('os')._exit(0)", "parse"),
        ("raise SystemExit(1)", "exit"),
        ("import os; os.kill(os.getpid(), 11)", "exit"),
        ("raise SystemExit('SqliteError: file is not a database')", "corrupt"),
        ("raise SystemExit('SqliteError: database is locked')", "busy"),
        ("raise SystemExit('Collection not found: notes')", "not-ready"),
        ("raise SystemExit('Error: ERR_DLOPEN_FAILED')", "missing"),
    ],
)
async def test_a_failure_of_any_kind_has_its_reason(
    mood: str, reason: str, notes: "Notes", faulty: "Faulty", pair: FallbackBackend
) -> None:
    faulty.mood(mood)

    found = notes.check(await pair.search(Query(text="heron", limit=6)))

    assert found.hits
    assert steps(found) == [("backend", "qmd", "builtin", reason)]


async def test_a_failure_tells_nothing_of_what_was_printed(
    faulty: "Faulty", pair: FallbackBackend
) -> None:
    faulty.mood("import sys; sys.exit('Error: the secret of a note')")

    found = await pair.search(Query(text="heron", limit=6))

    assert "secret" not in repr(found.fallbacks)
    assert "ended with code 1: Error" in found.fallbacks[0].message


async def test_hits_are_kept_when_the_program_crashes_on_its_way_out(
    notes: "Notes", faulty: "Faulty", pair: FallbackBackend
) -> None:
    crash = "import json, os; print(json.dumps([{}]), flush=True); os.abort()"
    hit = {"file": "qmd://notes/memory/a.md"}
    faulty.mood(crash.replace("[{}]", repr([hit])))

    found = notes.check(await pair.search(Query(text="heron", limit=6)))

    assert found.hits
    assert found.fallbacks == ()


async def test_noise_around_the_hits_is_no_failure(
    notes: "Notes", faulty: "Faulty", pair: FallbackBackend
) -> None:
    faulty.mood("print('[node-llama-cpp] falling back to CPU\\n\\x1b[2mx\\n[{oops')")

    found = notes.check(await pair.search(Query(text="heron", limit=6)))

    assert [hit.path for hit in found.hits] == ["memory/a.md"]
    assert found.fallbacks == ()


async def test_hits_of_collections_that_are_not_ours_are_dropped(
    faulty: "Faulty", pair: FallbackBackend
) -> None:
    theirs = [{"file": name} for name in ("qmd://diary/a.md", "qmd://notes/../../x.md")]
    faulty.mood(
        f"import json, os; print(json.dumps({theirs!r}), flush=True); os._exit(0)"
    )

    found = await pair.search(Query(text="heron", limit=6))

    assert (list(found.hits), found.reason) == ([], "no-match")


async def test_a_program_that_is_not_there_is_taken_when_it_comes(
    notes: "Notes", faulty: "Faulty", tmp_path: Path
) -> None:
    os.rename(faulty.command[0], tmp_path / "away")
    pair = await FallbackBackend.open(notes.site(faulty.command), cool_down=0.0)

    before = await pair.search(Query(text="heron", limit=6))
    status = await pair.status()
    os.rename(tmp_path / "away", faulty.command[0])
    report = await pair.refresh()
    after = await pair.search(Query(text="heron", limit=6))
    await pair.close()

    assert steps(before)[0] == ("backend", "qmd", "builtin", "missing")
    assert (status.backend, status.fallbacks[0].reason) == ("builtin", "missing")
    assert report.pending == 0
    assert after.backend is None


async def test_until_there_is_an_index_builtin_answers(
    notes: "Notes", faulty: "Faulty"
) -> None:
    pair = await FallbackBackend.open(notes.site(faulty.command))

    found = await pair.search(Query(text="heron", limit=6))
    await pair.close()

    assert found.hits
    assert steps(found)[0] == ("backend", "qmd", "builtin", "not-ready")
    assert faulty.calls() == []


async def test_without_a_fallback_a_failure_is_a_failure(
    notes: "Notes", faulty: "Faulty"
) -> None:
    site = notes.site(faulty.command, limits_timeoutMs=500)
    backend = await QmdBackend.open(site)
    await backend.refresh()
    faulty.mood("import time; time.sleep(60)")

    with pytest.raises(BackendTimeout, match="no answer within"):
        await backend.search(Query(text="heron", limit=6))
    await backend.close()


async def test_with_fallback_none_nothing_stands_in(
    notes: "Notes", tmp_path: Path
) -> None:
    site = notes.site([str(tmp_path / "nowhere")])
    alone = replace(site, memory=structs.replace(site.memory, fallback="none"))

    with pytest.raises(BackendError, match="no program"):
        await open_with_fallback(alone)


async def test_a_search_never_changes_collections_or_updates(
    faulty: "Faulty", pair: FallbackBackend
) -> None:
    before = len(faulty.calls())
    faulty.mood("raise SystemExit(1)")

    for text in ("heron", "What does the heron do?", "京都"):
        await pair.search(Query(text=text, limit=6))
        await asyncio.sleep(0.25)

    commands = {call[0] for call in faulty.calls()[before:]}
    assert commands == {"query"}


async def test_a_query_is_never_an_option_or_a_typed_line(
    faulty: "Faulty", pair: FallbackBackend
) -> None:
    before = len(faulty.calls())

    for text in ("--version", '-n 1 "', "heron\nvec: x", "lex: -heron", "\0heron"):
        await pair.search(Query(text=text, limit=6))

    for call in faulty.calls()[before:]:
        lines = call[call.index("--") + 1 :]
        assert len(lines) == 1
        for line in lines[0].split("\n"):
            kind, _, query = line.partition(": ")
            assert kind == "lex"
            assert not query.startswith("-")
            assert query.count('"') % 2 == 0  # phrases are ours, and closed


async def test_an_update_that_fails_is_retried_in_a_new_index_and_told(
    notes: "Notes", faulty: "Faulty"
) -> None:
    backend = await QmdBackend.open(notes.site(faulty.command))
    await backend.refresh()
    notes.write({"memory/b.md": "egret\n"})
    faulty.mood("if command == 'update': raise SystemExit('SqliteError: UNIQUE')")

    with pytest.raises(BackendFailed, match="`update` ended with code 1: SqliteError"):
        await backend.refresh()
    status = await backend.status()
    found = await backend.search(Query(text="heron", limit=6))
    left = [path.name for path in notes.state.glob("qmd/main/[0-9]*")]
    faulty.mood("well")
    mended = await backend.refresh()
    await backend.close()

    assert [call[0] for call in faulty.calls()].count("update") == 4
    assert status.last_error is not None
    assert left == ["1"]
    assert found.hits
    assert found.freshness.stale
    assert mended.pending == 0


async def test_in_a_program_that_stays_the_index_behind_follows_the_notes(
    notes: "Notes", faulty: "Faulty"
) -> None:
    site = notes.site(faulty.command, stays=True, update_onBoot=False)
    pair = await FallbackBackend.open(site, cool_down=600)
    await pair.refresh()
    faulty.mood("raise SystemExit(1)")
    await pair.search(Query(text="heron", limit=6))
    notes.write({"memory/new.md": "A kumquat.\n"})

    found = await pair.search(Query(text="kumquat", limit=6))
    for _ in range(200):
        if found.hits:
            break
        await asyncio.sleep(0.05)
        found = await pair.search(Query(text="kumquat", limit=6))
    await pair.close()

    assert [hit.path for hit in found.hits] == ["memory/new.md"]
    assert found.backend == "builtin"
    assert found.mode == "keyword"


@pytest.mark.parametrize("fails", [False, True])
async def test_a_change_lets_whoever_answers_follow_the_notes(
    notes: "Notes", faulty: "Faulty", fails: bool
) -> None:
    site = notes.site(
        faulty.command,
        stays=True,
        update_onBoot=False,
        update_interval=0,
        update_debounceMs=20,
    )
    pair = await FallbackBackend.open(site, cool_down=600)
    await pair.refresh()
    before = len(faulty.calls())
    if fails:
        faulty.mood("raise SystemExit(1)")
        await pair.search(Query(text="heron", limit=6))
    notes.write({"memory/new.md": "A kumquat.\n"})

    pair.refresh_soon()
    status, end = await pair.status(), time.monotonic() + 60
    while status.pending and time.monotonic() < end:
        await asyncio.sleep(0.05)
        status = await pair.status()
    await pair.close()

    updates = [call for call in faulty.calls()[before:] if "update" in call]
    assert (status.backend, status.pending) == ("builtin" if fails else None, 0)
    assert updates
