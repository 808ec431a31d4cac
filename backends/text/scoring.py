"""The keyword leg, second stage: how well a passage answers the whole query.

Three things count, each as a share of what a passage could reach at most: BM25
over everything that was asked for; neighbours in the query that are neighbours in
the passage; and how much of the query stands on one line. So the score lies in
(0, 1], also in a workspace with one note. `docs/ranking.md` has the measurements.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from notewell.backends.text.folding import fold
from notewell.backends.text.matching import Line, Matcher
from notewell.backends.text.passages import Passage, Scored
from notewell.backends.text.query import Want

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


class _Weighed(NamedTuple):
    """A want and what it is worth: its inverse document frequency times its weight."""

    want: Want
    worth: float
    phrase: str

    @property
    def is_compound(self) -> bool:
        """Whether it is made of several words, as names of files are."""
        return not self.want.exact[0].isalnum()


class _Neighbours(NamedTuple):
    """Two words that follow each other in the query."""

    left: str
    right: str
    worth: float


class _Held(NamedTuple):
    """How often things stand in a text: themselves, and nearly themselves."""

    full: int
    loose: int


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
        self._wants = [_weighed(want, spread, passages) for want in wants]
        self._most = sum(weighed.worth for weighed in self._wants)
        self._telling = any(not want.filler for want in wants)
        self._mean_length = mean_length
        self._matcher = Matcher(wants)
        self._compounds = [weighed for weighed in self._wants if weighed.is_compound]
        self._neighbours = _neighbours(self._wants)
        self._pair_worth = sum(pair.worth for pair in self._neighbours)
        self._owners: dict[str, list[tuple[int, float]]] = defaultdict(list)
        for number, weighed in enumerate(self._wants):
            for term in filter(None, (*weighed.want.exact, weighed.want.loose)):
                self._owners[term].append((number, weighed.worth))

    def score(self, passage: Passage) -> Scored:
        """Weigh one passage."""
        lines = list(self._matcher.lines(passage.text))
        beside = list(self._matcher.lines(passage.beside))
        strength, exact = self._strength(passage, lines, beside)
        best, held = self._best(lines)
        together = _ADJACENT * self._adjacency(lines) + _ONE_LINE * held
        most = 1 + _ONE_LINE + (_ADJACENT if self._neighbours else 0)
        share = (strength / self._most + together) / most
        named = self._named(passage.path)
        # The note that is asked for by its name comes before all that mention it.
        score = min(1.0, share + (1 - share) * named)
        return Scored(
            passage=passage,
            score=score,
            text=score,
            match_line=passage.start_line + best,
            exact=exact,
        )

    def weight(self, text: str) -> float:
        """Return how much of the query a piece of text holds, at most 1."""
        return max(map(self._held, self._matcher.lines(text)), default=0.0)

    def _named(self, path: str) -> float:
        """Return how much of the query is the name of a note, at most 1."""
        if not self._compounds:
            return 0.0
        name = fold(path.rpartition("/")[2])
        names = {name, name.rpartition(".")[0]}
        return (
            sum(
                weighed.worth
                for weighed in self._compounds
                if not names.isdisjoint(weighed.want.exact)
            )
            / self._most
        )

    def _strength(
        self, passage: Passage, lines: Sequence[Line], beside: Sequence[Line]
    ) -> tuple[float, bool]:
        """Return BM25, and whether something stands there as it was written."""
        counts = Counter(hit for line in lines for hit in line.hits)
        context = Counter(hit for line in beside for hit in line.hits)
        saturation = _K1 * (1 - _B + _B * passage.length / self._mean_length)
        strength, exact = 0.0, False
        for weighed in self._wants:
            here = _occurrences(weighed, counts, lines)
            there = _occurrences(weighed, context, beside)
            if not self._telling or not weighed.want.filler:
                exact = exact or here.full > 0 or there.full > 0
            frequency = here.full + _LOOSE * here.loose + _CONTEXT * any(there)
            strength += weighed.worth * frequency / (frequency + saturation)
        return strength, exact

    def _adjacency(self, lines: Sequence[Line]) -> float:
        """Return the share of the query's neighbours that are neighbours on a line."""
        here = sum(
            pair.worth for pair in self._neighbours if _stand_together(pair, lines)
        )
        return here / self._pair_worth if self._pair_worth else 0.0

    def _best(self, lines: Sequence[Line]) -> tuple[int, float]:
        """Return the line that holds most of the query, and how much it holds."""
        best, most = 0, 0.0
        for line in lines:
            held = self._held(line)
            if held > most:
                best, most = line.number, held
        return best, most

    def _held(self, line: Line) -> float:
        """Return how much of the query stands on a line, at most 1."""
        owned: dict[int, float] = {}
        for hit in line.hits:
            owned.update(self._owners.get(hit, ()))
        if len(line.hits) > 1:
            for number, weighed in enumerate(self._wants):
                if weighed.phrase and number not in owned and _phrases(weighed, [line]):
                    owned[number] = weighed.worth
        return sum(owned.values()) / self._most


def _weighed(want: Want, spread: Mapping[str, int], passages: int) -> _Weighed:
    exact = max(spread.get(term, 0) for term in want.exact)
    worth = want.weight * _idf(max(exact, spread.get(want.loose, 0)), passages)
    return _Weighed(want, worth, f" {' '.join(want.phrase)} " if want.phrase else "")


def _neighbours(wants: Iterable[_Weighed]) -> list[_Neighbours]:
    words = [
        (weighed.want.phrase or weighed.want.exact[:1], weighed.worth)
        for weighed in wants
        if not weighed.want.part and not weighed.want.in_run
    ]
    return [
        _Neighbours(left[-1], right[0], (a + b) / 2)
        for (left, a), (right, b) in pairwise(words)
    ]


def _stand_together(pair: _Neighbours, lines: Iterable[Line]) -> bool:
    written = f" {pair.left} {pair.right} "
    return any(
        pair.left in line.hits and pair.right in line.hits and written in line.body()
        for line in lines
    )


def _occurrences(
    weighed: _Weighed, counts: Mapping[str, int], lines: Iterable[Line]
) -> _Held:
    """Count a want in some lines, whose hits are counted already."""
    want = weighed.want
    full = sum(counts.get(term, 0) for term in want.exact)
    if not full and weighed.phrase:
        full = _phrases(weighed, lines)
    loose = counts.get(want.loose, 0) - full if want.loose else 0
    return _Held(full, max(0, loose))


def _phrases(weighed: _Weighed, lines: Iterable[Line]) -> int:
    """Count how often the parts of a want follow each other."""
    parts = set(weighed.want.phrase)
    return sum(
        line.body().count(weighed.phrase) for line in lines if parts.issubset(line.hits)
    )


def _idf(passages_with: int, passages: int) -> float:
    """Return the inverse document frequency, positive for every spread.

    Source:
        Lucene's BM25Similarity: ln(1 + (N - n + 0.5) / (n + 0.5)).
    """
    absent = max(0, passages - passages_with)
    return math.log(1 + (absent + 0.5) / (passages_with + 0.5))
