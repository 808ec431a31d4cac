"""An open remote provider: texts in, unit vectors out.

How many texts go into one request follows published limits, and what refusals teach
(`BatchSizer`).
"""

from __future__ import annotations

import hashlib
import threading
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from notewell.adapters.embeddings.base import EmbeddingIdentity, Reach, Role
from notewell.adapters.embeddings.prefixes import describe
from notewell.adapters.embeddings.remote.batch import JobJournal
from notewell.adapters.embeddings.remote.dialect import (
    Dialect,
    EmbeddingRequest,
    HttpRequest,
    JobTransport,
    Limits,
    is_own,
)
from notewell.adapters.embeddings.remote.errors import ErrorMap, Refusal
from notewell.adapters.embeddings.remote.http import HttpClient
from notewell.adapters.embeddings.vectors import unit_rows, usable_rows, vector_length
from notewell.foreign import well_formed

if TYPE_CHECKING:
    from pathlib import Path

    from notewell.adapters.embeddings.base import EmbeddingSettings, Matrix
    from notewell.adapters.embeddings.remote.address import Address
    from notewell.adapters.embeddings.remote.batch import BatchEmbedder
    from notewell.config import Secret
    from notewell.config.schema import BatchSettings

_HARMLESS: Final = "note"
"""A text that no server refuses: if it does, the request is at fault."""

_STREAK: Final = 8

_LONGEST_STREAK: Final = 256


class RemoteEmbedder:
    """An Embedder that asks a server."""

    def __init__(
        self,
        settings: EmbeddingSettings,
        dialect: Dialect,
        address: Address,
        reach: Reach,
    ) -> None:
        """Make ready; no connection is opened.

        Args:
            settings: What is configured.
            dialect: The protocol.
            address: Of the server.
            reach: Told how far the connections lead.

        Raises:
            EmbeddingError: a proxy of the environment cannot be used.
        """
        self._settings = settings
        self._dialect = dialect
        self._address = address
        self._own = is_own(dialect, address)
        self._model = _model(settings, dialect, own=self._own)
        self._prefixes = dialect.prefixes(self._model, self._own)
        self._dimension = self._published()
        self._portions = BatchSizer(dialect.limits)
        self._errors = ErrorMap(
            settings=settings,
            host=address.host,
            model=self._model,
            pull=dialect.pull,
            start=dialect.start,
        )
        self._client = HttpClient(
            address,
            headers=_headers(settings, dialect, address),
            environ=settings.environ,
            errors=self._errors,
            reach=reach,
        )

    @property
    def model(self) -> str:
        """The model's name, as an answer shows it."""
        return self._model

    @property
    def batch_size(self) -> int:
        """How many texts are worth giving at once."""
        return self._dialect.limits.usual

    def identity(self) -> EmbeddingIdentity:
        """Return what the vectors depend on; asks the model at most once.

        Raises:
            EmbeddingError: the dimension is not known without the model, which fails.
        """
        return self.identity_of(self._dimension or self._probe("query"))

    def identity_of(self, dimension: int) -> EmbeddingIdentity:
        """Return what vectors of so many numbers depend on; see `TellsIdentity`."""
        return EmbeddingIdentity(
            provider=self._settings.name,
            model=self._model,
            endpoint=self._address.url,
            dimension=self._dimension or dimension,
            prefixes=describe(self._prefixes, pooling=self._roles()),
        )

    def embed(self, texts: Sequence[str], role: Role) -> Matrix:
        """Return one unit vector per text; see `Embedder.embed`.

        Raises:
            EmbeddingError: no text could be embedded.
        """
        if self._dimension is None and len(texts) == 1:
            only = self._learnt(texts, role)
            if only is not None:
                return only
        dimension = self._dimension or self._probe(role)
        found = np.full((len(texts), dimension), np.nan, dtype=np.float32)
        start = 0
        while start < len(texts):
            portion = self._portions.next(texts, start)
            self._fill(found, texts, portion, role)
            start = portion.stop
        return found

    def _learnt(self, texts: Sequence[str], role: Role) -> Matrix | None:
        """Embed one text, and learn from its vector how long all are.

        Returns:
            The vector; None if the server gave none that can be used.
        """
        try:
            [vector] = self._ask(texts, role)
        except Refusal:
            return None
        dimension = vector_length(vector)
        if not dimension:
            return None
        rows = unit_rows([vector], dimension)
        if not usable_rows(rows).all():
            return None
        self._dimension = dimension
        return rows

    def batches(self, settings: BatchSettings, journals: Path) -> BatchEmbedder | None:
        """Return the batch interface; only the provider itself has one.

        Raises:
            EmbeddingError: the dimension is not known without the model, which fails.
        """
        from notewell.adapters.embeddings.remote.batch import BatchEmbedder

        if self._dialect.jobs is None or not self._own:
            return None
        identity = self.identity()
        retries = self._settings.document
        channel = JobTransport(
            send=lambda call: self._client.ask(call, retries),
            fetch=lambda call: self._client.fetch(call, retries),
            call=lambda texts: self._call(texts, "document"),
        )
        return BatchEmbedder(
            self._dialect.jobs(channel),
            JobJournal(journals / _journal(identity)),
            dimension=identity.dimension,
            settings=settings,
            errors=self._errors,
        )

    def close(self) -> None:
        """Release the connections. Calling it twice is harmless."""
        self._client.close()

    def _fill(
        self, found: Matrix, texts: Sequence[str], portion: range, role: Role
    ) -> None:
        """Embed a portion, halving what is refused until single texts are to blame."""
        waiting: deque[Sequence[int]] = deque([portion])
        refused: list[Sequence[int]] = []
        largest = 0
        while waiting:
            part = waiting.popleft()
            rows = self._rows([texts[place] for place in part], role, found.shape[1])
            found[list(part)] = rows
            good = usable_rows(rows)
            if not good.any():
                if not largest:
                    self._probe(role)  # or the request is at fault, not these texts
                refused.append(part)
                waiting.extend(_halves(part))
                continue
            largest = max(largest, len(part))
            if len(part) > 1:  # another try for those alone that went wrong
                waiting.extend([part[int(i)]] for i in np.flatnonzero(~good))
        self._portions.learn(largest=largest, refused=_too_many(refused))

    def _rows(self, texts: Sequence[str], role: Role, dimension: int) -> Matrix:
        """Ask once; all rows are NaN if the server does not want these texts."""
        try:
            return unit_rows(self._ask(texts, role), dimension)
        except Refusal:
            return unit_rows([None] * len(texts), dimension)

    def _ask(self, texts: Sequence[str], role: Role) -> list[object]:
        """Return vectors as the server gives them, None where it gives none.

        Raises:
            Refusal: the server does not want these texts.
            EmbeddingError: it cannot be asked.
        """
        settings = self._settings
        retries = settings.query if role == "query" else settings.document
        answer = self._client.ask(self._call(texts, role), retries)
        return self._dialect.rows(answer, len(texts))

    def _call(self, texts: Sequence[str], role: Role) -> HttpRequest:
        settings = self._settings
        ask = EmbeddingRequest(
            model=self._model,
            texts=[well_formed(self._prefixes.before(text, role)) for text in texts],
            role=role,
            dimensionality=settings.dimensionality,
            input_type=settings.input_types.get(role),
            own=self._own,
        )
        return self._dialect.call(ask)

    def _probe(self, role: Role) -> int:
        """Return the dimension, learnt from a harmless text and remembered.

        Raises:
            EmbeddingError: even that one is not embedded.
        """
        try:
            rows = self._ask([_HARMLESS], role)
        except Refusal as refused:
            raise self._errors.of_request(refused) from None
        numbers = vector_length(rows[0])
        dimension = self._dimension or numbers
        if not numbers or not usable_rows(unit_rows(rows, dimension)).all():
            raise self._errors.of_vector(numbers, dimension)
        self._dimension = dimension
        return dimension

    def _roles(self) -> str:
        """Say how else than by prefixes the server is told the roles."""
        stated = self._settings.input_types.items()
        types = (f"{role}={input_type}" for role, input_type in sorted(stated))
        return ",".join(filter(None, (self._dialect.roles, *types)))

    def _published(self) -> int | None:
        """Return the dimension where it is certain without asking."""
        if self._settings.dimensionality:
            return self._settings.dimensionality
        return self._dialect.dimensions.get(self._model) if self._own else None


