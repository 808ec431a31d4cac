"""The help of every command: a checked text, readable, and the same in the docs."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from notewell.adapters.surfaces.cli.root import COMMANDS

if TYPE_CHECKING:
    from tests.adapters.surfaces.conftest import Notewell

GOLDEN = Path(__file__).parent / "golden"
PAGE = Path(__file__).parents[4] / "docs" / "cli.md"
NAMES = ["notewell", *COMMANDS]


def golden(name: str) -> str:
    return (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_help_is_the_checked_text(name: str, run: "Notewell") -> None:
    words = [] if name == "notewell" else [name]

    ran = run(*words, "--help")

    # When a change is meant: `notewell NAME --help > tests/adapters/surfaces/cli/golden/NAME.txt`
    assert (ran.code, ran.text, ran.said) == (0, golden(name), "")


@pytest.mark.parametrize("name", NAMES)
def test_the_docs_show_what_help_prints(name: str) -> None:
    page = PAGE.read_text(encoding="utf-8")

    assert f"```text\n{golden(name)}```\n" in page


@pytest.mark.parametrize("name", NAMES)
def test_help_is_readable_at_80_columns_and_ends_with_examples(name: str) -> None:
    lines = golden(name).splitlines()

    assert max(map(len, lines)) <= 80
    examples = lines[lines.index("Examples:") :]
    assert sum(line.startswith("  notewell ") for line in examples) >= 3


def test_the_docs_have_a_chapter_for_each_command_and_no_other() -> None:
    chapters = [
        line.removeprefix("## notewell ")
        for line in PAGE.read_text(encoding="utf-8").splitlines()
        if line.startswith("## notewell ")
    ]

    assert chapters == list(COMMANDS)


def test_without_a_command_help_is_shown(run: "Notewell") -> None:
    ran = run(workspace=None)

    assert (ran.code, ran.text) == (0, golden("notewell"))


@pytest.mark.parametrize(
    ("words", "page"),
    [(["help"], "notewell"), (["help", "get"], "get"), (["help", "help"], "notewell")],
    ids=["help", "help get", "help help"],
)
def test_help_is_also_a_word(words: list[str], page: str, run: "Notewell") -> None:
    ran = run(*words)

    assert (ran.code, ran.text, ran.said) == (0, golden(page), "")


@pytest.mark.parametrize(
    ("line", "advice"),
    [
        (["search", "-n", "3", "gateway"], "did you mean --max-results?"),
        (["search", "gateway", "--limit", "3"], "did you mean --max-results?"),
        (["get", "MEMORY.md", "-n", "3"], "did you mean --lines?"),
        (["status", "--folder", "notes"], "did you mean --workspace?"),
        (["index", "notes"], "a folder of notes is named with --workspace DIR"),
        (["status", "notes"], "a folder of notes is named with --workspace DIR"),
    ],
    ids=" ".join,
)
def test_what_other_programs_call_it_gets_advice(
    line: list[str], advice: str, run: "Notewell"
) -> None:
    ran = run(*line)

    assert (ran.code, ran.text) == (2, "")
    assert advice in ran.said


def test_the_version_is_told(run: "Notewell") -> None:
    ran = run("--version")

    assert ran.code == 0
    assert ran.text.startswith("notewell ")


@pytest.mark.parametrize(
    ("word", "advice"),
    [
        ("serach", "did you mean `notewell search`?"),
        ("Status", "did you mean `notewell status`?"),
        ("what is the gateway port", "notewell search QUERY"),
    ],
)
def test_an_unknown_command_gets_advice(
    word: str, advice: str, run: "Notewell"
) -> None:
    ran = run(word)

    assert (ran.code, ran.text) == (2, "")
    assert advice in ran.said
