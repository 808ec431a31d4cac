"""Notes that are no UTF-8, and files that hold no text: found, or named as left out."""

from pathlib import Path
from typing import TYPE_CHECKING

from notewell.backends.changes import IndexedNote, note_changes
from notewell.workspace import Note, WorkspaceScan, get_document
from notewell.workspace.decoding import NotText

if TYPE_CHECKING:
    from tests.backends.conftest import Notebook

_PICTURE = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0\0\0\1\0\x08\6\0\0\0" * 9


def _write(notebook: "Notebook", **files: bytes) -> Path:
    memory = notebook.root / "memory"
    for name, raw in files.items():
        (memory / f"{name}.md").write_bytes(raw)
    return memory


def test_utf16_without_a_mark_is_found_cited_and_said(notebook: "Notebook") -> None:
    _write(notebook, wide="# Plan\n\nWe buy a mango\n".encode("utf-16-le"))

    report = notebook.refresh()

    [hit] = notebook.ask("mango").hits
    read = get_document(notebook.workspace, hit.citation)
    assert (hit.path, hit.match_line) == ("memory/wide.md", 3)
    assert hit.snippet in read.text
    assert any("memory/wide.md (UTF-16)" in said for said in report.warnings)
    assert any("memory/wide.md" in said for said in notebook.engine.status().warnings)


def test_a_file_without_text_is_listed_with_its_reason_and_not_indexed(
    notebook: "Notebook",
) -> None:
    _write(notebook, picture=_PICTURE, good=b"kiwi\n")

    report = notebook.refresh()

    status = notebook.engine.status()
    for listed in (report.skipped, status.skipped):
        [skipped] = listed
        assert (skipped.path, skipped.reason) == ("memory/picture.md", "not-text")
        assert skipped.detail.startswith("its bytes are those of a program, a picture")
    assert (report.files, report.chunks, report.pending) == (1, 1, 0)
    assert notebook.paths("IHDR") == []


def test_an_empty_answer_names_the_files_that_hold_no_text(
    notebook: "Notebook",
) -> None:
    _write(notebook, picture=_PICTURE, good=b"kiwi\n")
    notebook.refresh()

    empty = notebook.ask("papaya")

    assert not empty.hits
    [said] = empty.warnings
    assert said.startswith(
        "Holds no text that can be read, and is left out: memory/picture.md"
    )
    assert (empty.freshness.pending, empty.freshness.stale) == (0, False)
    assert notebook.ask("kiwi").warnings == ()


def test_a_note_that_becomes_a_picture_is_out_of_the_index_and_comes_back(
    notebook: "Notebook",
) -> None:
    memory = _write(notebook, note=b"kiwi\n")
    notebook.refresh()

    _write(notebook, note=_PICTURE)

    assert notebook.paths("kiwi") == []  # before anybody has indexed it again
    notebook.refresh()
    assert notebook.engine.status().chunks == 0
    (memory / "note.md").write_bytes(b"kiwi and papaya\n")
    notebook.refresh()
    assert notebook.paths("papaya") == ["memory/note.md"]


def test_a_file_without_text_is_not_read_again_until_it_changes() -> None:
    looks = (512, 1, 1)
    note = Note("memory/picture.md", "/notes/memory/picture.md", *looks)
    found = WorkspaceScan(notes=(note,), skipped=(), extra_paths=(), bytes=512)
    known = IndexedNote(note.path, *looks, 1, b"", NotText("a picture").why)

    assert len(note_changes(found, {note.path: known})) == 0
    assert len(note_changes(found, {note.path: known._replace(problem="busy")})) == 1
    assert len(note_changes(found, {note.path: known._replace(size=1)})) == 1


def test_what_is_in_the_cloud_is_named_by_an_empty_answer_and_makes_nothing_stale(
    notebook: "Notebook",
) -> None:
    memory = _write(notebook, good=b"kiwi\n")
    (memory / ".plan.md.icloud").touch()
    report = notebook.refresh()

    empty = notebook.ask("papaya")

    assert [(each.path, each.reason) for each in report.skipped] == [
        ("memory/plan.md", "not-downloaded")
    ]
    assert "memory/plan.md (in the cloud and not on this disk" in empty.warnings[0]
    assert not empty.freshness.stale


def test_a_note_that_a_drive_takes_away_stays_in_the_index(
    notebook: "Notebook",
) -> None:
    memory = _write(notebook, plan=b"kiwi\n", other=b"papaya\n")
    notebook.refresh()
    (memory / "plan.md").unlink()
    (memory / ".plan.md.icloud").touch()

    notebook.refresh()

    assert notebook.paths("kiwi") == []  # what cannot be looked at is not quoted
    (memory / ".plan.md.icloud").unlink()
    (memory / "plan.md").write_bytes(b"kiwi\n")
    assert notebook.paths("kiwi") == ["memory/plan.md"]
