import inspect
import os
import socket
import sys
import unicodedata
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

import pytest

from notewell.types import Skipped
from notewell.workspace import Workspace, WorkspaceScan, scan
from notewell.workspace.layout import MAX_NOTE_BYTES

Lay: TypeAlias = Callable[[Mapping[str, str]], Path]
AsNobody: TypeAlias = Callable[[str], str]


def paths_of(found: WorkspaceScan) -> list[str]:
    return [note.path for note in found.notes]


def paths_in(root: Path, *extra_paths: str) -> list[str]:
    return paths_of(scan(Workspace(root=root, extra_paths=extra_paths)))


def reasons_of(found: WorkspaceScan) -> list[tuple[str, str]]:
    return [(skipped.path, skipped.reason) for skipped in found.skipped]


def test_a_workspace_is_its_notes_in_the_root_and_its_memory_folder(lay: Lay) -> None:
    root = lay(
        {
            "MEMORY.md": "",
            "memory/2026-01-10.md": "",
            "memory/deep/er/x.MD": "",
            "memory/picture.png": "",
            "AGENTS.md": "",
            "USER.md": "",
            "notes/x.md": "",
        }
    )

    found = scan(Workspace(root=root))

    assert paths_of(found) == [
        "MEMORY.md",
        "USER.md",
        "memory/2026-01-10.md",
        "memory/deep/er/x.MD",
    ]
    assert found.skipped == ()


def test_a_memory_folder_alone_makes_a_workspace(lay: Lay) -> None:
    assert paths_in(lay({"memory/a.md": "", "AGENTS.md": ""})) == ["memory/a.md"]


def test_the_lower_case_name_is_read_when_it_is_the_only_one(lay: Lay) -> None:
    root = lay({"memory.md": "", "memory/a.md": ""})

    assert paths_in(root) == ["memory.md", "memory/a.md"]


def test_of_two_long_term_notes_one_is_read_and_one_is_named(lay: Lay) -> None:
    root = lay({"MEMORY.md": "one", "memory.md": "two"})
    if len(os.listdir(root)) == 1:
        pytest.skip("this disk ignores case")

    found = scan(Workspace(root=root))

    assert paths_of(found) == ["MEMORY.md"]
    assert reasons_of(found) == [("memory.md", "duplicate")]


def test_any_other_folder_is_read_whole(lay: Lay) -> None:
    root = lay(
        {"a.md": "", "b/c.Md": "", "b/memory.md": "", "b/d.txt": "", "e.mdx": ""}
    )

    assert paths_in(root) == ["a.md", "b/c.Md", "b/memory.md"]


def test_hidden_and_heavy_folders_are_left_out_without_a_word(lay: Lay) -> None:
    root = lay(
        {
            "a.md": "",
            ".hidden.md": "",
            ".git/x.md": "",
            ".obsidian/x.md": "",
            "node_modules/pkg/README.md": "",
            "code/__pycache__/x.md": "",
            "env/pyvenv.cfg": "",
            "env/lib/x.md": "",
            "cache/CACHEDIR.TAG": "",
            "cache/x.md": "",
            "build/notes.md": "",
        }
    )

    found = scan(Workspace(root=root))

    assert paths_of(found) == ["a.md", "build/notes.md"]
    assert found.skipped == ()


def test_the_folder_that_was_named_is_read_even_if_it_is_an_environment(
    lay: Lay,
) -> None:
    assert paths_in(lay({"pyvenv.cfg": "", "a.md": ""})) == ["a.md"]


def test_links_are_named_and_not_followed(lay: Lay, tmp_path: Path) -> None:
    root = lay({"memory/good.md": "kiwi"})
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.md").touch()
    (root / "memory" / "folder").symlink_to(tmp_path / "outside")
    (root / "memory" / "bad.md").symlink_to(tmp_path / "outside" / "secret.md")
    (root / "memory" / "broken.md").symlink_to(tmp_path / "nope")
    (root / "memory" / "picture.png").symlink_to(tmp_path / "nope")
    (root / "MEMORY.md").symlink_to(tmp_path / "outside" / "secret.md")

    found = scan(Workspace(root=root))

    assert paths_of(found) == ["memory/good.md"]
    assert reasons_of(found) == [
        ("MEMORY.md", "symlink"),
        ("memory/bad.md", "symlink"),
        ("memory/broken.md", "symlink"),
        ("memory/folder", "symlink"),
    ]


def test_a_memory_folder_that_is_a_link_is_named(lay: Lay, tmp_path: Path) -> None:
    root = lay({"AGENTS.md": ""})
    (tmp_path / "vault").mkdir()
    (root / "memory").symlink_to(tmp_path / "vault")

    found = scan(Workspace(root=root))

    assert paths_of(found) == []
    assert reasons_of(found) == [("memory", "symlink")]


def test_the_root_itself_may_be_a_link(lay: Lay, tmp_path: Path) -> None:
    root = lay({"a.md": ""})
    (tmp_path / "link").symlink_to(root)

    [note] = scan(Workspace(root=tmp_path / "link")).notes

    assert note.path == "a.md"
    assert note.file == str(root / "a.md")


