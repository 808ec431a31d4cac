"""The keyword leg, second stage: how well a passage answers the whole query.

Three things count, each as a share of what a passage could reach at most: BM25
over everything that was asked for; neighbours in the query that are neighbours in
the passage; and how much of the query stands on one line. So the score lies in
(0, 1], also in a workspace with one note. `docs/ranking.md` has the measurements.

`LineMatcher` finds the query terms in the lines of a passage, `Scorer` weighs them, and
`ExactMatch` says whether what was asked for stands in a note as it was written: stems,
pieces and beginnings of words help to find a note, they never take the place of a note
that holds the very word.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

from notewell.backends.text.analysis import Forms, forms_of, forms_of_word
from notewell.backends.text.folding import (
    NUMBER_KEY,
    broken_words,
    fold,
    number_keys,
    without_inline_marks,
)
from notewell.backends.text.languages import LANGUAGE_MARK, StemmedWords
from notewell.backends.text.passages import Passage, ScoredPassage
from notewell.backends.text.query import (
    LIKE_STEM,
    QueryTerm,
    words_asked,
    words_of_name,
)

_K1 = 1.2
_B = 0.75
"""Saturation and length normalisation of BM25: the usual values, and FTS5's."""

_CONTEXT = 0.6
"""What standing in the path or the headings counts."""

_ADJACENT = 0.3
_ONE_LINE = 0.1
"""Weights of neighbours and of the best line beside BM25 (weight 1)."""


_NAMED = 0.999
"""What the beginning of a note gains whose name is the whole query, of what its score
lacks: more than any number of these words in another note gives."""


class LineMatch:
    """A line that holds something of the query.

    Attributes:
        number: Its place in the passage, from 0.
        hits: Terms of the query in it, each as often as it stands there.
    """

    __slots__ = ("_body", "_text", "hits", "number")

    def __init__(self, number: int, text: str, hits: list[str]) -> None:
        self.number = number
        self.hits = hits
        self._text = text
        self._body: str | None = None

    def body(self) -> str:
        """Return its body terms in order, each between spaces."""
        if self._body is None:
            self._body = (
                " " + " ".join(form.body_text for form in forms_of(self._text)) + " "
            )
        return self._body


class LineMatcher:
    """Finds the terms of one query in the lines of a passage, quickly.

    Most words of a passage are of no interest to a query. Which ones are is worked out
    once per word and query, so that a passage costs little more than splitting it.
    """

    def __init__(self, query_terms: Sequence[QueryTerm]) -> None:
        self._hits_of = _HitsOf(query_terms)
        numbers = (each.exact[0] for each in query_terms if each.part)
        self._numbers = frozenset(each for each in numbers if each[:1] == NUMBER_KEY[0])

    def lines(self, text: str) -> Iterator[LineMatch]:
        """Yield the lines of `text` that hold something."""
        hits_of = self._hits_of.__getitem__
        lines = text.split("\n")
        for number, line in enumerate(lines):
            hits = list(chain.from_iterable(map(hits_of, line.split())))
            if line.endswith(("-", "-\r")) and number + 1 < len(lines):
                # A word that is broken there counts on the line where it begins.
                broken = broken_words(f"{line}\n{lines[number + 1]}")
                hits += chain.from_iterable(map(hits_of, broken))
            if self._numbers:
                hits += [key for key in number_keys(line) if key in self._numbers]
            if hits:
                yield LineMatch(number, line, hits)


