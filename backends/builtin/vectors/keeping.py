"""Writing vectors, and keeping the tables in step with the texts that are live.

A vector that no live text uses stays as a cache, up to a number: a text that comes
back, or that moves to another note, is not paid for twice.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import apsw

from notewell.backends.builtin.schema import Generation
from notewell.backends.builtin.store import Store
from notewell.backends.builtin.vectors.codes import bits, encode
from notewell.backends.builtin.vectors.tables import VectorSet, all_sets

if TYPE_CHECKING:
    from notewell.adapters.embeddings.base import Matrix

_BLOCK = 2_000
"""Rows that are read or written at once."""

_SAMPLE = 2_000
"""Codes from which a search estimates how far away its candidates are."""


def put(
    store: Store, vectors: VectorSet, digests: Sequence[bytes], rows: Matrix
) -> None:
    """Keep the vectors of some texts.

    A row that is no unit vector is never kept: its text is noted as refused, stays
    searchable by its words, and is tried again later.
    """
    import numpy as np

    norms = np.linalg.norm(rows, axis=1)
    usable = np.abs(norms - 1) < 1e-3  # False for NaN, too
    if rows.shape[1] != vectors.dimension:
        usable[:] = False
    good = [digest for digest, fine in zip(digests, usable, strict=True) if fine]
    bad = [digest for digest, fine in zip(digests, usable, strict=True) if not fine]
    blobs = [row.tobytes() for row in np.asarray(rows[usable], dtype="<f4")]
    with store.connection:
        store.connection.executemany(
            f"insert into {vectors.vectors}(digest, vector) values (?, ?)"
            " on conflict(digest) do nothing",
            zip(good, blobs, strict=True),
        )
        store.connection.executemany(
            f"delete from {vectors.refused} where digest = ?", [(one,) for one in good]
        )
        store.connection.executemany(
            f"insert or replace into {vectors.refused}(digest, at) values (?, ?)",
            [(one, int(time.time())) for one in bad],
        )
        store.put(vectors.coded, 0)


def settle(store: Store, tables: Generation, vectors: VectorSet) -> None:
    """Give every live vector its code, take other codes away, and look at a sample.

    Codes need sqlite-vec; without it they are caught up with when it is there again.
    """
    with store.connection:
        live = {
            row[0]
            for row in store.rows(
                f"select v.id from {vectors.vectors} as v where exists"
                f" (select 1 from {tables.chunks} as c where c.digest = v.digest)"
            )
        }
        _sample(store, vectors, sorted(live))
        width = bits(vectors.dimension)
        if not store.has_vec0 or not width:
            return
        store.connection.execute(
            f"create virtual table if not exists {vectors.codes}"
            f" using vec0(code bit[{width}])"
        )
        held = {row[0] for row in store.rows(f"select rowid from {vectors.codes}")}
        store.connection.executemany(
            f"delete from {vectors.codes} where rowid = ?",
            [(key,) for key in sorted(held - live)],
        )
        _code(store, vectors, sorted(live - held))
        store.put(vectors.coded, 1)


def _code(store: Store, vectors: VectorSet, keys: Sequence[int]) -> None:
    for start in range(0, len(keys), _BLOCK):
        block = keys[start : start + _BLOCK]
        matrix = by_id(store, vectors, block)
        store.connection.executemany(
            f"insert into {vectors.codes}(rowid, code) values (?, vec_bit(?))",
            zip(block, encode(matrix), strict=True),
        )


def _sample(store: Store, vectors: VectorSet, keys: Sequence[int]) -> None:
    """Keep some codes together, and the mean vector, where a search reads them."""
    some = by_id(store, vectors, keys[:: max(1, len(keys) // _SAMPLE)])
    if len(some):
        store.put(vectors.sample, b"".join(encode(some)))
        store.put(vectors.mean, some.mean(axis=0, dtype="<f4").tobytes())


def by_id(store: Store, vectors: VectorSet, keys: Sequence[int]) -> Matrix:
    """Return vectors by their ids: float32, shape (len(keys), dimension)."""
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


def drop_damaged(store: Store, vectors: VectorSet) -> None:
    """Drop vectors of another length than they were written with."""
    with store.connection:
        store.connection.execute(
            f"delete from {vectors.vectors} where length(vector) <> ?",
            (4 * vectors.dimension,),
        )
        if store.connection.changes():
            store.put(vectors.coded, 0)


def prune(store: Store, tables: Generation, *, most: int) -> None:
    """Drop the oldest vectors that no live text uses, in every set, down to `most`.

    Where some went, the codes have to be settled before a search trusts them again.
    """
    for _, vectors in all_sets(store):
        unused = (
            f"not exists (select 1 from {tables.chunks} as c where c.digest = {{}})"
        )
        with store.connection:
            store.connection.execute(
                f"delete from {vectors.vectors} where id in (select v.id"
                f" from {vectors.vectors} as v where {unused.format('v.digest')}"
                " order by v.id desc limit -1 offset ?)",
                (most,),
            )
            if store.connection.changes():
                store.put(vectors.coded, 0)
            store.connection.execute(
                f"delete from {vectors.refused} as r where {unused.format('r.digest')}"
            )
