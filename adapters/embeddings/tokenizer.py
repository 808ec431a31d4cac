"""Cuts texts into pieces of words, as byte pair encoding with a given vocabulary does.

For the provider `static`, whose package would load much more to do the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from heapq import heappop, heappush
from pathlib import Path
from typing import Final

import msgspec

_SPACE: Final = "▁"
_SPECIAL: Final = re.compile("(<unk>|<s>|</s>)")
"""Written in a text, they count as the marks that they are named for."""

_LETTERS: Final = "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0370-\u04ff"
_ALONE: Final = "0-9\\n\u2e80-\ufffc\ufffe-\U0010ffff"
_WORDS: Final = re.compile(
    f"{_SPACE}*[{_LETTERS}]+|{_SPACE}*[^{_SPACE}{_LETTERS}{_ALONE}]+|{_SPACE}+|.",
    re.DOTALL,
)
"""What is joined with nothing else: no piece has a space behind something else, none has Latin,
Greek or Cyrillic letters beside others, and none of several characters has a digit, a line end
or one of the scripts from U+2E80 on. So few words are new that a text is looked up."""

_MOST: Final = 1 << 16
"""More than there are pieces."""

_WORTH_REMEMBERING: Final = 32
_REMEMBERED: Final = 100_000


class _Model(msgspec.Struct):
    vocab: dict[str, int]


class _File(msgspec.Struct):
    model: _Model


def read_vocabulary(path: Path) -> dict[str, int]:
    """Return the number of each piece, from a file of the package `tokenizers`.

    Raises:
        OSError: it cannot be read.
        msgspec.MsgspecError: it is no such file.
    """
    # Three times as quick as reading all of it: the list of merges is passed over.
    return msgspec.json.decode(path.read_bytes(), type=_File).model.vocab


class Tokenizer:
    """Cuts texts into pieces, as byte pair encoding with this vocabulary does.

    Two neighbours are joined while there is a piece of both, the one with the lowest
    number first. A character that is no piece stands as the bytes of its UTF-8.
    """

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        self._number_of = vocabulary
        self._known: dict[str, tuple[int, ...]] = {}

    def pieces(self, text: str) -> list[int]:
        """Return the numbers of a text's pieces, in order.

        Half of a surrogate pair counts as a question mark.
        """
        sound = text.encode("utf-8", "replace").decode()
        found: list[int] = []
        for part in _SPECIAL.split(sound):
            if _SPECIAL.fullmatch(part):
                found.append(self._number_of[part])
            elif part:
                marked = _SPACE + part.replace(" ", _SPACE)
                for word in _WORDS.findall(marked):
                    found += self._known.get(word) or self._word(word)
        return found

    def _word(self, word: str) -> tuple[int, ...]:
        pieces = tuple(self._number_of[part] for part in self._joined(word))
        if len(word) <= _WORTH_REMEMBERING:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[word] = pieces
        return pieces

    def _joined(self, word: str) -> list[str]:
        """Return the pieces of a word.

        Time grows with the length times its logarithm: a word may be a whole line.
        """
        parts = [part for character in word for part in self._parts(character)]
        before = [*range(-1, len(parts) - 1)]
        after = [*range(1, len(parts)), -1]
        waiting: list[tuple[int, int]] = []

        def consider(left: int, right: int) -> None:
            if left >= 0 <= right and (rank := self._rank(parts[left], parts[right])):
                heappush(waiting, (rank, left))

        for left, right in enumerate(after):
            consider(left, right)
        while waiting:
            rank, left = heappop(waiting)
            right = after[left]
            if right < 0 or self._rank(parts[left], parts[right]) != rank:
                continue  # one of the two has been joined with another meanwhile
            parts[left] += parts[right]
            parts[right], after[left] = "", after[right]
            before[after[right]] = left  # behind the last stands none that looks
            after[right] = -1
            consider(before[left], left)
            consider(left, after[left])
        return [part for part in parts if part]

    def _parts(self, character: str) -> Sequence[str]:
        if character in self._number_of:
            return character
        return [f"<0x{byte:02X}>" for byte in character.encode()]

    def _rank(self, left: str, right: str) -> int:
        """Return when two neighbours are joined, the lowest first; 0: never."""
        both = self._number_of.get(left + right)
        if both is None:
            return 0
        if not right.strip(_SPACE):  # runs of spaces come last
            both += _MOST
        return both * _MOST + self._number_of[left]
