"""Finds the words of a query in a text, for the eye: what to highlight.

It only approximates what the engine matched (stems, accents, scripts); a word too
few or too many in colour harms nobody, so no engine is asked.
"""

import re
import unicodedata
from collections.abc import Iterator
from typing import Final, TypeAlias

Span: TypeAlias = tuple[int, int]
"""First and after-last character."""

# Scripts that write words without spaces: kana, Han, Hangul (decomposed too).
_RUN: Final = "\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
_RUNS: Final = re.compile(f"[{_RUN}]+")
_WORDS: Final = re.compile(f"[{_RUN}]+|[^\\W_{_RUN}]+")
_EDGES: Final = "\"'“”‘’.,;:!?()[]{}<>"
_COMMON: Final = frozenset(
    re.findall(
        r"\w+",
        """a an and are as at be by did do does for from had has have how i in is it my
        of on or that the their this to was we were what when where which who why with
        you""",
    )
)
_SHORTEST_STEM: Final = 4
_LONGEST_ENDING: Final = 3
_MOST_WORDS: Final = 64


def matches(text: str, query: str) -> list[Span]:
    """Return where words of `query` stand in `text`, in order, without overlaps."""
    folded, places = _fold(text)
    found: list[Span] = []
    for piece in _pieces(query):
        found.extend(_find(folded, piece))
    return _merged((places[start], places[end - 1] + 1) for start, end in found)


def _pieces(query: str) -> list[str]:
    """The folded words of a query; very common ones only when there is nothing else."""
    folded, _ = _fold(query)
    pieces = list(dict.fromkeys(word.strip(_EDGES) for word in folded.split()))
    telling = [piece for piece in pieces if piece and piece not in _COMMON]
    return (telling or pieces)[:_MOST_WORDS]


def _find(text: str, piece: str) -> Iterator[Span]:
    """A piece with signs in it (`20.04`) as it stands, else its words."""
    if piece and not _WORDS.fullmatch(piece):
        whole = list(_literally(text, piece))
        if whole:
            yield from whole
            return
    for word in _WORDS.findall(piece):
        yield from _runs(text, word) if _RUNS.fullmatch(word) else _words(text, word)


def _literally(text: str, piece: str) -> Iterator[Span]:
    start = text.find(piece)
    while start >= 0:
        yield start, start + len(piece)
        start = text.find(piece, start + len(piece))


def _runs(text: str, word: str) -> Iterator[Span]:
    """A run as a whole, else the pairs of characters in it."""
    whole = list(_literally(text, word))
    if whole or len(word) < 3:
        yield from whole
        return
    for first in range(len(word) - 1):
        yield from _literally(text, word[first : first + 2])


def _words(text: str, word: str) -> Iterator[Span]:
    for match in _WORDS.finditer(text):
        if _alike(match.group(), word):
            yield match.span()


def _alike(one: str, other: str) -> bool:
    """Whether two words are equal but for an ending.

    >>> _alike("migrate", "migration"), _alike("cats", "cat"), _alike("2024", "2025")
    (True, True, False)
    """
    if one == other:
        return True
    if not (one.isalpha() and other.isalpha()):
        return False
    shared = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        shared += 1
    ending = max(len(one), len(other)) - shared
    if shared >= _SHORTEST_STEM:
        return ending <= _LONGEST_ENDING and min(len(one), len(other)) - shared <= 1
    return shared == _SHORTEST_STEM - 1 and abs(len(one) - len(other)) == 1 == ending


def _fold(text: str) -> tuple[str, list[int]]:
    """Drop case, accents and width; say for each character where it came from."""
    folded: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        for part in unicodedata.normalize("NFKD", character).casefold():
            if not unicodedata.combining(part):
                folded.append(part)
                places.append(place)
    return "".join(folded), places


def _merged(spans: Iterator[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