class _HitsOf(dict[str, tuple[str, ...]]):
    """What of each word of the notes the query asks for; mostly nothing."""

    def __init__(self, query_terms: Sequence[QueryTerm]) -> None:
        super().__init__()
        self._terms = {
            term for query_term in query_terms for term in query_term.terms()
        }
        self._prefixes = [
            query_term.exact[0] for query_term in query_terms if query_term.prefix
        ]
        marked = [term for term in self._terms if LANGUAGE_MARK in term]
        self._stemmed = StemmedWords(marked) if marked else None
        self._only_runs = all(query_term.in_run for query_term in query_terms)

    def __missing__(self, word: str) -> tuple[str, ...]:
        found = self[word] = self._in_run(word) if self._only_runs else self._in(word)
        return found

    def _in(self, word: str) -> tuple[str, ...]:
        forms = forms_of_word(word)
        terms, body, extra = self._terms, forms.body, forms.extra
        found: tuple[str, ...] = ()
        if not (terms.isdisjoint(body) and terms.isdisjoint(extra)):
            found = tuple([term for term in chain(body, extra) if term in terms])
        elif self._stemmed:
            found = self._stemmed.of(word, body)
        return (*found, *self._begun(forms)) if self._prefixes else found

    def _begun(self, forms: Forms) -> Iterator[str]:
        """Yield what is asked for by its beginning."""
        for head in self._prefixes:
            for term in chain(forms.body, forms.extra):
                if term.startswith(head) and term not in self._terms:
                    yield head

    def _in_run(self, word: str) -> tuple[str, ...]:
        """Count pieces of runs where they stand, which is quicker than cutting it up."""
        if word.isascii():
            return ()
        text = fold(word)
        return tuple(term for term in self._terms for _ in range(text.count(term)))


class _WeightedTerm(NamedTuple):
    """A query term and what it is worth: its inverse document frequency times its weight."""

    term: QueryTerm
    worth: float
    phrase: str

    @property
    def is_compound(self) -> bool:
        """Whether it is made of several words, as names of files are."""
        return not self.term.exact[0].isalnum()


class _Neighbours(NamedTuple):
    """Two words that follow each other in the query."""

    left: str
    right: str
    worth: float


class _Occurrences(NamedTuple):
    """How often things stand in a text: themselves, and nearly themselves."""

    full: int
    loose: int


class Scorer:
    """Weighs passages against one query."""

    def __init__(
        self,
        query_terms: Sequence[QueryTerm],
        document_frequency: Mapping[str, int],
        *,
        passages: int,
        mean_length: float,
    ) -> None:
        """Prepare for an index of `passages` passages of `mean_length` body terms."""
        self._query_terms = [
            _weighted(query_term, document_frequency, passages)
            for query_term in query_terms
        ]
        self._most = sum(weighted.worth for weighted in self._query_terms)
        self._asked = words_asked(query_terms)
        self._telling = any(not query_term.stop_word for query_term in query_terms)
        self._mean_length = mean_length
        self._matcher = LineMatcher(query_terms)
        self._compounds = [
            weighted for weighted in self._query_terms if weighted.is_compound
        ]
        self._neighbours = _neighbours(self._query_terms)
        self._pair_worth = sum(pair.worth for pair in self._neighbours)
        self._owners: dict[str, list[tuple[int, float]]] = defaultdict(list)
        for number, weighted in enumerate(self._query_terms):
            for term in (*weighted.term.exact, *weighted.term.loose):
                self._owners[term].append((number, weighted.worth))

    def score(self, passage: Passage) -> ScoredPassage:
        """Weigh one passage."""
        lines = list(self._matcher.lines(passage.text))
        beside = list(self._matcher.lines(passage.beside))
        strength, exact = self._strength(passage, lines, beside)
        best, held = self._best(lines)
        together = _ADJACENT * self._adjacency(lines) + _ONE_LINE * held
        most = 1 + _ONE_LINE + (_ADJACENT if self._neighbours else 0)
        share = (strength / self._most + together) / most
        # The note that is asked for by its name comes before all that mention it.
        named = self._asked in map(words_of_name, passage.names)
        lift = _NAMED if named else self._named(passage.path)
        score = min(1.0, share + (1 - share) * lift)
        return ScoredPassage(
            passage=passage,
            score=score,
            text=score,
            match_line=passage.start_line + best,
            exact=exact,
            named=named,
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
                weighted.worth
                for weighted in self._compounds
                if not names.isdisjoint(weighted.term.exact)
            )
            / self._most
        )

    def _strength(
        self, passage: Passage, lines: Sequence[LineMatch], beside: Sequence[LineMatch]
    ) -> tuple[float, bool]:
        """Return BM25, and whether something stands there as it was written."""
        counts = Counter(hit for line in lines for hit in line.hits)
        context = Counter(hit for line in beside for hit in line.hits)
        saturation = _K1 * (1 - _B + _B * passage.length / self._mean_length)
        strength, exact = 0.0, False
        for weighted in self._query_terms:
            here = _occurrences(weighted, counts, lines)
            there = _occurrences(weighted, context, beside)
            if not self._telling or not weighted.term.stop_word:
                exact = exact or here.full > 0 or there.full > 0
            like = weighted.term.likeness
            frequency = here.full + like * here.loose + _CONTEXT * _context(there, like)
            strength += weighted.worth * frequency / (frequency + saturation)
        return strength, exact

    def _adjacency(self, lines: Sequence[LineMatch]) -> float:
        """Return the share of the query's neighbours that are neighbours on a line."""
        here = sum(
            pair.worth for pair in self._neighbours if _stand_together(pair, lines)
        )
        return here / self._pair_worth if self._pair_worth else 0.0

    def _best(self, lines: Sequence[LineMatch]) -> tuple[int, float]:
        """Return the line that holds most of the query, and how much it holds."""
        best, most = 0, 0.0
        for line in lines:
            held = self._held(line)
            if held > most:
                best, most = line.number, held
        return best, most

    def worth_by_line(self, text: str) -> dict[int, dict[int, float]]:
        """Return which query terms stand on each line of a text, with their worth.

        Lines are counted from 0, and those without any are left out; the terms are
        named by their number in the query.
        """
        return {line.number: self._terms_on(line) for line in self._matcher.lines(text)}

    def _held(self, line: LineMatch) -> float:
        """Return how much of the query stands on a line, at most 1."""
        return sum(self._terms_on(line).values()) / self._most

    def _terms_on(self, line: LineMatch) -> dict[int, float]:
        owned: dict[int, float] = {}
        for hit in line.hits:
            owned.update(self._owners.get(hit, ()))
        if len(line.hits) > 1:
            for number, weighted in enumerate(self._query_terms):
                if (
                    weighted.phrase
                    and number not in owned
                    and _phrases(weighted, [line])
                ):
                    owned[number] = weighted.worth
        return owned


