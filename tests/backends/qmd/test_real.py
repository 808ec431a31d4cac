"""The real QMD on real notes: what it cannot do by itself, and what goes wrong with it."""

import os
import shutil
import signal
import sqlite3
from collections.abc import AsyncIterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from notewell.backends.base import Query
from notewell.backends.fallback import FallbackBackend
from notewell.backends.qmd.engine import QmdBackend
from notewell.backends.qmd.home import QmdHome
from notewell.errors import BackendUnavailable

if TYPE_CHECKING:
    from tests.backends.qmd.conftest import Installed, Notes

NOTES: Mapping[str, str] = {
    "MEMORY.md": "# Facts\n\nThe gateway port is 18789.\nThe cat is Bertrand.\n",
    "memory/2026-01-10.md": "The multi-agent rollout moves 4 GB/s.\r\n"
    "See https://api.example.com/v2 and tools/foo_bar.py, C++ and v2.2.15.\r\n",
    "memory/My Notes (v2).md": "The walrus budget is 12,500 EUR.\n",
    "memory/京都旅行.md": "京都の旅館を予約した。\n数据库部署在新加坡\n",
    "memory/trip.md": "Tromsø in March, then Łódź by train; café in Kadıköy.\n",
    "memory/up_x.md": "first ibis\n",
    "memory/up-x.md": "second ibis\n",
}


@pytest.fixture
async def pair(qmd: list[str], notes: "Notes") -> AsyncIterator[FallbackBackend]:
    """QMD with builtin behind it on NOTES, both with an index."""
    notes.write(NOTES)
    opened = await FallbackBackend.open(notes.site(qmd, transport="daemon"))
    await opened.refresh()
    yield opened
    await opened.close()


def generations(notes: "Notes") -> list[str]:
    return [path.name for path in notes.state.glob("qmd/main/[0-9]*")]


def daemon_of(status: Mapping[str, str]) -> int:
    return int(status["daemon"].removeprefix("process "))


QUESTIONS: Mapping[str, str] = {
    "gateway port": "MEMORY.md",
    "What is the port of the gateway?": "MEMORY.md",
    "when did we talk about a budget for the walrus": "memory/My Notes (v2).md",
    "https://api.example.com/v2": "memory/2026-01-10.md",
    "tools/foo_bar.py": "memory/2026-01-10.md",
    "multi-agent": "memory/2026-01-10.md",
    '"upper -walrus': "memory/My Notes (v2).md",
    "--walrus": "memory/My Notes (v2).md",
    "旅館": "memory/京都旅行.md",
    "数据库部署": "memory/京都旅行.md",
    "Tromsø": "memory/trip.md",
    "ŁÓDŹ": "memory/trip.md",
    "cafe": "memory/trip.md",
    "When do we travel to Tromsø or Kadıköy?": "memory/trip.md",
}
"""Questions, and the note that each must find first."""


async def test_questions_and_signs_and_every_script_find_their_note(
    notes: "Notes", pair: FallbackBackend
) -> None:
    found = {
        text: notes.check(await pair.search(Query(text=text, limit=6)))
        for text in QUESTIONS
    }

    first = {text: [hit.path for hit in each.hits][:1] for text, each in found.items()}
    assert first == {text: [path] for text, path in QUESTIONS.items()}
    assert {each.backend for each in found.values()} == {None}
    assert {each.fallbacks for each in found.values()} == {()}


async def test_a_daemon_that_was_killed_is_started_again(
    notes: "Notes", pair: FallbackBackend
) -> None:
    await pair.search(Query(text="walrus", limit=6))
    first = daemon_of((await pair.status()).details)
    os.kill(first, signal.SIGKILL)

    found = notes.check(await pair.search(Query(text="walrus", limit=6)))

    assert found.hits
    assert found.fallbacks == ()


async def test_closing_leaves_no_process(pair: FallbackBackend) -> None:
    await pair.search(Query(text="walrus", limit=6))
    daemon = daemon_of((await pair.status()).details)

    await pair.close()

    with pytest.raises(ProcessLookupError):
        os.kill(daemon, 0)


async def test_a_note_that_changed_since_is_cited_as_it_is_now(
    notes: "Notes", pair: FallbackBackend
) -> None:
    notes.write({"MEMORY.md": "one\ntwo\n\n" + NOTES["MEMORY.md"]})
    (notes.root / "memory" / "up_x.md").unlink()

    moved = notes.check(await pair.search(Query(text="Bertrand", limit=6)))
    gone = notes.check(await pair.search(Query(text="ibis", limit=6)))

    assert moved.hits[0].match_line == 7
    assert moved.freshness.stale
    assert [hit.path for hit in gone.hits] == ["memory/up-x.md"]


