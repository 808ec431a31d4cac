"""A folder becomes a link and a folder again while its notes are read."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from notewell import open_memory_sync
from notewell.errors import NotewellError, PathRefused
from notewell.workspace import Workspace, get_document, locate, read_note, scan

SWAP = """
import os, sys
folder, link, aside, outside = sys.argv[1:]
os.symlink(outside, link)
print("begun", flush=True)
while True:
    os.rename(folder, aside)
    os.rename(link, folder)
    os.rename(folder, link)
    os.rename(aside, folder)
"""
PATHS = ("memory/deep/er/3.md", "memory/deep/only.md", "7.md")
FORMS = ("[[only]]", "er/3#L1", "memory%2Fdeep%2Fonly.md", "[it](memory/deep/only.md)")


@pytest.fixture
def notes(tmp_path: Path) -> Workspace:
    """Notes, and beside them others of the same names that are nobody's business."""
    root = tmp_path / "notes"
    for top, text in ((root / "memory" / "deep", "inside"), (outside(root), "SECRET")):
        (top / "er").mkdir(parents=True)
        for number in range(10):
            (top / "er" / f"{number}.md").write_text(f"{text}\n", encoding="utf-8")
    (outside(root) / "only.md").write_text("SECRET\n", encoding="utf-8")
    return Workspace(root=root)


def outside(root: Path) -> Path:
    return root.parent / "outside"


@pytest.fixture
def swapping(notes: Workspace) -> Iterator[None]:
    """Another process swaps a folder for a link, as fast as it can."""
    folder = notes.root / "memory" / "deep"
    places = (folder, folder.parent / "link", notes.root.parent / "aside")
    with subprocess.Popen(
        [sys.executable, "-c", SWAP, *places, outside(notes.root)],
        stdout=subprocess.PIPE,
    ) as swapper:
        assert swapper.stdout
        swapper.stdout.readline()
        yield
        swapper.kill()


def got(notes: Workspace, path: str) -> str:
    try:
        return get_document(notes, path).text
    except PathRefused:
        return ""


def shown(notes: Workspace, tries: int, paths: tuple[str, ...] = PATHS) -> set[str]:
    return {got(notes, path) for _ in range(tries) for path in paths}


def indexed(notes: Workspace, runs: int) -> list[int]:
    """Index again and again; return the runs after which outside text is held."""
    state = notes.root.parent / "state"
    leaked: list[int] = []
    for run in range(runs):
        with open_memory_sync(
            workspace=notes.root, environ={"OPENCLAW_STATE_DIR": str(state)}
        ) as memory:
            try:
                memory.refresh(vectors=None)
            except NotewellError:
                continue
            hits = memory.search("SECRET inside").results
        files = [file.read_bytes() for file in (state / "memory").glob("*.sqlite*")]
        if any("SECRET" in hit.snippet for hit in hits) or any(
            b"SECRET" in content for content in files
        ):
            leaked.append(run)
    return leaked


@pytest.mark.usefixtures("swapping")
def test_no_text_from_outside_is_got_while_folders_are_swapped(
    notes: Workspace,
) -> None:
    assert shown(notes, 300) <= {"inside", ""}
    assert shown(notes, 20, FORMS) <= {"inside", ""}


@pytest.mark.usefixtures("swapping")
def test_no_text_from_outside_is_indexed_while_folders_are_swapped(
    notes: Workspace,
) -> None:
    assert indexed(notes, 10) == []


@pytest.mark.soak
@pytest.mark.usefixtures("swapping")
def test_no_text_from_outside_is_ever_got(notes: Workspace) -> None:
    assert shown(notes, 30_000) <= {"inside", ""}
    assert shown(notes, 3_000, FORMS) <= {"inside", ""}


@pytest.mark.soak
@pytest.mark.usefixtures("swapping")
def test_no_text_from_outside_is_ever_indexed(notes: Workspace) -> None:
    assert indexed(notes, 300) == []


def swap(notes: Workspace) -> None:
    """Put a link in the place of a folder, once."""
    folder = notes.root / "memory" / "deep"
    folder.rename(notes.root.parent / "aside")
    folder.symlink_to(outside(notes.root))


def without_proc(_path: object, **_where: object) -> str:
    raise OSError("no /proc here")


@pytest.mark.parametrize("proc", [True, False])
def test_what_was_found_before_a_swap_is_not_read_after_it(
    notes: Workspace, proc: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    located = locate(notes, "memory/deep/er/3.md").file
    scanned = [note.file for note in scan(notes).notes]
    assert located
    assert read_note(located).text == "inside\n"
    swap(notes)

    if not proc:
        monkeypatch.setattr("os.readlink", without_proc)

    for file in (located, *scanned):
        with pytest.raises(OSError, match="symbolic links are not followed"):
            read_note(file)


def test_without_proc_a_note_is_read_all_the_same(
    notes: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.readlink", without_proc)

    assert read_note(notes.root / "memory" / "deep" / "er" / "3.md").text == "inside\n"


def test_a_folder_that_fails_while_it_is_looked_at_is_an_error_of_ours(
    notes: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_root: str) -> bool:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("notewell.workspace.paths.has_workspace_layout", broken)

    with pytest.raises(PathRefused, match="Input/output error"):
        get_document(notes, "memory/deep/er/3.md")
