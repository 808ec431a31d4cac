"""When no index can be read, the notes themselves are."""

from contextlib import closing
from typing import TYPE_CHECKING

import apsw
import pytest

from notewell.backends.base import Query
from notewell.backends.builtin.errors import index_unreadable
from notewell.backends.builtin.fallback_scan import search_files
from notewell.backends.builtin.schema import APPLICATION_ID

if TYPE_CHECKING:
    from tests.backends.conftest import Notebook

NOTES = {
    "MEMORY.md": "# Facts\n\nGateway port is 18789.\n",
    "memory/a.md": "数据库部署在新加坡\nthe deployments\n",
    "memory/b.md": "filling " * 900 + "deploy" + " filling" * 900,
    "memory/empty.md": "",
}


def test_an_answer_without_an_index_is_found_degraded_and_explained(
    notebook: "Notebook",
) -> None:
    notebook.write(NOTES)

    found = notebook.ask("what is the gateway port?")

    [fallback] = found.fallbacks
    assert found.hits[0].citation == "MEMORY.md#L1-L3"
    assert (found.mode, found.degraded) == ("scan", True)
    assert (fallback.kind, fallback.from_, fallback.to) == (
        "lexical-index",
        "builtin",
        "scan",
    )
    assert fallback.reason == "not-ready"
    assert not notebook.index.exists()


@pytest.mark.parametrize(
    "query",
    ["gateway", "数据库", "部署", "库", "deploy", "18789", "MEMORY.md", "facts"],
)
def test_the_notes_that_are_found_are_those_that_an_index_gives(
    notebook: "Notebook", query: str
) -> None:
    notebook.write(NOTES)
    without = notebook.ask(query, limit=1)
    notebook.refresh()

    with_index = notebook.ask(query, limit=1)

    assert with_index.mode == "keyword"
    assert [hit.citation for hit in without.hits] == [
        hit.citation for hit in with_index.hits
    ]


def test_reasons_and_hidden_paths_are_as_with_an_index(notebook: "Notebook") -> None:
    notebook.write(NOTES)

    assert notebook.ask("?").reason == "empty-query"
    assert notebook.ask("xylophone").reason == "no-match"
    assert notebook.ask("gateway", hidden=["MEMORY.md"]).reason == "no-match"


def test_without_notes_nothing_is_indexed(notebook: "Notebook") -> None:
    assert notebook.ask("gateway").reason == "nothing-indexed"


def test_notes_that_cannot_be_read_in_time_are_told(
    notebook: "Notebook", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("notewell.backends.builtin.fallback_scan._SECONDS", 0.0)
    notebook.write(NOTES)

    found = notebook.ask("gateway")

    assert "1 of 4 notes" in found.warnings[-1]
    assert found.degraded


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (apsw.SQLError("no such module: fts5"), "missing"),
        (apsw.CorruptError("malformed"), "corrupt"),
        (apsw.NotADBError("file is not a database"), "corrupt"),
        (apsw.BusyError("database is locked"), "busy"),
        (apsw.SQLError("no such table: nw_meta"), "missing"),
        (UnicodeDecodeError("utf-8", b"private text", 0, 1, "invalid"), "corrupt"),
    ],
)
def test_what_sqlite_says_is_told_in_one_word_and_without_text_of_notes(
    notebook: "Notebook", error: apsw.Error | UnicodeDecodeError, reason: str
) -> None:
    notebook.write(NOTES)
    query = Query(text="gateway", limit=6)

    found = search_files(notebook.site(), query, index_unreadable(error))

    assert found.fallbacks[0].reason == reason
    assert found.fallbacks[0].message
    assert "private" not in found.fallbacks[0].message
    assert found.hits


def test_a_file_that_has_no_table_yet_is_an_index_that_is_not_ready(
    notebook: "Notebook",
) -> None:
    notebook.write({"memory/a.md": "A heron stood there.\n"})
    notebook.index.parent.mkdir(parents=True)
    with closing(apsw.Connection(str(notebook.index))) as index:
        index.execute(f"pragma application_id = {APPLICATION_ID}")

    found = notebook.ask("heron")

    assert [step.reason for step in found.fallbacks] == ["not-ready"]
    assert found.hits[0].path == "memory/a.md"
