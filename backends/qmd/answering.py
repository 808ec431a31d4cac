"""Answering by words: QMD finds the notes, their passages are weighed here.

QMD's scores depend on what else is in the index or on ranks alone, and it counts the
beginning of a word as the word. So it is asked for notes, widely; which lines answer,
and in what order, is worked out from the notes as they are now, by the scores that
every answer of notewell has.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from notewell.backends.base import Query, Site
from notewell.backends.blocking import off_the_loop
from notewell.backends.qmd.answer import Document
from notewell.backends.qmd.asking import COMPLETE, Budget, Question
from notewell.backends.qmd.reading import Names, Reading, spread_in
from notewell.backends.qmd.sayings import Sayings, cited
from notewell.backends.qmd.words import as_written, has_runs, in_parts, is_question
from notewell.backends.text.literal import Literal
from notewell.backends.text.passages import Passage, Scored
from notewell.backends.text.query import Want
from notewell.backends.text.ranking import ranked
from notewell.backends.text.scoring import Scorer
from notewell.backends.text.snippets import snippet
from notewell.types import Hit, source_of

_ENOUGH: Final = 3
"""Documents with every word that leave no need for others."""

_LONG_LIST: Final = 1_000
"""Documents that are asked for when the usual ones do not hold the very word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Worded:
    """What words found.

    Attributes:
        hits: Best first.
        literal: One of them holds a word of the query as it is written; of a query
            in a script without spaces, all of it.
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
        wants: Sequence[Want],
        *,
        asking: Question,
        names: Names,
        reading: Reading,
        sayings: Sayings,
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
        self._documents = documents
        self._snippet = query.snippet_chars
        self._passages: dict[tuple[str, int, int, str], Passage] = {}
        self._notes: set[tuple[str, str]] = set()
        self._stale = False
        self._in_vain = False

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
                    text_score = best.score if best.exact else None
                    hit = _hit(best, scorer, self._snippet)
                    found.append(replace(hit, score=score, text_score=text_score))
        return found

    async def answer(self, budget: Budget) -> Worded:
        """Ask as long as it is worth it.

        Raises:
            BackendError: QMD failed.
        """
        written = as_written(self._query.text)
        if not written:
            return Worded(hits=(), literal=False, stale=False)
        found = await self._first(written, budget)
        worded = await off_the_loop(self._weighed, found)
        cut = len(found) >= COMPLETE
        if cut and (not worded.literal or self._query.limit > COMPLETE):
            more = await self._asking.listed(written, self._long_list(), budget)
            worded = await off_the_loop(self._weighed, more)
        return worded

    async def _first(self, written: str, budget: Budget) -> list[Document]:
        """Ask for all words at once; in parts if that is no use."""
        found: list[Document] = []
        parts = in_parts(self._query.text, self._wants)
        parts = [part for part in parts if part != written]
        runs = has_runs(self._query.text)
        if runs or not parts or not is_question(self._wants):
            found = await self._asking.typed([("lex", written)], budget)
            self._in_vain = runs and not found
        if len(found) >= min(self._query.limit, _ENOUGH) or not parts:
            return found
        searches = [("lex", one) for one in (written, *parts)]
        return [*found, *await self._asking.typed(searches, budget)]

    def _long_list(self) -> int:
        return max(_LONG_LIST, self._query.limit)

    def _add(self, documents: Sequence[Document]) -> None:
        for document in documents:
            name = (document.collection, document.path)
            if name in self._notes:
                continue
            self._notes.add(name)
            self._keep(self._passages_of(document))

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
        spread = spread_in(passages, self._wants)
        literal = Literal(self._wants, spread)
        scorer = self._scorer(passages, spread)
        best = ranked(
            [one for one in map(scorer.score, passages) if one.score > 0],
            literal,
            limit=self._query.limit,
            min_score=self._query.min_score,
            settings=self._site.agent.search.query,
        )
        return Worded(
            hits=tuple(_hit(one, scorer, self._snippet) for one in best),
            literal=not self._in_vain
            and any(literal.stands_in(one.passage) for one in best),
            stale=self._stale,
        )

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


def _hit(scored: Scored, scorer: Scorer, most: int | None) -> Hit:
    passage = scored.passage
    best = scored.match_line - passage.start_line
    shown = snippet(passage.text, best, scorer.weight, most)
    start, end, match = cited(passage, scored.match_line)
    return Hit(
        path=passage.path,
        start_line=start,
        end_line=end,
        match_line=match,
        snippet=shown,
        score=scored.score,
        text_score=scored.score,
        source=source_of(passage.path),
        heading=passage.heading,
    )
