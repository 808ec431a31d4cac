"""The real QMD for the tests that need it, and programs that misbehave as it may."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

import pytest

_FOLDER = Path(
    os.environ.get("NOTEWELL_TEST_QMD") or Path(__file__).parents[3] / ".venv" / "qmd"
)
"""Where bin/test puts QMD and a Node for it: `<version>/`, `node/`."""

Installed: TypeAlias = Callable[[str], list[str]]


@pytest.fixture(scope="session")
def qmd_of_version() -> Installed:
    """Gives `memory.qmd.command` for a real QMD; skips the test without it."""

    def command(version: str) -> list[str]:
        nodes = list((_FOLDER / "node" / "node_modules").glob("node-*/bin/node"))
        package = _FOLDER / version / "node_modules" / "@tobilu" / "qmd" / "dist"
        for entry in (package / "cli" / "qmd.js", package / "qmd.js"):
            if nodes and entry.exists():
                return [str(nodes[0]), str(entry)]
        pytest.skip(f"no QMD {version} here")

    return command


@pytest.fixture(scope="session")
def qmd(qmd_of_version: Installed) -> list[str]:
    """`memory.qmd.command` for the QMD that we recommend."""
    return qmd_of_version("2.8.3")


@pytest.fixture(scope="session")
def environ() -> Mapping[str, str]:
    """An environment in which programs can start, and nothing else."""
    return {"PATH": os.environ.get("PATH", os.defpath)}
