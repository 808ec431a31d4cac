"""From a query to its vector: by the first provider, or the second, or not at all.

The providers of an agent are opened when they are needed, and left alone for a while
when they fail.
"""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from threading import Lock
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias, cast

from notewell.adapters.embeddings.base import (
    Embedder,
    EmbedsQuestions,
    Provider,
    ProviderChoice,
    TellsIdentity,
)
from notewell.backends.builtin.schema import Generation
from notewell.backends.builtin.store import Store
from notewell.backends.builtin.vectors.nearest import NearestNeighbours
from notewell.backends.builtin.vectors.outcome import QueryVector
from notewell.backends.builtin.vectors.quantisation import floats_of
from notewell.backends.builtin.vectors.sets import (
    VectorSet,
    all_sets,
    answering_set,
    best_set,
    last_problem,
    missing_now,
)
from notewell.backends.text.windows import cut_name
from notewell.config import SearchSettings, WindowSettings
from notewell.errors import EmbeddingError
from notewell.types import Fallback, FallbackReason
from notewell.values import dataclass

if TYPE_CHECKING:
    from notewell.adapters.embeddings.base import EmbeddingIdentity


_REMEMBERED: Final = 256
"""Queries whose vectors are kept in memory."""

_FEW: Final = 0.1
"""The share of the passages that the first provider may lack before another answers,"""

_A_FEW: Final = 10
"""and how many it may lack whatever share they are."""

Lacking: TypeAlias = Literal["none", "few", "any"]
"""How many passages may be without a vector when a provider is asked."""

_REST: Final = 60.0
"""Seconds for which a provider that failed is not asked again by a search."""

_LONGEST_REST: Final = 3600.0

_WINDOW: Final = 120
"""Tokens in a window where nothing is set, and the provider is on this machine."""

_MAKE: Final = "run `notewell index`"


def cut_for(provider: Provider, window: WindowSettings) -> str:
    """Return how passages are cut into windows for a provider, as `windows` knows it."""
    usual = 0 if provider.remote else _WINDOW
    tokens = usual if window.tokens is None else window.tokens
    return cut_name(tokens, window.overlap)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cooldown:
    """A provider is left alone for a while.

    Attributes:
        error: What it failed with.
        until: On `time.monotonic()`.
    """

    error: EmbeddingError
    until: float

    @property
    def left(self) -> float:
        """Seconds until it is asked again; not above zero when it may be."""
        return self.until - time.monotonic()


class ProviderPool:
    """Opens providers once. Safe to share between threads.

    Attributes:
        choice: The providers.
    """

    def __init__(self, choice: ProviderChoice, *, rest: float = _REST) -> None:
        self.choice = choice
        self._rest = rest
        self._open: dict[str, Embedder] = {}
        self._resting: dict[str, Cooldown] = {}
        self._guard = Lock()

    def get(self, provider: Provider) -> Embedder:
        """Return the provider, open.

        Raises:
            EmbeddingError: something that it needs is missing.
        """
        with self._guard:
            if provider.name not in self._open:
                self._open[provider.name] = provider.open()
            return self._open[provider.name]

    def rest(self, provider: Provider, error: EmbeddingError) -> None:
        """Leave a provider alone for as long as it asks for, or for a while."""
        seconds = min(error.retry_after or self._rest, _LONGEST_REST)
        until = time.monotonic() + seconds
        self._resting[provider.name] = Cooldown(error=error, until=until)

    def resting(self, provider: Provider) -> Cooldown | None:
        """Return why a provider is not asked now, if it is not."""
        rest = self._resting.get(provider.name)
        return rest if rest and rest.left > 0 else None

    def wake(self, provider: Provider) -> None:
        """Forget that a provider has failed: it works again."""
        self._resting.pop(provider.name, None)

    def close(self) -> None:
        """Close every provider."""
        with self._guard:
            opened, self._open = list(self._open.values()), {}
        for embedder in opened:
            embedder.close()


