"""From what a provider gives to unit vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from notewell.adapters.embeddings.base import Matrix


def unit_rows(raw: Sequence[object], dimension: int) -> Matrix:
    """Return one unit vector per item of `raw`.

    Args:
        raw: Vectors as lists of numbers, as arrays, or as the bytes of little-endian
            float32. Anything else, None too, is no vector.
        dimension: Numbers in a vector.

    Returns:
        float32, shape (len(raw), dimension), L2 norm 1. A row is all NaN if its item
        is no vector, has another length, is zero, or holds a number that is not finite.

    >>> unit_rows([[3.0, 4.0], [0.0, 0.0], [1.0]], 2)
    array([[0.6, 0.8],
           [nan, nan],
           [nan, nan]], dtype=float32)
    """
    rows = np.full((len(raw), dimension), np.nan, dtype=np.float32)
    for number, item in enumerate(raw):
        vector = _vector(item)
        if vector is None or vector.shape != (dimension,):
            continue
        # Divided first, so that squares of large or tiny numbers stay in range.
        largest = np.max(np.abs(vector))
        if np.isfinite(largest) and largest > 0:
            scaled = vector / largest
            rows[number] = scaled / np.linalg.norm(scaled)
    return rows


def usable_rows(rows: Matrix) -> np.typing.NDArray[np.bool_]:
    """Return for each row of `unit_rows` whether it is a vector: shape (len(rows),)."""
    return ~np.isnan(rows[:, 0])


def vector_length(item: object) -> int:
    """Return how many numbers an item of `unit_rows` holds; 0 if it is no vector."""
    vector = _vector(item)
    return 0 if vector is None or vector.ndim != 1 else len(vector)


def _vector(item: object) -> np.typing.NDArray[np.float64] | None:
    try:
        if isinstance(item, bytes):
            with np.errstate(invalid="ignore"):  # some kinds of NaN
                return np.frombuffer(item, dtype="<f4").astype(np.float64)
        return None if item is None else np.asarray(item, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return None
