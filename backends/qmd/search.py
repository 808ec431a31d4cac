"""Searching by meaning, and the steps down from it: query, vectors and words, words.

A mode is used only as far as its models are here: one that has to be fetched hangs
for minutes. What a mode lacks is told in the answer, and words always have their say,
so that a word that stands in a note is found in every mode.
"""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, cast

from notewell.backends.base import Site, in_order, is_same, reason_of
from notewell.backends.loops import off_the_loop
from notewell.backends.qmd.answer import QmdHit
from notewell.backends.qmd.client import Deadline
from notewell.backends.qmd.home import (
    FOR_QUERY,
    IndexRecord,
    QmdHome,
    embedding_model,
    is_local_model,
    model_of,
)
from notewell.backends.qmd.keywords import KeywordHits, KeywordSearch
from notewell.backends.qmd.program import RECOMMENDED, Program
from notewell.errors import BackendError
from notewell.types import Fallback, FallbackReason, Hit, Mode

_FOR_WORDS: Final = 0.3
"""Share of the time that is kept for words, should meaning take too long."""

_WORDS: Final = 0.7
"""The share of words where words and meaning are blended; `docs/qmd.md` measures it."""

_RANK_DAMPING: Final = 5
_DASHES: Final = re.compile(r"(?:^|(?<=\s))-+")


class ModeAnswer(NamedTuple):
    """The hits of a mode, and the steps down to it.

    Attributes:
        mode: The one that was used.
        found: What was found.
        steps: The steps down to it.
        model: The embedding model, if one was used.
    """

    mode: Mode
    found: KeywordHits
    steps: tuple[Fallback, ...] = ()
    model: str | None = None


class SearchModes:
    """Answers in the mode that is configured, or the next one that can be used."""

    def __init__(
        self,
        site: Site,
        home: QmdHome,
        program: Program,
        environ: Mapping[str, str],
    ) -> None:
        self._wanted: Mode = cast("Mode", site.memory.qmd.search_mode)
        self._models = home.models
        self._program = program
        self._environ = environ

    async def answer(
        self,
        words: KeywordSearch,
        record: IndexRecord,
        deadline: Deadline,
    ) -> ModeAnswer:
        """Answer a question.

        Raises:
            BackendError: not even words could be searched for.
        """
        if self._wanted == "search":
            return ModeAnswer(mode="search", found=await words.answer(deadline))
        lacking = self._lacking(record)
        steps = [] if lacking is None else [lacking]
        if lacking is None:
            for method in self._methods(words):
                if method.lacking is not None:
                    steps.append(method.lacking)
                    continue
                try:
                    documents = await method.ask(deadline.part(1 - _FOR_WORDS))
                except BackendError as error:
                    steps.append(
                        _step(
                            method.name, method.below, reason_of(error), error.message
                        )
                    )
                    continue
                return await self._join_keywords(
                    words, method, documents, deadline, steps
                )
        found = await words.answer(deadline)
        return ModeAnswer(mode="search", found=found, steps=tuple(steps))

    async def _join_keywords(
        self,
        words: KeywordSearch,
        method: "_Method",
        documents: Sequence[QmdHit],
        deadline: Deadline,
        steps: Sequence[Fallback],
    ) -> ModeAnswer:
        """Join keyword hits to what was found by meaning."""
        semantic = await off_the_loop(words.passages_of, documents)
        try:
            found = await words.answer(deadline)
        except BackendError:
            found = KeywordHits(hits=(), literal=False, stale=False)
        return ModeAnswer(
            mode=self._wanted,
            found=method.join(semantic, found, words.limit),
            steps=tuple(steps),
            model=self._embedding_model(),
        )

    def _methods(self, words: KeywordSearch) -> "Sequence[_Method]":
        """Return the methods to search by meaning, the best first."""
        text = _DASHES.sub("", " ".join(words.text.split()))
        vectors: list[tuple[str, str]] = [("vec", text)]
        if self._wanted == "vsearch":
            return [
                _Method(
                    name="vsearch",
                    below="search",
                    ask=lambda deadline: words.searcher.typed(
                        vectors, words.collections, deadline
                    ),
                    join=fuse_hits,
                )
            ]
        return [
            _Method(
                name="query",
                below="vectors and words",
                ask=lambda deadline: words.searcher.reranked(
                    text, words.collections, deadline
                ),
                join=fill_places,
                lacking=self._lacking_for_query(),
            ),
            _Method(
                name="vectors and words",
                below="search",
                ask=lambda deadline: words.searcher.typed(
                    vectors, words.collections, deadline
                ),
                join=fuse_hits,
            ),
        ]

    def steps_down(self, record: IndexRecord) -> tuple[Fallback, ...]:
        """Return the steps down that each search will take, before there is one."""
        if self._wanted == "search":
            return ()
        steps = [self._lacking(record)]
        if self._wanted == "query" and steps == [None]:
            steps.append(self._lacking_for_query())
        return tuple(step for step in steps if step is not None)

    def _lacking(self, record: IndexRecord) -> Fallback | None:
        """Return the step down to keywords, if no search by meaning is possible."""
        wanted = self._wanted
        if not self._program.abilities.semantic:
            said = (
                f"version {self._program.version} of QMD cannot do it without more models; "
                f"npm install -g @tobilu/qmd@{RECOMMENDED}"
            )
            return _step(wanted, "search", "version", said)
        model = self._embedding_model()
        if not is_local_model(model, self._models):
            said = (
                f"its embedding model is not on this machine: {model}; fetch it with QMD, "
                "or name a file in QMD_EMBED_MODEL"
            )
            return _step(wanted, "search", "model-missing", said)
        if record.model not in ("", model):
            said = f"the vectors are of another model, {record.model}; run `notewell index`"
            return _step(wanted, "search", "not-ready", said)
        if record.embedded_at is None and not record.vectors:
            said = "no vectors were made yet; run `notewell index`"
            return _step(wanted, "search", "not-ready", said)
        return None

    def _lacking_for_query(self) -> Fallback | None:
        """Return the step down from `query`, if a model would have to be fetched."""
        missing = [
            name
            for name in FOR_QUERY
            if not is_local_model(model_of(name, self._environ), self._models)
        ]
        if not missing:
            return None
        said = (
            "questions are neither expanded nor reranked, no model on this machine is "
            f"named by {' and '.join(missing)}, and QMD has fetched none; name them, or "
            "fetch them with QMD, or set memory.qmd.searchMode to vsearch"
        )
        return _step("query", "vectors and words", "model-missing", said)

    def _embedding_model(self) -> str:
        return embedding_model(self._environ)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Method:
    """One method to search by meaning.

    Attributes:
        name: What it is called in an answer.
        below: What comes after it.
        ask: Puts the question.
        join: Adds what words found.
        lacking: Why it cannot be used, or None.
    """

    name: str
    below: str
    ask: Callable[[Deadline], Awaitable[list[QmdHit]]]
    join: Callable[[Sequence[Hit], KeywordHits, int], KeywordHits]
    lacking: Fallback | None = None