def _journal(identity: EmbeddingIdentity) -> str:
    """Name the file with the jobs for one identity; vectors of others never mix."""
    return f"{hashlib.sha256(identity.encoded().encode()).hexdigest()[:16]}.json"


def _halves(part: Sequence[int]) -> tuple[Sequence[int], ...]:
    middle = len(part) // 2
    return (part[:middle], part[middle:]) if middle else ()


def _too_many(refused: Sequence[Sequence[int]]) -> bool:
    """Whether one of these was refused for its size, not for a text in it."""
    blamed = {part[0] for part in refused if len(part) == 1}
    return any(blamed.isdisjoint(part) for part in refused)


def _model(settings: EmbeddingSettings, dialect: Dialect, *, own: bool) -> str:
    """Return the model's name; OpenClaw writes `openai/…` before those of a provider,
    while at other servers that may be a part of the name."""
    model = settings.model or dialect.model
    return model.removeprefix(f"{settings.name}/") if own else model


def _headers(
    settings: EmbeddingSettings, dialect: Dialect, address: Address
) -> dict[str, Secret]:
    """Return every header; what is configured wins over what follows from a key."""
    from notewell.config import Secret

    sent: dict[str, Secret] = {}
    if address.login is not None:
        sent["Authorization"] = address.login
    if settings.key.key is not None:
        name, value = dialect.carries(settings.key.key.reveal())
        sent[name] = Secret(value)
    given = {name.lower() for name in settings.headers}
    kept = {name: held for name, held in sent.items() if name.lower() not in given}
    return {**kept, **settings.headers}


class BatchSizer:
    """The size of the next request. Safe to share between threads.

    A server may hold fewer texts than published, and words its refusals as it likes.
    So the size that worked is kept, and twice as many are tried only after a
    streak of successes, which grows each time that fails.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._size = limits.items
        self._streak = 0
        self._wanted = _STREAK
        self._lock = threading.Lock()

    def next(self, texts: Sequence[str], start: int) -> range:
        """Return which texts, from `start` on, go into the next request."""
        end = start
        tokens = 0
        while end < len(texts) and end - start < self._size:
            tokens += _tokens(texts[end])
            if end > start and tokens > self._limits.tokens:
                break
            end += 1
        return range(start, end)

    def learn(self, *, largest: int, refused: bool) -> None:
        """Remember how a request went.

        Args:
            largest: The most texts that were answered at once; 0 if none were.
            refused: More texts than that were refused.
        """
        with self._lock:
            if refused:
                self._size = max(1, largest)
                self._streak = 0
                self._wanted = min(2 * self._wanted, _LONGEST_STREAK)
            elif largest == self._size < self._limits.items:
                self._streak += 1
                if self._streak >= self._wanted:
                    self._size = min(2 * self._size, self._limits.items)
                    self._streak = 0


def _tokens(text: str) -> int:
    """Estimate generously: four bytes of English are a token, three of Chinese."""
    return len(text.encode("utf-8", "replace")) // 3 + 1
