"""The vector half of the engine: one object that the builtin engine calls.

It turns queries into vectors (`query_embedder`) and gives passages theirs
(`passage_embedder`), each by the first provider of the agent that can.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from notewell.adapters.embeddings.base import Embedder, Provider
from notewell.backends.base import Run, Site
from notewell.backends.builtin.errors import BACKEND, IndexUnreadable
from notewell.backends.builtin.locking import writer_lock
from notewell.backends.builtin.vectors.outcome import (
    KEYWORDS_ONLY,
    EmbedReport,
    QueryVector,
)
from notewell.backends.builtin.vectors.query_embedder import (
    ProviderPool,
    QueryEmbedder,
    cut_for,
    leaves_machine,
)
from notewell.backends.builtin.vectors.sets import (
    AT_ONCE,
    IndexAccess,
    PickGeneration,
    find_set,
    last_problems,
    live_generation,
    missing_now,
    newest_generation,
    note_problem,
)
from notewell.backends.text.query import MOST_READ, parse_query
from notewell.errors import BackendError, BackendFailed, EmbeddingError

if TYPE_CHECKING:
    from notewell.backends.builtin.vectors.passage_embedder import PassageEmbedder

_UNTIL_THEN = "Until then the vectors that come with the install answer."

_REBUILD = "run `notewell index`; no note was touched"


class VectorEngine:
    """Vectors of one workspace. Safe to share between threads."""

    def __init__(self, site: Site, access: IndexAccess) -> None:
        self._choice = site.embedding
        self._state_dir = site.state_dir
        self._search = site.agent.search
        self._access = access
        self._site = site
        self._pool = ProviderPool(site.embedding)
        self._query_embedder = QueryEmbedder(
            self._pool, access.reading, self._search, stays=site.stays
        )

    def query_vector(self, text: str) -> QueryVector:
        """Return a query's vector, or why there is none.

        A query without a word finds nothing and is not given to anybody, nor is more of a
        long one than is read for its words.
        """
        if not parse_query(text).terms:
            return KEYWORDS_ONLY
        return self._query_embedder.query_vector(text[:MOST_READ])

    def make(self, run: Run, *, anew: bool) -> EmbedReport:
        """Make the missing vectors, with the second provider if the first one fails.

        Args:
            run: Which of them, and who hears how far it is.
            anew: Try again what a provider has refused.

        Raises:
            BackendError: the index cannot be read or written.
        """
        return self._make(run, anew=anew, which=live_generation)

    def make_next(self, run: Run, *, anew: bool) -> EmbedReport:
        """Do the same for the generation that a rebuild is filling."""
        return self._make(run, anew=anew, which=newest_generation)

    def begin(self) -> None:
        """Make the vectors that a small folder lacks, if that is instant.

        Nobody is waited for: whoever writes the index makes them as well.
        """
        for provider in self._choice.providers:
            if provider.instant and (index := self._to_begin(provider)):
                # What keeps them from being made is told by the answer without them.
                with suppress(BackendError):
                    with writer_lock(index, patient=False) as free:
                        pass
                    if free:
                        self._made(provider, Run(vectors="instant"))

    def _to_begin(self, provider: Provider) -> Path | None:
        """Return the index that lacks vectors of a provider, if it is a small one."""
        try:
            identity = self._pool.get(provider).identity()
        except EmbeddingError:
            return None
        cut = cut_for(provider, self._search.chunking.window)
        with self._access.reading() as store:
            tables = store.live()
            if tables is None or (store.get("passages") or 0) > AT_ONCE:
                return None
            kept = find_set(store, identity, cut)
            lacks = kept is None or missing_now(store, tables, kept)
            return store.path if lacks else None

    def _make(self, run: Run, *, anew: bool, which: PickGeneration) -> EmbedReport:
        choice, made = self._choice, EmbedReport()
        if choice.last is not None:
            # It answers while the others are at work, or fail.
            made = self._made(choice.last, run, anew=anew, which=which)
        answers = choice.last is not None and not (made.failed or made.left)
        for provider in filter(None, (choice.first, choice.second)):
            if run.vectors == "instant" and not provider.instant:
                continue
            done = self._made(provider, run, anew=anew, which=which)
            made = replace(
                done,
                local_to_remote=made.local_to_remote or done.local_to_remote,
                warnings=(*made.warnings, *done.warnings),
            )
            if not made.failed:
                break
        if not made.left:
            return made
        told = _UNTIL_THEN if answers else _without_vectors(made.left)
        return replace(made, warnings=(*made.warnings, told))

    def _made(
        self,
        provider: Provider,
        run: Run,
        *,
        anew: bool = False,
        which: PickGeneration = live_generation,
    ) -> EmbedReport:
        from notewell.backends.builtin.vectors.local_texts import LocalTexts
        from notewell.backends.builtin.vectors.passage_embedder import (
            PassageEmbedder,  # not to search
        )
        from notewell.hosts import HostAgreements

        made = PassageEmbedder(
            self._access,
            provider,
            self._search,
            which,
            agreements=HostAgreements(self._state_dir),
            local_texts=LocalTexts(self._site.local_prefixes),
        )
        problem = self._problem(made, provider, run, anew=anew)
        told = problem or made.denied
        now = told and told.removeprefix(f"{provider.name}: ")
        if made.before is None or made.before.get(provider.name) != now:
            self._note(provider, now)
        return EmbedReport(
            embedded=made.embedded,
            left=made.left,
            failed=problem is not None,
            local_to_remote=made.sent and leaves_machine(self._choice.first, provider),
            warnings=(*made.warnings, *((problem,) if problem else ())),
        )

    def _problem(
        self, passages: PassageEmbedder, provider: Provider, run: Run, *, anew: bool
    ) -> str | None:
        """Make vectors; return what kept the provider from making all of them."""
        try:
            embedder = self._ready(provider, run)  # what it lacks is told at once
            if passages.may_begin(run):
                passages.run(embedder, run, anew=anew)
        except EmbeddingError as error:
            return error.with_remedy
        except IndexUnreadable as error:
            raise BackendFailed(
                BACKEND, error.why, reason=error.reason, remedy=_REBUILD
            ) from error
        self._pool.wake(provider)
        return None

    def _note(self, provider: Provider, problem: str | None) -> None:
        """Keep what came between a provider and its vectors, for those who ask later."""
        with suppress(BackendError, IndexUnreadable):
            with self._access.reading() as store:
                before = last_problems(store).get(provider.name)
            if before != problem:
                with self._access.writing() as store:
                    note_problem(store, provider.name, problem)

    def _ready(self, provider: Provider, run: Run) -> Embedder:
        """Open a provider, with its model fetched if that is what is missing."""
        try:
            return self._pool.get(provider)
        except EmbeddingError as error:
            if error.reason != "model-missing" or provider.fetch is None:
                raise
        provider.fetch(run.listener.fetching)
        return self._pool.get(provider)

    def close(self) -> None:
        """Close the providers."""
        self._pool.close()


def _without_vectors(left: int) -> str:
    return (
        f"Passages without a vector, found by words alone: {left};"
        " `notewell index` makes the rest."
    )
