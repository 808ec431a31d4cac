"""A folder of notes with the builtin engine on it, and other processes that use it."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import date
from itertools import chain
from pathlib import Path
from typing import TypeAlias

import pytest
from tests.other_users import LOAD_ALL

import notewell
from notewell.backends.base import Findings, Query, Run, Site
from notewell.backends.builtin.engine import Engine
from notewell.backends.contract.case import state_of
from notewell.config import load_settings
from notewell.dates import read_dates
from notewell.types import IndexReport
from notewell.workspace import Workspace, get_document

_CHILD = """
import os, sys
import filelock
from pathlib import Path
from notewell.backends.base import Listener, Query, Run, Site
from notewell.backends.builtin.engine import Engine
from notewell.config import load_settings
from notewell.errors import BackendError
from notewell.workspace import Workspace

root, state = Path(sys.argv[1]), Path(sys.argv[2])
overrides = {"agents.defaults.workspace": str(root)}
settings = load_settings(config_file=None, environ={"OPENCLAW_STATE_DIR": str(state)},
                         home=state, overrides=overrides)
site = Site(workspace=Workspace(root=root), agent=settings.agent(None),
            memory=settings.memory, state_dir=state)

def refresh(engine, force=False, within=None):
    return engine.refresh(Run(force=force, within=within))

def ask(engine, text, limit=6):
    return engine.search(Query(text=text, limit=limit))

def paths(engine, text, limit=6):
    return sorted({hit.path for hit in ask(engine, text, limit).hits})

"""


def _paths(citations: Iterable[str]) -> list[str]:
    return [citation.rpartition("#")[0] for citation in citations]


class Notebook:
    """A folder of notes with the builtin engine on it.

    Attributes:
        root: The folder.
        workspace: The same, to read from.
        state: Where the engine writes.
        index: The file that the engine writes.
        engine: The engine; it may be replaced by `reopen`.
    """

    def __init__(self, folder: Path) -> None:
        folder = folder.resolve()
        self.root = folder / "notes"
        self.state = folder / "state"
        self.index = self.state / "memory" / "main.sqlite"
        self.workspace = Workspace(root=self.root)
        (self.root / "memory").mkdir(parents=True)
        self.engine = Engine(self.site())

    def site(self, **overrides: object) -> Site:
        """Return where the engine works, with these settings by their full key."""
        settings = load_settings(
            config_file=None,
            environ={"OPENCLAW_STATE_DIR": str(self.state)},
            home=self.state,
            overrides={"agents.defaults.workspace": str(self.root), **overrides},
        )
        agent = settings.agent(None)
        return Site(
            workspace=self.workspace,
            agent=agent,
            memory=settings.memory,
            state_dir=self.state,
        )

    def reopen(self, **search: object) -> None:
        """Close the engine and open another, with these keys of `memorySearch`."""
        self.engine.close()
        settings = {f"agents.defaults.memorySearch.{k}": v for k, v in search.items()}
        self.engine = Engine(self.site(**settings))

    def write(self, notes: Mapping[str, str]) -> None:
        """Write notes below the folder, line ends as they are."""
        for path, text in notes.items():
            file = self.root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text.encode("utf-8"))

    def refresh(
        self, *, force: bool = False, within: float | None = None
    ) -> IndexReport:
        """Bring the index up to date."""
        return self.engine.refresh(Run(force=force, within=within))

    def ask(
        self,
        text: str,
        *,
        limit: int = 6,
        min_score: float | None = None,
        hidden: Collection[str] = (),
    ) -> Findings:
        """Put a question; every answer is held against the files (law 1, law 3)."""
        query = Query(
            text=text,
            limit=limit,
            min_score=min_score,
            dates=read_dates(text, date(2026, 12, 1)),
            hides=frozenset(hidden).__contains__,
        )
        found = self.engine.search(query)
        assert bool(found.hits) == (found.reason is None)
        assert len(found.hits) <= limit
        for hit in found.hits[:20]:
            count = hit.end_line - hit.start_line + 1
            cited = get_document(
                self.workspace, hit.path, start=hit.start_line, lines=count
            )
            assert cited.end_line == hit.end_line
            assert hit.snippet in cited.text
            assert 0 < len(hit.snippet) <= 700
        return found

    def paths(
        self, text: str, *, limit: int = 6, min_score: float | None = None
    ) -> list[str]:
        """Return the notes in the answer to a question, best first, each once.

        Those with copies of a passage come after the one that stands for them.
        """
        found = self.ask(text, limit=limit, min_score=min_score)
        every = ([hit.path, *_paths(hit.also_in)] for hit in found.hits)
        return list(dict.fromkeys(chain.from_iterable(every)))

    def state_of_notes(self) -> dict[str, tuple[int, int, str]]:
        """Return size, time and content of everything in the folder."""
        return state_of(self.root)

    def start(self, script: str) -> "subprocess.Popen[str]":
        """Start another process; it has `site`, `refresh`, `ask` and `paths`."""
        loaded = LOAD_ALL if "os.setuid(" in script else ""
        code = loaded + _CHILD + script
        return subprocess.Popen(
            [sys.executable, "-u", "-c", code, self.root, self.state],
            env={**os.environ, "PYTHONPATH": str(Path(notewell.__file__).parents[1])},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )

    def run(self, script: str) -> str:
        """Run another process to its end and return what it printed."""
        out, err, code = finish(self.start(script))
        assert code == 0, err
        return out.strip()


NewNotebook: TypeAlias = Callable[[], Notebook]


def finish(process: "subprocess.Popen[str]") -> tuple[str, str, int]:
    """Wait for a process; return its output, its complaints and its exit code."""
    with process:
        out, err = process.communicate(timeout=120)
    return out, err, process.returncode


@pytest.fixture
def notebook(tmp_path: Path) -> Iterator[Notebook]:
    """An empty folder with a `memory` folder, and no index yet."""
    made = Notebook(tmp_path)
    yield made
    made.engine.close()


@pytest.fixture
def open_notebook() -> Iterator[Notebook]:
    """A notebook in a folder that any user can enter, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp(prefix="notewell-test-"))
    folder.chmod(0o755)
    made = Notebook(folder)
    yield made
    made.engine.close()
    for place, _, _ in os.walk(folder):
        os.chmod(place, 0o700)
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def new_notebook(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NewNotebook]:
    """Makes notebooks, also within one test, for properties with many examples."""
    made: list[Notebook] = []

    def make() -> Notebook:
        for one in made:
            one.engine.close()
            shutil.rmtree(one.root.parent, ignore_errors=True)
        made[:] = [Notebook(tmp_path_factory.mktemp("notebook"))]
        return made[0]

    yield make
    for one in made:
        one.engine.close()