def test_what_is_no_file_or_too_large_stops_nothing(lay: Lay) -> None:
    root = lay({"good.md": "", "large.md": "", "empty.md": ""})
    os.truncate(root / "large.md", MAX_NOTE_BYTES + 1)
    os.mkfifo(root / "pipe.md")
    listener = socket.socket(socket.AF_UNIX)
    here = os.getcwd()
    os.chdir(root)  # the path of a socket has about 100 bytes
    try:
        listener.bind("socket.md")
    finally:
        os.chdir(here)
        listener.close()

    found = scan(Workspace(root=root))

    assert paths_of(found) == ["empty.md", "good.md"]
    assert reasons_of(found) == [
        ("large.md", "too-large"),
        ("pipe.md", "not-a-file"),
        ("socket.md", "not-a-file"),
    ]


def test_a_name_that_is_no_text_is_shown_and_left_out(lay: Lay) -> None:
    root = lay({"good.md": ""})
    try:
        Path(os.fsdecode(os.fsencode(root) + b"/caf\xe9.md")).touch()
        Path(os.fsdecode(os.fsencode(root) + b"/f\xff")).mkdir()
    except OSError:
        pytest.skip("this disk takes only UTF-8 names")

    found = scan(Workspace(root=root))

    assert paths_of(found) == ["good.md"]
    assert reasons_of(found) == [("caf\\xe9.md", "bad-name"), ("f\\xff", "bad-name")]


def test_names_in_every_script_are_kept_as_the_disk_has_them(lay: Lay) -> None:
    decomposed = unicodedata.normalize("NFD", "학점인정.md")
    names = sorted(
        ["日本語.md", "腾讯混元.md", "My Recipe_Notes.md", "a\nb.md", decomposed]
    )
    root = lay(dict.fromkeys(names, ""))

    assert [unicodedata.normalize("NFC", path) for path in paths_in(root)] == [
        unicodedata.normalize("NFC", name) for name in names
    ]


def test_names_that_differ_in_a_separator_are_three_notes(lay: Lay) -> None:
    names = ["my file.md", "my-file.md", "my_file.md"]

    assert paths_in(lay(dict.fromkeys(names, ""))) == names


def test_two_hard_links_are_two_notes(lay: Lay) -> None:
    root = lay({"a.md": "kiwi"})
    os.link(root / "a.md", root / "b.md")

    assert paths_in(root) == ["a.md", "b.md"]


def test_no_folder_is_too_deep(lay: Lay) -> None:
    root = lay({"d/" * 200 + "x.md": ""})
    limit = sys.getrecursionlimit()

    sys.setrecursionlimit(len(inspect.stack(0)) + 100)
    try:
        [path] = paths_in(root)
    finally:
        sys.setrecursionlimit(limit)

    assert path == "d/" * 200 + "x.md"


def test_a_note_carries_what_the_disk_says(lay: Lay) -> None:
    root = lay({"a.md": "kiwi"})
    os.utime(root / "a.md", ns=(1, 1_700_000_000_123_456_789))

    found = scan(Workspace(root=root))
    [note] = found.notes

    disk = (root / "a.md").stat()
    assert note.file == str(root / "a.md")
    assert (note.size, note.mtime_ns, note.ctime_ns) == (
        4,
        disk.st_mtime_ns,
        disk.st_ctime_ns,
    )
    assert found.bytes == 4


def test_a_missing_root_is_reported(tmp_path: Path) -> None:
    found = scan(Workspace(root=tmp_path / "nope"))

    assert found.notes == ()
    assert reasons_of(found) == [(".", "missing")]


def test_what_may_not_be_read_is_named_and_the_rest_is_found(
    open_folder: Path, as_nobody: AsNobody
) -> None:
    for name in ("good.md", "closed.md", "closed/x.md", "zoo.md"):
        (open_folder / name).parent.mkdir(exist_ok=True)
        (open_folder / name).touch()
    (open_folder / "closed.md").chmod(0)
    (open_folder / "closed").chmod(0)

    printed = as_nobody(
        f"found = scan(Workspace(root=Path({str(open_folder)!r})))\n"
        "print([n.path for n in found.notes])\n"
        "print([(s.path, s.reason) for s in found.skipped])\n"
    )

    assert printed.splitlines() == [
        "['good.md', 'zoo.md']",
        "[('closed', 'unreadable'), ('closed.md', 'unreadable')]",
    ]


def test_a_root_that_may_not_be_read_is_reported(
    open_folder: Path, as_nobody: AsNobody
) -> None:
    (open_folder / "root").mkdir(mode=0)

    printed = as_nobody(
        f"found = scan(Workspace(root=Path({str(open_folder / 'root')!r})))\n"
        "print([(s.path, s.reason) for s in found.skipped])\n"
    )

    assert printed == "[('.', 'unreadable')]"


def test_a_folder_that_vanishes_during_the_walk_is_no_error(
    lay: Lay, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = lay({"a/x.md": "", "b/x.md": "", "z.md": ""})
    real: Callable[[str], object] = os.scandir

    def scandir(folder: str) -> object:
        if folder == str(root / "a"):
            (root / "a" / "x.md").unlink()
            (root / "a").rmdir()
        return real(folder)

    monkeypatch.setattr(os, "scandir", scandir)
    found = scan(Workspace(root=root))

    assert paths_of(found) == ["b/x.md", "z.md"]
    assert found.skipped == ()


def test_skipped_files_carry_a_sentence_for_a_person(lay: Lay) -> None:
    root = lay({})
    (root / "a.md").symlink_to(root / "nope")

    assert scan(Workspace(root=root)).skipped == (
        Skipped(
            path="a.md",
            reason="symlink",
            detail="a symbolic link, it is not followed",
        ),
    )
