"""A space in a server as one question meets it: candidates for the second stage.

See `notewell.backends.weighing.index`. What a question costs the server is bounded: the
rare terms are asked for first, and common ones only while few rows hold them.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from notewell.backends.remote.notes import NOTHING, SpaceNotes
from notewell.backends.remote.records import passage_found
from notewell.backends.remote.store import (
    Among,
    SpaceSnapshot,
    TermClause,
)
from notewell.backends.text.filtering import PhraseTest
from notewell.backends.text.languages import LANGUAGE_MARK
from notewell.backends.text.passages import Passage
from notewell.backends.text.query import QueryTerm, asked_by_name, words_asked
from notewell.backends.text.scoring import ExactMatch
from notewell.backends.weighing.index import VectorLeg
from notewell.backends.weighing.plans import MatchPlan, choose_plans

_MOST_ROWS: Final = 8_000
"""Passages that a question looks at, the rarest term's excepted."""

_LAST: Final = "\U0010ffff"
_MOST_HIDDEN: Final = 1_000
"""Notes with a word that are looked at for one that may be seen."""

_MOST_AT_ONCE: Final = 4_000
_MORE: Final = 4
_MOST_LITERAL: Final = 64
"""Passages that are read for one with a word of the question as it is written."""


class RemoteIndex:
    """See `notewell.backends.weighing.index.PassageIndex`.

    Attributes:
        passages: How many there are.
        mean_length: Body terms of a passage, on average.
        vectors: None: words alone are searched.
        lacking: No text waits for a vector.
        languages: Those beside English that notes are in.
    """

    def __init__(self, space: SpaceSnapshot, notes: SpaceNotes) -> None:
        self._space = space
        self._notes = notes
        self.passages = sum(each.passages for each in notes.holdings)
        words = sum(each.passages * each.mean_length for each in notes.holdings)
        self.mean_length: float = max(1, round(words / max(1, self.passages)))
        self.vectors: VectorLeg | None = None
        self.lacking = 0
        marks = space.vocabulary(LANGUAGE_MARK, f"{LANGUAGE_MARK}{_LAST}")
        self.languages = sorted(
            mark.removeprefix(LANGUAGE_MARK) for mark in self.held(marks)
        )

    def visible(self, path: str) -> bool:
        """Whether passages of a note may be shown."""
        return self._notes.visible(path)

    def warnings(self) -> tuple[str, ...]:
        """Say which part of the filter left nothing."""
        return self._notes.warnings()

    def frequencies(self, terms: Iterable[str]) -> dict[str, int]:
        """Return in how many passages each term stands."""
        return self._space.frequencies(sorted(terms))

    def held(self, terms: Collection[str]) -> dict[str, int]:
        """Return of a great many terms those that stand somewhere, counted."""
        return self._space.frequencies(sorted(terms)) if terms else {}

    def between(
        self, first: str, end: str, lengths: tuple[int, int] = (0, 1_000)
    ) -> dict[str, int]:
        """Return the terms from one up to another, and how many passages hold each."""
        least, most = lengths
        found = self._space.vocabulary(first, end)
        return self.held([each for each in found if least <= len(each) <= most])

    def with_inside(self, part: str) -> dict[str, int]:
        """Return the terms with a string inside, and how many passages hold each."""
        return self.held(self._space.vocabulary_with(part))

    def stands(self, term: str, *, written: bool = False) -> bool:
        """Say whether a term is one of a passage that may be seen."""
        if written and not self._space.written(term):
            return False
        return any(
            self.visible(note.path)
            for note in self._space.notes_with(term, _MOST_HIDDEN)
        )

    def matching(
        self,
        query_terms: Sequence[QueryTerm],
        frequencies: Mapping[str, int],
        literal: ExactMatch,
        limit: int,
    ) -> list[Passage]:
        """Return the passages that match best by BM25, at most `limit` and one more."""
        among = self._notes.among
        if among == NOTHING or among.only == frozenset():
            return []
        wanted = _wanted(choose_plans(query_terms, frequencies, most=_MOST_ROWS))
        if wanted:
            named = asked_by_name(words_asked(query_terms))
            wanted.append(TermClause(terms=(named,)))
        found = self._best(wanted, limit, among)
        if among.only is not None and len(found) < limit:
            # Which words are rare the whole space says, and not what the filter leaves.
            everything = _wanted(choose_plans(query_terms, frequencies, most=None))
            known = {passage.id for passage in found}
            more = self._best(everything, limit, among)
            found += [each for each in more if each.id not in known]
        if any(literal.is_in(passage.text) for passage in found):
            return found
        return [*found, *self._literal(literal, among)]

    def _literal(self, literal: ExactMatch, among: Among) -> list[Passage]:
        """Return the best passage that holds a word of the question as it is written."""
        wanted = [TermClause(terms=terms) for terms in literal.sought()]
        found = self._best(wanted, _MOST_LITERAL, among)
        return [each for each in found if literal.is_in(each.text)][:1]

    def _best(
        self, wanted: Sequence[TermClause], limit: int, among: Among
    ) -> list[Passage]:
        if not wanted:
            return []
        test = self._notes.test
        if test is None or not test.text:
            found = self._space.candidates(wanted, limit, among)
            return [passage_found(each) for each in found]
        most = limit
        while True:
            found = self._space.candidates(wanted, most, among)
            passing = [each for each in found if test.text(each.text)]
            if len(passing) >= limit or len(found) < most or most >= _MOST_AT_ONCE:
                return [passage_found(each) for each in passing[:limit]]
            most = min(_MOST_AT_ONCE, most * _MORE)


class NewestInSpace:
    """See `notewell.backends.weighing.index.FilteredIndex`.

    Attributes:
        passages: How many there are.
        phrases: Says whether the phrases of the filter let a text pass.
    """

    def __init__(self, space: SpaceSnapshot, notes: SpaceNotes) -> None:
        assert notes.test is not None, "the caller has seen that there is a filter"
        self._space = space
        self._notes = notes
        self.passages = sum(each.passages for each in notes.holdings)
        self.phrases: PhraseTest = notes.test.text

    def visible(self, path: str) -> bool:
        """Whether passages of a note may be shown."""
        return self._notes.visible(path)

    def warnings(self) -> tuple[str, ...]:
        """Say which part of the filter left nothing."""
        return self._notes.warnings()

    def newest(self, limit: int) -> list[Passage]:
        """Return the newest passages that pass, at most `limit`."""
        found: list[Passage] = []
        notes = self._notes.newest()
        step = max(1, limit)
        for first in range(0, len(notes), step):
            some = [each.id for each in notes[first : first + step]]
            for each in self._space.passages_of(some):
                if self.phrases(each.text):
                    found.append(passage_found(each))
                if len(found) == limit:
                    return found
        return found


def _wanted(plans: Iterable[MatchPlan]) -> list[TermClause]:
    return [TermClause(terms=each.terms, beginning=each.beginning) for each in plans]
