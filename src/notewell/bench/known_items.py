"""Queries from the notes themselves: each asks for a place that was chosen first.

Three kinds, named as categories:

    heading   a heading as it stands, of which there is one; right is its section
    phrase    a few words in a row that stand on one line only
    words     the rarer words of a line, without what stood between them

Nobody judged them. They say how well an engine finds again what somebody remembers
nearly as it is written, and nothing about questions in other words. A fourth kind is the
nearest to such questions that notes alone allow:

    left-out  every second telling word of a line, which the notes lack while it is asked

These words are taken out of the copy of the notes, and only words that stand nowhere
near are asked for. No search for words can find the line by them; a search by meaning
has what is left of the line, and the lines around it. Nobody would ask so, either.
"""

import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, zip_longest
from typing import Final, NamedTuple

from notewell.backends.text.analysis import (
    is_stop_word,
    is_unspaced,
    split_words,
    terms_of,
)
from notewell.backends.text.chunking import Headings
from notewell.bench.metrics import LineRange
from notewell.bench.queries import JudgedQuery

_PHRASE: Final = 4
"""Words of a phrase."""

_RUN: Final = 8
"""Characters of a phrase where words are not written apart."""

_PIECE: Final = 3
"""Characters that stand for a word where they are not written apart."""

_WORDS: Final = 4
"""The most words of a line that are asked for; one less will do."""

_SENTENCE: Final = 7
"""Words that a line has to have: of fewer, nothing could be left out."""

LEFT_OUT: Final = "left-out"
"""The category of such questions."""

_MOST_ASKED: Final = 6
"""The most words of a question."""

_LEAST_ASKED: Final = 4
"""The fewest of them, and of the telling words that the line keeps."""

_NEAR: Final = 20
"""Lines on either side that belong to the place: a passage is seldom longer."""

_WORD: Final = re.compile(r"\w+")


class _Line(NamedTuple):
    path: str
    number: int
    tokens: tuple[str, ...]
    words: tuple[str, ...]

    @property
    def text(self) -> str:
        return " ".join(self.tokens)


class _KnownItem(NamedTuple):
    category: str
    text: str
    right: LineRange


