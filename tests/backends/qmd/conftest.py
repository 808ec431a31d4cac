"""The real QMD for the tests that need it, and programs that misbehave as it may."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

FOLDER = Path(os.environ.get("NOTEWELL_TEST_QMD") or Path(__file__).parents[3] / ".venv" / "qmd")
"""Where bin/test installs QMD and a Node for it, by version."""

LATEST = "2.8.3"


def installed(version: str = LATEST) -> tuple[str, str] | None:
    """Return Node and the script of QMD, None if they are not there."""
    node = FOLDER / "node" / "node_modules" / "node" / "bin" / "node"
    package = FOLDER / version / "node_modules" / "@tobilu" / "qmd"
    entries = (package / "dist" / "cli" / "qmd.js", package / "dist" / "qmd.js")
    for entry in entries:
        if node.exists() and entry.exists():
            return str(node), str(entry)
    return None


def command_of(version: str = LATEST) -> list[str]:
    """Return `memory.qmd.command` for the real QMD; skip the test without it."""
    found = installed(version)
    if found is None:
        pytest.skip(f"QMD {version} is not installed")
    return list(found)


def environ_for(**more: str) -> Mapping[str, str]:
    """Return an environment in which programs can start, and nothing else."""
    return {"PATH": os.environ.get("PATH", os.defpath), **more}
