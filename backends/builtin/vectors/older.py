"""Sets of vectors that an older version has written, carried over as they are.

Version 1 kept a vector of float32 numbers for each passage, whole. Nothing is embedded
again: its sets become sets of passages that are not cut, and answer until those with
windows are made.
"""

from collections.abc import Iterator
from contextlib import suppress
from typing import Final

import apsw

from notewell.adapters.embeddings.base import EmbeddingIdentity
from notewell.backends.builtin.store import Store
from notewell.backends.builtin.vectors.keeping import Embedded, put
from notewell.backends.builtin.vectors.tables import decoded, ensure_set

_AT_ONCE: Final = 1_000


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
    return [(decoded(identity), number) for number, identity in rows]


def copy_older(
    old: Store, number: int, new: Store, identity: EmbeddingIdentity
) -> None:
    """Copy what can be read of a set of version 1 into one of ours."""
    kept = ensure_set(new, identity, "")
    for made in _read(old, number, identity.dimension):
        put(new, kept, made)


def _read(old: Store, number: int, dimension: int) -> Iterator[list[Embedded]]:
    import numpy as np

    made: list[Embedded] = []
    with suppress(apsw.Error, UnicodeDecodeError, TypeError):
        for digest, vector in old.connection.execute(
            f"select digest, vector from nw_vectors_{number} order by id"
        ):
            if len(vector) == 4 * dimension:
                row = np.frombuffer(vector, dtype="<f4").reshape(1, dimension)
                made.append(Embedded(digest, row))
            if len(made) == _AT_ONCE:
                yield made
                made = []
    yield made