async def test_nothing_of_the_users_own_qmd_is_read_or_written(
    qmd: list[str], notes: "Notes", tmp_path: Path
) -> None:
    home = tmp_path / "home"
    (home / ".config" / "qmd").mkdir(parents=True)
    (notes.root / ".qmd").mkdir()
    for folder in (home / ".config" / "qmd", notes.root / ".qmd"):
        (folder / "index.yml").write_text("collections: {}\n", encoding="utf-8")
    theirs = {
        "HOME": str(home),
        "INDEX_PATH": str(home / "index.sqlite"),
        "QMD_CONFIG_DIR": str(home / ".config" / "qmd"),
    }
    before = sorted(home.rglob("*"))

    backend = await QmdBackend.open(notes.site(qmd, environ=theirs))
    await backend.refresh()
    found = await backend.search(Query(text="heron", limit=6))
    await backend.close()

    assert found.hits
    assert sorted(home.rglob("*")) == before


async def test_extra_folders_and_files_are_searched_and_cited_as_get_reads_them(
    qmd: list[str], notes: "Notes"
) -> None:
    notes.write({"../team/deep/x.md": "puffin\n", "../one [1].md": "auk\n"})
    notes.write({"../two.md": "auk\n"})
    site = notes.site(qmd, extra=("../team", "../one [1].md"))

    backend = await QmdBackend.open(site)
    report = await backend.refresh()
    puffin = await backend.search(Query(text="puffin", limit=6))
    auk = await backend.search(Query(text="auk", limit=6))
    status = await backend.status()
    await backend.close()

    assert report.pending == 0
    assert [hit.path for hit in puffin.hits] == ["../team/deep/x.md"]
    assert [hit.path for hit in auk.hits] == ["../one [1].md"]
    assert status.details["collections"] == "notes 1, team 1, one-1 1"


async def test_notes_that_qmd_does_not_read_are_named(
    qmd: list[str], notes: "Notes"
) -> None:
    notes.write({"memory/build/x.md": "puffin\n", "memory/UPPER.MD": "auk\n"})

    backend = await QmdBackend.open(notes.site(qmd))
    report = await backend.refresh()
    await backend.close()

    assert [one.path for one in report.skipped] == [
        "memory/UPPER.MD",
        "memory/build/x.md",
    ]


async def test_a_folder_of_notes_that_is_gone_does_not_empty_the_index(
    qmd: list[str], notes: "Notes", tmp_path: Path
) -> None:
    backend = await QmdBackend.open(notes.site(qmd))
    await backend.refresh()
    notes.root.rename(tmp_path / "away")

    with pytest.raises(BackendUnavailable, match="the workspace cannot be read"):
        await backend.refresh()
    (tmp_path / "away").rename(notes.root)
    found = await backend.search(Query(text="heron", limit=6))
    await backend.close()

    assert found.hits


@pytest.mark.parametrize("damage", ["killed", "lost a document", "garbage", "deleted"])
async def test_an_index_that_may_lack_notes_is_built_anew(
    damage: str, qmd: list[str], notes: "Notes"
) -> None:
    site = notes.site(qmd)
    backend = await QmdBackend.open(site)
    await backend.refresh()
    home = QmdHome(site)
    database = home.database(1)
    if damage == "killed":
        raw = (home.folder / "record.json").read_bytes()
        raw = raw.replace(b'"unfinished":false', b'"unfinished":true')
        (home.folder / "record.json").write_bytes(raw)
    elif damage == "lost a document":
        with closing(sqlite3.connect(database)) as connection:
            connection.execute("delete from documents_fts")
            connection.commit()
    elif damage == "garbage":
        database.write_bytes(b"garbage" * 1000)
    else:
        shutil.rmtree(home.generation(1))
    notes.write({"memory/b.md": "egret\n"})

    report = await backend.refresh()
    found = await backend.search(Query(text="heron", limit=6))
    await backend.close()

    assert report.pending == 0
    assert found.hits
    assert generations(notes) == ["2"]


async def test_a_workspace_that_moved_is_read_at_its_new_place(
    qmd: list[str], notes: "Notes", tmp_path: Path
) -> None:
    backend = await QmdBackend.open(notes.site(qmd))
    await backend.refresh()
    await backend.close()
    notes.root = notes.root.rename(tmp_path / "moved")
    notes.write({"memory/a.md": "The heron is an egret now.\n"})

    backend = await QmdBackend.open(notes.site(qmd))
    await backend.refresh()
    found = await backend.search(Query(text="egret", limit=6))
    await backend.close()

    assert [hit.snippet for hit in found.hits] == ["The heron is an egret now."]


@pytest.mark.parametrize("version", ["2.1.0", "2.5.3"])
async def test_an_older_version_finds_notes_by_words(
    version: str, qmd_of_version: "Installed", notes: "Notes"
) -> None:
    command = qmd_of_version(version)
    notes.write(NOTES)

    backend = await QmdBackend.open(notes.site(command, transport="auto"))
    report = await backend.refresh()
    walrus = await backend.search(Query(text="What is the walrus budget?", limit=6))
    ibis = await backend.search(Query(text="ibis", limit=6))
    await backend.close()

    assert [hit.path for hit in walrus.hits][:1] == ["memory/My Notes (v2).md"]
    # One of them has taken the other's name in the index: it is cited, or nothing is.
    [hit] = ibis.hits
    text = (notes.root / hit.path).read_text(encoding="utf-8")
    assert hit.snippet in text
    assert report.pending == 0
