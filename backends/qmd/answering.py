"""Answering by words: QMD finds the notes, and their passages are weighed here.

QMD ranks whole notes, by a score that depends on what else is in the index or is the
rank alone, and it counts the beginning of a word as the word. So it is asked for notes,
widely; which lines answer is worked out from the notes as they are now, by the scores
that every answer of notewell has, and QMD's order of the notes has its share in ours.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from notewell.backends.base import Query, Site
from notewell.backends.blocking import off_the_loop
from notewell.backends.qmd.answer import Document
from notewell.backends.qmd.asking import COMPLETE, Budget, Question
from notewell.backends.qmd.counts import Counts
from notewell.backends.qmd.reading import Names, Reading, spread_in
from notewell.backends.qmd.sayings import Sayings, cited
from notewell.backends.qmd.words import planned
from notewell.backends.text.passages import Passage, ScoredPassage
from notewell.backends.text.query import QueryTerm
from notewell.backends.text.ranking import rank
from notewell.backends.text.scoring import ExactMatch, Scorer
from notewell.backends.text.snippets import cut_snippet
from notewell.types import Hit, source_of

_READ: Final = 100
"""Documents that are read, unless more hits are wanted."""

_OWN_RANK: Final = 0.1
"""The share of QMD's order in ours. `docs/qmd.md` has the measurements."""

_RANK_DAMPING: Final = 10

