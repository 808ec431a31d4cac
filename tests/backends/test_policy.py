"""What an engine's settings mean above it, and that nobody there knows one by name."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

import notewell
from notewell.backends.policy import Policy
from notewell.backends.registry import (
    BUILTIN,
    backend_class,
    policy_class,
    policy_of,
)
from notewell.config import load_settings

SOURCE: Final = Path(notewell.__file__).parent
OUTSIDE: Final = (
    "backends/builtin/",
    "backends/postgres/",
    "backends/qmd/",
    "backends/registry.py",
)
"""Where an engine may be known by name: in the engines, and in the table of them."""

HONEST: Final = {
    "adapters/surfaces/cli/commands/postgres.py": "the command that prepares a server",
    "adapters/surfaces/cli/root.py": "the name of that command",
    "config/memory_schema.py": "the keys under memory.qmd and memory.postgres",
    "config/schema.py": "the key memorySearch.qmd",
}


def named_engines(tree: ast.AST) -> Iterator[int]:
    """Yield the lines of code, not of prose, that name an engine or its settings."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant):
            value = node.value
            keyed = isinstance(value, str) and re.search(
                r"\bmemory\.(qmd|postgres)\b", value
            )
            if keyed or value in tuple(BUILTIN):
                yield node.lineno
        elif isinstance(node, ast.Attribute) and node.attr in BUILTIN:
            yield node.lineno
        elif isinstance(node, ast.ImportFrom) and node.module:
            below = node.module.split(".")[2:3]
            yield from [node.lineno for name in below if name in BUILTIN]


def test_no_engine_is_known_by_name_outside_the_registry() -> None:
    found = {
        (file.relative_to(SOURCE).as_posix(), line)
        for folder in (SOURCE, SOURCE / "backends", SOURCE / "adapters")
        for file in folder.rglob("*.py")
        for line in named_engines(ast.parse(file.read_text(encoding="utf-8")))
    }

    assert {
        f"{name}:{line}"
        for name, line in found
        if not name.startswith(OUTSIDE) and name not in HONEST
    } == set()
    assert HONEST.keys() <= {name for name, _ in found}, "an exception is not needed"


@pytest.mark.parametrize("name", BUILTIN)
def test_the_policy_of_an_engine_is_that_of_its_class(name: str) -> None:
    assert getattr(backend_class(name), "policy", None) is policy_class(name)


def test_an_engine_that_is_not_there_has_the_usual_policy(tmp_path: Path) -> None:
    settings = load_settings(
        environ={}, home=tmp_path, overrides={"memory.backend": "nobody"}
    )

    policy = policy_of(settings, settings.agent(None))

    assert type(policy) is Policy
    assert policy.max_results == settings.agent(None).search.query.max_results
