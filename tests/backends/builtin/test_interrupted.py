"""What ends or disturbs an indexing run never costs a note its place in the index."""

from typing import TYPE_CHECKING

import pytest

from notewell.backends.builtin.indexer import Indexer
from notewell.backends.text.chunking import Chunk
from notewell.workspace import read_note
from notewell.workspace.layout import NoteText

if TYPE_CHECKING:
    from tests.backends.conftest import Notebook


def ending_inside(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Ctrl-C come after a note's row is written and before its passages are."""
    real = Indexer.add

    def add(self: Indexer, file_id: int, path: str, chunks: list[Chunk]) -> int:
        if path == name:
            raise KeyboardInterrupt
        return real(self, file_id, path, chunks)

    monkeypatch.setattr(Indexer, "add", add)


def test_ctrl_c_inside_a_note_leaves_no_half_of_it(
    notebook: "Notebook", monkeypatch: pytest.MonkeyPatch
) -> None:
    notebook.write({"memory/a.md": "apple", "memory/b.md": "banana"})
    with monkeypatch.context() as patched:
        ending_inside("memory/b.md", patched)
        with pytest.raises(KeyboardInterrupt):
            notebook.refresh()

    notebook.refresh()

    assert notebook.paths("banana") == ["memory/b.md"]
    assert notebook.paths("apple") == ["memory/a.md"]


def test_ctrl_c_while_a_note_is_replaced_keeps_what_was_there(
    notebook: "Notebook", monkeypatch: pytest.MonkeyPatch
) -> None:
    notebook.write({"memory/a.md": "apple", "memory/b.md": "banana"})
    notebook.refresh()
    notebook.write({"memory/b.md": "banana\ncherry"})
    with monkeypatch.context() as patched:
        ending_inside("memory/b.md", patched)
        with pytest.raises(KeyboardInterrupt):
            notebook.refresh()

    assert notebook.paths("banana") == ["memory/b.md"]
    notebook.refresh()
    assert notebook.paths("cherry") == ["memory/b.md"]


def test_a_note_that_could_not_be_read_is_read_at_the_next_chance(
    notebook: "Notebook", monkeypatch: pytest.MonkeyPatch
) -> None:
    notebook.write({"memory/a.md": "apple", "memory/b.md": "banana"})

    def read(file: str) -> NoteText:
        if file.endswith("b.md"):
            raise OSError(5, "Input/output error")
        return read_note(file)

    with monkeypatch.context() as patched:
        patched.setattr("notewell.backends.builtin.indexer.read_note", read)
        report = notebook.refresh()
    [skipped] = report.skipped
    assert (skipped.path, skipped.detail) == ("memory/b.md", "Input/output error")
    assert report.pending == 0

    again = notebook.refresh()

    assert again.skipped == ()
    assert notebook.paths("banana") == ["memory/b.md"]


def test_a_run_with_nothing_to_do_says_when_it_last_looked(
    notebook: "Notebook", monkeypatch: pytest.MonkeyPatch
) -> None:
    notebook.write({"memory/a.md": "apple"})
    notebook.refresh()
    before = notebook.engine.status().indexed_at
    assert before is not None
    later = before.timestamp() + 3600
    monkeypatch.setattr("time.time", lambda: later)

    notebook.refresh()

    after = notebook.engine.status().indexed_at
    assert after is not None
    assert after.timestamp() == later
