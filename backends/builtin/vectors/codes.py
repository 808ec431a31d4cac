"""Short codes of vectors, to find candidates quickly: the first stage of a search.

A number becomes up to four bits, one for each threshold that it is above. So the
Hamming distance of two codes grows with the distance of the vectors, and is counted
with a few instructions per 64 bits. Codes depend on the vector alone: no training,
and nothing to make anew when the notes change. `docs/ranking.md` has the recall.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from notewell.adapters.embeddings.base import Matrix

    Codes: TypeAlias = NDArray[np.uint8]

_MOST_BITS: Final = 8192
"""In a code: as many as sqlite-vec takes, and a gigabyte for a million vectors."""

_WORD: Final = 64
"""Codes are whole words of so many bits, which is how they are compared."""

_LEVELS: Final[tuple[tuple[float, ...], ...]] = (
    (-0.9, -0.3, 0.3, 0.9),
    (-0.7, 0.0, 0.7),
    (-0.45, 0.45),
    (0.0,),
)
"""Thresholds in units of 1 / sqrt(dimension), the size of a unit vector's numbers."""


def bits(dimension: int) -> int:
    """Return the length of a code in bits; 0: vectors too long for one.

    >>> bits(384), bits(3072), bits(10_000)
    (1536, 6144, 0)
    """
    return _WORD * math.ceil(dimension * len(_levels(dimension)) / _WORD)


def encode(vectors: Matrix) -> Codes:
    """Return the code of each row, a row of bytes."""
    import numpy as np

    rows, dimension = vectors.shape
    unit = 1 / math.sqrt(dimension)
    above = [vectors > np.float32(level * unit) for level in _levels(dimension)]
    packed = np.packbits(np.concatenate(above, axis=1), axis=1)
    whole = np.zeros((rows, bits(dimension) // 8), dtype=np.uint8)
    whole[:, : packed.shape[1]] = packed
    return whole


def encode_one(vector: Sequence[float]) -> bytes:
    """Return the code of one vector, without numpy."""
    dimension = len(vector)
    unit = 1 / math.sqrt(dimension)
    above = "".join(
        "1" if one > level * unit else "0"
        for level in _levels(dimension)
        for one in vector
    )
    length = bits(dimension)
    return int(above.ljust(length, "0"), 2).to_bytes(length // 8, "big")


def _levels(dimension: int) -> tuple[float, ...]:
    for levels in _LEVELS:
        if dimension * len(levels) <= _MOST_BITS:
            return levels
    return ()
