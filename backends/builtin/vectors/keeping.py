"""Writing vectors, and keeping the tables in step with the texts that are live.

A vector that no live text uses stays as a cache, up to a number: a text that comes
back, or that moves to another note, is not paid for twice.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from notewell.backends.builtin.schema import Generation
from notewell.backends.builtin.store import Store
from notewell.backends.builtin.vectors.blocks import drop_blocks, write_blocks
from notewell.backends.builtin.vectors.code_table import drop_codes, write_codes
from notewell.backends.builtin.vectors.cosines import (
    kept_form,
    unit_rows,
    whole_numbers,
)
from notewell.backends.builtin.vectors.extension import load
from notewell.backends.builtin.vectors.nearest import needs_codes
from notewell.backends.builtin.vectors.tables import (
    WINDOW_BITS,
    VectorSet,
    all_sets,
    windows_of,
)
from notewell.config import VectorSettings

if TYPE_CHECKING:
    from notewell.adapters.embeddings.base import Matrix

_SAMPLE = 2_000
"""Texts whose vectors give the mean."""


class Embedded(NamedTuple):
    """A text that was given to a provider: its digest, and a row for each window."""

    digest: bytes
    rows: Matrix


def put(store: Store, kept: VectorSet, made: Sequence[Embedded]) -> None:
    """Keep the vectors of some texts.

    A row that is no unit vector is never kept. A text without a good one is noted as
    refused, stays searchable by its words, and is tried again later.
    """
    import numpy as np

    good: list[tuple[bytes, list[tuple[int, int, bytes]]]] = []
    bad: list[bytes] = []
    for digest, rows in made:
        usable = np.abs(np.linalg.norm(rows, axis=1) - 1) < 1e-3  # False for NaN, too
        if rows.shape[1] != kept.dimension or not usable.any():
            bad.append(digest)
            continue
        places: list[int] = np.flatnonzero(usable).tolist()
        forms = kept_form(rows[usable])
        good.append(
            (digest, [(at, *form) for at, form in zip(places, forms, strict=True)])
        )
    with store.connection:
        for digest, windows in good:
            put_text(store, kept, digest, windows)
        store.connection.executemany(
            f"delete from {kept.refused} where digest = ?",
            [(digest,) for digest, _ in good],
        )
        store.connection.executemany(
            f"insert or replace into {kept.refused}(digest, at) values (?, ?)",
            [(digest, int(time.time())) for digest in bad],
        )


def put_text(
    store: Store, kept: VectorSet, digest: bytes, windows: list[tuple[int, int, bytes]]
) -> None:
    """Keep a text and its windows, each with its sum of squares and its numbers."""
    store.connection.execute(
        f"insert into {kept.texts}(digest) values (?) on conflict(digest) do nothing",
        (digest,),
    )
    if not store.connection.changes():
        return  # somebody else was quicker
    first = store.connection.last_insert_rowid() << WINDOW_BITS
    store.connection.executemany(
        f"insert into {kept.vectors}(id, squares, vector) values (?, ?, ?)",
        [(first + at, squares, vector) for at, squares, vector in windows],
    )


def settle(
    store: Store,
    tables: Generation,
    kept: VectorSet,
    settings: VectorSettings,
    *,
    anew: bool = False,
) -> None:
    """Give the live vectors their codes, take other codes away, and keep the mean.

    The codes go where this program can search them: into a table of sqlite-vec, or
    into blocks if it does not load. Few vectors need none.

    Args:
        anew: Write all of them, whatever is there.
    """
    with store.connection:
        live = [
            row[0]
            for row in store.rows(
                f"select t.id from {kept.texts} as t where exists"
                f" (select 1 from {tables.chunks} as c where c.digest = t.digest)"
                " order by t.id"
            )
        ]
        _keep_mean(store, kept, live)
        wanted = needs_codes(store, kept)
        if load(store, settings).version is not None:
            drop_blocks(store, kept)
            if wanted:
                write_codes(store, kept, live, anew=anew)
            else:
                drop_codes(store, kept)
        elif wanted:
            if anew:
                drop_blocks(store, kept)
            write_blocks(store, kept, live)
        else:
            drop_blocks(store, kept)


def _keep_mean(store: Store, kept: VectorSet, live: Sequence[int]) -> None:
    some = map(str, live[:: max(1, len(live) // _SAMPLE)])
    rows = store.rows(
        f"select v.vector from json_each(?) as t join {kept.vectors} as v"
        f" on v.id between t.value << {WINDOW_BITS}"
        f" and (t.value << {WINDOW_BITS}) + {(1 << WINDOW_BITS) - 1}",
        f"[{','.join(some)}]",
    )
    if rows:
        vectors = unit_rows(whole_numbers([row[0] for row in rows], kept.dimension))
        mean = vectors.mean(axis=0, dtype="<f4").astype("<f4")
        store.put(kept.mean, mean.tobytes())


def drop_damaged(store: Store, kept: VectorSet) -> None:
    """Drop texts with a vector of another length than it was written with."""
    with store.connection:
        damaged = (
            f"select id >> {WINDOW_BITS} from {kept.vectors}"
            f" where length(vector) <> {kept.dimension} or squares <= 0"
        )
        store.connection.execute(f"delete from {kept.texts} where id in ({damaged})")
        store.connection.execute(
            f"delete from {kept.texts} as t where not exists"
            f" (select 1 from {kept.vectors} as v where {windows_of('v', 't')})"
        )
        _drop_orphans(store, kept)


def prune(store: Store, tables: Generation, *, most: int) -> None:
    """Drop the oldest texts that are not live, in every set, down to `most`."""
    for _, kept in all_sets(store):
        unused = (
            f"not exists (select 1 from {tables.chunks} as c where c.digest = {{}})"
        )
        with store.connection:
            store.connection.execute(
                f"delete from {kept.texts} where id in (select t.id"
                f" from {kept.texts} as t where {unused.format('t.digest')}"
                " order by t.id desc limit -1 offset ?)",
                (most,),
            )
            if store.connection.changes():
                _drop_orphans(store, kept)
            store.connection.execute(
                f"delete from {kept.refused} as r where {unused.format('r.digest')}"
            )


def _drop_orphans(store: Store, kept: VectorSet) -> None:
    """Drop the vectors of texts that have gone."""
    store.connection.execute(
        f"delete from {kept.vectors} where id >> {WINDOW_BITS} not in"
        f" (select id from {kept.texts})"
    )
