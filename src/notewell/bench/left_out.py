"""Questions in words that their place does not have, made without anybody's judgement.

Every second telling word of a line is taken out of the copy of the notes, and the
question is made of these, of those alone that stand nowhere near. Searching for words
cannot find such a place by them; searching by meaning has what is left of the line, and
the lines around it, to go by. It is the nearest to a question in other words that can
be made of notes alone, and it is none: nobody would ask so.
"""

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Final, NamedTuple

from notewell.backends.text.headings import Headings
from notewell.backends.text.stopwords import is_filler
from notewell.backends.text.terms import is_unspaced, terms_of
from notewell.bench.metrics import Span
from notewell.bench.queries import Query

LEFT_OUT: Final = "left-out"
"""The category of such questions."""

_ASKED: Final = 6
"""The most words of a question."""

_TELLING: Final = 4
"""The fewest of them, and of the telling words that the line keeps."""

_NEAR: Final = 20
"""Lines on either side that belong to the place: a passage is seldom longer."""

_PIECE: Final = 3
"""Characters that stand for a word where they are not written apart."""

_WORD: Final = re.compile(r"\w+")


class Gap(NamedTuple):
    """A line of a note, as it reads with some words taken out."""

    path: str
    line: int
    text: str


class LeftOut(NamedTuple):
    """Questions, and what the notes have to lack while they are asked."""

    queries: tuple[Query, ...]
    gaps: tuple[Gap, ...]


def left_out(notes: Mapping[str, Sequence[str]], *, count: int, seed: int) -> LeftOut:
    """Make questions; the same notes, count and seed give the same ones.

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
    made = list(islice(_made(notes, places, draw), count))
    return LeftOut(
        queries=tuple(
            Query(
                id=f"w{number}",
                text=text,
                category=LEFT_OUT,
                right=(Span(gap.path, gap.line, gap.line),),
            )
            for number, (gap, text) in enumerate(made, 1)
        ),
        gaps=tuple(gap for gap, _ in made),
    )


def _made(
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
        words = _words(lines[at], terms_of("\n".join(around)), draw)
        text = " ".join(words)
        if words and text not in asked:
            asked.add(text)
            near.add(stretch)
            yield Gap(path, at + 1, _without(lines[at], words)), text


def _words(line: str, known: set[str], draw: random.Random) -> list[str]:
    """Return the words that are asked for, in order; none where too few would be.

    Args:
        known: The terms of the lines around.
    """
    telling = [word for word in _telling(line) if not terms_of(word) & known]
    chosen = telling[draw.randint(0, 1) :: 2][:_ASKED]
    kept = len(set(_telling(line))) - len(chosen)
    return chosen if min(len(chosen), kept) >= _TELLING else []


def _telling(line: str) -> list[str]:
    """Return the words of a line that say something, each once."""
    words = [word.casefold() for word in _WORD.findall(line)]
    pieces = [piece for word in words for piece in _pieces(word)]
    return list(dict.fromkeys(word for word in pieces if not is_filler(word)))


def _pieces(word: str) -> Iterator[str]:
    """Yield a word, or what stands for words where they are not written apart."""
    if not is_unspaced(word):
        yield word
        return
    for start in range(0, len(word) - _PIECE + 1, _PIECE):
        yield word[start : start + _PIECE]


def _without(line: str, words: Sequence[str]) -> str:
    """Return the line with every form of these words taken out."""
    terms = set[str]().union(*map(terms_of, words))
    kept = _WORD.sub(lambda found: "" if terms_of(found[0]) & terms else found[0], line)
    for word in filter(is_unspaced, words):
        kept = kept.replace(word, "")
    return kept
