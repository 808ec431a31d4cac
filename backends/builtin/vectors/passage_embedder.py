"""Making the vectors that are missing: in batches, each kept as soon as it is made.

The lock of the index is held for as long as a batch takes to be written, and not while
a model works: other processes index and search meanwhile. Only one of them makes
vectors, by a lock of its own: two would make, and pay for, the same ones. Whatever ends a
run loses the batch that was being made, and nothing else.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Final

from notewell.adapters.embeddings.base import Embedder, Provider
from notewell.backends.base import SILENT, Run, Upload
from notewell.backends.builtin.locking import writer_lock
from notewell.backends.builtin.store import Store
from notewell.backends.builtin.vectors.calibration import calibration_key
from notewell.backends.builtin.vectors.local_texts import NEVER, LocalTexts
from notewell.backends.builtin.vectors.maintenance import (
    EmbeddedText,
    drop_damaged,
    prune,
    put_embedded,
    settle,
)
from notewell.backends.builtin.vectors.query_embedder import cut_for
from notewell.backends.builtin.vectors.sets import (
    AT_ONCE,
    IndexAccess,
    PendingText,
    PickGeneration,
    VectorSet,
    all_sets,
    count_embedded,
    count_missing,
    ensure_set,
    last_problems,
    live_generation,
    pending_size,
    pending_texts,
    whole_size,
)
from notewell.backends.text.windows import cut_windows, times_read
from notewell.config import SearchSettings
from notewell.errors import EmbeddingError
from notewell.hosts import HostAgreements

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from notewell.adapters.embeddings.base import Matrix
    from notewell.adapters.embeddings.remote.batch import BatchEmbedder

    Row = NDArray[np.float32]

_TRY_AGAIN: Final = 3_600
"""Seconds after which a text that was refused is given to the provider once more."""

_BYTES_PER_TOKEN: Final = 4
"""About, in UTF-8: four letters, or a little more than one character of Chinese."""

_AT_ONCE_SECONDS: Final = 1.0
"""For which somebody waits for vectors that are instant, a batch aside."""

_HANDED_IN: Final = 10_000
"""Texts that are in memory at once for a provider's batch interface."""

_DIGEST: Final = 16
"""Bytes of a digest."""

_BUSY: Final = "Another process is making vectors; its result is used."


