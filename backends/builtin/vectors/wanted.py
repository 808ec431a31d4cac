"""The vectors that there are, held against those that the configuration asks for.

What is missing is told with the reason that the last run had, so that nobody is sent to a
command that has just failed. Providers are opened for that, and never asked anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Final, NamedTuple, TypeAlias

from notewell.adapters.embeddings.base import (
    Embedder,
    EmbeddingIdentity,
    Provider,
    ProviderChoice,
)
from notewell.backends.base import Site
from notewell.backends.builtin.schema import Generation
from notewell.backends.builtin.store import Store
from notewell.backends.builtin.vectors.calibration import (
    calibration_key,
    read_calibration,
)
from notewell.backends.builtin.vectors.query_embedder import cut_for, known_identities
from notewell.backends.builtin.vectors.sets import (
    VectorSet,
    answering_set,
    count_embedded,
    count_missing,
    last_problem,
)
from notewell.errors import EmbeddingError
from notewell.types import VectorStatus
from notewell.values import dataclass

_MAKE: Final = "run `notewell index`"

Sets: TypeAlias = Sequence[tuple[EmbeddingIdentity, VectorSet]]
"""Sets of vectors, each with its identity."""


class _Counts(NamedTuple):
    """How many passages have a vector, how many texts wait, how many passages were refused."""

    embedded: int
    missing: int = 0
    refused: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Configured:
    """A provider of the configuration.

    Attributes:
        embedder: The provider, open; None: something that it needs is missing.
        problem: What that is, and what to do.
    """

    provider: Provider
    embedder: Embedder | None = None
    problem: str | None = None

    def makes(self, identity: EmbeddingIdentity) -> bool:
        """Say whether a set is of this provider as it is configured now."""
        if identity.provider != self.provider.name:
            return False
        if self.embedder is None:
            return True  # as far as one can tell
        with suppress(EmbeddingError):
            return identity in known_identities(self.embedder, [identity])
        return True


def _opened(provider: Provider) -> _Configured:
    """Open a provider for what it tells of itself; it is closed again at once."""
    try:
        embedder = provider.open()
    except EmbeddingError as error:
        return _Configured(provider=provider, problem=error.with_remedy)
    embedder.close()
    return _Configured(provider=provider, embedder=embedder)


def problems_unbuilt(choice: ProviderChoice) -> dict[str, str]:
    """Return the same as `WantedVectors.problems`, where there is no index yet."""
    if choice.first is None:
        return {}
    lacks = _opened(choice.first).problem
    return {choice.first.name: f"none: {lacks}" if lacks else f"none yet; {_MAKE}"}


class WantedVectors:
    """Counts the vectors of one index for a status."""

    def __init__(
        self, store: Store, live: Generation, site: Site, sets: Sets, passages: int
    ) -> None:
        """Take a reader, the generation whose passages are meant, and who is configured.

        Args:
            sets: What `all_sets` returns.
            passages: How many there are.
        """
        self._store = store
        self._live = live
        self._window = site.agent.search.chunking.window
        self._configured = [_opened(each) for each in site.embedding.providers]
        self._sets = sets
        self._passages = passages
        self._counts = {kept.id: self._count(kept) for _, kept in sets}

    def _count(self, kept: VectorSet) -> _Counts:
        """Count one set; what is missing only where something is."""
        store, live = self._store, self._live
        embedded = count_embedded(store, live, kept)
        if embedded == self._passages:
            return _Counts(embedded)
        missing = count_missing(store, live, kept)
        return _Counts(embedded, missing, self._refused(kept))

    def state(
        self, identity: EmbeddingIdentity, kept: VectorSet, search: str
    ) -> VectorStatus:
        """Count one set.

        Args:
            search: What it is searched by.
        """
        store, counts = self._store, self._counts[kept.id]
        apart = read_calibration(store.get(calibration_key(kept))).in_words()
        return VectorStatus(
            provider=identity.provider,
            model=identity.model,
            dimension=identity.dimension,
            passages=counts.embedded,
            lacking=counts.missing,
            search=search,
            vectors=store.one(f"select count(*) from {kept.vectors}"),
            apart=apart,
            refused=counts.refused,
            used=any(self._uses(one, identity, kept) for one in self._configured),
        )

    def problems(self) -> dict[str, str]:
        """Return why passages have no vector of a provider, and what to do, by its name."""
        told = {one.provider.name: self._problem(one) for one in self._configured}
        return {name: why for name, why in told.items() if why}

    def _uses(
        self, one: _Configured, identity: EmbeddingIdentity, kept: VectorSet
    ) -> bool:
        """Say whether a set is what is wanted, or answers until that is whole."""
        if not one.makes(identity):
            return False
        cut = cut_for(one.provider, self._window)
        if kept.cut == cut:
            return True
        answers = answering_set(self._store, self._live, identity, cut)
        return answers is not None and answers.id == kept.id

    def _problem(self, one: _Configured) -> str | None:
        """Say what keeps a provider from having a vector of each passage."""
        if not self._passages:
            return None
        cut = cut_for(one.provider, self._window)
        mine = [
            self._counts[kept.id]
            for identity, kept in self._sets
            if kept.cut == cut and one.makes(identity)
        ]
        made = max((counts.embedded for counts in mine), default=0)
        left = min((counts.missing for counts in mine), default=self._passages)
        if not left:
            return (
                None if made else "no usable vector of any passage; try another model"
            )
        counted = f"{left:,} to do" if made else "none"
        failed = last_problem(self._store, one.provider.name)
        if one.problem:
            return f"{counted}: {one.problem}"
        if failed:
            return f"{counted}, for the last run failed: {failed}"
        return f"{counted} yet; {_MAKE}" if not made else f"{counted}; {_MAKE}"

    def _refused(self, kept: VectorSet) -> int:
        """Count the passages that the provider gave no usable vector for."""
        count: int = self._store.one(
            f"select count(*) from {self._live.chunks} as c where exists"
            f" (select 1 from {kept.refused} as r where r.digest = c.digest)"
        )
        return count
