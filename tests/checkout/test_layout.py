"""The tests are laid out as the sources are; tests/README.md says the rule."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests"
OF_NO_PACKAGE = {"checkout", "work"}
OF_NO_MODULE = {
    "test_docs",
    "test_examples",
    "test_packaging",
    "test_public_api",
    "test_terminal_sessions",
}


def has_source(of: Path) -> bool:
    """Whether there is a package or a module at that place in the sources."""
    part = of.relative_to(TESTS)
    at_the_top = part.parts[0] in ("adapters", "backends")
    place = (ROOT if at_the_top else ROOT / "src" / "notewell") / part
    return (place / "__init__.py").is_file() or place.with_suffix(".py").is_file()


FOLDERS = sorted(
    {file.parent for file in TESTS.rglob("test_*.py")}
    - {TESTS, *(TESTS / name for name in OF_NO_PACKAGE)}
)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda at: str(at.relative_to(TESTS)))
def test_a_folder_of_tests_has_its_package(folder: Path) -> None:
    assert has_source(folder)


def test_a_file_of_tests_beside_the_folders_has_its_module() -> None:
    tested = {file.stem for file in TESTS.glob("test_*.py")} - OF_NO_MODULE

    assert [
        name for name in tested if not has_source(TESTS / name.removeprefix("test_"))
    ] == []
