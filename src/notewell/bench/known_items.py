"""Queries from the notes themselves: each asks for a place that was chosen first.

Three kinds, named as categories:

    heading   a heading as it stands, of which there is one; right is its section
    phrase    a few words in a row that stand on one line only
    words     the rarer words of a line, without what stood between them

Nobody judged them. They say how well an engine finds again what somebody remembers
nearly as it is written, and nothing about questions in other words.
"""

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, zip_longest
from typing import Final, NamedTuple

from notewell.backends.text.headings import Headings
from notewell.backends.text.stopwords import is_filler
from notewell.backends.text.terms import is_unspaced, split
from notewell.bench.metrics import Span
from notewell.bench.queries import Query

_PHRASE: Final = 4
"""Words of a phrase."""

_RUN: Final = 8
"""Characters of a phrase where words are not written apart."""

_PIECE: Final = 3
"""Characters that stand for a word there."""

_WORDS: Final = 4
"""The most words of a line that are asked for; one less will do."""

_SENTENCE: Final = 7
"""Words that a line has to have: of less, nothing could be left out."""


class _Line(NamedTuple):
    path: str
    number: int
    tokens: tuple[str, ...]
    words: tuple[str, ...]

    @property
    def text(self) -> str:
        return " ".join(self.tokens)


class _Made(NamedTuple):
    category: str
    text: str
    right: Span


def known_items(
    notes: Mapping[str, Sequence[str]], *, count: int, seed: int
) -> tuple[Query, ...]:
    """Make queries; the same notes, count and seed give the same ones.

    Args:
        notes: The lines of each note, by its path.
        count: The most queries.
        seed: Chooses among the places.
    """
    draw = random.Random(seed)
    lines = [line for path in sorted(notes) for line in _lines(path, notes[path])]
    headings = list(_headings(notes))
    draw.shuffle(lines)
    draw.shuffle(headings)
    spread = Counter(word for line in lines for word in set(line.words))
    # Words are taken from the other end: not twice from one line, if there are many.
    words = _rare_words(lines[::-1], spread, random.Random(seed))
    kinds = (iter(headings), _phrases(lines, draw), words)
    made = {each.text: each for each in _in_turn(islice(kind, count) for kind in kinds)}
    return tuple(
        Query(id=f"k{number}", text=text, category=each.category, right=(each.right,))
        for number, (text, each) in enumerate(islice(made.items(), count), 1)
    )


def _in_turn(kinds: Iterator[Iterator[_Made]]) -> Iterator[_Made]:
    """Yield the first of each kind, then the second of each."""
    for row in zip_longest(*kinds):
        yield from (each for each in row if each is not None)


def _lines(path: str, lines: Sequence[str]) -> Iterator[_Line]:
    """Yield the lines of a note that hold words and are no heading."""
    titles = Headings(lines).at
    for at, line in enumerate(lines):
        tokens = tuple(token.casefold() for token in split(line))
        if tokens and at not in titles:
            words = tuple(word for token in tokens for word in _words(token))
            yield _Line(path, at + 1, tokens, words)


def _words(token: str) -> Iterator[str]:
    """Yield the word that a token is, or the pieces of a run of words."""
    if not is_unspaced(token):
        yield token
        return
    for start in range(0, len(token) - _PIECE + 1, _PIECE):
        yield token[start : start + _PIECE]


def _headings(notes: Mapping[str, Sequence[str]]) -> Iterator[_Made]:
    """Yield every heading that there is once, with its section up to the next one."""
    found: dict[str, list[_Made]] = {}
    for path in sorted(notes):
        lines = notes[path]
        starts = Headings(lines).at
        ends = [*starts, len(lines)][1:]
        for (start, above), end in zip(starts.items(), ends, strict=True):
            title = above.rpartition(" > ")[2]
            if sum(1 for token in split(title) for _ in _words(token)) > 1:
                made = _Made(
                    "heading", title, Span(path, start + 1, max(end, start + 1))
                )
                found.setdefault(title.casefold(), []).append(made)
    for same in found.values():
        if len(same) == 1:
            yield same[0]


def _phrases(lines: Sequence[_Line], draw: random.Random) -> Iterator[_Made]:
    """Yield words in a row that stand nowhere else."""
    whole = "\n".join(line.text for line in lines)
    for line in lines:
        phrase = _phrase(line, draw)
        if phrase and whole.count(phrase) == 1:
            yield _Made("phrase", phrase, Span(line.path, line.number, line.number))


def _phrase(line: _Line, draw: random.Random) -> str | None:
    runs = [token for token in line.tokens if is_unspaced(token) and len(token) >= _RUN]
    if runs:
        run = draw.choice(runs)
        start = draw.randint(0, len(run) - _RUN)
        return run[start : start + _RUN]
    if len(line.tokens) < _PHRASE:
        return None
    start = draw.randint(0, len(line.tokens) - _PHRASE)
    phrase = line.tokens[start : start + _PHRASE]
    telling = [word for word in phrase if not is_filler(word)]
    return " ".join(phrase) if len(telling) >= _PHRASE // 2 else None


def _rare_words(
    lines: Sequence[_Line], spread: Counter[str], draw: random.Random
) -> Iterator[_Made]:
    """Yield the rarest words of each line, in the order in which they stand there."""
    for line in lines:
        telling = [word for word in dict.fromkeys(line.words) if not is_filler(word)]
        mixed = draw.sample(telling, len(telling))  # among equals, not only the first
        rarest = sorted(mixed, key=lambda word: spread[word])[:_WORDS]
        if len(line.words) >= _SENTENCE and len(rarest) >= _WORDS - 1:
            text = " ".join(word for word in telling if word in rarest)
            yield _Made("words", text, Span(line.path, line.number, line.number))
