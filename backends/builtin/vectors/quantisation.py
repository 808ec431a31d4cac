"""Vectors as they are kept and compared: as whole numbers, and as codes of a few bits.

A vector is kept as numbers from -127 to 127, and a query's has sixteen bits a number. Their
product is a sum of whole numbers, which is the same in whatever order it is added, by
Python, by numpy or in SQL: equal vectors have equal cosines, everywhere.

Codes find candidates quickly, the first stage of a search among many vectors. A number
becomes up to four bits, one for each threshold that it is above, so the Hamming distance
of two codes grows with the distance of the vectors, and is counted with a few instructions
per 64 bits. Codes depend on the vector alone: no training, and nothing to make anew when
the notes change. `docs/ranking.md` has the recall.
"""

from __future__ import annotations

import math
import sys
from array import array
from collections.abc import Iterable, Sequence
from functools import cached_property
from operator import mul
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import apsw

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from notewell.adapters.embeddings.base import Matrix

    Codes: TypeAlias = NDArray[np.uint8]

_MOST: Final = 127
"""The largest number of a vector that is kept."""

_FINE: Final = 256 * _MOST
"""The largest number of a query's."""

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


class RoughNeighbour(NamedTuple):
    """A vector by its id, and its cosine with the query, which may be rounded."""

    vector: int
    cosine: float


class QuantisedQuery:
    """A query's vector, ready to be compared.

    Attributes:
        floats: Its numbers, `dimension` of them.
        numbers: The same as whole numbers from -32,512 to 32,512.
        squares: The sum of the squares of `numbers`.
    """

    def __init__(self, vector: bytes) -> None:
        """Take a unit vector as float32, little-endian."""
        self.floats = floats_of(vector)
        largest = max(map(abs, self.floats)) or 1.0
        self.numbers = [round(one / largest * _FINE) for one in self.floats]
        self.squares = sum(map(mul, self.numbers, self.numbers))

    @cached_property
    def halves(self) -> tuple[bytes, bytes]:
        """Its numbers as two vectors of bytes: 256 times the first, plus the second."""
        high = [(one + 128) >> 8 for one in self.numbers]
        low = [one - (part << 8) for one, part in zip(self.numbers, high, strict=True)]
        if not any(low):
            low[0] = 1  # nothing has a cosine with zero; this is less than is rounded
        return array("b", high).tobytes(), array("b", low).tobytes()

    @cached_property
    def shares(self) -> tuple[float, float]:
        """What the cosine with either half counts in that with the whole."""
        length = math.sqrt(self.squares)
        high, low = (math.sqrt(_squares(half)) for half in self.halves)
        return 256 * high / length, low / length

    def cosine(self, squares: int, vector: bytes) -> float:
        """Return the cosine with a vector that is kept.

        Raises:
            apsw.CorruptError: it has another length.
        """
        if len(vector) != len(self.numbers) or squares <= 0:
            raise apsw.CorruptError("a vector is damaged")
        numbers = memoryview(vector).cast("b")
        return self._scaled(sum(map(mul, self.numbers, numbers)), squares)

    def cosines(self, kept: Sequence[tuple[int, bytes]]) -> list[float]:
        """Return the cosine with each of some vectors; by numpy, if it is loaded.

        Raises:
            apsw.CorruptError: one of them has another length.
        """
        if "numpy" not in sys.modules:
            return [self.cosine(*one) for one in kept]
        vectors = quantised_matrix([vector for _, vector in kept], len(self.numbers))
        return self.products([squares for squares, _ in kept], vectors)

    def products(
        self, squares: Sequence[int], vectors: NDArray[np.int8]
    ) -> list[float]:
        """Return the cosine with each of some vectors, in exact arithmetic.

        Args:
            squares: Of each vector the sum of the squares of its numbers.
            vectors: int8, shape (len(squares), dimension).
        """
        import numpy as np

        # Products of whole numbers below 2**53 are exact as floats of 64 bits.
        query = np.array(self.numbers, dtype=np.float64)
        found: list[float] = (vectors.astype(np.float64) @ query).tolist()
        if squares and min(squares) <= 0:
            raise apsw.CorruptError("a vector is damaged")
        return [
            self._scaled(int(one), of) for one, of in zip(found, squares, strict=True)
        ]

    def _scaled(self, product: int, squares: int) -> float:
        cosine = product / math.sqrt(squares * self.squares)
        return max(-1.0, min(1.0, cosine))


