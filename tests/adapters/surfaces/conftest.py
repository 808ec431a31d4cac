"""A folder of notes, and the real command on it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, cast

import pytest
from tests.forked import Forks

import notewell.adapters.surfaces.cli

COMMAND = (
    sys.executable,
    "-c",
    "import sys; from notewell.adapters.surfaces.cli import main; sys.exit(main())",
)
_ROOT = Path(notewell.adapters.surfaces.cli.__file__).parents[4]


@dataclass(frozen=True, slots=True)
class Ran:
    """How a command ended, and what it wrote."""

    code: int
    out: bytes
    err: bytes

    @property
    def text(self) -> str:
        """What stands on stdout."""
        return self.out.decode("utf-8")

    @property
    def said(self) -> str:
        """What stands on stderr."""
        return self.err.decode("utf-8")

    @property
    def value(self) -> dict[str, Any]:
        """The one JSON object on stdout; anything else fails here."""
        assert self.out.count(b"\n") == 1, self.out
        value = json.loads(self.out)
        assert isinstance(value, dict)
        return cast("dict[str, Any]", value)


Notewell: TypeAlias = Callable[..., Ran]


_PLAIN = {
    "PATH": os.environ.get("PATH", ""),
    "PYTHONPATH": str(_ROOT),
    "LANG": "C.UTF-8",
}


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """An environment in which nothing of this machine's owner can be seen."""
    home = tmp_path / "home"
    home.mkdir()
    return {
        "HOME": str(home),
        "OPENCLAW_STATE_DIR": str(home / "state"),
        "CI": "1",  # commands index what has changed themselves, and leave nothing running
        **_PLAIN,
    }


@pytest.fixture(scope="session")
def forks() -> Iterator[Forks]:
    """A process that has imported notewell, for commands to be forked from."""
    made = Forks(_PLAIN)
    yield made
    made.close()


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A workspace with a few notes."""
    root = tmp_path / "notes"
    (root / "memory").mkdir(parents=True)
    write(root / "MEMORY.md", "# Facts\n\nThe gateway port is 18789.\n")
    write(
        root / "memory" / "2026-01-10.md",
        "# Rollout\n\n## Night\n\n"
        "The multi-agent rollout moves 4 GB/s; don't page @night-shift.\n"
        "Ubuntu 20.04 stays; the C++ build is frozen.\n",
    )
    write(root / "memory" / "日記.md", "数据库部署在新加坡\n")
    return root


@pytest.fixture
def run(environ: dict[str, str], notes: Path, tmp_path: Path, forks: Forks) -> Notewell:
    """Runs `notewell` with some words, in a folder that holds no notes."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()

    def run_it(
        *words: str,
        workspace: Path | None = notes,
        env: Mapping[str, str] | None = None,
        cwd: Path = elsewhere,
    ) -> Ran:
        place = () if workspace is None else ("--workspace", str(workspace))
        variables = {**environ, **(env or {})}
        if forks.fits(variables):
            return Ran(*forks.run([*place, *words], env=variables, cwd=cwd))
        done = subprocess.run(
            [*COMMAND, *place, *words],
            env=variables,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=300,
            check=False,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    return run_it


def write(path: Path, text: str) -> None:
    """Write a note as it stands, without changing line ends."""
    path.write_bytes(text.encode("utf-8"))
