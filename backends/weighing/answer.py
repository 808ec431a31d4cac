"""Answering a query from an index: find candidates, weigh, order, hold against the files."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from msgspec import structs

from notewell.backends.base import Findings, Query, Site
from notewell.backends.text.passages import ScoredPassage
from notewell.backends.text.query import ParsedQuery
from notewell.backends.text.ranking import rank
from notewell.backends.text.redundancy import MOST_COPIES
from notewell.backends.text.scoring import ExactMatch, Scorer
from notewell.backends.text.snippets import hit_of
from notewell.backends.weighing.candidates import Candidates, IndexSearch
from notewell.backends.weighing.index import EmbeddingOutcome, PassageIndex
from notewell.backends.weighing.verify import Verifier
from notewell.types import EmptyReason, Fallback, Hit, citation_of
from notewell.workspace.decoding import NOT_TEXT, holds_no_text
from notewell.workspace.layout import show_name

if TYPE_CHECKING:
    from notewell.backends.text.filtering import PhraseTest

_FEWEST_CANDIDATES = 40
"""Passages that are weighed whatever the limit: the second stage wants a choice."""

_MOST_CANDIDATES = 2_000
"""Passages that are weighed at most to fill an answer."""

_NAMED = 5
"""Notes and folders that a sentence names."""

_CUT = "The query is long; its first and weightiest words were searched for."


def without_words(vector: EmbeddingOutcome) -> Findings:
    """Return the answer to a question that asks for nothing."""
    return Findings(
        hits=(),
        mode="keyword",
        fallbacks=vector.fallbacks,
        local_to_remote=vector.local_to_remote,
        reason="empty-query",
    )


def answer_from(
    index: PassageIndex,
    search: IndexSearch,
    verifier: Verifier,
    outdated: str | None = None,
) -> Findings:
    """Answer from an index; what cannot be read now is not said yet.

    Args:
        index: Which one.
        search: What was asked.
        verifier: Holds the answer against the files.
        outdated: Why the index has to be built anew, if it has to.
    """
    candidates = Candidates(index, search)
    hits = _hits(search, candidates, verifier)
    vector = search.vector
    fallbacks = (*vector.fallbacks, *_gone(vector, candidates), *candidates.fallbacks)
    if not index.passages:  # of nothing there need be no vectors
        fallbacks = tuple(step for step in fallbacks if step.reason != "not-ready")
    return Findings(
        hits=hits,
        mode=candidates.mode,
        provider=vector.provider if candidates.vectors else None,
        model=vector.model if candidates.vectors else None,
        fallbacks=fallbacks,
        local_to_remote=vector.local_to_remote,
        degraded=index.lacking > 0 or bool(fallbacks),
        reason=None if hits else empty_reason(index.passages),
        warnings=(
            *query_warnings(search.asked),
            *(each.sentence() for each in candidates.lookalikes),
            *((outdated,) if outdated else ()),
            *((_lacking(index),) if index.lacking else ()),
            *(() if hits else index.warnings()),
        ),
    )


def unread_warnings(unread: Mapping[str, str]) -> tuple[str, ...]:
    """Say what cannot be read now, by path and reason; nothing if that is nothing.

    >>> unread_warnings({"memory": "Permission denied"})
    ('Cannot be read now, and is left out until it can: memory (Permission denied).',)
    """
    closed = {path: why for path, why in unread.items() if not holds_no_text(why)}
    textless = {
        path: why.removeprefix(f"{NOT_TEXT}: ")
        for path, why in unread.items()
        if path not in closed
    }
    return (
        *_named("Cannot be read now, and is left out until it can", closed),
        *_named("Holds no text that can be read, and is left out", textless),
    )


def _named(said: str, paths: Mapping[str, str]) -> tuple[str, ...]:
    if not paths:
        return ()
    named = [f"{show_name(path)} ({why})" for path, why in sorted(paths.items())]
    more = f" and {len(named) - _NAMED:,} more" if len(named) > _NAMED else ""
    return (f"{said}: {', '.join(named[:_NAMED])}{more}.",)


def _hits(search: IndexSearch, candidates: Candidates, verifier: Verifier) -> list[Hit]:
    """Return the hits, from as many candidates as it takes."""
    query = search.query
    literal = ExactMatch(search.asked.terms, candidates.frequencies)
    selector = HitSelector(search.site, query, literal, verifier)
    multiplier = search.site.agent.search.query.hybrid.candidate_multiplier
    pool = max(_FEWEST_CANDIDATES, query.limit * multiplier)
    while True:
        found = candidates.take(literal, pool)
        hits = selector.select(found, candidates.scorer, candidates.floor)
        if len(hits) >= query.limit or candidates.exhausted or pool > _MOST_CANDIDATES:
            return hits
        # Passages that are gone, closed or of one line have taken others' places.
        pool *= 4


class _Found(NamedTuple):
    """A passage as it stands in its file, with its copies as they stand in theirs."""

    shown: ScoredPassage
    copies: Sequence[ScoredPassage]


class HitSelector:
    """Makes hits of the best passages that still stand in their files."""

    def __init__(
        self, site: Site, query: Query, literal: ExactMatch, verifier: Verifier
    ) -> None:
        self._settings = site.agent.search.query
        self._query = query
        self._literal = literal
        self._verifier = verifier
        self._phrases = phrase_test_of(query)

    def select(
        self,
        scored: Sequence[ScoredPassage],
        scorer: Scorer,
        floor: float | None = None,
    ) -> list[Hit]:
        """Return the hits; passages that are gone make room for the next ones.

        Args:
            scored: The candidates.
            scorer: What they were weighed by.
            floor: The cosine from which a passage resembles the question, if known.
        """
        able = [one for one in scored if one.text > 0 or one.vector is not None]
        gone: set[int] = set()
        while True:
            best = rank(
                [one for one in able if one.passage.id not in gone],
                self._literal,
                limit=self._query.limit,
                min_score=self._query.min_score,
                settings=self._settings,
                floor=floor,
                dates=self._query.dates,
                today=self._query.today,
            )
            now = [(one, self._verified(one)) for one in best]
            missing = {one.passage.id for one, here in now if here is None}
            if not missing:
                return [
                    self._hit(_Found(here, self._copies(one)), scorer)
                    for one, here in now
                    if here
                ]
            gone |= missing

    def _verified(self, scored: ScoredPassage) -> ScoredPassage | None:
        """Return a passage as it stands now, if phrases that are wanted are in it."""
        here = self._verifier.verify(scored)
        if here is None or self._phrases is None or self._phrases(here.passage.text):
            return here
        return None

    def _hit(self, found: _Found, scorer: Scorer) -> Hit:
        scored = found.shown
        cited = self._verifier.cited(scored)
        also_in = [self._citation(copy) for copy in found.copies]
        return hit_of(scored, cited, scorer, self._query.snippet_chars, also_in)

    def _citation(self, copy: ScoredPassage) -> str:
        start, end, _ = self._verifier.cited(copy)
        return citation_of(copy.passage.path, start, end)

    def _copies(self, scored: ScoredPassage) -> list[ScoredPassage]:
        """Return the copies of a passage that still stand in their files."""
        best = scored.match_line - scored.passage.start_line
        found: list[ScoredPassage] = []
        for copy in scored.copies[:MOST_COPIES]:
            line = min(copy.start_line + best, copy.end_line)
            other = structs.replace(scored, passage=copy, match_line=line, copies=())
            here = self._verifier.verify(other)
            if here is not None and here.passage.text == copy.text:
                found.append(here)
        return found


def phrase_test_of(query: Query) -> "PhraseTest | None":
    """Return what says whether the phrases of a question's filter let a text pass."""
    if not query.filter or not (query.filter.phrases or query.filter.without):
        return None
    from notewell.backends.text.filtering import PhraseTest

    return PhraseTest(query.filter.phrases, query.filter.without)


def empty_reason(passages: int) -> EmptyReason:
    """Return why there are no hits among so many passages."""
    return "no-match" if passages else "nothing-indexed"


def query_warnings(asked: ParsedQuery) -> tuple[str, ...]:
    """Say what of the query was left out."""
    return (_CUT,) if asked.cut else ()


def _gone(vector: EmbeddingOutcome, candidates: Candidates) -> tuple[Fallback, ...]:
    """Say that the vectors went between the question's and the look at the index."""
    if vector.provider is None or candidates.vectors is not None:
        return ()
    return (
        Fallback(
            kind="embedding",
            from_=vector.provider,
            to="none",
            reason="not-ready",
            message=f"the vectors of {vector.provider} have gone; run `notewell index`",
        ),
    )


def _lacking(index: PassageIndex) -> str:
    return (
        f"Passages without a vector, found by words alone: {index.lacking} of"
        f" {index.passages}; `notewell index` makes the rest."
    )
