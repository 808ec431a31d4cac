"""A program with an SQLite of its own looks into an index, or writes to it.

Such a program keeps no checksums. What it writes, and what it moves from the log into the
file, cannot be told from what a disk has damaged, so that is what happens then.
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from notewell import open_memory_sync

if TYPE_CHECKING:
    from tests.backends.conftest import Notebook

FOREIGN: Final = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
for statement in sys.argv[2:]:
    connection.execute(statement).fetchall()
connection.close()
"""
NOTES: Final = {
    f"memory/{number}.md": f"# Note {number}\n\nA heron at pool{number}.\n" * 20
    for number in range(60)
}


def by_another_program(notebook: "Notebook", *statements: str) -> None:
    """Execute statements with Python's own SQLite, in a process of its own."""
    subprocess.run(
        [sys.executable, "-c", FOREIGN, str(notebook.index), *statements],
        check=True,
        timeout=300,
    )


def written_and_in_use(notebook: "Notebook") -> None:
    """Index, and leave the last change in the log of an open connection."""
    notebook.write(NOTES)
    notebook.refresh()
    assert notebook.ask("heron").mode == "keyword"
    notebook.write({"memory/late.md": "An osprey.\n"})
    notebook.refresh()


@pytest.mark.parametrize(
    "statement",
    [
        "select count(*) from nw_files_1",
        "pragma integrity_check",
        "pragma wal_checkpoint(truncate)",
    ],
    ids=["counts", "checks", "moves the log"],
)
def test_another_program_may_read_an_index_in_use(
    notebook: "Notebook", statement: str
) -> None:
    written_and_in_use(notebook)

    by_another_program(notebook, statement)

    assert not notebook.ask("osprey").degraded
    assert notebook.paths("osprey", limit=1) == ["memory/late.md"]
    assert notebook.refresh().changed == 0


def test_another_program_may_read_an_index_that_nobody_uses(
    notebook: "Notebook",
) -> None:
    written_and_in_use(notebook)
    notebook.engine.close()

    by_another_program(notebook, "select count(*) from nw_files_1")
    notebook.reopen()

    assert not notebook.ask("osprey").degraded
    assert notebook.refresh().changed == 0


@pytest.mark.parametrize("provider", ["none", "static"])
def test_a_run_leaves_nothing_in_the_log(
    notebook: "Notebook", monkeypatch: pytest.MonkeyPatch, provider: str
) -> None:
    monkeypatch.setenv("HOME", str(notebook.state))
    monkeypatch.setenv("OPENCLAW_STATE_DIR", str(notebook.state))
    notebook.write(NOTES)
    notebook.state.mkdir()
    (notebook.state / "openclaw.json").write_text(
        f'{{"memory": {{"search": {{"provider": "{provider}"}}}}}}', "utf-8"
    )

    with open_memory_sync(workspace=notebook.root) as memory:
        for text in ("An osprey.\n", "An osprey, and a teal.\n"):
            notebook.write({"memory/late.md": text})
            assert memory.refresh().changed
            [vectors] = memory.status().index.vectors or [None]
            location = Path(memory.status().index.location)
            assert not os.path.getsize(f"{location}-wal")

    assert (vectors is not None) == (provider == "static")


@pytest.mark.parametrize(
    "statement",
    [
        "create table others(a); pragma wal_checkpoint(truncate)",
        "vacuum",
    ],
    ids=["writes", "vacuums"],
)
def test_what_another_program_wrote_is_told_as_that_and_built_anew(
    notebook: "Notebook", statement: str
) -> None:
    written_and_in_use(notebook)

    by_another_program(notebook, *statement.split("; "))
    by_another_program(notebook, "pragma wal_checkpoint(truncate)")
    found = notebook.ask("osprey")
    notebook.refresh()

    [step] = found.fallbacks
    assert (found.mode, found.hits[0].path) == ("scan", "memory/late.md")
    assert (step.kind, step.reason) == ("lexical-index", "corrupt")
    assert "checksum" in step.message
    assert "another program wrote into the file" in step.message
    assert "disk I/O error" not in step.message
    healed = notebook.ask("osprey")
    assert (healed.mode, healed.degraded) == ("keyword", False)
    assert [hit.path for hit in healed.hits] == ["memory/late.md"]
    assert "checksum" not in str(notebook.engine.status())


def test_an_index_without_checksums_may_be_written_by_anybody(
    notebook: "Notebook", monkeypatch: pytest.MonkeyPatch
) -> None:

    monkeypatch.setattr("notewell.backends.builtin.store.checksum_vfs", lambda: None)
    written_and_in_use(notebook)

    by_another_program(notebook, "create table others(a)")
    by_another_program(notebook, "pragma wal_checkpoint(truncate)")

    assert not notebook.ask("osprey").degraded
    assert notebook.refresh().changed == 0
