import os
import subprocess
import sys
import unicodedata
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

import pytest

from notewell.errors import PathRefused
from notewell.workspace import Workspace, get_document, scan

Lay: TypeAlias = Callable[[Mapping[str, str]], Path]


def test_what_the_ignore_file_lists_is_neither_found_nor_got(lay: Lay) -> None:
    root = lay(
        {
            ".notewellignore": "# mine\n/private/\n*.draft.md\ndiary.md\n",
            "a.md": "",
            "private/x.md": "",
            "deep/private/x.md": "",
            "deep/diary.md": "",
            "b.draft.md": "",
        }
    )
    workspace = Workspace(root=root)

    found = scan(workspace)

    assert [note.path for note in found.notes] == ["a.md", "deep/private/x.md"]
    assert found.skipped == ()
    for path in ("private/x.md", "deep/diary.md", "b.draft.md"):
        with pytest.raises(PathRefused, match="notewellignore"):
            get_document(workspace, path)
    assert get_document(workspace, "diary.md").found is False


def test_it_counts_in_the_memory_folder_of_a_workspace(lay: Lay) -> None:
    root = lay(
        {".notewellignore": "memory/old/\n", "memory/a.md": "", "memory/old/b.md": ""}
    )

    [note] = scan(Workspace(root=root)).notes

    assert note.path == "memory/a.md"


def test_a_deeper_file_beats_a_higher_one(lay: Lay) -> None:
    root = lay(
        {
            ".notewellignore": "*.log.md\n",
            "team/.notewellignore": "!keep.log.md\n/own.md\n",
            "team/keep.log.md": "",
            "team/x.log.md": "",
            "team/own.md": "",
            "own.md": "",
        }
    )
    workspace = Workspace(root=root)

    assert [note.path for note in scan(workspace).notes] == [
        "own.md",
        "team/keep.log.md",
    ]
    assert get_document(workspace, "team/keep.log.md").found


def test_nothing_is_taken_back_from_an_excluded_folder(lay: Lay) -> None:
    root = lay({".notewellignore": "p/\n!p/x.md\n", "p/x.md": "", "a.md": ""})
    workspace = Workspace(root=root)

    assert [note.path for note in scan(workspace).notes] == ["a.md"]
    with pytest.raises(PathRefused):
        get_document(workspace, "p/x.md")


def test_the_ignore_file_of_the_workspace_counts_from_above_too(lay: Lay) -> None:
    root = lay({"ws/.notewellignore": "private/\n", "ws/private/x.md": "", "y.md": ""})
    workspace = Workspace(root=root / "ws", extra_paths=("..",))

    assert [note.path for note in scan(workspace).notes] == ["../y.md"]
    with pytest.raises(PathRefused):
        get_document(workspace, "private/x.md")


def test_a_pattern_matches_a_name_in_the_other_unicode_form(lay: Lay) -> None:
    name = unicodedata.normalize("NFD", "규정")
    root = lay({".notewellignore": "규정/\n", f"{name}/x.md": "", "a.md": ""})

    assert [note.path for note in scan(Workspace(root=root)).notes] == ["a.md"]


def test_a_line_that_is_no_pattern_is_named_and_the_others_count(lay: Lay) -> None:
    root = lay({".notewellignore": "!\nprivate/\n", "private/x.md": "", "a.md": ""})

    found = scan(Workspace(root=root))

    assert [note.path for note in found.notes] == ["a.md"]
    [skipped] = found.skipped
    assert skipped.path == ".notewellignore"
    assert "line 1" in skipped.detail


def test_an_ignore_file_that_cannot_be_read_is_named(lay: Lay) -> None:
    root = lay({"a.md": ""})
    os.mkfifo(root / ".notewellignore")

    found = scan(Workspace(root=root))

    assert [note.path for note in found.notes] == ["a.md"]
    assert [each.reason for each in found.skipped] == ["unreadable"]


def test_without_such_a_file_its_library_is_not_loaded(lay: Lay) -> None:
    root = lay({"a.md": ""})
    script = (
        "import sys; from pathlib import Path; from notewell.workspace import *\n"
        f"assert len(scan(Workspace(root=Path({str(root)!r}))).notes) == 1\n"
        "print('pathspec' in sys.modules)"
    )

    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )

    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("line", ["[z-a]", "*a" * 20, "*" * 20_000, "(" * 100_000])
def test_a_pattern_that_cannot_be_matched_is_reported_and_not_applied(
    tmp_path: Path, line: str
) -> None:
    (tmp_path / f"{'a' * 60}.md").write_text("okapi\n", encoding="utf-8")
    (tmp_path / ".notewellignore").write_text(f"{line}\n", encoding="utf-8")

    found = scan(Workspace(root=tmp_path))

    assert len(found.notes) == 1
    assert [each.path for each in found.skipped] == [".notewellignore"]
