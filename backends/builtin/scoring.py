"""The keyword leg, second stage: how well a passage answers the whole query.

Three things count, each as a share of what a passage could reach at most: BM25
over everything that was asked for; neighbours in the query that are neighbours in
the passage; and how much of the query stands on one line. So the score lies in
(0, 1], also in a workspace with one note. `docs/ranking.md` has the measurements.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, pairwise

from notewell.backends.builtin.folding import fold
from notewell.backends.builtin.passages import Passage, Scored
from notewell.backends.builtin.query import Want
from notewell.backends.builtin.terms import forms_of, terms_of

_K1 = 1.2
_B = 0.75
"""Saturation and length normalisation of BM25: the usual values, and FTS5's."""

_LOOSE = 0.8
"""What an occurrence of another word with the same stem counts."""

_CONTEXT = 0.6
"""What standing in the path or the headings counts."""

_ADJACENT = 0.3
_ONE_LINE = 0.1
"""Weights of neighbours and of the best line beside BM25 (weight 1)."""


class _Line:
    """A line that holds something of what was asked for."""

    __slots__ = ("_text", "hits", "number")

    def __init__(self, number: int, text: str, hits: list[str]) -> None:
        self.number = number
        self.hits = hits
        self._text = text

    def body(self) -> str:
        """Return its body terms in order, each between spaces."""
        terms = chain.from_iterable(form.body for form in forms_of(self._text))
        return f" {' '.join(terms)} "


class _Relevant(dict[str, tuple[str, ...]]):
    """What of each word of the notes the query asks for; mostly nothing."""

    def __init__(self, wants: Sequence[Want]) -> None:
        super().__init__()
        self._terms = {
            term
            for want in wants
            for term in (*want.exact, want.loose, *want.phrase)
            if term
        }
        self._prefixes = [want.exact[0] for want in wants if want.prefix]
        self._only_runs = all(want.in_run for want in wants)

    def __missing__(self, word: str) -> tuple[str, ...]:
        found = self[word] = self._in_run(word) if self._only_runs else self._in(word)
        return found

    def _in(self, word: str) -> tuple[str, ...]:
        [forms] = forms_of(word)
        body, extra = forms
        terms = self._terms
        if not self._prefixes and terms.isdisjoint(body) and terms.isdisjoint(extra):
            return ()
        heads = [
            head
            for head in self._prefixes
            for term in chain(body, extra)
            if term.startswith(head) and term not in terms
        ]
        return (*(term for term in chain(body, extra) if term in terms), *heads)

    def _in_run(self, word: str) -> tuple[str, ...]:
        """Count pieces of runs where they stand, which is quicker than cutting it up."""
        if word.isascii():
            return ()
        text = fold(word)
        return tuple(term for term in self._terms for _ in range(text.count(term)))


