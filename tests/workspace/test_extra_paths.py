import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

import pytest

from notewell.errors import PathRefused
from notewell.types import ExtraPath, NarrowedPath
from notewell.workspace import Workspace, get_document, scan

Lay: TypeAlias = Callable[[Mapping[str, str]], Path]


def test_folders_and_files_beside_the_workspace_are_read(lay: Lay) -> None:
    root = lay({"ws/MEMORY.md": "", "team/a.md": "", "team/sub/b.md": "", "c.md": "x"})
    workspace = Workspace(root=root / "ws", extra_paths=("../team", str(root / "c.md")))

    found = scan(workspace)

    assert [note.path for note in found.notes] == [
        "../c.md",
        "../team/a.md",
        "../team/sub/b.md",
        "MEMORY.md",
    ]
    assert found.extra_paths == (
        ExtraPath(path="../team", resolved=str(root / "team"), files=2),
        ExtraPath(path=str(root / "c.md"), resolved=str(root / "c.md"), files=1),
    )


def test_a_folder_in_the_workspace_can_be_added(lay: Lay) -> None:
    root = lay({"memory/a.md": "", "notes/b.md": "", "other/c.md": ""})

    found = scan(Workspace(root=root, extra_paths=("notes",)))

    assert [note.path for note in found.notes] == ["memory/a.md", "notes/b.md"]


@pytest.mark.parametrize(
    "extra_paths",
    [("memory",), (".",), ("..",), ("notes", "notes/sub", "notes"), ("../w/notes",)],
)
def test_what_overlaps_is_read_once(lay: Lay, extra_paths: tuple[str, ...]) -> None:
    root = lay({"MEMORY.md": "", "memory/a.md": "", "notes/sub/b.md": ""})

    notes = scan(Workspace(root=root, extra_paths=extra_paths)).notes

    files = [note.file for note in notes]
    assert len(files) == len(set(files))
    assert {"MEMORY.md", "memory/a.md"} <= {note.path for note in notes}
    assert all(not note.path.startswith("../w/") for note in notes)


def test_from_above_the_workspace_its_notes_keep_their_own_paths(lay: Lay) -> None:
    root = lay({"a/ws/memory/x.md": "", "a/ws/USER.md": "", "a/y.md": "", "z.md": ""})
    workspace = Workspace(root=root / "a" / "ws", extra_paths=("../..",))

    found = scan(workspace)

    assert [note.path for note in found.notes] == [
        "../../z.md",
        "../y.md",
        "USER.md",
        "memory/x.md",
    ]
    for note in found.notes:
        assert get_document(workspace, note.path).path == note.path


def test_a_link_as_extra_path_is_reported(lay: Lay) -> None:
    root = lay({"ws/MEMORY.md": "", "vault/a.md": ""})
    (root / "link").symlink_to(root / "vault")

    found = scan(Workspace(root=root / "ws", extra_paths=("../link", "../link/")))

    assert [note.path for note in found.notes] == ["MEMORY.md"]
    assert all("symbolic link" in (extra.problem or "") for extra in found.extra_paths)
    assert {(each.path, each.reason) for each in found.skipped} == {
        ("../link", "symlink"),
        ("../link/", "symlink"),
    }


def test_a_link_in_the_workspace_leads_no_extra_path_out(lay: Lay) -> None:
    root = lay({"ws/MEMORY.md": "", "vault/sub/a.md": ""})
    (root / "ws" / "link").symlink_to(root / "vault")

    found = scan(Workspace(root=root / "ws", extra_paths=("link/sub",)))

    assert [note.path for note in found.notes] == ["MEMORY.md"]
    assert [each.reason for each in found.skipped] == ["symlink"]


def test_the_parents_of_an_extra_path_may_be_links(lay: Lay) -> None:
    root = lay({"ws/MEMORY.md": "", "disk/team/a.md": ""})
    (root / "link").symlink_to(root / "disk")

    found = scan(Workspace(root=root / "ws", extra_paths=("../link/team",)))

    assert [note.path for note in found.notes] == ["../disk/team/a.md", "MEMORY.md"]