class QueryEmbedder:
    """Turns queries into vectors. Safe to share between threads."""

    def __init__(
        self,
        pool: ProviderPool,
        reading: Callable[[], AbstractContextManager[Store]],
        settings: SearchSettings,
        *,
        stays: bool = False,
    ) -> None:
        """Take the providers, and what lends a reader of the index.

        Args:
            stays: More queries will come.
        """
        self._pool = pool
        self._reading = reading
        self._window = settings.chunking.window
        self._remembered: OrderedDict[tuple[str, str], bytes] = OrderedDict()
        self._guard = Lock()
        self._neighbours = NearestNeighbours(settings.store.vector, stays=stays)

    def query_vector(self, text: str) -> QueryVector:
        """Return the query's vector by the first provider that can give one.

        Those that stand in are asked only if they have a vector of every passage. While
        the first one lacks many, the last answers in its place, if it can.
        """
        choice = self._pool.choice
        found = self._by_any(
            choice.providers, text, lacking="few" if choice.last else "any"
        )
        if found.vector is None and choice.first and choice.last:
            alone = self._by_any((choice.first,), text, lacking="any")
            return found if alone.vector is None else alone
        return found

    def _by_any(
        self, asked: Sequence[Provider], text: str, *, lacking: Lacking
    ) -> QueryVector:
        choice = self._pool.choice
        steps: list[Fallback] = []
        sent = False
        for provider, other in zip(asked, [*asked[1:], None], strict=True):
            allowed = lacking if provider is choice.first else "none"
            try:
                found = self._by(provider, text, lacking=allowed)
            except _NotNow as now:
                steps.append(_step_down(provider, other, now))
                sent = sent or (now.sent and leaves_machine(choice.first, provider))
                continue
            return QueryVector(
                vector=found.vector,
                identity=found.identity,
                cut=cut_for(provider, self._window),
                provider=provider.name,
                model=self._pool.get(provider).model,
                fallbacks=tuple(steps),
                local_to_remote=sent or leaves_machine(choice.first, provider),
                neighbours=self._neighbours,
            )
        return QueryVector(fallbacks=tuple(steps), local_to_remote=sent)

    def _by(self, provider: Provider, text: str, *, lacking: Lacking) -> QueryVector:
        rest = self._pool.resting(provider)
        if rest:
            raise _resting(provider, rest)
        try:
            if provider.check is not None:
                provider.check()
            else:
                self._pool.get(provider)
        except EmbeddingError as error:  # at once, and mended as soon as it is here
            raise _failed(error, sent=False) from error
        # Looked at before anything is loaded or connected to, and once.
        made = self._made_by(provider, lacking=lacking)
        embedder = self._pool.get(provider)
        try:
            known = known_identities(embedder, made.identities)
        except EmbeddingError as error:
            self._pool.rest(provider, error)
            raise _failed(error, sent=False) from error
        if not known:
            with self._reading() as store:
                raise _none_yet(store, provider)
        if known[0] != made.identities[0]:
            made = self._look_at(provider, known[0], lacking=lacking)
        made.require()
        vector = self._asked(provider, embedder, (known[0].encoded(), text))
        identity = _of_length(provider, known, len(vector) // 4)
        if identity != known[0]:
            self._look_at(provider, identity, lacking=lacking).require()
        return QueryVector(vector=vector, identity=identity)

    def _asked(
        self, provider: Provider, embedder: Embedder, key: tuple[str, str]
    ) -> bytes:
        """Return the vector of a question, asked for once."""
        vector = self._remember(key)
        if vector is None:
            try:
                vector = _embedded(embedder, key[1])
            except EmbeddingError as error:
                self._pool.rest(provider, error)
                raise _failed(error, sent=True) from error
            _require_usable(provider, vector)
            self._pool.wake(provider)
            self._remember(key, vector)
        return vector

    def _made_by(self, provider: Provider, *, lacking: Lacking) -> _Made:
        """Return whose vectors there are of a provider, and look at the newest."""
        with self._reading() as store:
            mine = [one for one in all_sets(store) if one[0].provider == provider.name]
            full = {kept.id for _, kept in mine if _has_any(store, kept)}
            made = [identity for identity, kept in reversed(mine) if kept.id in full]
            if not made:
                raise _none_yet(store, provider)
            tables, cut = store.live(), cut_for(provider, self._window)
            if tables is None:
                raise _NotNow("not-ready", "the index was removed")
            found = [kept for identity, kept in mine if identity == made[0]]
            kept = best_set(store, tables, found, cut)
            if kept is None or kept.id not in full:
                return _Made(made, _none_yet(store, provider))
            lacks = _lacks(store, tables, kept, provider, lacking=lacking)
            return _Made(made, lacks)

    def _look_at(
        self, provider: Provider, identity: EmbeddingIdentity, *, lacking: Lacking
    ) -> _Made:
        """See, before anything is sent, that there is something to compare with.

        Args:
            lacking: How many of the passages may be without a vector.
        """
        with self._reading() as store:
            tables, cut = store.live(), cut_for(provider, self._window)
            if tables is None:
                raise _NotNow("not-ready", "the index was removed")
            kept = answering_set(store, tables, identity, cut)
            if kept is None or not _has_any(store, kept):
                raise _none_yet(store, provider)
            lacks = _lacks(store, tables, kept, provider, lacking=lacking)
            return _Made([identity], lacks)

    def _remember(
        self, key: tuple[str, str], vector: bytes | None = None
    ) -> bytes | None:
        with self._guard:
            if vector is not None:
                self._remembered[key] = vector
            elif key in self._remembered:
                self._remembered.move_to_end(key)
            if len(self._remembered) > _REMEMBERED:
                self._remembered.popitem(last=False)
            return self._remembered.get(key)


class _NotNow(Exception):
    """A provider gives no vector for this question."""

    def __init__(self, reason: str, why: str, *, sent: bool = False) -> None:
        super().__init__(why)
        self.reason = reason
        self.why = why
        self.sent = sent


class _Made(NamedTuple):
    """Whose vectors there are of a provider.

    Attributes:
        identities: The newest first.
        lacks: Why those of the newest do not answer, if they do not.
    """

    identities: list[EmbeddingIdentity]
    lacks: _NotNow | None

    def require(self) -> None:
        """See, before anything is sent, that the newest answer."""
        if self.lacks is not None:
            raise self.lacks


def _few(store: Store) -> float:
    return max(_A_FEW, _FEW * (store.get("passages") or 0))


def _has_any(store: Store, kept: VectorSet) -> bool:
    return store.one(f"select 1 from {kept.texts} limit 1") is not None


def _embedded(embedder: Embedder, text: str) -> bytes:
    """Return a query's vector as float32, little-endian."""
    if isinstance(embedder, EmbedsQuestions):
        return embedder.embed_question(text)
    rows = embedder.embed([text], "query")
    return rows.astype("<f4").tobytes()


def known_identities(
    embedder: Embedder, made: Sequence[EmbeddingIdentity]
) -> list[EmbeddingIdentity]:
    """Return those of the identities that can be of an embedder's vectors.

    Raises:
        EmbeddingError: only the model tells, and it fails.
    """
    if isinstance(embedder, TellsIdentity):
        return [one for one in made if one == embedder.identity_of(one.dimension)]
    identity = embedder.identity()
    return [identity] if identity in made else []


def _of_length(
    provider: Provider, known: Sequence[EmbeddingIdentity], length: int
) -> EmbeddingIdentity:
    """Return the identity of vectors that turned out to be so long."""
    for identity in known:
        if identity.dimension == length:
            return identity
    why = (
        f"{provider.name} gives vectors of {length} numbers now, and those of the index"
        f" have {known[0].dimension}; {_MAKE}"
    )
    raise _NotNow("not-ready", why, sent=True)


def _none_yet(store: Store, provider: Provider) -> _NotNow:
    failed = last_problem(store, provider.name)
    if failed is None:
        why = f"there are no vectors of {provider.name} yet; {_MAKE}"
    else:
        why = f"there are no vectors of {provider.name}, for the last run failed: {failed}"
    return _NotNow("not-ready", why)


def _incomplete(store: Store, provider: Provider) -> _NotNow:
    why = f"the vectors of {provider.name} are not complete; {_MAKE}"
    failed = last_problem(store, provider.name)
    if failed is not None:
        why = (
            f"the vectors of {provider.name} are not complete, for the last run stopped:"
            f" {failed}"
        )
    return _NotNow("not-ready", why)


def _lacks(
    store: Store,
    tables: Generation,
    kept: VectorSet,
    provider: Provider,
    *,
    lacking: Lacking,
) -> _NotNow | None:
    """Return why a set lacks too much to answer, if it does."""
    if (
        provider.remote
        and not store.get(kept.whole)
        and missing_now(store, tables, kept)
    ):
        # A question leaves this machine for a whole set, or for nothing.
        return _incomplete(store, provider)
    if lacking != "any" and missing_now(store, tables, kept) > (
        _few(store) if lacking == "few" else 0
    ):
        return _incomplete(store, provider)
    return None


def _require_usable(provider: Provider, vector: bytes) -> None:
    floats = floats_of(vector)
    if not any(floats) or not all(map(math.isfinite, floats)):
        raise _NotNow(
            "bad-vector",
            f"{provider.name} gave no usable vector for this question",
            sent=True,
        )


def _failed(error: EmbeddingError, *, sent: bool) -> _NotNow:
    return _NotNow(error.reason, error.with_remedy, sent=sent)


def _resting(provider: Provider, rest: Cooldown) -> _NotNow:
    return _NotNow(
        "cooldown",
        f"{rest.error.message}; {provider.name} is asked again in {rest.left:.0f} s",
    )


def _step_down(provider: Provider, other: Provider | None, now: _NotNow) -> Fallback:
    return Fallback(
        kind="embedding",
        from_=provider.name,
        to=other.name if other else "none",
        reason=cast("FallbackReason", now.reason),
        message=now.why,
    )


def leaves_machine(first: Provider | None, provider: Provider) -> bool:
    """Say whether asking a provider sends text away that was to stay here."""
    return first is not None and not first.away and provider.away
