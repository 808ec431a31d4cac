"""Finds the words of a query in a text, for the eye: what to highlight.

A plain rule, the same for every engine: equal words, words with the same beginning,
and in scripts without spaces the same characters in a row. It need not be what an
engine matched; a word too few or too many in colour harms nobody.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import groupby
from typing import Final, NamedTuple, TypeAlias

Span: TypeAlias = tuple[int, int]
"""First and after-last character."""

_NO_WORD: Final = 0
_SPACED: Final = 1
# Scripts that write words without spaces, by the first word of Unicode's names, and
# how many of their characters in a row are telling: letters need more than syllables.
_UNSPACED: Final = {
    "BOPOMOFO": 2,
    "CJK": 2,
    "HANGUL": 2,
    "HIRAGANA": 2,
    "IDEOGRAPHIC": 2,
    "KATAKANA": 2,
    "YI": 2,
    "KHMER": 3,
    "LAO": 3,
    "MYANMAR": 3,
    "THAI": 3,
}
_EDGES: Final = "\"'“”‘’.,;:!?()[]{}<>"
_SHORTEST_BEGINNING: Final = 4
_SHORTEST_WORD: Final = 3
_MOST_WORDS: Final = 64


class _Word(NamedTuple):
    text: str
    kind: int
    span: Span


def find_matches(text: str, query: str) -> list[Span]:
    """Return where words of `query` stand in `text`, in order, without overlaps."""
    folded, places = _fold(text)
    words = list(_words(folded))
    asked, _ = _fold(query)
    pieces = dict.fromkeys(piece.strip(_EDGES) for piece in asked.split())
    found: list[Span] = []
    for piece in _telling(filter(None, pieces))[:_MOST_WORDS]:
        found.extend(_find(folded, words, piece))
    return _merged((places[start][0], places[end - 1][1]) for start, end in found)


def _telling(words: Iterable[str]) -> list[str]:
    """Leave out words like `is` and `of`, unless there is nothing else."""
    every = list(words)
    return [word for word in every if not _is_short(word)] or every


def _is_short(word: str) -> bool:
    return len(word) < _SHORTEST_WORD and word.isascii() and word.isalpha()


def _find(text: str, words: list[_Word], piece: str) -> Iterator[Span]:
    """A piece with signs in it (`20.04`) as it stands, else its words."""
    parts = {word.text: word.kind for word in _words(piece)}
    if piece not in parts and (whole := list(_literally(text, piece))):
        yield from whole
        return
    for part in _telling(parts):
        if parts[part] == _SPACED:
            yield from (word.span for word in words if _alike(word.text, part))
        else:
            yield from _in_a_row(text, part, parts[part])


def _literally(text: str, piece: str) -> Iterator[Span]:
    start = text.find(piece)
    while start >= 0:
        yield start, start + len(piece)
        start = text.find(piece, start + len(piece))


def _in_a_row(text: str, word: str, fewest: int) -> Iterator[Span]:
    """The whole word, else every `fewest` characters of it."""
    whole = list(_literally(text, word))
    yield from whole
    if not whole:
        for first in range(len(word) - fewest + 1):
            yield from _literally(text, word[first : first + fewest])


def _alike(one: str, other: str) -> bool:
    """Whether two words are equal, or begin alike and are more than numbers.

    The shorter one may have one letter of its own.

    >>> _alike("migrate", "migration"), _alike("internet", "international")
    (True, False)
    >>> _alike("20240101", "20240102")
    False
    """
    if one == other:
        return True
    shared = max(_SHORTEST_BEGINNING, min(len(one), len(other)) - 1)
    return one[:shared] == other[:shared] and not re.search(r"\d", one + other)


def _words(text: str) -> Iterator[_Word]:
    start = 0
    for kind, characters in groupby(text, key=_kind):
        word = "".join(characters)
        if kind != _NO_WORD:
            yield _Word(word, kind, (start, start + len(word)))
        start += len(word)


@lru_cache(maxsize=4096)
def _kind(character: str) -> int:
    if unicodedata.category(character)[0] not in "LMN":
        return _NO_WORD
    script = re.match("[A-Z]*", unicodedata.name(character, ""))
    return _UNSPACED.get(script[0], _SPACED) if script else _SPACED


def _fold(text: str) -> tuple[str, list[Span]]:
    """Drop case, accents and width; say for each character where it came from."""
    folded: list[str] = []
    places: list[Span] = []
    for start, end in _characters(text):
        parts = unicodedata.normalize("NFKD", text[start:end]).casefold()
        bare = "".join(part for part in parts if not unicodedata.combining(part))
        whole = unicodedata.normalize("NFC", bare)  # Hangul stays in syllables
        folded.append(whole)
        places += [(start, end)] * len(whole)
    return "".join(folded), places


def _characters(text: str) -> Iterator[Span]:
    """Letters with their accents, syllables with their parts."""
    start = 0
    for end in range(1, len(text) + 1):
        if end == len(text) or not _continues(text[start:end], text[end]):
            yield start, end
            start = end


def _continues(before: str, character: str) -> bool:
    if character.isascii():
        return False
    if unicodedata.combining(character):
        return True
    return len(unicodedata.normalize("NFC", before + character)) == 1


def _merged(spans: Iterator[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