class PassageEmbedder:
    """Makes the vectors of one provider.

    Attributes:
        sent: Text has been given to the provider.
        embedded: Passages that have a vector, when they were counted last.
        left: Texts that wait for one.
        denied: Why nothing was sent, where nobody has agreed to the host.
        before: What came between the providers and their vectors when that was noted last,
            by name; None: nobody has looked.
        warnings: What a person should know.
    """

    def __init__(
        self,
        access: IndexAccess,
        provider: Provider,
        settings: SearchSettings,
        which: PickGeneration = live_generation,
        *,
        agreements: HostAgreements,
        local_texts: LocalTexts,
    ) -> None:
        """Take the provider, and which generation's texts it is to embed.

        Args:
            agreements: Which hosts may be sent text.
            local_texts: Texts that no host may be sent.
        """
        self._local_texts = local_texts if provider.remote else LocalTexts(())
        self._agreements = agreements
        self._announced = False
        self._access = access
        self._provider = provider
        self._settings = settings
        self._which = which
        self._cut = cut_for(provider, settings.chunking.window)
        self._anew = False
        self._parts: dict[bytes, dict[int, Row]] = {}
        self.sent = False
        self.embedded = 0
        self.left = 0
        self.denied: str | None = None
        self.before: Mapping[str, str] | None = None
        self.warnings: tuple[str, ...] = ()

    def may_begin(self, run: Run) -> bool:
        """Whether nothing is sent, or a person has agreed to the host, now or before.

        Nothing is connected to before that.
        """
        host = self._provider.host
        if not self._provider.remote or self._agreements.has(host):
            return True
        with self._access.reading() as store:
            tables = self._which(store)
            allowed = self._local_texts.allowed(tables)
            made = (
                pending_size(store, tables, kept, allowed)
                for identity, kept in all_sets(store)
                if identity.provider == self._provider.name and kept.cut == self._cut
            )
            texts, size = min(made, default=whole_size(store, tables, allowed))
        if not texts:
            return True
        upload = self._upload(texts, size)
        self._announced = True
        if run.listener.uploading(upload):
            self._agreements.add(host)
            return True
        self.left = texts
        passages = "passage" if texts == 1 else "passages"
        told = f"{texts:,} {passages}, about {upload.tokens:,} tokens"
        agree = "`notewell index --yes` agrees, once for this host"
        self.denied = f"nothing was sent to {host}: {told}; {agree}"
        self.warnings = (f"N{self.denied[1:]}.",)
        return False

    def _upload(self, texts: int, size: int) -> Upload:
        return Upload(
            provider=self._provider.name,
            host=self._provider.host,
            passages=texts,
            tokens=round(size / _BYTES_PER_TOKEN * times_read(self._cut)),
        )

    def run(self, embedder: Embedder, run: Run, *, anew: bool) -> None:
        """Make what is missing.

        Args:
            embedder: The provider, open.
            run: Which of them, and who hears how far it is.
            anew: Also give the provider what it refused a short while ago, and the
                texts whose vectors are damaged.

        Raises:
            EmbeddingError: the provider failed; what was made is kept.
            IndexUnreadable: the index has gone or is damaged.
        """
        identity = embedder.identity()
        self._anew = anew
        with self._access.writing() as store:
            path = store.path
            vectors = ensure_set(store, identity, self._cut)
            _forget_refused(store, vectors, since=0 if anew else _TRY_AGAIN)
            if anew:
                drop_damaged(store, vectors)
            if self._provider.remote:
                self._local_texts.mark(store, self._which(store), vectors)
        with writer_lock(Path(f"{path}.vectors"), patient=False) as mine:
            try:
                if mine:
                    self._make(embedder, vectors, run)
                else:
                    self.warnings = (_BUSY,)
            finally:
                self._finish(vectors)
            if mine:
                self._calibrate(embedder, vectors)

    def _make(self, embedder: Embedder, vectors: VectorSet, run: Run) -> None:
        with self._access.reading() as store:
            tables = self._which(store)
            allowed = self._local_texts.allowed(tables)
            texts, size = pending_size(store, tables, vectors, allowed)
            self.before = last_problems(store)
        self.left = texts
        if not texts or (run.vectors == "instant" and texts > AT_ONCE):
            return
        listener = run.listener
        if self._provider.remote and not self._announced:
            listener.uploading(self._upload(texts, size))
        if self._provider.instant and texts <= AT_ONCE:
            listener = SILENT  # over before it could be read
        done, until = 0, time.monotonic() + _AT_ONCE_SECONDS
        listener.embedding(done, texts)
        for made in self._made(embedder, vectors):
            done += made
            listener.embedding(done, max(done, texts))
            if run.vectors == "instant" and time.monotonic() > until:
                break

    def _made(self, embedder: Embedder, vectors: VectorSet) -> Iterator[int]:
        """Embed what waits; yield how many texts were done each time."""
        under_way: set[bytes] = set()
        batches = self._batches(embedder)
        if batches is not None:
            for slab in self._waiting(vectors, _HANDED_IN, ()):
                yield from self._handed_in(embedder, batches, slab, under_way)
        for texts in self._waiting(vectors, embedder.batch_size, under_way):
            self.sent = True
            cut = [cut_windows(text.shown, self._cut) for text in texts]
            rows = self._embedded(embedder, [one.text for part in cut for one in part])
            ends = list(accumulate(map(len, cut)))
            self._keep(
                embedder,
                [
                    EmbeddedText(text.digest, rows[end - len(part) : end])
                    for text, part, end in zip(texts, cut, ends, strict=True)
                ],
            )
            yield len(texts)

    def _embedded(self, embedder: Embedder, texts: Sequence[str]) -> Matrix:
        """Return the vectors of windows, shape (len(texts), dimension)."""
        import numpy as np

        size = embedder.batch_size
        return np.concatenate(
            [
                embedder.embed(texts[at : at + size], "document")
                for at in range(0, len(texts), size)
            ]
        )

    def _batches(self, embedder: Embedder) -> BatchEmbedder | None:
        if not self._provider.remote:
            return None
        # Rarely needed.
        from notewell.adapters.embeddings.remote.batch import batches_of

        with self._access.reading() as store:
            # Beside the index, which is where their vectors go.
            cut = "".join(letter if letter.isdigit() else "-" for letter in self._cut)
            journals = Path(f"{store.path}.batches{cut}")
        return batches_of(embedder, self._settings.remote.batch, journals)

    def _handed_in(
        self,
        embedder: Embedder,
        batches: BatchEmbedder,
        texts: Sequence[PendingText],
        under_way: set[bytes],
    ) -> Iterator[int]:
        """Embed by the provider's batch interface, if it is worth the wait.

        What was paid for and is not there yet goes into `under_way`.
        """
        from notewell.adapters.embeddings.remote.batch import WORTH_IT

        cut = {text.digest: cut_windows(text.shown, self._cut) for text in texts}
        shown = {
            _key(digest, number, len(part)): one.text
            for digest, part in cut.items()
            for number, one in enumerate(part)
        }
        if len(shown) < WORTH_IT and not batches.under_way(shown):
            return
        self.sent = True
        try:
            for keys, rows in batches.embed(shown):
                whole = self._put_together(keys, rows)
                self._keep(embedder, whole)
                yield len(whole)
        except EmbeddingError as error:
            self.warnings = (*self.warnings, error.with_remedy)
        under_way.update(key[:_DIGEST] for key in batches.under_way(shown))

    def _put_together(self, keys: Sequence[bytes], rows: Matrix) -> list[EmbeddedText]:
        """Return the texts of which every window is here now."""
        import numpy as np

        whole: list[EmbeddedText] = []
        for key, row in zip(keys, rows, strict=True):
            digest, number, count = _read_key(key)
            parts = self._parts.setdefault(digest, {})
            parts[number] = row
            if len(parts) == count:
                ordered = [parts[place] for place in sorted(parts)]
                whole.append(EmbeddedText(digest, np.stack(ordered)))
                del self._parts[digest]
        return whole

    def _keep(self, embedder: Embedder, made: Sequence[EmbeddedText]) -> None:
        with self._access.writing() as store:
            # Looked up again: somebody may have begun the index anew meanwhile.
            put_embedded(store, ensure_set(store, embedder.identity(), self._cut), made)

    def _waiting(
        self, vectors: VectorSet, size: int, but: Collection[bytes]
    ) -> Iterator[Sequence[PendingText]]:
        """Yield texts without a vector, each once, until there are none."""
        last, generation = 0, 0
        while True:
            with self._access.reading() as store:
                tables = self._which(store)
                if tables.number != generation:
                    last, generation = 0, tables.number  # the index was built anew
                rows = pending_texts(
                    store,
                    tables,
                    vectors,
                    after=last,
                    limit=size,
                    allowed=self._local_texts.allowed(tables),
                )
            if not rows:
                return
            last = rows[-1].chunk
            texts = {row.digest: row for row in rows if row.digest not in but}
            if texts:
                yield list(texts.values())

    def _finish(self, vectors: VectorSet) -> None:
        cache = self._settings.cache
        with self._access.writing() as store:
            tables = self._which(store)
            if self._provider.remote:
                self._local_texts.mark(store, tables, vectors)
            self.left = count_missing(store, tables, vectors)
            self.embedded = count_embedded(store, tables, vectors)
            if not self.left:
                store.put(vectors.whole, 1)
            if tables == live_generation(store):
                prune(store, tables, most=cache.max_entries if cache.enabled else 0)
                vector = self._settings.store.vector
                settle(store, tables, vectors, vector, anew=self._anew)
                self._tell_refused(store, vectors)

    def _calibrate(self, embedder: Embedder, vectors: VectorSet) -> None:
        """Measure what the vectors are worth, if that is not known for these notes."""
        from notewell.backends.builtin.vectors.measurement import (
            UNRELATED,
            measure,
            sample_of,
        )

        with self._access.reading() as store:
            sample = sample_of(store, self._which(store), vectors, self.embedded)
        if sample is None:
            return
        size, asked = embedder.batch_size, [cut for _, cut in sample.cuts]
        asked += UNRELATED
        try:
            rows = [
                row
                for at in range(0, len(asked), size)
                for row in embedder.embed(asked[at : at + size], "query")
            ]
        except EmbeddingError as error:
            # The vectors are there; they are heard as those of a usual model.
            self.warnings = (*self.warnings, error.with_remedy)
            return
        found = measure(sample, rows)
        with self._access.writing() as store:
            store.put(calibration_key(vectors), found.encoded())

    def _tell_refused(self, store: Store, vectors: VectorSet) -> None:
        refused = store.one(
            f"select count(*) from {vectors.refused} where at < {NEVER}"
        )
        if refused:
            told = (
                f"Passages that {self._provider.name} gives no usable vector for, "
                f"found by words alone: {refused}; they are tried again later."
            )
            self.warnings = (*self.warnings, told)


def _key(digest: bytes, number: int, count: int) -> bytes:
    """Return the name of a window in a batch; that of a whole passage is its digest."""
    return digest + bytes([number, count - 1]) if count > 1 else digest


def _read_key(key: bytes) -> tuple[bytes, int, int]:
    """Return the digest, which window it is, and how many there are."""
    if len(key) == _DIGEST:
        return key, 0, 1
    return key[:_DIGEST], key[_DIGEST], key[_DIGEST + 1] + 1


def _forget_refused(store: Store, vectors: VectorSet, *, since: int) -> None:
    """Let texts be tried again that were refused longer ago than some seconds."""
    store.connection.execute(
        f"delete from {vectors.refused} where at <= ?", (int(time.time()) - since,)
    )
