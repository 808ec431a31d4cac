"""Reading vectors as they are compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import apsw

from notewell.backends.builtin.store import Store
from notewell.backends.builtin.vectors.tables import VectorSet

if TYPE_CHECKING:
    from notewell.adapters.embeddings.base import Matrix


def by_id(store: Store, vectors: VectorSet, keys: Sequence[int]) -> Matrix:
    """Return vectors by their ids: float32, shape (len(keys), dimension).

    Raises:
        apsw.CorruptError: one of them has another length, or has gone.
    """
    import orjson

    found = dict(
        store.rows(
            f"select id, vector from {vectors.vectors}"
            " where id in (select value from json_each(?))",
            orjson.dumps(list(keys)).decode(),
        )
    )
    return matrix_of([found.get(key, b"") for key in keys], vectors)


def matrix_of(blobs: Sequence[object], vectors: VectorSet) -> Matrix:
    """Return kept vectors as they are compared: float32, shape (len(blobs), dimension).

    Raises:
        apsw.CorruptError: one of them has another length.
    """
    import numpy as np

    whole = 4 * vectors.dimension
    good = [blob for blob in blobs if isinstance(blob, bytes) and len(blob) == whole]
    if len(good) != len(blobs):
        raise apsw.CorruptError("a vector is damaged")
    joined = np.frombuffer(b"".join(good), dtype="<f4")
    return joined.reshape(len(blobs), vectors.dimension)
