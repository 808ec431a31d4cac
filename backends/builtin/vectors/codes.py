"""Short codes of vectors, to find candidates quickly: the first stage of a search.

A number becomes up to five bits, one for each threshold that it is above. So the
Hamming distance of two codes grows with the distance of the vectors, and numpy counts
it with a few instructions per 64 bits. Codes depend on the vector alone: no training,
and nothing to make anew when the notes change. `docs/ranking.md` has the recall.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from notewell.adapters.embeddings.base import Matrix

    Codes: TypeAlias = NDArray[np.uint64]
    Distances: TypeAlias = NDArray[np.uint16]

_MOST_BITS: Final = 8192
"""In a code: a gigabyte for a million passages."""

_LEVELS: Final[tuple[tuple[float, ...], ...]] = (
    (-1.1, -0.5, 0.0, 0.5, 1.1),
    (-0.9, -0.3, 0.3, 0.9),
    (-0.7, 0.0, 0.7),
    (-0.45, 0.45),
    (0.0,),
)
"""Thresholds in units of 1 / sqrt(dimension), the size of a unit vector's numbers."""


def words(dimension: int) -> int:
    """Return the length of a code in words of 64 bits; 0: vectors too long for one.

    >>> words(384), words(3072), words(10_000)
    (30, 96, 0)
    """
    return math.ceil(dimension * len(_levels(dimension)) / 64)


def encode(vectors: Matrix) -> Codes:
    """Return the code of each row as a column: shape (words, rows).

    Lying so, the codes are compared a word of all of them at a time.
    """
    import numpy as np

    rows, dimension = vectors.shape
    unit = 1 / math.sqrt(dimension)
    above = [vectors > level * unit for level in _levels(dimension)]
    packed = np.packbits(np.concatenate(above, axis=1), axis=1)
    whole = np.zeros((rows, words(dimension) * 8), dtype=np.uint8)
    whole[:, : packed.shape[1]] = packed
    return np.ascontiguousarray(whole.view(np.uint64).T)


def distances(codes: Codes, code: Codes) -> Distances:
    """Return in how many bits each column differs from the only column of `code`."""
    import numpy as np

    differing: Distances = np.bitwise_count(codes ^ code).sum(axis=0, dtype=np.uint16)
    return differing


def _levels(dimension: int) -> tuple[float, ...]:
    for levels in _LEVELS:
        if dimension * len(levels) <= _MOST_BITS:
            return levels
    return ()
