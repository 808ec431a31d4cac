"""The candidates of an answer: what words and vectors find, weighed and fused.

Each leg's scores are stretched over the candidates to [0, 1] and added. How much the
vectors count depends on two things: how well the best passage answers by words, and
whether the model tells these notes apart at all. Where words are weak, meaning decides;
where they are strong, or the model sees no difference between the notes, words do.
`docs/ranking.md` has the measurements.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain
from typing import Final

from msgspec import structs

from notewell.backends.base import Query, Site
from notewell.backends.text.folding import NUMBER_KEY
from notewell.backends.text.languages import in_languages
from notewell.backends.text.passages import Passage, ScoredPassage
from notewell.backends.text.query import ParsedQuery, QueryTerm
from notewell.backends.text.scoring import ExactMatch, Scorer
from notewell.backends.text.variants import ways_to_look_for, with_ways
from notewell.backends.weighing.index import EmbeddingOutcome, Near, PassageIndex
from notewell.backends.weighing.unknown_words import UnknownWords
from notewell.config import HybridSettings
from notewell.types import Fallback, Mode
from notewell.values import dataclass

_UNREACHABLE: Final = 2.0
"""More than any cosine."""

_WEAK: Final = 0.05
_STRONG: Final = 0.2
"""Best text scores: up to the first words count least, from the second on most. A model
that tells the notes apart less leaves the words more: the second is nearer to the first."""

_MOST: Final = 0.95
_LEAST: Final = 0.3
"""The vectors' share of the order then, with the usual weights."""

_BEND: Final = 2
"""Power of the stretched text scores: what is half as good as the best counts a quarter,
so that passages with one common word do not stand in the way of meaning."""

_LAST: Final = 0.001
"""The order of the last one, where the best has 1: what is found is more than nothing."""

_GROUP: Final = 0.35
"""Weight of the digits of a number beside the whole."""

_USUAL: Final = HybridSettings()


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexSearch:
    """One search of an index.

    Attributes:
        site: Where, and with which settings.
        query: What was asked.
        asked: The same, parsed.
        vector: What is known of the question's vector.
    """

    site: Site
    query: Query
    asked: ParsedQuery
    vector: EmbeddingOutcome


class Candidates:
    """One question to one generation of the index.

    Attributes:
        frequencies: In how many passages each term of the question stands.
        lookalikes: What was looked for in place of words that no passage holds.
        scorer: Weighs passages by words.
        vectors: Compares passages by meaning; None when words alone are searched.
        exhausted: The last candidates were all that there are.
    """

    def __init__(self, index: PassageIndex, search: IndexSearch) -> None:
        hybrid = search.site.agent.search.query.hybrid
        # A model reads but the beginning of a question of thousands of words.
        if search.asked.cut:
            hybrid = structs.replace(hybrid, vector_weight=0.0)
        self._hybrid = hybrid
        self._index = index
        text, languages = search.query.text, index.languages
        asked = in_languages(search.asked.terms, text, languages)
        self.frequencies = index.frequencies(
            {term for query_term in asked for term in query_term.terms()}
        )
        asked = known_numbers(asked, self.frequencies)
        asked = in_other_ways(index, asked, text, self.frequencies)
        unknown = UnknownWords(index, asked, self.frequencies)
        self._terms = unknown.terms
        self.lookalikes = unknown.found
        self.scorer = Scorer(
            self._terms,
            self.frequencies,
            passages=index.passages,
            mean_length=index.mean_length,
        )
        self.vectors = index.vectors
        self.exhausted = False
        self._scored: dict[int, ScoredPassage] = {}
        self._nearness: dict[int, Near] = {}

    @property
    def mode(self) -> Mode:
        """How the answer is found."""
        if self.vectors is None:
            return "keyword"
        return "hybrid" if self._hybrid.enabled else "vector"

    @property
    def fallbacks(self) -> tuple[Fallback, ...]:
        """Why vectors were not compared as they were to be, if they were not."""
        return self.vectors.fallbacks if self.vectors else ()

    def take(self, literal: ExactMatch, pool: int) -> list[ScoredPassage]:
        """Return about `pool` passages of each leg, weighed and joined."""
        found = self._index.matching(self._terms, self.frequencies, literal, pool)
        near = self._near(pool)
        self.exhausted = max(len(found), len(near)) < pool
        for one in (*found, *near):
            if one.id not in self._scored and self._index.visible(one.path):
                self._scored[one.id] = self.scorer.score(one)
        if self.vectors is None:
            return list(self._scored.values())
        new = [key for key in self._scored if key not in self._nearness]
        self._nearness.update(self.vectors.cosines(new))
        joined = [self._compared(one) for one in self._scored.values()]
        if self._hybrid.enabled:
            background = self.vectors.background
            return fuse(joined, background, self._hybrid, gate=self.vectors.gate)
        return order_by_vectors(joined)

    @cached_property
    def floor(self) -> float | None:
        """The cosine from which a passage resembles the question; None: not known.

        Nothing resembles a name made of digits: it stands in a note, or it does not.
        """
        if self.vectors is None:
            return None
        if not any(map(_has_meaning, self._terms)):
            return _UNREACHABLE
        floor = self.vectors.floor(words=self._is_in_words(self.vectors.script))
        nearest = max((one.cosine for one in self._nearness.values()), default=0.0)
        halfway = (self.vectors.unrelated + nearest) / 2
        return None if floor is None else max(floor, halfway)

    def _is_in_words(self, script: str) -> bool:
        if script != "latin":
            return True
        from notewell.adapters.embeddings.local.static import spelled_like_words

        return spelled_like_words(
            want.exact[0] for want in self._terms if _has_meaning(want)
        )

    def _compared(self, scored: ScoredPassage) -> ScoredPassage:
        """Add what its vectors say: how near it is, and where if no word says it."""
        near = self._nearness.get(scored.passage.id)
        if near is None or self.vectors is None:
            return scored
        if scored.text > 0:
            return structs.replace(scored, vector=near.cosine)
        window = self.vectors.window(scored.passage.text, near.window)
        return structs.replace(
            scored,
            vector=near.cosine,
            window=window.text,
            match_line=scored.passage.start_line + window.middle_line,
        )

    def _near(self, pool: int) -> list[Passage]:
        if self.vectors is None:
            return []
        near = self.vectors.nearest(pool)
        self._nearness.update({one.chunk: one for one in near})
        return self.vectors.passages(near)


