"""Files of cloud drives that are not on this disk, and the names that a disk gives."""

import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from notewell.files import read_regular
from notewell.workspace import Workspace, get_document, scan
from notewell.workspace.days import day_of
from notewell.workspace.layout import long_term_note, memory_folder
from notewell.workspace.placeholders import is_hollow, is_placeholder

if TYPE_CHECKING:
    from tests.workspace.conftest import Lay


def _looks(**values: int) -> os.stat_result:
    return cast("os.stat_result", SimpleNamespace(**values))


def _left_out(root: Path) -> list[tuple[str, str]]:
    return [(each.path, each.reason) for each in scan(Workspace(root=root)).skipped]


def _paths(root: Path) -> list[str]:
    return [note.path for note in scan(Workspace(root=root)).notes]


def _is_case_kept(root: Path) -> bool:
    return not (root / "memory").exists()


@pytest.mark.parametrize(
    ("platform", "looks", "elsewhere"),
    [
        ("darwin", {"st_flags": 0x40000000}, True),
        ("darwin", {"st_flags": 0x20}, False),
        ("win32", {"st_file_attributes": 0x00400020}, True),
        ("win32", {"st_file_attributes": 0x00041000}, True),
        ("win32", {"st_file_attributes": 0x20}, False),
        ("linux", {}, False),
    ],
)
def test_a_placeholder_is_told_as_its_platform_documents(
    platform: str,
    looks: dict[str, int],
    elsewhere: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "platform", platform)

    assert is_placeholder(_looks(**looks)) is elsewhere


def test_a_file_with_a_size_and_no_block_is_hollow_unless_it_is_small() -> None:
    assert is_hollow(_looks(st_size=4_096, st_blocks=0))
    assert not is_hollow(_looks(st_size=4_096, st_blocks=8))
    assert not is_hollow(_looks(st_size=90, st_blocks=0))


def test_notes_that_are_not_downloaded_are_named_and_not_opened(
    lay: "Lay", monkeypatch: pytest.MonkeyPatch
) -> None:
    root = lay(
        {
            "a.md": "kiwi\n" * 900,
            "notes/.plan.md.icloud": "x",
            "notes/trip.md.nextcloud": "x",
            "notes/.picture.png.icloud": "x",
            "notes/.hidden.md": "x",
        }
    )
    (root / "hollow.md").touch()
    os.truncate(root / "hollow.md", 8_192)
    monkeypatch.setattr("notewell.files.read_regular", pytest.fail)

    assert _left_out(root) == [
        ("hollow.md", "not-downloaded"),
        ("notes/plan.md", "not-downloaded"),
        ("notes/trip.md", "not-downloaded"),
    ]
    assert _paths(root) == ["a.md"]
    assert scan(Workspace(root=root)).why_unread("notes/plan.md") is not None
    assert read_regular is not None


def test_where_no_file_has_blocks_nothing_is_taken_for_a_placeholder(
    lay: "Lay",
) -> None:
    root = lay({})
    for name in ("a.md", "b.md"):
        (root / name).touch()
        os.truncate(root / name, 8_192)

    assert (_paths(root), _left_out(root)) == (["a.md", "b.md"], [])


def test_in_a_workspace_the_long_term_note_may_be_the_placeholder(lay: "Lay") -> None:
    root = lay({".MEMORY.md.icloud": "x", "memory/a.md": "kiwi\n", "b.md": "x"})

    assert (_paths(root), _left_out(root)) == (
        ["memory/a.md"],
        [("MEMORY.md", "not-downloaded")],
    )


def test_the_long_suffix_counts_in_any_case(lay: "Lay") -> None:
    root = lay(
        {"a.markdown": "kiwi\n", "B.MARKDOWN": "x", "c.markdownx": "x", "markdown": "x"}
    )

    assert _paths(root) == ["B.MARKDOWN", "a.markdown"]
    assert get_document(Workspace(root=root), "a.markdown").text == "kiwi"
    assert str(day_of("2026-01-10-call.markdown")) == "2026-01-10"


@pytest.mark.parametrize("name", ["Memory", "MEMORY"])
def test_the_folder_of_the_memory_has_the_name_that_the_disk_lists(
    lay: "Lay", name: str
) -> None:
    root = lay({"MEMORY.md": "x", f"{name}/2026-01-10.md": "kiwi\n", "b.md": "x"})

    assert memory_folder(str(root)) == name
    assert _paths(root) == ["MEMORY.md", f"{name}/2026-01-10.md"]
    for asked in (f"{name}/2026-01-10.md", "memory/2026-01-10.md", "2026-01-10"):
        found = get_document(Workspace(root=root), asked)
        assert (found.path, found.text) == (f"{name}/2026-01-10.md", "kiwi")


def test_that_folder_alone_makes_a_workspace(lay: "Lay") -> None:
    root = lay({"Memory/a.md": "x", "b.md": "x", "Memory.md": "x"})

    assert _paths(root) == ["Memory.md", "Memory/a.md"]
    assert long_term_note(str(root)) == "Memory.md"


def test_of_two_such_folders_one_is_read_and_the_other_is_named(lay: "Lay") -> None:
    root = lay({"Memory/a.md": "x"})
    if not _is_case_kept(root):
        pytest.skip("this disk ignores case")
    lay({"memory/b.md": "x"})

    assert _paths(root) == ["memory/b.md"]
    assert _left_out(root) == [("Memory", "duplicate")]