def fill_places(semantic: Sequence[Hit], found: KeywordHits, limit: int) -> KeywordHits:
    """Fill free places with keyword hits, and give one place to an exact match."""
    best = list(semantic[:limit])
    least = best[-1].score if best else 1.0
    more = [
        replace(hit, score=min(hit.score, least))
        for hit in found.hits
        if _same(hit, best) is None
    ]
    literal = found.literal and not any(hit.text_score for hit in best)
    if literal and more and len(best) == limit:
        best.pop()
    return found._replace(hits=tuple(in_order([*best, *more[: limit - len(best)]])))


def fuse_hits(semantic: Sequence[Hit], found: KeywordHits, limit: int) -> KeywordHits:
    """Fuse by weighted scores, keywords first, as hybrid builtin does.

    Words count by their score, meaning by its rank: its scores say nothing else. The
    best for the very word is shown, however little of the question it holds.
    """
    hits = [replace(hit, score=_WORDS * hit.score) for hit in found.hits]
    for rank, hit in enumerate(semantic, 1):
        share = (1 - _WORDS) * (_RANK_DAMPING + 1) / (_RANK_DAMPING + rank)
        place = _same(hit, found.hits)
        if place is None:
            hits.append(replace(hit, score=share))
        else:
            hits[place] = replace(hits[place], score=hits[place].score + share)
    best = in_order(hits)[:limit]
    if found.literal and not any(hit.text_score for hit in best):
        word = found.hits[0]
        best[-1] = replace(word, score=min(word.score, best[-1].score))
    return found._replace(hits=tuple(in_order(best)))


def _same(hit: Hit, others: Sequence[Hit]) -> int | None:
    """Return the place of the first of the others that shows the same as a hit."""
    places = (at for at, other in enumerate(others) if is_same(hit, other))
    return next(places, None)


def _step(from_: str, to: str, reason: FallbackReason, message: str) -> Fallback:
    return Fallback(kind="mode", from_=from_, to=to, reason=reason, message=message)
