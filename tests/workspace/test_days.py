"""Which notes belong to a day, and which day it is for the user."""

from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path
from typing import TypeAlias

import pytest

from notewell.workspace import Workspace, get_document, scan
from notewell.workspace.days import day_of, notes_of_day

Lay: TypeAlias = Callable[[Mapping[str, str]], Path]

DAY = date(2026, 1, 10)


@pytest.mark.parametrize(
    ("name", "day"),
    [
        ("2026-01-10.md", DAY),
        ("2026-01-10.MD", DAY),
        ("2026-01-10-vendor-call.md", DAY),
        ("2026-01-10-会議.md", DAY),
        ("2026-01-10-1709.md", DAY),
        ("2026-13-10.md", None),
        ("2026-01-10.txt", None),
        ("2026-01-101.md", None),
        ("notes-2026-01-10.md", None),
        ("MEMORY.md", None),
    ],
)
def test_a_name_begins_with_its_day(name: str, day: date | None) -> None:
    assert day_of(name) == day


def test_the_log_of_a_day_comes_before_its_notes_with_a_slug(lay: Lay) -> None:
    root = lay(
        {
            "memory/2026-01-10-a.md": "",
            "memory/2026-01-10.md": "",
            "memory/2026-01-11.md": "",
            "memory/old/2026-01-10-b.md": "",
        }
    )

    assert notes_of_day(Workspace(root=root), DAY) == [
        "memory/2026-01-10.md",
        "memory/2026-01-10-a.md",
    ]


def test_without_a_memory_folder_a_day_has_no_notes(tmp_path: Path) -> None:
    assert notes_of_day(Workspace(root=tmp_path), DAY) == []


def test_a_bare_date_finds_the_note_with_a_slug_when_there_is_no_log(lay: Lay) -> None:
    root = lay({"memory/2026-01-10-vendor-call.md": "They agreed.\n"})

    document = get_document(Workspace(root=root), "2026-01-10")

    assert (document.path, document.text) == (
        "memory/2026-01-10-vendor-call.md",
        "They agreed.",
    )
    assert document.reason == "read as memory/2026-01-10-vendor-call.md"


def test_a_bare_date_with_several_notes_names_them(lay: Lay) -> None:
    root = lay({"memory/2026-01-10-a.md": "", "memory/2026-01-10-b.md": ""})

    document = get_document(Workspace(root=root), "2026-01-10.md")

    assert not document.found
    assert "memory/2026-01-10-a.md, memory/2026-01-10-b.md" in str(document.reason)


def test_a_bare_date_prefers_the_log(lay: Lay) -> None:
    root = lay({"memory/2026-01-10-a.md": "slug\n", "memory/2026-01-10.md": "log\n"})

    assert get_document(Workspace(root=root), "2026-01-10").text == "log"


def test_the_note_on_the_user_is_memory_and_the_diary_of_dreams_is_not(
    lay: Lay,
) -> None:
    names = ("MEMORY.md", "USER.md", "DREAMS.md", "AGENTS.md", "memory/x.md")
    root = lay(dict.fromkeys(names, "x\n"))

    found = scan(Workspace(root=root))

    paths = [note.path for note in found.notes]
    assert paths == ["MEMORY.md", "USER.md", "memory/x.md"]
    assert get_document(Workspace(root=root), "DREAMS.md").found