def _context(there: _Occurrences, likeness: float) -> float:
    """Return what standing beside a text counts of `_CONTEXT`; a stem counts fully."""
    if there.full:
        return 1.0
    return min(1.0, likeness / LIKE_STEM) if there.loose else 0.0


def _weighted(
    query_term: QueryTerm, document_frequency: Mapping[str, int], passages: int
) -> _WeightedTerm:
    written = max(document_frequency.get(term, 0) for term in query_term.exact)
    near = (document_frequency.get(term, 0) for term in query_term.loose)
    # How rare a word is tells its stem, but not another way to write it.
    itself = written and query_term.likeness < LIKE_STEM
    most = written if itself else max((written, *near))
    worth = query_term.weight * _idf(most, passages)
    return _WeightedTerm(
        query_term,
        worth,
        f" {' '.join(query_term.phrase)} " if query_term.phrase else "",
    )


def _neighbours(query_terms: Iterable[_WeightedTerm]) -> list[_Neighbours]:
    words = [
        (weighted.term.phrase or weighted.term.exact[:1], weighted.worth)
        for weighted in query_terms
        if not weighted.term.part and not weighted.term.in_run
    ]
    return [
        _Neighbours(left[-1], right[0], (a + b) / 2)
        for (left, a), (right, b) in pairwise(words)
    ]


def _stand_together(pair: _Neighbours, lines: Iterable[LineMatch]) -> bool:
    written = f" {pair.left} {pair.right} "
    return any(
        pair.left in line.hits and pair.right in line.hits and written in line.body()
        for line in lines
    )


def _occurrences(
    weighted: _WeightedTerm, counts: Mapping[str, int], lines: Iterable[LineMatch]
) -> _Occurrences:
    """Count a query term in some lines, whose hits are counted already."""
    query_term = weighted.term
    full = sum(counts.get(term, 0) for term in query_term.exact)
    if not full and weighted.phrase:
        full = _phrases(weighted, lines)
    loose = sum(counts.get(term, 0) for term in query_term.loose) - full
    return _Occurrences(full, max(0, loose))


def _phrases(weighted: _WeightedTerm, lines: Iterable[LineMatch]) -> int:
    """Count how often the parts of a query term follow each other."""
    parts = set(weighted.term.phrase)
    return sum(
        line.body().count(weighted.phrase)
        for line in lines
        if parts.issubset(line.hits)
    )