class Scorer:
    """Weighs passages against one query."""

    def __init__(
        self,
        wants: Sequence[Want],
        spread: Mapping[str, int],
        *,
        passages: int,
        mean_length: float,
    ) -> None:
        """Prepare for an index of `passages` passages of `mean_length` body terms."""
        self._wants = [
            (want, want.weight * _idf(_spread(want, spread), passages))
            for want in wants
        ]
        self._most = sum(rarity for _, rarity in self._wants)
        self._mean_length = mean_length
        self._relevant = _Relevant(wants)
        self._neighbours = _neighbours(self._wants)
        self._has_phrases = any(want.phrase for want in wants)

    def score(self, passage: Passage) -> Scored:
        """Weigh one passage."""
        lines = self._matching_lines(passage.text)
        counts = Counter(chain.from_iterable(line.hits for line in lines))
        body = self._joined(lines)
        strength, exact = self._strength(passage, counts, body)
        best, held = self._best(lines)
        together = _ADJACENT * self._adjacency(body) + _ONE_LINE * held
        most = 1 + _ONE_LINE + (_ADJACENT if self._neighbours else 0)
        return Scored(
            passage=passage,
            score=min(1.0, (strength / self._most + together) / most),
            match_line=passage.start_line + best,
            exact=exact,
        )

    def weight(self, text: str) -> float:
        """Return how much of the query a piece of text holds, at most 1."""
        return max(
            (self._held(line) for line in self._matching_lines(text)), default=0.0
        )

    def _matching_lines(self, text: str) -> list[_Line]:
        found: list[_Line] = []
        for number, line in enumerate(text.split("\n")):
            words = line.split()
            hits = list(chain.from_iterable(map(self._relevant.__getitem__, words)))
            if hits:
                found.append(_Line(number, line, hits))
        return found

    def _joined(self, lines: Sequence[_Line]) -> str:
        if not self._has_phrases and not self._neighbours:
            return ""
        return "\n".join(line.body() for line in lines if len(line.hits) > 1)

    def _strength(
        self, passage: Passage, counts: Mapping[str, int], body: str
    ) -> tuple[float, bool]:
        beside = terms_of(f"{passage.path} {passage.heading}")
        length = _K1 * (1 - _B + _B * passage.length / self._mean_length)
        strength, exact = 0.0, False
        for want, rarity in self._wants:
            full, loose = _occurrences(want, counts, body)
            in_context = not beside.isdisjoint(want.exact)
            exact = exact or full > 0 or in_context
            frequency = full + _LOOSE * loose + _CONTEXT * in_context
            strength += rarity * frequency / (frequency + length)
        return strength, exact

    def _adjacency(self, body: str) -> float:
        most = sum(self._neighbours.values())
        here = sum(weight for pair, weight in self._neighbours.items() if pair in body)
        return here / most if most else 0.0

    def _best(self, lines: Sequence[_Line]) -> tuple[int, float]:
        """Return the line that holds most of the query, and how much it holds."""
        best, most = 0, 0.0
        for line in lines:
            held = self._held(line)
            if held > most:
                best, most = line.number, held
        return best, most

    def _held(self, line: _Line) -> float:
        here = set(line.hits)
        return (
            sum(r for want, r in self._wants if _stands_in(want, here, line))
            / self._most
        )


def _stands_in(want: Want, here: set[str], line: _Line) -> bool:
    if not here.isdisjoint(want.exact) or want.loose in here:
        return True
    if want.phrase and here.issuperset(want.phrase):
        return f" {' '.join(want.phrase)} " in line.body()
    return False


def _neighbours(wants: Iterable[tuple[Want, float]]) -> dict[str, float]:
    """Return what neighbouring words of the query look like in a line, weighted."""
    words = [
        (want.phrase or want.exact[:1], rarity)
        for want, rarity in wants
        if not want.part and not want.in_run
    ]
    return {
        f" {left[-1]} {right[0]} ": (a + b) / 2
        for (left, a), (right, b) in pairwise(words)
    }


def _occurrences(want: Want, counts: Mapping[str, int], body: str) -> tuple[int, int]:
    """Return how often the thing itself occurs, and how often nearly it."""
    full = sum(counts.get(term, 0) for term in want.exact)
    if not full and want.phrase:
        full = body.count(f" {' '.join(want.phrase)} ")
    loose = counts.get(want.loose, 0) - full if want.loose else 0
    return full, max(0, loose)


def _spread(want: Want, spread: Mapping[str, int]) -> int:
    exact = max(spread.get(term, 0) for term in want.exact)
    return max(exact, spread.get(want.loose, 0))


def _idf(passages_with: int, passages: int) -> float:
    """Return the inverse document frequency, positive for every spread.

    Source:
        Lucene's BM25Similarity: ln(1 + (N - n + 0.5) / (n + 0.5)).
    """
    absent = max(0, passages - passages_with)
    return math.log(1 + (absent + 0.5) / (passages_with + 0.5))