def _squares(numbers: bytes) -> int:
    signed = memoryview(numbers).cast("b")
    return sum(map(mul, signed, signed)) or 1


def floats_of(vector: bytes) -> Sequence[float]:
    """Return the numbers of a vector that is given as float32, little-endian.

    Raises:
        apsw.CorruptError: it is no whole number of them.
    """
    if len(vector) % 4 or not vector:
        raise apsw.CorruptError("a vector is damaged")
    floats = array("f", vector)
    if sys.byteorder == "big":
        floats.byteswap()
    return floats


def quantise(rows: Matrix) -> list[tuple[int, bytes]]:
    """Return vectors as they are kept: the sum of squares, and the numbers as int8.

    Args:
        rows: float32, shape (n, dimension), none of them zero.
    """
    import numpy as np

    largest = np.abs(rows).max(axis=1, keepdims=True)
    numbers = np.rint(rows / largest * _MOST).astype(np.int8)
    squares = np.square(numbers, dtype=np.int64).sum(axis=1).tolist()
    return [(of, row.tobytes()) for of, row in zip(squares, numbers, strict=True)]


def quantised_matrix(vectors: Iterable[bytes], dimension: int) -> NDArray[np.int8]:
    """Return vectors that are kept as a matrix: int8, shape (n, dimension).

    Raises:
        apsw.CorruptError: one of them has another length.
    """
    import numpy as np

    blobs = list(vectors)
    if any(len(blob) != dimension for blob in blobs):
        raise apsw.CorruptError("a vector is damaged")
    return np.frombuffer(b"".join(blobs), dtype=np.int8).reshape(-1, dimension)


def dequantise(vectors: NDArray[np.int8]) -> Matrix:
    """Return kept vectors, shape (n, dimension), as unit vectors again: float32."""
    import numpy as np

    rows = vectors.astype(np.float32)
    unit: Matrix = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


def code_bits(dimension: int) -> int:
    """Return the length of a code in bits; 0: vectors too long for one.

    >>> code_bits(384), code_bits(3072), code_bits(10_000)
    (1536, 6144, 0)
    """
    return _WORD * math.ceil(dimension * len(_levels(dimension)) / _WORD)


def encode_rows(vectors: Matrix) -> Codes:
    """Return the code of each row: uint8, shape (n, code_bits(dimension) / 8)."""
    import numpy as np

    rows, dimension = vectors.shape
    unit = 1 / math.sqrt(dimension)
    above = [vectors > np.float32(level * unit) for level in _levels(dimension)]
    packed = np.packbits(np.concatenate(above, axis=1), axis=1)
    whole = np.zeros((rows, code_bits(dimension) // 8), dtype=np.uint8)
    whole[:, : packed.shape[1]] = packed
    return whole


def encode_vector(vector: Sequence[float]) -> bytes:
    """Return the code of one vector, without numpy: as many bytes."""
    dimension = len(vector)
    unit = 1 / math.sqrt(dimension)
    above = "".join(
        "1" if one > level * unit else "0"
        for level in _levels(dimension)
        for one in vector
    )
    length = code_bits(dimension)
    return int(above.ljust(length, "0"), 2).to_bytes(length // 8, "big")


def _levels(dimension: int) -> tuple[float, ...]:
    for levels in _LEVELS:
        if dimension * len(levels) <= _MOST_BITS:
            return levels
    return ()