def _idf(passages_with: int, passages: int) -> float:
    """Return the inverse document frequency, never negative.

    Source:
        Lucene's BM25Similarity: ln(1 + (N - n + 0.5) / (n + 0.5)).
    """
    absent = max(0, passages - passages_with)
    return math.log(1 + (absent + 0.5) / (passages_with + 0.5))


class ExactMatch:
    """The words of a query, to be looked for as they are."""

    def __init__(
        self, query_terms: Sequence[QueryTerm], document_frequency: Mapping[str, int]
    ) -> None:
        """Take the words with content, and the others only where there are none.

        Args:
            query_terms: What was asked for.
            document_frequency: In how many passages each term stands.
        """
        whole = [query_term for query_term in query_terms if not query_term.part]
        chosen = [
            query_term for query_term in whole if not query_term.stop_word
        ] or whole
        joined = [query_term for query_term in chosen if _is_compound(query_term)]
        self._words = _terms(
            query_term for query_term in chosen if not _is_compound(query_term)
        )
        # The extra terms that stand in a text: its compounds, and single characters.
        self._compounds = _terms(joined)
        # A compound that stands nowhere as such may stand in a longer one, and a run
        # without spaces is indexed in pairs.
        self._phrases = [
            " ".join(query_term.phrase)
            for query_term in joined
            if query_term.phrase
            and not any(map(document_frequency.get, query_term.exact))
        ]
        self._document_frequency = document_frequency
        self._beginnings = [phrase.partition(" ")[0] for phrase in self._phrases]

    def stands_in(self, passage: Passage) -> bool:
        """Say whether one of the words stands in a passage, its headings or its path."""
        return self.is_in(passage.text) or self.is_in(passage.beside)

    def expression(self) -> str:
        """Return an FTS5 query for texts that hold one of the words; maybe empty."""
        document_frequency = self._document_frequency
        words = sorted(term for term in self._words if document_frequency.get(term))
        compounds = sorted(
            term for term in self._compounds if document_frequency.get(term)
        )
        ways = [f"body : {quoted(term)}" for term in words]
        ways += [f"{{body extra}} : {quoted(term)}" for term in compounds]
        ways += [
            f"body : {quoted(phrase)}"
            for phrase in self._phrases
            if all(document_frequency.get(part) for part in phrase.split(" "))
        ]
        return " OR ".join(ways)

    def sought(self) -> list[tuple[str, ...]]:
        """Return what a text with one of the words holds: terms that follow each other."""
        known = self._document_frequency
        terms = sorted(
            term for term in self._words | self._compounds if known.get(term)
        )
        phrases = [tuple(phrase.split(" ")) for phrase in self._phrases]
        return [
            *((term,) for term in terms),
            *(parts for parts in phrases if all(map(known.get, parts))),
        ]

    def is_in(self, text: str) -> bool:
        """Say whether one of the words stands in a text."""
        if not self._may_be_in(text):
            return False
        forms = list(forms_of(text))
        words, compounds = self._words, self._compounds
        for form in forms:
            if not words.isdisjoint(form.body) or not compounds.isdisjoint(
                (*form.body, *form.extra)
            ):
                return True
        if not self._phrases:
            return False
        body = f" {' '.join(form.body_text for form in forms if form.body)} "
        return any(f" {phrase} " in body for phrase in self._phrases)

    def _may_be_in(self, text: str) -> bool:
        """Look for the letters alone, which is quick and rules most texts out."""
        letters = fold(without_inline_marks(text)).replace("'", "")
        wanted = chain(self._words, self._compounds, self._beginnings)
        return any(term in letters for term in wanted)


def _is_compound(query_term: QueryTerm) -> bool:
    term = query_term.exact[0]
    return (
        bool(query_term.phrase)
        or not term.isalnum()
        or (query_term.in_run and len(term) == 1)
    )


def _terms(query_terms: Iterable[QueryTerm]) -> frozenset[str]:
    return frozenset(term for query_term in query_terms for term in query_term.exact)


def quoted(term: str) -> str:
    """Return a term as FTS5 takes it: no character of it is syntax."""
    return '"' + term.replace('"', '""') + '"'