@pytest.mark.parametrize(
    ("configured", "problem"),
    [
        ("../nope", "no such file"),
        ("../x.txt", "not a Markdown file"),
        ("../pipe.md", "neither a file nor a folder"),
        ("/", "not a path that can be searched"),
        ("", "not a path that can be searched"),
        ("a\0b", "not a path that can be searched"),
        ("\ud83c", "not a path that can be searched"),
        ("n" * 300, "name too long"),
    ],
)
def test_an_extra_path_that_cannot_be_read_says_why(
    lay: Lay, configured: str, problem: str
) -> None:
    root = lay({"ws/MEMORY.md": "", "x.txt": ""})
    os.mkfifo(root / "pipe.md")

    found = scan(Workspace(root=root / "ws", extra_paths=(configured,)))

    assert [note.path for note in found.notes] == ["MEMORY.md"]
    [extra] = found.extra_paths
    assert extra.files == 0
    assert problem in (extra.problem or "").replace("File name", "name")
    assert len(found.skipped) == 1


def test_a_broken_extra_path_hides_no_healthy_one(lay: Lay) -> None:
    root = lay({"ws/MEMORY.md": "", "team/a.md": "kiwi"})
    workspace = Workspace(root=root / "ws", extra_paths=("../nope", "../team"))

    assert get_document(workspace, "../team/a.md").text == "kiwi"
    assert get_document(workspace, "../nope/a.md").found is False


def test_a_hidden_folder_is_read_if_it_is_named(lay: Lay) -> None:
    root = lay({"ws/MEMORY.md": "", ".notes/a.md": "kiwi", ".notes/.b/c.md": ""})
    workspace = Workspace(root=root / "ws", extra_paths=("../.notes",))

    found = scan(workspace)

    assert [note.path for note in found.notes] == ["../.notes/a.md", "MEMORY.md"]
    assert get_document(workspace, "../.notes/a.md").text == "kiwi"


def test_a_pattern_narrows_a_folder_for_the_scan_and_for_get(lay: Lay) -> None:
    files = ("runbooks/r.md", "runbooks/deep/s.md", "other.md", "runbooks.md")
    root = lay({"ws/MEMORY.md": "", **{f"vault/{each}": "x\n" for each in files}})
    narrowed = NarrowedPath("../vault", "runbooks/**/*.md")
    workspace = Workspace(root=root / "ws", extra_paths=(narrowed,))

    found = scan(workspace)

    assert [note.path for note in found.notes] == [
        "../vault/runbooks/deep/s.md",
        "../vault/runbooks/r.md",
        "MEMORY.md",
    ]
    assert found.extra_paths[0].files == 2
    assert get_document(workspace, "../vault/runbooks/r.md").text == "x"
    with pytest.raises(PathRefused, match="the pattern"):
        get_document(workspace, "../vault/other.md")


def test_a_folder_may_be_narrowed_twice_and_each_file_is_read_once(lay: Lay) -> None:
    root = lay({"ws/MEMORY.md": "", "v/a.md": "", "v/b.md": "", "v/c.md": ""})
    patterns = ("{a,b}.md", "b.md", "[", "nothing/**")
    paths = tuple(NarrowedPath("../v", pattern) for pattern in patterns)

    notes = scan(Workspace(root=root / "ws", extra_paths=paths)).notes

    assert [note.path for note in notes] == ["../v/a.md", "../v/b.md", "MEMORY.md"]


def test_a_single_file_is_read_whatever_its_pattern(lay: Lay) -> None:
    root = lay({"ws/MEMORY.md": "", "c.md": ""})
    narrowed = NarrowedPath("../c.md", "x/*.md")

    notes = scan(Workspace(root=root / "ws", extra_paths=(narrowed,))).notes

    assert [note.path for note in notes] == ["../c.md", "MEMORY.md"]
