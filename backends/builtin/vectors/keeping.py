"""Writing vectors, and keeping the tables in step with the texts that are live.

A vector that no live text uses stays as a cache, up to a number: a text that comes
back, or that moves to another note, is not paid for twice.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from notewell.backends.builtin.schema import Generation
from notewell.backends.builtin.store import Store
from notewell.backends.builtin.vectors.blocks import write_blocks
from notewell.backends.builtin.vectors.codes import words
from notewell.backends.builtin.vectors.reading import by_id
from notewell.backends.builtin.vectors.tables import VectorSet, all_sets

if TYPE_CHECKING:
    from notewell.adapters.embeddings.base import Matrix

_SAMPLE = 2_000
"""Vectors of which the mean is taken."""


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
    """Give every live vector its code, take other codes away, and keep the mean."""
    with store.connection:
        live = [
            row[0]
            for row in store.rows(
                f"select v.id from {vectors.vectors} as v where exists"
                f" (select 1 from {tables.chunks} as c where c.digest = v.digest)"
                " order by v.id"
            )
        ]
        _keep_mean(store, vectors, live[:: max(1, len(live) // _SAMPLE)])
        if words(vectors.dimension):
            write_blocks(store, vectors, live)
            store.put(vectors.coded, 1)


def _keep_mean(store: Store, vectors: VectorSet, keys: Sequence[int]) -> None:
    some = by_id(store, vectors, keys)
    if len(some):
        store.put(vectors.mean, some.mean(axis=0, dtype="<f4").tobytes())


def drop_damaged(store: Store, vectors: VectorSet) -> None:
    """Drop vectors of another length than they were written with, and all codes.

    Of a block it is only seen which vectors it has, not whether it is still whole.
    """
    with store.connection:
        store.connection.execute(f"drop table if exists {vectors.blocks}")
        store.put(vectors.coded, 0)
        store.connection.execute(
            f"delete from {vectors.vectors} where length(vector) <> ?",
            (4 * vectors.dimension,),
        )


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
