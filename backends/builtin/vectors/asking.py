"""From a question to a vector: by the first provider, or the second, or not at all."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from threading import Lock
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

from notewell.adapters.embeddings.base import Embedder, EmbedsQuestions, Provider
from notewell.backends.builtin.store import Store
from notewell.backends.builtin.vectors.cosines import floats_of
from notewell.backends.builtin.vectors.embedders import Embedders, Rest, cut_for
from notewell.backends.builtin.vectors.nearest import Ways
from notewell.backends.builtin.vectors.outcome import Meaning
from notewell.backends.builtin.vectors.tables import (
    VectorSet,
    answering_set,
    still_lacking,
)
from notewell.config import SearchSettings
from notewell.errors import EmbeddingError
from notewell.types import Fallback, FallbackReason

if TYPE_CHECKING:
    from notewell.adapters.embeddings.base import EmbeddingIdentity

_REMEMBERED = 256
"""Questions whose vectors are kept in memory."""

_FEW = 0.1
"""The share of the passages that the first provider may lack before another answers,"""

_A_FEW = 10
"""and how many it may lack whatever share they are."""

Lacking: TypeAlias = Literal["none", "few", "any"]
"""How many passages may be without a vector when a provider is asked."""

_MAKE = "run `notewell index`"


class Asking:
    """Turns questions into vectors. Safe to share between threads."""

    def __init__(
        self,
        embedders: Embedders,
        reading: Callable[[], AbstractContextManager[Store]],
        settings: SearchSettings,
        *,
        stays: bool = False,
    ) -> None:
        """Take the providers, and what lends a reader of the index.

        Args:
            stays: More questions will come.
        """
        self._embedders = embedders
        self._reading = reading
        self._window = settings.chunking.window
        self._remembered: OrderedDict[tuple[str, str], bytes] = OrderedDict()
        self._guard = Lock()
        self._ways = Ways(settings.store.vector, stays=stays)

    def meaning(self, text: str) -> Meaning:
        """Return the question's vector by the first provider that can give one.

        Those that stand in are asked only if they have a vector of every passage. While
        the first one lacks many, the last answers in its place, if it can.
        """
        choice = self._embedders.choice
        found = self._by_any(
            choice.providers, text, lacking="few" if choice.last else "any"
        )
        if found.vector is None and choice.first and choice.last:
            alone = self._by_any((choice.first,), text, lacking="any")
            return found if alone.vector is None else alone
        return found

    def _by_any(
        self, asked: Sequence[Provider], text: str, *, lacking: Lacking
    ) -> Meaning:
        choice = self._embedders.choice
        steps: list[Fallback] = []
        sent = False
        for provider, other in zip(asked, [*asked[1:], None], strict=True):
            allowed = lacking if provider is choice.first else "none"
            try:
                found = self._by(provider, text, lacking=allowed)
            except _NotNow as now:
                steps.append(_step_down(provider, other, now))
                sent = sent or (now.sent and leaves(choice.first, provider))
                continue
            return Meaning(
                vector=found.vector,
                identity=found.identity,
                cut=cut_for(provider, self._window),
                provider=provider.name,
                model=self._embedders.get(provider).model,
                fallbacks=tuple(steps),
                local_to_remote=sent or leaves(choice.first, provider),
                ways=self._ways,
            )
        return Meaning(fallbacks=tuple(steps), local_to_remote=sent)

    def _by(self, provider: Provider, text: str, *, lacking: Lacking) -> Meaning:
        rest = self._embedders.resting(provider)
        if rest:
            raise _resting(provider, rest)
        try:
            embedder = self._embedders.get(provider)
        except EmbeddingError as error:  # at once, and mended as soon as it is here
            raise _failed(error, sent=False) from error
        try:
            identity = embedder.identity()
        except EmbeddingError as error:
            self._embedders.rest(provider, error)
            raise _failed(error, sent=False) from error
        self._require_vectors(provider, identity, lacking=lacking)
        vector = self._remember((identity.encoded(), text))
        if vector is None:
            try:
                vector = _embedded(embedder, text)
            except EmbeddingError as error:
                self._embedders.rest(provider, error)
                raise _failed(error, sent=True) from error
            _require_usable(provider, vector, identity.dimension)
            self._embedders.wake(provider)
            self._remember((identity.encoded(), text), vector)
        return Meaning(vector=vector, identity=identity)

    def _require_vectors(
        self, provider: Provider, identity: EmbeddingIdentity, *, lacking: Lacking
    ) -> None:
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
                why = f"there are no vectors of {provider.name} yet; {_MAKE}"
            elif lacking != "any" and still_lacking(store, tables, kept) > (
                _few(store) if lacking == "few" else 0
            ):
                why = f"the vectors of {provider.name} are not complete; {_MAKE}"
            else:
                return
        raise _NotNow("not-ready", why)

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


def _few(store: Store) -> float:
    return max(_A_FEW, _FEW * (store.get("passages") or 0))


def _has_any(store: Store, kept: VectorSet) -> bool:
    return store.one(f"select 1 from {kept.texts} limit 1") is not None


def _embedded(embedder: Embedder, text: str) -> bytes:
    """Return a question's vector as float32, little-endian."""
    if isinstance(embedder, EmbedsQuestions):
        return embedder.embed_question(text)
    rows = embedder.embed([text], "query")
    return rows.astype("<f4").tobytes()


def _require_usable(provider: Provider, vector: bytes, dimension: int) -> None:
    floats = floats_of(vector) if len(vector) == 4 * dimension else ()
    if not any(floats) or not all(map(math.isfinite, floats)):
        raise _NotNow(
            "bad-vector",
            f"{provider.name} gave no usable vector for this question",
            sent=True,
        )


def _failed(error: EmbeddingError, *, sent: bool) -> _NotNow:
    return _NotNow(error.reason, f"{error.message}; {error.remedy}", sent=sent)


def _resting(provider: Provider, rest: Rest) -> _NotNow:
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


def leaves(first: Provider | None, provider: Provider) -> bool:
    """Say whether asking a provider sends text away that was to stay here."""
    return first is not None and not first.away and provider.away
