"""Notes that changed since they were indexed: never a wrong line, never old content."""

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from notewell.backends.base import Listener, Run
from notewell.workspace import Workspace, WorkspaceScan, scan

if TYPE_CHECKING:
    from tests.backends.conftest import NewNotebook, Notebook

NOTE = "\n".join(
    [*(f"line {n} of filling" for n in range(1, 10)), "the kumquat grows here", "end"]
)


@pytest.fixture
def kumquat(notebook: "Notebook") -> "Notebook":
    """An index in which the tenth line of a note is about a kumquat."""
    notebook.write({"memory/a.md": NOTE, "memory/b.md": "kumquat too"})
    notebook.refresh()
    return notebook


def test_a_fresh_index_gives_fresh_answers(kumquat: "Notebook") -> None:
    found = kumquat.ask("kumquat")

    assert not found.freshness.stale
    assert found.freshness.indexed_at is not None


CHANGES: Mapping[str, tuple[Callable[[str], str], int]] = {
    "moved down": (lambda note: "new\nlines\n" + note, 12),
    "moved up": (lambda note: note.split("\n", 3)[3], 7),
    "longer": (lambda note: note + "\nmore", 10),
    "edited above": (lambda note: note.replace("line 3 of filling", "rewritten"), 10),
    "left alone": (lambda _: "the kumquat grows here", 1),
    "doubled": (lambda note: note + "\n" + note, 10),
}


@pytest.mark.parametrize("how", CHANGES)
def test_a_match_is_cited_where_it_stands_now(kumquat: "Notebook", how: str) -> None:
    change, line = CHANGES[how]
    kumquat.write({"memory/a.md": change(NOTE)})

    found = kumquat.ask("the kumquat grows here")

    [hit] = [hit for hit in found.hits if hit.path == "memory/a.md"]
    assert hit.match_line == line
    assert "the kumquat grows here" in hit.snippet


def test_only_an_answer_that_had_to_be_corrected_is_stale(kumquat: "Notebook") -> None:
    kumquat.write({"memory/a.md": "above\n" + NOTE})

    assert kumquat.ask("grows").freshness.stale
    assert not kumquat.ask("too").freshness.stale


def test_a_note_that_was_only_touched_is_not_stale(kumquat: "Notebook") -> None:
    os.utime(kumquat.root / "memory/a.md", (1, 1))

    found = kumquat.ask("grows")

    assert [hit.path for hit in found.hits] == ["memory/a.md"]
    assert not found.freshness.stale


@pytest.mark.parametrize("how", ["deleted", "emptied", "rewritten", "folder", "link"])
def test_what_is_gone_is_not_shown(kumquat: "Notebook", how: str) -> None:
    file = kumquat.root / "memory/a.md"
    file.unlink()
    if how == "emptied":
        file.touch()
    elif how == "rewritten":
        file.write_text("the kumquat is gone\n" * 5, encoding="utf-8")
    elif how == "folder":
        file.mkdir()
    elif how == "link":
        other = kumquat.root.parent / "other.md"
        other.write_text(NOTE, encoding="utf-8")
        file.symlink_to(other)

    found = kumquat.ask("kumquat grows")

    assert [hit.path for hit in found.hits] == ["memory/b.md"]
    assert found.freshness.stale


def test_when_everything_is_gone_the_answer_is_empty_and_says_so(
    kumquat: "Notebook",
) -> None:
    for name in ("a", "b"):
        (kumquat.root / f"memory/{name}.md").unlink()

    found = kumquat.ask("kumquat")

    assert (found.hits, found.reason) == ([], "no-match")
    assert found.freshness.stale


def test_a_change_that_keeps_size_and_time_is_seen_by_search_and_refresh(
    notebook: "Notebook", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("notewell.backends.builtin.sync._RACY_NS", 0)
    notebook.write({"memory/a.md": "mango"})
    notebook.refresh()
    file = notebook.root / "memory/a.md"
    before = file.stat()

    file.write_text("grape", encoding="utf-8")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert notebook.paths("mango") == []
    notebook.refresh()
    assert notebook.paths("grape") == ["memory/a.md"]


def test_a_change_within_one_tick_of_a_slow_clock_is_seen_by_refresh(
    notebook: "Notebook", monkeypatch: pytest.MonkeyPatch
) -> None:
    tick = time.time_ns()

    def scan_by_slow_clock(workspace: Workspace) -> WorkspaceScan:
        scanned = scan(workspace)
        notes = (note._replace(mtime_ns=tick, ctime_ns=tick) for note in scanned.notes)
        return replace(scanned, notes=tuple(notes))

    monkeypatch.setattr("notewell.backends.changes.scan", scan_by_slow_clock)
    monkeypatch.setattr("notewell.backends.builtin.sync._RACY_NS", 60_000_000_000)
    notebook.write({"memory/a.md": "mango"})
    notebook.refresh()

    notebook.write({"memory/a.md": "grape"})
    notebook.refresh()

    assert notebook.paths("grape") == ["memory/a.md"]


def test_a_time_in_the_future_does_not_make_a_note_be_read_again_and_again(
    notebook: "Notebook", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("notewell.backends.builtin.sync._RACY_NS", 0)
    notebook.write({"memory/a.md": "mango"})
    os.utime(notebook.root / "memory/a.md", (4e9, 4e9))
    read: list[int] = []

    class Counting(Listener):
        def indexing(self, done: int, total: int) -> None:
            read.append(done)

    for _ in range(2):
        notebook.engine.refresh(Run(listener=Counting()))

    assert read == [1]


@given(
    before=st.lists(
        st.sampled_from(["kiwi", "fig", "plum", ""]), min_size=1, max_size=12
    ),
    after=st.lists(st.sampled_from(["kiwi", "fig", "plum", ""]), max_size=12),
)
@settings(max_examples=40, deadline=None)
def test_no_edit_makes_an_answer_cite_a_line_without_the_word(
    new_notebook: "NewNotebook", before: list[str], after: list[str]
) -> None:
    notebook = new_notebook()
    notebook.reopen(**{"chunking.tokens": 16, "chunking.overlap": 4})
    notebook.write({"memory/a.md": "\n".join(before)})
    notebook.refresh()
    notebook.write({"memory/a.md": "\n".join(after)})

    for hit in notebook.ask("kiwi").hits:
        assert after[hit.match_line - 1] == "kiwi"
        assert hit.snippet in "\n".join(after)


@pytest.mark.parametrize(
    ("before", "after"),
    [("gateway port 80", "gateway port 8080"), ("- budget 100", "- budget 100000")],
)
def test_a_line_that_was_added_to_is_another_line(
    notebook: "Notebook", before: str, after: str
) -> None:
    notebook.write({"memory/p.md": before})
    notebook.refresh()
    notebook.write({"memory/p.md": after})

    found = notebook.ask(before)

    assert [hit.snippet for hit in found.hits] == []
    assert found.freshness.stale


def test_what_get_would_refuse_is_not_cited(notebook: "Notebook") -> None:
    notebook.write({"memory/a.md": "apple", "memory/folder/b.md": "apple"})
    notebook.refresh()
    outside = notebook.root.parent / "elsewhere"
    (notebook.root / "memory/folder").rename(outside)
    (notebook.root / "memory/folder").symlink_to(outside)

    found = notebook.ask("apple")

    assert [hit.path for hit in found.hits] == ["memory/a.md"]
    assert found.freshness.stale
