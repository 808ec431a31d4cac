"""Workspaces of a known size, with and without vectors."""

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
import pytest

from notewell.adapters.embeddings.base import (
    NO_PROVIDER,
    EmbeddingIdentity,
    Provider,
    ProviderChoice,
    Role,
)
from notewell.backends.base import Query, Run, Site
from notewell.backends.builtin.engine import Engine
from notewell.config import load_settings
from notewell.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from notewell.adapters.embeddings.base import Matrix

DIMENSION: Final = 32
SMALL: Final = 100
LARGE: Final = 500


NewShelf: TypeAlias = Callable[..., "Shelf"]


class Vectors:
    """A provider on this machine that gives each text a vector of its own."""

    batch_size = 64
    model = "numbers"

    def __init__(self, embedded: list[str]) -> None:
        self._embedded = embedded

    def identity(self) -> EmbeddingIdentity:
        return EmbeddingIdentity(
            provider="numbers",
            model=self.model,
            endpoint="",
            dimension=DIMENSION,
            prefixes="",
        )

    def embed(self, texts: "Sequence[str]", role: Role) -> "Matrix":
        if role == "document":
            self._embedded.extend(texts)
        seeds = [sum(text.encode()) + len(text) for text in texts]
        rows = [np.random.default_rng(seed).normal(size=DIMENSION) for seed in seeds]
        made = np.array(rows, dtype=np.float32)
        return made / np.linalg.norm(made, axis=1, keepdims=True)

    def close(self) -> None:
        return None


class Shelf:
    """A workspace of so many notes, each with one passage.

    Attributes:
        root: Its folder.
        state: Where the engine writes.
        embedded: Every text that got a vector.
    """

    def __init__(self, folder: Path, size: int, *, vectors: bool = False) -> None:
        self.root = folder / "notes"
        self.state = folder / "state"
        self.embedded: list[str] = []
        first = Provider(
            name="numbers", remote=False, host="", open=lambda: Vectors(self.embedded)
        )
        self._embedding = ProviderChoice(first=first) if vectors else NO_PROVIDER
        (self.root / "memory").mkdir(parents=True)
        for number in range(size):
            self.write(number, _text(number, size))

    def write(self, number: int, text: str) -> None:
        """Write one note."""
        file = self.root / "memory" / f"note-{number}.md"
        file.write_text(text, encoding="utf-8")
        os.utime(file, ns=(0, 1_700_000_000_000_000_000 + len(text)))

    def search(self, text: str) -> Callable[[], object]:
        """Return a search like that of a command: nothing is open yet."""

        def work() -> None:
            with closing(self.engine()) as engine:
                assert engine.search(Query(text=text, limit=6)).hits

        return work

    def refresh(self) -> object:
        """Bring the index up to date, as a command does."""
        embeds = self._embedding is not NO_PROVIDER
        with closing(self.engine()) as engine:
            return engine.refresh(Run(vectors="all" if embeds else "none"))

    def engine(self) -> Engine:
        """Return a new engine; the caller closes it."""
        settings = load_settings(
            config_file=None,
            environ={"OPENCLAW_STATE_DIR": str(self.state)},
            home=self.state,
            overrides={"agents.defaults.workspace": str(self.root)},
        )
        return Engine(
            Site(
                workspace=Workspace(root=self.root),
                agent=settings.agent(None),
                memory=settings.memory,
                state_dir=self.state,
                embedding=self._embedding,
            )
        )


def _text(number: int, size: int) -> str:
    """A note: one word of its own, one of every note, and in five notes a rare one."""
    rare = (
        "The heron stood at the pool. 数据库部署在新加坡\n"
        if number % (size // 5) == 0
        else ""
    )
    return f"# Note {number}\n\nThe gateway of item{number} is common.\n{rare}"


@pytest.fixture(scope="module", autouse=True)
def settled() -> Iterator[None]:
    """Notes count as settled at once, else the work would depend on the time.

    Of a module and no longer: the tests of other folders run in this process, too.
    """
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("notewell.backends.builtin.sync._RACY_NS", -1)
        yield


@pytest.fixture(scope="session")
def new_shelf(tmp_path_factory: pytest.TempPathFactory) -> NewShelf:
    """Makes workspaces that are not indexed yet."""

    def make(size: int, *, vectors: bool = False) -> Shelf:
        return Shelf(tmp_path_factory.mktemp("shelf"), size, vectors=vectors)

    return make


@pytest.fixture(scope="module")
def shelves(new_shelf: NewShelf) -> tuple[Shelf, Shelf]:
    """Two indexed workspaces, a small one and a large one."""
    return _indexed(new_shelf(SMALL)), _indexed(new_shelf(LARGE))


@pytest.fixture(scope="module")
def meaning(new_shelf: NewShelf) -> tuple[Shelf, Shelf]:
    """The same with vectors."""
    small, large = (new_shelf(size, vectors=True) for size in (SMALL, LARGE))
    return _indexed(small), _indexed(large)


def _indexed(shelf: Shelf) -> Shelf:
    shelf.refresh()
    return shelf
