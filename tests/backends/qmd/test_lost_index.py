"""An index of QMD's that somebody emptied, replaced or damaged answers nothing for us."""

import asyncio
import os
import shutil
import time
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import pytest

from notewell.backends.base import Query
from notewell.backends.fallback import FallbackBackend
from notewell.backends.qmd.engine import QmdBackend
from notewell.errors import BackendFailed

if TYPE_CHECKING:
    from tests.backends.qmd.conftest import Installed, Notes

HERON = Query(text="heron", limit=6)
ABSENT = Query(text="kumquat", limit=6)


def removed(database: Path) -> None:
    for file in database.parent.glob("index.sqlite*"):
        file.unlink()


def truncated(database: Path) -> None:
    database.write_bytes(b"")


def overwritten(database: Path) -> None:
    with database.open("r+b") as file:
        file.write(b"\0" * 4096)


def cut_short(database: Path) -> None:
    os.truncate(database, database.stat().st_size // 2)


def garbage(database: Path) -> None:
    database.write_bytes(os.urandom(database.stat().st_size))


def replaced(database: Path) -> None:
    """Put another index of QMD's in its place, with other documents."""
    other = database.with_name("other.sqlite")
    shutil.copy(database, other)
    connection = apsw.Connection(str(other))
    connection.execute("update documents set path = 'memory/z.md'")
    connection.close()
    os.replace(other, database)


def emptied(database: Path) -> None:
    connection = apsw.Connection(str(database))
    connection.execute("delete from documents")
    connection.close()


def deactivated(database: Path) -> None:
    connection = apsw.Connection(str(database))
    connection.execute("update documents set active = 0")
    connection.close()


def unindexed(database: Path) -> None:
    connection = apsw.Connection(str(database))
    connection.execute("delete from documents_fts")
    connection.close()


def unconfigured(database: Path) -> None:
    (database.parents[2] / "config" / "qmd" / "index.yml").unlink()


Fault = Callable[[Path], None]
FAULTS: Mapping[Fault, str] = {
    removed: "not-ready",
    truncated: "corrupt",
    overwritten: "corrupt",
    cut_short: "corrupt",
    garbage: "corrupt",
    replaced: "corrupt",
    emptied: "corrupt",
    deactivated: "corrupt",
    unindexed: "corrupt",
    unconfigured: "not-ready",
}


def database_of(notes: "Notes") -> Path:
    [database] = notes.state.glob("qmd/main/[0-9]*/cache/qmd/index.sqlite")
    return database


@pytest.fixture
async def pair(qmd: list[str], notes: "Notes") -> AsyncIterator[FallbackBackend]:
    """QMD with builtin behind it, both with an index of one note."""
    opened = await FallbackBackend.open(notes.site(qmd), cool_down=0.0)
    await opened.refresh()
    yield opened
    await opened.close()


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
async def test_builtin_answers_status_says_so_and_a_run_builds_it_anew(
    fault: Fault, notes: "Notes", pair: FallbackBackend
) -> None:
    fault(database_of(notes))

    found = notes.check(await pair.search(HERON))
    absent = await pair.search(ABSENT)
    status = await pair.status()
    report = await pair.refresh()
    after = notes.check(await pair.search(HERON))
    healed = await pair.status()

    for answer in (found, absent):
        assert answer.backend == "builtin"
        assert answer.degraded
        [step] = answer.fallbacks
        assert (step.kind, step.reason) == ("backend", FAULTS[fault])
        assert "notewell index" in step.message
    assert found.hits
    assert status.pending == 1
    assert (status.files, status.chunks) == (0, 0)
    assert any("notewell index" in said for said in status.warnings)
    assert (report.changed, report.pending) == (1, 0)
    assert (after.backend, after.fallbacks) == (None, ())
    assert after.hits
    assert (healed.files, healed.pending, healed.warnings) == (1, 0, ())


@pytest.mark.parametrize("version", ["2.5.3", "2.1.0"])
@pytest.mark.parametrize(
    "fault", [removed, truncated, emptied], ids=lambda f: f.__name__
)
async def test_older_versions_lose_theirs_no_less_openly(
    version: str, fault: Fault, qmd_of_version: "Installed", notes: "Notes"
) -> None:
    pair = await FallbackBackend.open(
        notes.site(qmd_of_version(version)), cool_down=0.0
    )
    await pair.refresh()
    before = await pair.search(HERON)
    fault(database_of(notes))

    found = await pair.search(HERON)
    await pair.refresh()
    after = await pair.search(HERON)
    await pair.close()

    assert [each.backend for each in (before, found, after)] == [None, "builtin", None]


async def test_without_a_stand_in_a_lost_index_is_a_failure_and_never_no_match(
    qmd: list[str], notes: "Notes"
) -> None:
    backend = await QmdBackend.open(notes.site(qmd))
    await backend.refresh()
    truncated(database_of(notes))

    with pytest.raises(BackendFailed, match="emptied or replaced"):
        await backend.search(ABSENT)
    await backend.close()


async def test_a_log_that_held_what_was_written_last_is_missed(
    qmd: list[str], notes: "Notes"
) -> None:
    backend = await QmdBackend.open(notes.site(qmd))
    await backend.refresh()
    reader = apsw.Connection(str(database_of(notes)))  # keeps QMD from emptying its log
    reader.execute("begin; select count(*) from documents").get  # noqa: B018
    notes.write({"memory/b.md": "An egret.\n"})
    await backend.refresh()
    found = await backend.search(Query(text="egret", limit=6))
    database = database_of(notes)
    kept = database.read_bytes()
    reader.close()
    removed(database)
    database.write_bytes(kept)  # as a copy that forgot the log

    with pytest.raises(BackendFailed):
        await backend.search(Query(text="egret", limit=6))
    report = await backend.refresh()
    after = await backend.search(Query(text="egret", limit=6))
    await backend.close()

    assert found.hits
    assert report.pending == 0
    assert after.hits


@pytest.mark.parametrize("transport", ["cli", "daemon"])
@pytest.mark.parametrize(
    "fault", [removed, overwritten, emptied], ids=lambda f: f.__name__
)
async def test_a_server_builds_it_anew_by_itself(
    transport: str, fault: Fault, qmd: list[str], notes: "Notes"
) -> None:
    site = notes.site(
        qmd,
        stays=True,
        transport=transport,
        update_onBoot=False,
        update_interval=0,
        update_debounceMs=10,
    )
    pair = await FallbackBackend.open(site, cool_down=0.0)
    await pair.refresh()
    await pair.search(HERON)
    fault(database_of(notes))

    first = await pair.search(HERON)
    answer, end = first, time.monotonic() + 60
    while answer.backend and time.monotonic() < end:
        await asyncio.sleep(0.1)
        answer = await pair.search(HERON)
    await pair.close()

    assert first.hits
    assert first.backend == "builtin"
    assert answer.hits
    assert answer.backend is None


async def test_what_qmd_itself_finds_damaged_is_built_anew(
    qmd: list[str], notes: "Notes"
) -> None:
    backend = await QmdBackend.open(notes.site(qmd))
    await backend.refresh()
    connection = apsw.Connection(str(database_of(notes)))
    # Counts are right and every page is well; only the full-text index is not.
    connection.execute("update documents_fts_data set block = x'00' where id > 10")
    connection.close()

    with pytest.raises(BackendFailed) as got:
        await backend.search(HERON)
    await backend.refresh()
    found = await backend.search(HERON)
    await backend.close()

    assert got.value.reason == "corrupt"
    assert found.hits


async def test_an_index_that_only_moved_to_another_disk_is_taken_as_it_is(
    qmd: list[str], notes: "Notes"
) -> None:
    backend = await QmdBackend.open(notes.site(qmd))
    await backend.refresh()
    database = database_of(notes)
    database.write_bytes(database.read_bytes())
    shutil.copy(database, database.with_name("copy"))
    os.replace(database.with_name("copy"), database)

    found = await backend.search(HERON)
    report = await backend.refresh()
    await backend.close()

    assert found.hits
    assert report.changed == 0
