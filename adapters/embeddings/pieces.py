"""Cuts a text that is too long for a model into pieces that are not."""

from collections.abc import Callable, Iterator
from typing import Final

MOST: Final = 8
"""Pieces of a text that are looked at; what follows tells little more about it."""


def pieces(text: str, fits: Callable[[str], bool]) -> Iterator[str]:
    """Yield the pieces of a text, in order; joined they are the text.

    A piece that does not fit is halved, between two words if that is possible.

    >>> list(pieces("one two three", lambda piece: len(piece) <= 8))
    ['one two', ' three']
    """
    waiting = [text]
    while waiting:
        piece = waiting.pop()
        if len(piece) < 2 or fits(piece):
            yield piece
            continue
        border = _border(piece)
        waiting += [piece[border:], piece[:border]]


def _border(text: str) -> int:
    """Return where to halve: at the last blank of the first half, or in the middle."""
    middle = (len(text) + 1) // 2
    blank = max(text.rfind(sign, 1, middle + 1) for sign in " \n\t")
    return blank if blank > 0 else middle
