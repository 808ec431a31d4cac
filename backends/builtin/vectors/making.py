"""Making the vectors that are missing: in batches, each kept as soon as it is made.

The lock of the index is held for as long as a batch takes to be written, and not while
a model works: other processes index and search meanwhile. Whatever ends a run loses
the batch that was being made, and nothing else.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from notewell.adapters.embeddings.base import Embedder, Provider
from notewell.backends.base import Upload, VectorWork
from notewell.backends.builtin.schema import Generation
from notewell.backends.builtin.store import Store
from notewell.backends.builtin.vectors.embedded import embedded
from notewell.backends.builtin.vectors.keeping import (
    count_lacking,
    prune,
    put,
    settle,
)
from notewell.backends.builtin.vectors.tables import (
    VectorSet,
    embedded_chunks,
    ensure_set,
    waiting,
)

_TRY_AGAIN = 3_600
"""Seconds after which a text that was refused is given to the provider once more."""

_BYTES_PER_TOKEN = 4
"""About, in UTF-8: four letters, or a little more than one character of Chinese."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """How the index is reached.

    Attributes:
        reading: Lends a reader.
        writing: Lends a writer, with the lock.
    """

    reading: Callable[[], AbstractContextManager[Store]]
    writing: Callable[[], AbstractContextManager[Store]]


Which: TypeAlias = Callable[[Store], Generation]
"""Says which generation of the text index is meant."""


def live(store: Store) -> Generation:
    """Return the generation that searches read."""
    found = store.live()
    assert found is not None, "texts are indexed before they are embedded"
    return found


def newest(store: Store) -> Generation:
    """Return the generation that a rebuild is filling; the live one without any."""
    return store.building() or live(store)


class _Text(NamedTuple):
    """A passage without a vector."""

    chunk: int
    digest: bytes
    path: str
    heading: str
    text: str


class Making:
    """Makes the vectors of one provider.

    Attributes:
        sent: Text has been given to the provider.
        embedded: Passages that have a vector, when they were counted last.
        left: Texts that wait for one.
    """

    def __init__(self, access: Access, provider: Provider, which: Which = live) -> None:
        """Take the provider, and which generation's texts it is to embed."""
        self._access = access
        self._provider = provider
        self._which = which
        self.sent = False
        self.embedded = 0
        self.left = 0

    def run(
        self, embedder: Embedder, work: VectorWork, *, cache: int, anew: bool
    ) -> None:
        """Make what is missing.

        Args:
            embedder: The provider, open.
            work: Told how far it is.
            cache: How many vectors are kept that no live text uses.
            anew: Also give the provider what it refused a short while ago.

        Raises:
            EmbeddingError: the provider failed; what was made is kept.
        """
        identity = embedder.identity()
        with self._access.writing() as store:
            vectors = ensure_set(store, identity)
            _forget_refused(store, vectors, since=0 if anew else _TRY_AGAIN)
        try:
            self._make(embedder, vectors, work)
        finally:
            self._finish(vectors, cache)

    def _make(self, embedder: Embedder, vectors: VectorSet, work: VectorWork) -> None:
        with self._access.reading() as store:
            texts, size = _count(store, self._which(store), vectors)
        self.left = texts
        if not texts:
            return
        if self._provider.remote:
            work.uploading(
                Upload(
                    provider=self._provider.name,
                    host=self._provider.host,
                    passages=texts,
                    tokens=size // _BYTES_PER_TOKEN,
                )
            )
        done = 0
        work.progress(done, texts)
        for batch in self._batches(vectors, embedder.batch_size):
            shown = [embedded(one.path, one.heading, one.text) for one in batch]
            self.sent = True
            rows = embedder.embed(shown, "document")
            with self._access.writing() as store:
                put(store, vectors, [one.digest for one in batch], rows)
            done += len(batch)
            work.progress(done, max(done, texts))

    def _batches(self, vectors: VectorSet, size: int) -> Iterator[Sequence[_Text]]:
        """Yield texts without a vector, each once, until there are none."""
        last, generation = 0, 0
        while True:
            with self._access.reading() as store:
                tables = self._which(store)
                if tables.number != generation:
                    last, generation = 0, tables.number  # the index was built anew
                rows = _next(store, tables, vectors, last, size)
            if not rows:
                return
            last = rows[-1].chunk
            yield list({row.digest: row for row in rows}.values())

    def _finish(self, vectors: VectorSet, cache: int) -> None:
        with self._access.writing() as store:
            tables = self._which(store)
            self.left = count_lacking(store, tables, vectors)
            self.embedded = embedded_chunks(store, tables, vectors)
            if tables == live(store):
                settle(store, live(store), vectors)
                prune(store, live(store), most=cache)


def _next(
    store: Store, tables: Generation, vectors: VectorSet, last: int, limit: int
) -> list[_Text]:
    rows = store.connection.execute(
        f"select c.id, c.digest, f.path, c.heading, c.text from {tables.chunks} as c"
        f" join {tables.files} as f on f.id = c.file_id"
        f" where c.id > ? and {waiting(tables, vectors)} order by c.id limit ?",
        (last, limit),
    )
    return [_Text(*row) for row in rows]


def _count(store: Store, tables: Generation, vectors: VectorSet) -> tuple[int, int]:
    """Return how many texts wait for a vector, and about how many bytes they have."""
    count, size = store.rows(
        "select count(*), coalesce(sum(size), 0) from"
        " (select max(length(cast(c.text as blob))) as size"
        f" from {tables.chunks} as c where {waiting(tables, vectors)}"
        " group by c.digest)"
    )[0]
    return count, size


def _forget_refused(store: Store, vectors: VectorSet, *, since: int) -> None:
    """Let texts be tried again that were refused longer ago than some seconds."""
    store.connection.execute(
        f"delete from {vectors.refused} where at <= ?", (int(time.time()) - since,)
    )