def known_items(
    notes: Mapping[str, Sequence[str]], *, count: int, seed: int
) -> tuple[JudgedQuery, ...]:
    """Make queries of the first three kinds; the same notes, count and seed give the same ones.

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
    document_frequency = Counter(word for line in lines for word in set(line.words))
    # Words are taken from the other end: not twice from one line, if there are many.
    words = _rare_words(lines[::-1], document_frequency, random.Random(seed))
    kinds = (iter(headings), _phrases(lines, draw), words)
    made = {each.text: each for each in _in_turn(islice(kind, count) for kind in kinds)}
    return tuple(
        JudgedQuery(
            id=f"k{number}", text=text, category=each.category, right=(each.right,)
        )
        for number, (text, each) in enumerate(islice(made.items(), count), 1)
    )


def _in_turn(kinds: Iterator[Iterator[_KnownItem]]) -> Iterator[_KnownItem]:
    """Yield the first of each kind, then the second of each."""
    for row in zip_longest(*kinds):
        yield from (each for each in row if each is not None)


def _lines(path: str, lines: Sequence[str]) -> Iterator[_Line]:
    """Yield the lines of a note that hold words and are no heading."""
    titles = Headings(lines).at
    for at, line in enumerate(lines):
        tokens = tuple(token.casefold() for token in split_words(line))
        if tokens and at not in titles:
            words = tuple(word for token in tokens for word in _pieces(token))
            yield _Line(path, at + 1, tokens, words)


def _pieces(word: str) -> Iterator[str]:
    """Yield a word, or what stands for words where they are not written apart."""
    if not is_unspaced(word):
        yield word
        return
    for start in range(0, len(word) - _PIECE + 1, _PIECE):
        yield word[start : start + _PIECE]


def _headings(notes: Mapping[str, Sequence[str]]) -> Iterator[_KnownItem]:
    """Yield every heading that there is once, with its section up to the next one."""
    found: dict[str, list[_KnownItem]] = {}
    for path in sorted(notes):
        lines = notes[path]
        starts = Headings(lines).at
        ends = [*starts, len(lines)][1:]
        for (start, above), end in zip(starts.items(), ends, strict=True):
            title = above.rpartition(" > ")[2]
            if sum(1 for token in split_words(title) for _ in _pieces(token)) > 1:
                made = _KnownItem(
                    "heading", title, LineRange(path, start + 1, max(end, start + 1))
                )
                found.setdefault(title.casefold(), []).append(made)
    for same in found.values():
        if len(same) == 1:
            yield same[0]


def _phrases(lines: Sequence[_Line], draw: random.Random) -> Iterator[_KnownItem]:
    """Yield words in a row that stand nowhere else."""
    whole = "\n".join(line.text for line in lines)
    for line in lines:
        phrase = _phrase(line, draw)
        if phrase and whole.count(phrase) == 1:
            yield _KnownItem(
                "phrase", phrase, LineRange(line.path, line.number, line.number)
            )


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
    telling = [word for word in phrase if not is_stop_word(word)]
    return " ".join(phrase) if len(telling) >= _PHRASE // 2 else None


def _rare_words(
    lines: Sequence[_Line], document_frequency: Counter[str], draw: random.Random
) -> Iterator[_KnownItem]:
    """Yield the rarest words of each line, in the order in which they stand there."""
    for line in lines:
        telling = [word for word in dict.fromkeys(line.words) if not is_stop_word(word)]
        mixed = draw.sample(telling, len(telling))  # among equals, not only the first
        rarest = sorted(mixed, key=lambda word: document_frequency[word])[:_WORDS]
        if len(line.words) >= _SENTENCE and len(rarest) >= _WORDS - 1:
            text = " ".join(word for word in telling if word in rarest)
            yield _KnownItem(
                "words", text, LineRange(line.path, line.number, line.number)
            )


class Gap(NamedTuple):
    """A line of a note, as it reads with some words taken out."""

    path: str
    line: int
    text: str


class LeftOutQueries(NamedTuple):
    """Questions, and what the notes have to lack while they are asked."""

    queries: tuple[JudgedQuery, ...]
    gaps: tuple[Gap, ...]


def left_out_queries(
    notes: Mapping[str, Sequence[str]], *, count: int, seed: int
) -> LeftOutQueries:
    """Make left-out questions; the same notes, count and seed give the same ones.

    Args:
        notes: The lines of each note, by its path.
        count: The most questions, of a line each.
        seed: Chooses the lines, and the words in them.
    """
    draw = random.Random(seed)
    places = [
        (path, at)
        for path in sorted(notes)
        for at in range(len(notes[path]))
        if at not in Headings(notes[path]).at
    ]
    draw.shuffle(places)
    made = list(islice(_left_out(notes, places, draw), count))
    return LeftOutQueries(
        queries=tuple(
            JudgedQuery(
                id=f"w{number}",
                text=text,
                category=LEFT_OUT,
                right=(LineRange(gap.path, gap.line, gap.line),),
            )
            for number, (gap, text) in enumerate(made, 1)
        ),
        gaps=tuple(gap for gap, _ in made),
    )


def _left_out(
    notes: Mapping[str, Sequence[str]],
    places: Sequence[tuple[str, int]],
    draw: random.Random,
) -> Iterator[tuple[Gap, str]]:
    asked: set[str] = set()
    near: set[tuple[str, int]] = set()
    for path, at in places:
        # One in a stretch: the next question must find its place as it is.
        stretch = path, at // _NEAR
        if stretch in near:
            continue
        lines = notes[path]
        around = [*lines[max(0, at - _NEAR) : at], *lines[at + 1 : at + _NEAR]]
        words = _asked_words(lines[at], terms_of("\n".join(around)), draw)
        text = " ".join(words)
        if words and text not in asked:
            asked.add(text)
            near.add(stretch)
            yield Gap(path, at + 1, _without(lines[at], words)), text


def _asked_words(line: str, known: set[str], draw: random.Random) -> list[str]:
    """Return the words that are asked for, in order; none where too few would be.

    Args:
        known: The terms of the lines around.
    """
    telling = [word for word in _telling(line) if not terms_of(word) & known]
    chosen = telling[draw.randint(0, 1) :: 2][:_MOST_ASKED]
    kept = len(set(_telling(line))) - len(chosen)
    return chosen if min(len(chosen), kept) >= _LEAST_ASKED else []


def _telling(line: str) -> list[str]:
    """Return the words of a line that say something, each once."""
    words = [word.casefold() for word in _WORD.findall(line)]
    pieces = [piece for word in words for piece in _pieces(word)]
    return list(dict.fromkeys(word for word in pieces if not is_stop_word(word)))


def _without(line: str, words: Sequence[str]) -> str:
    """Return the line with every form of these words taken out."""
    terms = set[str]().union(*map(terms_of, words))
    kept = _WORD.sub(lambda found: "" if terms_of(found[0]) & terms else found[0], line)
    for word in filter(is_unspaced, words):
        kept = kept.replace(word, "")
    return kept
