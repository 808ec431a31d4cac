"""An embedding provider whose vectors the tests can foresee, and engines that have it."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np
import pytest

from notewell.adapters.embeddings.base import (
    EmbeddingIdentity,
    Provider,
    ProviderChoice,
    Role,
)
from notewell.backends.base import Listener, Run, Upload
from notewell.backends.builtin.engine import Engine
from notewell.backends.builtin.vectors.measurement import UNRELATED
from notewell.errors import EmbeddingError
from notewell.types import IndexReport

if TYPE_CHECKING:
    from tests.backends.conftest import NewNotebook, Notebook

    from notewell.adapters.embeddings.base import Matrix

CONCEPTS = {
    word: number
    for number, group in enumerate(
        (
            "car automobile vehicle",
            "doctor physician surgeon",
            "happy glad joyful",
            "money cash funds",
            "house home dwelling",
            "sea ocean",
        )
    )
    for word in group.split()
}
"""Words that mean the same have the same number."""


class Concepts:
    """An embedder that knows a few synonyms: a text is the sum of its concepts.

    Attributes:
        texts: Every text that was given to it, in order.
        queries: Every question, but those that an indexing run asks of any notes.
        fails: Raised by every call, if set.
        before: Called with the texts before they are embedded.
    """

    batch_size = 8

    def __init__(self, name: str = "concepts", *, dimension: int = 64) -> None:
        self.name = name
        self.model = f"{name}-model"
        self.dimension = dimension
        self.texts: list[str] = []
        self.queries: list[str] = []
        self.fails: EmbeddingError | None = None
        self.before: Callable[[Sequence[str]], None] = lambda texts: None
        self.closed = False

    def identity(self) -> EmbeddingIdentity:
        return EmbeddingIdentity(
            provider=self.name,
            model=self.model,
            endpoint="",
            dimension=self.dimension,
            prefixes="",
        )

    def embed(self, texts: Sequence[str], role: Role) -> "Matrix":
        self.before(texts)
        if self.fails:
            raise self.fails
        asked = [text for text in texts if text not in UNRELATED]
        (self.queries if role == "query" else self.texts).extend(asked)
        return np.stack([self._vector(text) for text in texts])

    def close(self) -> None:
        self.closed = True

    def _vector(self, text: str) -> "Matrix":
        vector = np.zeros(self.dimension, dtype=np.float32)
        if "unembeddable" in text:
            return np.full_like(vector, np.nan)
        for word in re.findall(r"\w+", text.lower()):
            spread = int.from_bytes(blake2b(word.encode(), digest_size=4).digest())
            vector[CONCEPTS.get(word, 6 + spread % (self.dimension - 6))] += 1.0
        return vector / (np.linalg.norm(vector) or 1.0)

    def provider(self, *, remote: bool = False, instant: bool = False) -> Provider:
        """Return it as a provider that was chosen."""
        host = f"{self.name}.example" if remote else ""
        return Provider(
            name=self.name,
            remote=remote,
            host=host,
            open=lambda: self,
            instant=instant,
        )


class Meant(Listener):
    """A notebook whose engine has providers of vectors.

    Attributes:
        notebook: The notes and the engine.
        uploads: What was said before text was sent away.
        agrees: Whether that is agreed to.
        progress: How far the making of vectors was, each time it was told.
    """

    def __init__(self, notebook: "Notebook", first: Provider) -> None:
        self.notebook = notebook
        self._first = first
        self.uploads: list[Upload] = []
        self.agrees = True
        self.progress: list[tuple[int, int]] = []
        self.has()

    def has(
        self,
        first: Provider | None = None,
        second: Provider | None = None,
        last: Provider | None = None,
        *,
        settings: Mapping[str, object] = {},
    ) -> None:
        """Open the engine with these providers and keys of `memorySearch`.

        Without a first provider the one before stays.
        """
        self._first = first or self._first
        search = {f"agents.defaults.memorySearch.{k}": v for k, v in settings.items()}
        self.notebook.engine.close()
        site = self.notebook.site(**search)
        choice = ProviderChoice(first=self._first, second=second, last=last)
        self.notebook.engine = Engine(replace(site, embedding=choice))

    def embedding(self, done: int, total: int) -> None:
        self.progress.append((done, total))

    def uploading(self, upload: Upload) -> bool:
        self.uploads.append(upload)
        return self.agrees

    def index(self, *, force: bool = False) -> IndexReport:
        """Bring texts and vectors up to date."""
        run = Run(force=force, vectors="all", listener=self)
        return self.notebook.engine.refresh(run)


@pytest.fixture
def concepts() -> Concepts:
    """A local embedder."""
    return Concepts()


@pytest.fixture
def meant(notebook: "Notebook", concepts: Concepts) -> Meant:
    """A notebook whose engine has that embedder."""
    return Meant(notebook, concepts.provider())


@pytest.fixture(scope="session")
def new_meant(new_notebook: "NewNotebook") -> Callable[[], Meant]:
    """Makes such notebooks, for properties with many examples."""
    return lambda: Meant(new_notebook(), Concepts().provider())
