"""Short codes of vectors, to find candidates quickly: the first stage of a search.

A number becomes up to five bits, one for each threshold that it is above. So the
Hamming distance of two codes grows with the distance of the vectors, and sqlite-vec
counts it with a few instructions per 64 bits. Codes depend on the vector alone: no
training, and nothing to make anew when the notes change. `docs/ranking.md` has the recall.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from notewell.adapters.embeddings.base import Matrix

_MOST_BITS: Final = 8192
"""Of a column of sqlite-vec."""

_LEVELS: Final[tuple[tuple[float, ...], ...]] = (
    (-1.1, -0.5, 0.0, 0.5, 1.1),
    (-0.9, -0.3, 0.3, 0.9),
    (-0.7, 0.0, 0.7),
    (-0.45, 0.45),
    (0.0,),
)
"""Thresholds in units of 1 / sqrt(dimension), the size of a unit vector's numbers."""


def bits(dimension: int) -> int:
    """Return the length of a code; 0 if vectors are too long to be coded.

    >>> bits(384), bits(3072), bits(10_000)
    (1920, 6144, 0)
    """
    return math.ceil(dimension * len(_levels(dimension)) / 8) * 8


def encode(vectors: Matrix) -> list[bytes]:
    """Return the code of each row."""
    import numpy as np

    unit = 1 / math.sqrt(vectors.shape[1])
    above = [vectors > level * unit for level in _levels(vectors.shape[1])]
    return [row.tobytes() for row in np.packbits(np.concatenate(above, axis=1), axis=1)]


def _levels(dimension: int) -> tuple[float, ...]:
    for levels in _LEVELS:
        if dimension * len(levels) <= _MOST_BITS:
            return levels
    return ()
