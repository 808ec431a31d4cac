"""Writing vectors, and keeping the tables in step with the texts that are live.

A vector that no live text uses stays as a cache, up to a number: a text that comes
back, or that moves to another note, is not paid for twice.

Sets of an older version are carried over as they are. Version 1 kept a vector of float32
numbers for each passage, whole. Nothing is embedded again: its sets become sets of
passages that are not cut, and answer until those with windows are made.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple

import apsw

from notewell.adapters.embeddings.base import EmbeddingIdentity
from notewell.backends.builtin.schema import Generation
from notewell.backends.builtin.store import Store
from notewell.backends.builtin.vectors.code_tables import (
    drop_blocks,
    drop_codes,
    write_blocks,
    write_codes,
)
from notewell.backends.builtin.vectors.nearest import needs_codes
from notewell.backends.builtin.vectors.quantisation import (
    dequantise,
    quantise,
    quantised_matrix,
)
from notewell.backends.builtin.vectors.sets import (
    WINDOW_BITS,
    VectorSet,
    all_sets,
    ensure_set,
    id_list,
    read_identity,
    windows_of,
)
from notewell.backends.builtin.vectors.sqlite_vec import load_extension
from notewell.config import VectorSettings

if TYPE_CHECKING:
    from notewell.adapters.embeddings.base import Matrix


_SAMPLE: Final = 2_000
"""Texts whose vectors give the mean."""

_CARRIED: Final = 1_000
"""Vectors that are carried over at once."""


class EmbeddedText(NamedTuple):
    """A text that was given to a provider: its digest, and a row for each window."""

    digest: bytes
    rows: Matrix


def put_embedded(store: Store, kept: VectorSet, made: Sequence[EmbeddedText]) -> None:
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
        forms = quantise(rows[usable])
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
        if load_extension(store, settings).version is not None:
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
    rows = store.rows(
        f"select v.vector from json_each(?) as t join {kept.vectors} as v"
        f" on v.id between t.value << {WINDOW_BITS}"
        f" and (t.value << {WINDOW_BITS}) + {(1 << WINDOW_BITS) - 1}",
        id_list(live[:: max(1, len(live) // _SAMPLE)]),
    )
    if rows:
        vectors = dequantise(quantised_matrix([row[0] for row in rows], kept.dimension))
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
        drop_orphans(store, kept)


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
                drop_orphans(store, kept)
            store.connection.execute(
                f"delete from {kept.refused} as r where {unused.format('r.digest')}"
            )


def drop_orphans(store: Store, kept: VectorSet) -> None:
    """Drop the vectors of texts that have gone; the caller holds the lock."""
    store.connection.execute(
        f"delete from {kept.vectors} where id >> {WINDOW_BITS} not in"
        f" (select id from {kept.texts})"
    )


def has_older(store: Store) -> bool:
    """Say whether version 1 has written vectors here."""
    return bool(store.get("vectors_version") == 1)


def carry_over(store: Store) -> None:
    """Make sets of ours of those that version 1 has written; the caller has the lock."""
    with store.connection:
        sets = older_sets(store)
        for identity, number in sets:
            copy_older(store, number, store, identity)
            for name in ("vectors", "blocks", "refused"):
                store.connection.execute(f"drop table if exists nw_{name}_{number}")
            for name in ("mean", "in_blocks"):
                store.forget(f"{name}_{number}")
        store.connection.execute("drop table if exists nw_sets")


def older_sets(store: Store) -> list[tuple[EmbeddingIdentity, int]]:
    """Return the sets of version 1 with their numbers, the oldest first.

    Raises:
        apsw.CorruptError: an identity is damaged.
    """
    rows = store.rows("select id, identity from nw_sets order by id")
    return [(read_identity(identity), number) for number, identity in rows]


def copy_older(
    old: Store, number: int, new: Store, identity: EmbeddingIdentity
) -> None:
    """Copy what can be read of a set of version 1 into one of ours."""
    kept = ensure_set(new, identity, "")
    for made in _read_older(old, number, identity.dimension):
        put_embedded(new, kept, made)


def _read_older(
    old: Store, number: int, dimension: int
) -> Iterator[list[EmbeddedText]]:
    import numpy as np

    made: list[EmbeddedText] = []
    with suppress(apsw.Error, UnicodeDecodeError, TypeError):
        for digest, vector in old.connection.execute(
            f"select digest, vector from nw_vectors_{number} order by id"
        ):
            if len(vector) == 4 * dimension:
                row = np.frombuffer(vector, dtype="<f4").reshape(1, dimension)
                made.append(EmbeddedText(digest, row))
            if len(made) == _CARRIED:
                yield made
                made = []
    yield made
