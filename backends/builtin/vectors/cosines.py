"""Vectors as they are kept and compared: whole numbers, so that every way agrees.

A vector is kept as numbers from -127 to 127, a question as numbers of sixteen bits.
Their product is a sum of whole numbers, which is the same in whatever order it is
added, by Python, by numpy or in SQL: equal vectors have equal cosines, everywhere.
"""

from __future__ import annotations

import math
import sys
from array import array
from collections.abc import Iterable, Sequence
from functools import cached_property
from operator import mul
from typing import TYPE_CHECKING, Final

import apsw

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from notewell.adapters.embeddings.base import Matrix

_MOST: Final = 127
"""The largest number of a vector that is kept."""

_FINE: Final = 256 * _MOST
"""That of a question."""


class Question:
    """A question's vector, ready to be compared.

    Attributes:
        floats: Its numbers.
        numbers: The same as whole numbers.
        squares: The sum of their squares.
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
        vectors = whole_numbers([vector for _, vector in kept], len(self.numbers))
        return self.products([squares for squares, _ in kept], vectors)

    def products(
        self, squares: Sequence[int], vectors: NDArray[np.int8]
    ) -> list[float]:
        """Return the cosine with each row of a matrix."""
        import numpy as np

        # Products of whole numbers below 2**53 are exact as floats of 64 bits.
        question = np.array(self.numbers, dtype=np.float64)
        found: list[float] = (vectors.astype(np.float64) @ question).tolist()
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


def kept_form(rows: Matrix) -> list[tuple[int, bytes]]:
    """Return unit vectors as they are kept: the sum of squares, and the numbers."""
    import numpy as np

    largest = np.abs(rows).max(axis=1, keepdims=True)
    numbers = np.rint(rows / largest * _MOST).astype(np.int8)
    squares = np.square(numbers, dtype=np.int64).sum(axis=1).tolist()
    return [(of, row.tobytes()) for of, row in zip(squares, numbers, strict=True)]


def whole_numbers(vectors: Iterable[bytes], dimension: int) -> NDArray[np.int8]:
    """Return vectors that are kept as a matrix, a row each.

    Raises:
        apsw.CorruptError: one of them has another length.
    """
    import numpy as np

    blobs = list(vectors)
    if any(len(blob) != dimension for blob in blobs):
        raise apsw.CorruptError("a vector is damaged")
    return np.frombuffer(b"".join(blobs), dtype=np.int8).reshape(-1, dimension)


def unit_rows(vectors: NDArray[np.int8]) -> Matrix:
    """Return kept vectors as unit vectors again: float32."""
    import numpy as np

    rows = vectors.astype(np.float32)
    unit: Matrix = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit
