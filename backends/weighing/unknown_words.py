"""Words of a question that no passage holds: which words of the notes may be meant.

First those that begin with it (`schedul`, `scheduler`), then those that it may be by a
slip of the keyboard (`text.spelling`), and last, where the question has little else,
those with it inside (`radish`, `horseradish`). What is found so is like the word, never
the word itself: it counts less, and the answer names it.

An index may count a term's list when it shows the term, so what is read is bounded: a
range of its sorted terms, or all of them where there are few passages.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from notewell.backends.text.analysis import stem
from notewell.backends.text.query import QueryTerm
from notewell.backends.text.spelling import (
    is_unknown,
    looks_misspelled,
    nearest_words,
    slips_allowed,
)
from notewell.backends.weighing.index import PassageIndex

_MOST: Final = 2
"""Unknown words of a query that are looked for."""

_MOST_RANGES: Final = 50_000
_MOST_SCANS: Final = 10_000
"""Passages up to which the terms of one first letter are read, and all terms."""

_SHORTEST_BEGINNING: Final = 4
_SHORTEST_INSIDE: Final = 4
_SHORTEST_WITH_DIGITS: Final = 3
"""Characters of a word that is looked for in longer ones."""

_LONGER: Final = 6
"""Longer words that are taken for one."""

_LIKE_LONGER: Final = 0.4
"""What an occurrence of a longer word counts."""

_LAST: Final = "\U0010ffff"


@dataclass(frozen=True, slots=True)
class Lookalikes:
    """Words that are looked for in place of one.

    Attributes:
        word: What no passage holds.
        shown: Words of the notes, as they stand there, folded.
        longer: They hold the word; if not, they are spelled like it.
    """

    word: str
    shown: tuple[str, ...]
    longer: bool

    def sentence(self) -> str:
        """Say for a person what was looked for."""
        words = " and ".join(f'"{word}"' for word in self.shown)
        how = f"longer words with it, {words}" if self.longer else f"{words} instead"
        return f'Nothing indexed holds "{self.word}"; searched for {how}.'


class UnknownWords:
    """The words of one query that an index lacks, and what was found for them.

    Attributes:
        terms: The terms of the query, unknown words with those that they may be.
        found: For whom there are any.
    """

    def __init__(
        self,
        index: PassageIndex,
        query_terms: Sequence[QueryTerm],
        frequencies: dict[str, int],
    ) -> None:
        """Look for the words.

        Args:
            index: Where. Of what may not be seen no word is told.
            query_terms: The terms of the query.
            frequencies: In how many passages each stands; those found are added.
        """
        self._index = index
        self._frequencies = frequencies
        self.terms = tuple(query_terms)
        self.found: tuple[Lookalikes, ...] = ()
        unknown = [term for term in query_terms if is_unknown(term, frequencies)]
        if unknown:
            self._look_for(unknown)

    def _look_for(self, unknown: Sequence[QueryTerm]) -> None:
        content = [term for term in self.terms if not (term.stop_word or term.part)]
        alone = len(unknown) * 2 >= len(content)
        longest = sorted(unknown, key=lambda term: -len(term.exact[0]))[:_MOST]
        became: dict[QueryTerm, QueryTerm] = {}
        for term in longest:
            word = term.exact[0]
            ways = (self._misspelled, self._begun, self._inside if alone else None)
            found = next(filter(None, (way(word) for way in ways if way)), None)
            if found:
                terms, lookalikes = found
                like = _LIKE_LONGER if lookalikes.longer else term.likeness
                became[term] = replace(term, loose=terms, likeness=like)
                self.found = (*self.found, lookalikes)
        self.terms = tuple(became.get(term, term) for term in self.terms)

    def _begun(self, word: str) -> tuple[tuple[str, ...], Lookalikes] | None:
        """Return words that begin with one."""
        if len(word) < _SHORTEST_BEGINNING:
            return None
        return self._longer(word, self._index.between(word, word + _LAST))

    def _inside(self, word: str) -> tuple[tuple[str, ...], Lookalikes] | None:
        """Return words with one inside; all terms are read for that."""
        least = _SHORTEST_INSIDE if word.isalpha() else _SHORTEST_WITH_DIGITS
        if len(word) < least or self._index.passages > _MOST_SCANS:
            return None
        return self._longer(word, self._index.with_inside(word))

    def _longer(
        self, word: str, found: Mapping[str, int]
    ) -> tuple[tuple[str, ...], Lookalikes] | None:
        often = sorted(found, key=lambda term: (-found[term], term))
        whole = (term for term in often if term.isalnum() and self._is_written(term))
        words = tuple(term for term, _ in zip(whole, range(_LONGER), strict=False))
        if not words:
            return None
        self._frequencies.update({term: found[term] for term in words})
        return words, Lookalikes(word, words, longer=True)

    def _misspelled(self, word: str) -> tuple[tuple[str, ...], Lookalikes] | None:
        """Return the words that one may be by a slip of the keyboard."""
        slips = slips_allowed(word)
        if not slips or self._index.passages > _MOST_RANGES:
            return None
        found = self._index.between(
            word[0],
            chr(ord(word[0]) + 1),
            lengths=(len(word) - slips, len(word) + slips),
        )
        nearest = nearest_words(word, found.items())
        nearest = tuple(o for o in nearest if looks_misspelled(word, o, _pieces))
        written = {
            term: self._written(term) for term in nearest if self._index.stands(term)
        }
        if not written:
            return None
        self._frequencies.update({term: found[term] for term in written})
        shown = dict.fromkeys(written.values())
        return tuple(written), Lookalikes(word, tuple(shown), longer=False)

    def _is_written(self, term: str) -> bool:
        """Say whether a term stands in a passage, and is not only the stem of words."""
        return self._index.stands(term, written=True)

    def _written(self, term: str) -> str:
        """Return a term, or the most common word that it is the stem of."""
        if self._is_written(term):
            return term
        near = self._index.between(term[:-1], term[:-1] + _LAST)
        words = sorted(near, key=lambda word: (-near[word], word))
        whole = (word for word in words if word != term and stem(word) == term)
        return next(filter(self._is_written, whole), term)


def _pieces(word: str) -> int:
    from notewell.adapters.embeddings.local.static import pieces_in  # rare

    return pieces_in(word)