def known_numbers(
    query_terms: Sequence[QueryTerm], frequencies: Mapping[str, int]
) -> tuple[QueryTerm, ...]:
    """Leave out long numbers as a whole that no note holds.

    Where one is held, its groups of digits are but parts of it.
    """
    numbers = {term for term in query_terms if term.exact[0].startswith(NUMBER_KEY)}
    if not numbers:
        return tuple(query_terms)
    unknown = {term for term in numbers if not frequencies.get(term.exact[0])}
    share = 1.0 if unknown == numbers else _GROUP
    return tuple(
        replace(term, weight=term.weight * share)
        if term.exact[0].isdecimal() and not term.part
        else term
        for term in query_terms
        if term not in unknown
    )


def in_other_ways(
    index: PassageIndex,
    query_terms: Sequence[QueryTerm],
    text: str,
    frequencies: dict[str, int],
) -> tuple[QueryTerm, ...]:
    """Return the terms of a query with other ways to write them that stand somewhere.

    Args:
        index: Where.
        query_terms: What was parsed.
        text: The query.
        frequencies: In how many passages each term stands; those found are added.
    """
    ways = ways_to_look_for(query_terms, text, frequencies, index.languages)
    if not ways:
        return tuple(query_terms)
    found = index.held(set(chain.from_iterable(ways.values())))
    frequencies.update(found)
    return with_ways(query_terms, ways, found)


def _has_meaning(want: QueryTerm) -> bool:
    """Say whether a model can know what a thing is; it cannot know ids and hashes."""
    words = not want.stop_word and not want.part
    return words and not any(map(str.isdigit, want.exact[0]))


def fuse(
    scored: Sequence[ScoredPassage],
    background: float,
    settings: HybridSettings,
    *,
    gate: float = 1.0,
) -> list[ScoredPassage]:
    """Return the passages with the score by which words and vectors order them.

    Args:
        scored: The candidates of both legs, each with its text score, and with its
            cosine if it has a vector.
        background: The mean cosine of the question with all passages.
        settings: The weights.
        gate: In [0, 1], how well the model tells these notes apart.
    """
    if not scored:
        return []
    best = max(one.text for one in scored)
    cosines = [background if one.vector is None else one.vector for one in scored]
    share = vector_share(best, settings, gate=gate)
    text = _stretched([one.text for one in scored])
    near_by_name = zip(scored, _stretched(cosines), strict=True)
    vector = [1.0 if one.named else near for one, near in near_by_name]
    order = [
        _LAST + (1 - _LAST) * (share * near + (1 - share) * words**_BEND)
        for words, near in zip(text, vector, strict=True)
    ]
    # The order is by place among the candidates; the scale is that of the legs.
    absolute = max(
        share * max(0.0, near) + (1 - share) * one.text
        for one, near in zip(scored, cosines, strict=True)
    )
    scale = min(1.0, absolute) / max(order)
    return [
        structs.replace(one, score=min(1.0, one_of * scale))
        for one, one_of in zip(scored, order, strict=True)
    ]


def order_by_vectors(scored: Sequence[ScoredPassage]) -> list[ScoredPassage]:
    """Return the passages with their nearness as score: `hybrid.enabled` is false."""
    return [structs.replace(one, score=max(0.0, one.vector or 0.0)) for one in scored]


def vector_share(best: float, settings: HybridSettings, *, gate: float) -> float:
    """Return the vectors' share of the order, in [0, 1].

    Args:
        best: The best text score of a candidate.
        settings: The weights; others than the usual ones scale the odds of the share.
        gate: In [0, 1], how well the model tells these notes apart.

    >>> [round(vector_share(best, _USUAL, gate=1), 2) for best in (0.05, 0.08, 0.2)]
    [0.95, 0.82, 0.3]
    >>> [round(vector_share(best, _USUAL, gate=0.2), 2) for best in (0.05, 0.056, 0.2)]
    [0.95, 0.77, 0.06]
    """
    if not settings.text_weight or not settings.vector_weight:
        return 0.0 if settings.text_weight else 1.0
    if best <= 0:
        return 1.0  # there are no words that could be outvoted
    room = gate * (_STRONG - _WEAK)
    above = max(0.0, best - _WEAK)
    strength = above / room if above < room else float(above > 0)
    share = _MOST + (gate * _LEAST - _MOST) * strength
    near = share * settings.vector_weight * _USUAL.text_weight
    words = (1 - share) * settings.text_weight * _USUAL.vector_weight
    return near / (near + words) if near else 0.0


def _stretched(values: Sequence[float]) -> list[float]:
    """Return the values stretched to [0, 1]; equal ones are all best, or all nothing."""
    least, most = min(values), max(values)
    if most == least:
        return [1.0 if most > 0 else 0.0] * len(values)
    return [(value - least) / (most - least) for value in values]
