"""The check of the structure finds what it is for, and says what to do."""

import subprocess
import sys
from pathlib import Path

import pytest

CHECK = Path(__file__).parents[2] / "bin" / "_structure.py"
LIMITS = "[limits]\nleast = 3\nmost = 9\nroom = 6\nfunction = 4\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A package of two modules that keep every limit."""
    write(tmp_path, "src/notewell/__init__.py", "")
    write(tmp_path, "src/notewell/one.py", "A = 1\nB = 2\nC = 3\n")
    write(tmp_path, "src/notewell/two.py", "D = 4\nE = 5\nF = 6\n")
    write(tmp_path, "bin/structure.toml", LIMITS)
    return tmp_path


def structure_findings(root: Path) -> list[str]:
    command = [sys.executable, "-I", CHECK, root]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
    return done.stdout.splitlines()


def write(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, encoding="utf-8")


def test_a_tree_within_the_limits_has_no_findings(tree: Path) -> None:
    assert structure_findings(tree) == []


def test_a_module_too_large_and_one_too_small_are_found(tree: Path) -> None:
    write(tree, "src/notewell/one.py", "A = 1\n" * 10)
    write(tree, "src/notewell/two.py", "D = 4\n")

    [large, small] = structure_findings(tree)

    assert large.startswith("notewell.one: 10 lines, more than 9")
    assert small.startswith("notewell.two: 1 lines, fewer than 3")


def test_a_long_function_is_found_and_its_docstring_is_free(tree: Path) -> None:
    body = "    x = 1\n" * 3
    write(
        tree, "src/notewell/one.py", f'def f():\n    """One.\n    Two.\n    """\n{body}'
    )

    assert structure_findings(tree) == []

    write(tree, "src/notewell/one.py", f"async def f():\n    x = 1\n{body}")

    [found] = structure_findings(tree)
    assert found.startswith("notewell.one.f: 5 lines, more than 4")


def test_a_small_module_with_one_importer_beside_it_is_found(tree: Path) -> None:
    write(tree, "src/notewell/two.py", "from notewell.one import A\nD = A\nE = 5\n")

    [found] = structure_findings(tree)

    assert found.startswith("notewell.one: only notewell.two imports it")


def test_a_module_loaded_by_its_name_in_a_string_counts_as_imported(
    tree: Path,
) -> None:
    write(tree, "src/notewell/two.py", 'D = "notewell.one:A"\nE = 5\nF = 6\n')

    [found] = structure_findings(tree)

    assert found.startswith("notewell.one: only notewell.two imports it")


def test_one_name_with_two_meanings_is_found(tree: Path) -> None:
    write(tree, "src/notewell/one.py", "class Job:\n    x: int\n    y: int\n")
    write(tree, "backends/two.py", "class Job:\n    x: int\n    y: int\n")

    [found] = structure_findings(tree)

    assert found.startswith("Job: one name in notewell.one, notewell.backends.two")


def test_an_exception_is_kept_with_its_reason_and_only_while_it_is_needed(
    tree: Path,
) -> None:
    write(tree, "src/notewell/one.py", "A = 1\n")
    write(
        tree, "bin/structure.toml", f'{LIMITS}[module-size]\n"notewell.one" = "why"\n'
    )

    assert structure_findings(tree) == []

    write(tree, "src/notewell/one.py", "A = 1\nB = 2\nC = 3\n")

    [found] = structure_findings(tree)
    assert "notewell.one: is no exception any more" in found
