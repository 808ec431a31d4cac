"""`notewell open`: the right file and line, in whatever editor."""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from notewell.adapters.surfaces.cli.commands.open import editor_command

if TYPE_CHECKING:
    from tests.adapters.surfaces.conftest import Notewell

LISTS = "import sys; print(*sys.argv[1:], sep='|'); sys.exit(7)"


@pytest.fixture
def editor() -> str:
    """An editor that prints what it was called with, and ends with 7."""
    return shlex.join([sys.executable, "-c", LISTS, "--wait"])


def test_the_editor_gets_the_file_and_its_exit_code_is_ours(
    run: "Notewell", notes: Path, editor: str
) -> None:
    ran = run("open", "memory/2026-01-10.md#L5-L6", env={"EDITOR": editor})

    file = (notes / "memory" / "2026-01-10.md").resolve()
    assert (ran.code, ran.text) == (7, f"--wait|{file}\n")


def test_visual_beats_editor(run: "Notewell", editor: str) -> None:
    ran = run("open", "MEMORY.md", env={"EDITOR": "/nonexistent", "VISUAL": editor})

    assert ran.code == 7


@pytest.mark.parametrize(
    ("editor", "words"),
    [
        ("vim", ["vim", "+3", "/n/a b.md"]),
        ("/usr/bin/nano -w", ["/usr/bin/nano", "-w", "+3", "/n/a b.md"]),
        ("code --wait", ["code", "--wait", "--goto", "/n/a b.md:3"]),
        ("hx", ["hx", "/n/a b.md:3"]),
        ("kate", ["kate", "--line", "3", "/n/a b.md"]),
        ("'my editor'", ["my editor", "/n/a b.md"]),
        ("  ", ["vi", "+3", "/n/a b.md"]),
    ],
)
def test_each_editor_is_told_the_line_in_its_way(editor: str, words: list[str]) -> None:
    assert editor_command({"EDITOR": editor}, Path("/n/a b.md"), 3) == words


def test_json_says_where_it_is_and_opens_nothing(run: "Notewell", notes: Path) -> None:
    ran = run("open", "2026-01-10#L5", "--json", env={"EDITOR": "/nonexistent"})

    file = (notes / "memory" / "2026-01-10.md").resolve()
    assert ran.value == {"file": str(file), "line": 5}


@pytest.mark.parametrize(
    ("citation", "editor", "said"),
    [
        ("memory/none.md", "vi", "there is no note 'memory/none.md'"),
        ("../outside.md", "vi", "lies outside the workspace"),
        ("MEMORY.md", "/nonexistent/editor", "cannot be started: No such file"),
        ("MEMORY.md", "vi '", "cannot be read"),
    ],
)
def test_what_cannot_be_opened_is_said(
    run: "Notewell", citation: str, editor: str, said: str
) -> None:
    ran = run("open", citation, env={"EDITOR": editor})

    assert ran.code == 2
    assert said in ran.said