_LONG_LIST: Final = 1_000
"""Documents that are asked for when the usual ones do not hold the very word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Worded:
    """What words found.

    Attributes:
        hits: Best first.
        literal: One of them holds a word of the query as it is written.
        stale: A note is not as QMD indexed it.
    """

    hits: tuple[Hit, ...]
    literal: bool
    stale: bool


class Words:
    """Answers one query by words."""

    def __init__(
        self,
        site: Site,
        query: Query,
        wants: Sequence[QueryTerm],
        *,
        asking: Question,
        names: Names,
        reading: Reading,
        sayings: Sayings,
        counts: Counts,
        documents: int,
    ) -> None:
        """Prepare for an index of so many documents."""
        self._site = site
        self._query = query
        self._wants = wants
        self._asking = asking
        self._names = names
        self._reading = reading
        self._sayings = sayings
        self._counts = counts
        self._documents = documents
        self._spread: Mapping[str, int] = {}
        self._snippet = query.snippet_chars
        self._passages: dict[tuple[str, int, int, str], Passage] = {}
        self._places: dict[tuple[str, str], int] = {}
        self._rank: dict[str, int] = {}
        self._stale = False

    @property
    def text(self) -> str:
        """What was asked."""
        return self._query.text

    @property
    def limit(self) -> int:
        """The most hits that are wanted."""
        return self._query.limit

    def passages_of(self, documents: Sequence[Document]) -> list[Hit]:
        """Return the best passage of each document, in their order and by their score.

        QMD says by rank how good a document is: 1 for the first, 1/2, 1/3 and so on.
        """
        found: list[Hit] = []
        for document in documents:
            able = self._passages_of(document)
            if able:
                scorer = self._scorer(able, spread_in(able, self._wants))
                best = max(map(scorer.score, able), key=lambda one: one.score)
                score = document.score
                if score >= (self._query.min_score or 0.0) or best.exact:
                    text_score = best.text if best.exact else None
                    hit = _hit(best, scorer, self._snippet)
                    found.append(replace(hit, score=score, text_score=text_score))
        return found

    async def answer(self, budget: Budget) -> Worded:
        """Ask as long as it is worth it.

        Raises:
            BackendError: QMD failed.
        """
        asked = await off_the_loop(self._planned)
        if not asked:
            return Worded(hits=(), literal=False, stale=False)
        found = await self._asking.typed([("lex", one) for one in asked], budget)
        worded = await off_the_loop(self._weighed, found[: self._most_read])
        cut = len(found) >= COMPLETE
        if cut and not worded.literal:
            worded = await off_the_loop(self._weighed, found)
        if cut and (not worded.literal or self._query.limit > COMPLETE):
            more = await self._asking.listed(asked[0], self._long_list(), budget)
            worded = await off_the_loop(self._weighed, more)
        return worded

    def _planned(self) -> Sequence[str]:
        """Choose what to ask, and remember how rare it is."""
        with self._counts as counts:
            asked = planned(self._query.text, self._wants, counts)
        self._spread = asked.spread
        return asked.searches

    @property
    def _most_read(self) -> int:
        return max(_READ, self._query.limit)

    def _long_list(self) -> int:
        return max(_LONG_LIST, self._query.limit)

    def _add(self, documents: Sequence[Document]) -> None:
        for document in documents:
            name = (document.collection, document.path)
            if name in self._places:
                continue
            place = self._places[name] = len(self._places)
            passages = self._passages_of(document)
            for passage in passages:
                self._rank.setdefault(passage.path, place)
            self._keep(passages)

    def _passages_of(self, document: Document) -> Sequence[Passage]:
        """Return the passages of a document that may be seen."""
        if self._sayings.are_in(document):
            passages, same = self._sayings.passages(document)
        else:
            passages, same = self._reading.passages(document, self._names)
        self._stale = self._stale or not same
        return [one for one in passages if not self._query.hides(one.path)]

    def _keep(self, passages: Sequence[Passage]) -> None:
        for passage in passages:
            key = (
                passage.path,
                passage.start_line,
                passage.end_line,
                passage.text if passage.piece else "",
            )
            self._passages[key] = passage

    def _weighed(self, documents: Sequence[Document]) -> Worded:
        """Read what was found, and weigh it with what was read before."""
        self._keep(self._sayings.own())
        self._add(documents)
        passages = list(self._passages.values())
        if not passages:
            return Worded(hits=(), literal=False, stale=self._stale)
        spread = spread_in(passages, self._wants, self._spread)
        literal = ExactMatch(self._wants, spread)
        scorer = self._scorer(passages, spread)
        scored = [one for one in map(scorer.score, passages) if one.score > 0]
        best = rank(
            [self._blended(one) for one in scored],
            literal,
            limit=self._query.limit,
            min_score=self._query.min_score,
            settings=self._site.agent.search.query,
        )
        return Worded(
            hits=tuple(_hit(one, scorer, self._snippet) for one in best),
            literal=any(literal.stands_in(one.passage) for one in best),
            stale=self._stale,
        )

    def _blended(self, scored: ScoredPassage) -> ScoredPassage:
        """Give QMD's order its share; what it was not asked about is in the middle."""
        place = self._rank.get(scored.passage.path, _RANK_DAMPING)
        own = _RANK_DAMPING / (_RANK_DAMPING + place)
        return replace(scored, score=(1 - _OWN_RANK) * scored.text + _OWN_RANK * own)

    def _scorer(self, passages: Sequence[Passage], spread: Mapping[str, int]) -> Scorer:
        """Weigh as if every note had as many passages as those that were read."""
        notes = len({passage.path for passage in passages})
        total = max(len(passages), len(passages) * self._documents // notes)
        words = sum(passage.length for passage in passages)
        return Scorer(
            self._wants,
            spread,
            passages=total,
            mean_length=max(1.0, words / len(passages)),
        )


def _hit(scored: ScoredPassage, scorer: Scorer, most: int | None) -> Hit:
    passage = scored.passage
    best = scored.match_line - passage.start_line
    shown = cut_snippet(passage.text, best, scorer.weight, most)
    start, end, match = cited(passage, scored.match_line)
    return Hit(
        path=passage.path,
        start_line=start,
        end_line=end,
        match_line=match,
        snippet=shown,
        score=scored.score,
        text_score=scored.text,
        source=source_of(passage.path),
        heading=passage.heading,
    )
