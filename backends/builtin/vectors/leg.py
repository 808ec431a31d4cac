"""The vector half of one engine: its providers, questions, and the making of vectors."""

from __future__ import annotations

from dataclasses import replace

from notewell.adapters.embeddings.base import Embedder, Provider
from notewell.backends.base import Site, VectorWork
from notewell.backends.builtin.readers import Unreadable
from notewell.backends.builtin.store import BACKEND
from notewell.backends.builtin.vectors.asking import Asking, leaves
from notewell.backends.builtin.vectors.embedders import Embedders
from notewell.backends.builtin.vectors.making import Access, Making
from notewell.backends.builtin.vectors.outcome import WORDS_ALONE, Made, Meaning
from notewell.backends.builtin.vectors.texts import Which, live, newest
from notewell.backends.text.query import read as read_query
from notewell.errors import BackendFailed, EmbeddingError

_REBUILD = "run `notewell index`; no note was touched"


class VectorLeg:
    """Vectors of one workspace. Safe to share between threads."""

    def __init__(self, site: Site, access: Access) -> None:
        self._choice = site.embedding
        self._search = site.agent.search
        self._access = access
        self._embedders = Embedders(site.embedding)
        self._asking = Asking(
            self._embedders, access.reading, self._search, stays=site.stays
        )

    def meaning(self, text: str) -> Meaning:
        """Return a question's vector, or why there is none.

        A question without a word finds nothing and is not given to anybody.
        """
        if not read_query(text).wants:
            return WORDS_ALONE
        return self._asking.meaning(text)

    def make(self, work: VectorWork, *, anew: bool) -> Made:
        """Make the missing vectors, with the second provider if the first one fails.

        Args:
            work: Told how far it is.
            anew: Try again what a provider has refused.

        Raises:
            BackendError: the index cannot be read or written.
        """
        return self._make(work, anew=anew, which=live)

    def make_next(self, work: VectorWork, *, anew: bool) -> Made:
        """Do the same for the generation that a rebuild is filling."""
        return self._make(work, anew=anew, which=newest)

    def _make(self, work: VectorWork, *, anew: bool, which: Which) -> Made:
        choice, made = self._choice, Made()
        for provider in filter(None, (choice.first, choice.second)):
            making = Making(self._access, provider, self._search, which)
            problem = self._problem(making, provider, work, anew=anew)
            away = making.sent and leaves(choice.first, provider)
            made = Made(
                embedded=making.embedded,
                left=making.left,
                failed=problem is not None,
                local_to_remote=made.local_to_remote or away,
                warnings=(
                    *made.warnings,
                    *making.warnings,
                    *((problem,) if problem else ()),
                ),
            )
            if not made.failed:
                break
        if made.left:
            made = replace(made, warnings=(*made.warnings, _without_vectors(made.left)))
        return made

    def _problem(
        self, making: Making, provider: Provider, work: VectorWork, *, anew: bool
    ) -> str | None:
        """Make vectors; return what kept the provider from making all of them."""
        try:
            making.run(self._ready(provider, work), work, anew=anew)
        except EmbeddingError as error:
            return f"{error.message}; {error.remedy}"
        except Unreadable as error:
            raise BackendFailed(
                BACKEND, error.why, reason=error.reason, remedy=_REBUILD
            ) from error
        self._embedders.wake(provider)
        return None

    def _ready(self, provider: Provider, work: VectorWork) -> Embedder:
        """Open a provider, with its model fetched if that is what is missing."""
        try:
            return self._embedders.get(provider)
        except EmbeddingError as error:
            if error.reason != "model-missing" or provider.fetch is None:
                raise
        provider.fetch(work.fetching)
        return self._embedders.get(provider)

    def close(self) -> None:
        """Close the providers."""
        self._embedders.close()


def _without_vectors(left: int) -> str:
    return (
        f"Passages without a vector, found by words alone: {left};"
        " `notewell index` makes the rest."
    )
