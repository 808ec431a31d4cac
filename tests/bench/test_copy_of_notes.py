"""The copy of the notes, and the folder in which a benchmark works."""

import os
from pathlib import Path

import pytest

from notewell.bench import race
from notewell.bench.race import NoteChange, copy_notes, median_note, working_folder
from notewell.errors import UsageError
from notewell.workspace import Workspace, WorkspaceScan, scan


def names(folder: Path) -> list[str]:
    return [note.path for note in scan(Workspace(root=folder)).notes]


def test_the_copy_has_the_notes_with_their_times_and_nothing_else(
    notes: Path, tmp_path: Path
) -> None:
    (notes / "memory" / ".hidden.md").write_text("no note", encoding="utf-8")
    (notes / "memory" / "picture.png").write_bytes(b"no note either")
    copy = tmp_path / "copy"

    found = copy_notes(notes, copy)

    assert [note.path for note in found.notes] == names(notes)
    assert sum(len(files) for _, _, files in os.walk(copy)) == len(found.notes)
    for note in scan(Workspace(root=notes)).notes:
        assert (copy / note.path).stat().st_mtime_ns == note.mtime_ns


def test_a_copy_follows_its_notes_and_leaves_alone_what_is_the_same(
    notes: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    copy_notes(notes, copy)
    kept = (copy / "MEMORY.md").stat().st_ctime_ns
    (notes / "memory" / "birds.md").unlink()
    (notes / "memory" / "fish.md").write_text("# Fish\n", encoding="utf-8")

    copy_notes(notes, copy)

    assert names(copy) == names(notes)
    assert (copy / "MEMORY.md").stat().st_ctime_ns == kept


def test_a_note_that_goes_while_notes_are_copied_is_not_in_the_copy(
    notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def scan_and_lose(workspace: Workspace) -> WorkspaceScan:
        found = scan(workspace)
        (notes / "memory" / "birds.md").unlink(missing_ok=True)
        return found

    monkeypatch.setattr(race, "scan", scan_and_lose)

    found = copy_notes(notes, tmp_path / "copy")

    assert [note.path for note in found.notes] == names(notes)
    assert "memory/birds.md" not in names(notes)


def test_a_change_adds_a_line_and_is_taken_back_without_a_trace(notes: Path) -> None:
    note = median_note(scan(Workspace(root=notes)).notes)
    assert note is not None
    before = Path(note.file).read_bytes()
    change = NoteChange(note)

    change.make()

    assert Path(note.file).read_bytes().startswith(before)
    assert len(Path(note.file).read_bytes()) > len(before)
    change.take_back()
    assert Path(note.file).read_bytes() == before
    assert Path(note.file).stat().st_mtime_ns == note.mtime_ns


def test_two_benchmarks_do_not_work_in_one_folder(tmp_path: Path) -> None:
    folder = tmp_path / "kept"

    with (
        working_folder(folder),
        pytest.raises(UsageError, match="another benchmark works"),
        working_folder(folder),
    ):
        pass


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")

    with (
        pytest.raises(UsageError, match="cannot be written"),
        working_folder(tmp_path / "file" / "state"),
    ):
        pass


def test_a_temporary_folder_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    with working_folder(None) as folder:
        (folder / "notes").mkdir()

    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("linked", ["", "memory", "memory/birds.md"])
def test_a_copy_goes_through_no_link_to_what_is_somebody_else_s(
    linked: str, notes: Path, tmp_path: Path
) -> None:
    copy, others = tmp_path / "state" / "notes", tmp_path / "others"
    copy_notes(notes, others)
    own = others / "memory" / "own.md"
    own.write_text("Mine.\n", encoding="utf-8")
    birds = others / "memory" / "birds.md"
    birds.write_text("Mine as well.\n", encoding="utf-8")
    (copy / linked).parent.mkdir(parents=True)
    (copy / linked).symlink_to(others / linked)

    with pytest.raises(UsageError, match="is a symbolic link"):
        copy_notes(notes, copy)

    assert own.read_text(encoding="utf-8") == "Mine.\n"
    assert birds.read_text(encoding="utf-8") == "Mine as well.\n"
