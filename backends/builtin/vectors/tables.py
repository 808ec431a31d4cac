"""The tables of the vectors: one set per identity, beside the generations of the text.

A set is never part of a generation: a rebuild of the text index finds the vectors of
every text that is still there, and an outage of a provider touches nothing.
"""

from dataclasses import dataclass
from typing import Final, TypeAlias
from weakref import WeakKeyDictionary

import apsw

from notewell.adapters.embeddings.base import EmbeddingIdentity
from notewell.backends.builtin.schema import Generation
from notewell.backends.builtin.store import Store

VECTORS_VERSION: Final = 1
"""Of these tables; another one's sets are not read."""

SETS: Final = """
create table if not exists nw_sets(
    id integer primary key,
    identity text not null unique,
    dimension integer not null
) strict
"""

_State: TypeAlias = tuple[int | None, int, int]
_counted: WeakKeyDictionary[Store, tuple[_State, int]] = WeakKeyDictionary()
"""By connection the last count, and the state of the index that it is of."""


@dataclass(frozen=True, slots=True)
class VectorSet:
    """The vectors of one identity, and the names of their tables.

    Attributes:
        id: The set's number.
        dimension: Numbers in a vector.
    """

    id: int
    dimension: int

    @property
    def vectors(self) -> str:
        """One row per text: its digest, and float32 numbers of unit length."""
        return f"nw_vectors_{self.id}"

    @property
    def blocks(self) -> str:
        """The first stage of a search: short codes, some thousand in a row."""
        return f"nw_blocks_{self.id}"

    @property
    def refused(self) -> str:
        """Texts that the provider gave no usable vector for, and when."""
        return f"nw_refused_{self.id}"

    @property
    def coded(self) -> str:
        """Key that says whether every live vector has its code in a block."""
        return f"in_blocks_{self.id}"

    @property
    def mean(self) -> str:
        """Key of the mean vector."""
        return f"mean_{self.id}"

    def create(self) -> str:
        """Return the statements that create the tables, but for the blocks."""
        # An id is never given twice: the code of a vector that is gone must not
        # stand for another one.
        return f"""
        create table {self.vectors}(
            id integer primary key autoincrement,
            digest blob not null unique,
            vector blob not null
        ) strict;
        create table {self.refused}(
            digest blob primary key,
            at integer not null
        ) strict, without rowid;
        """


def find_set(store: Store, identity: EmbeddingIdentity) -> VectorSet | None:
    """Return the set of an identity, if there is one."""
    if store.get("vectors_version") != VECTORS_VERSION:
        return None
    row = store.rows(
        "select id, dimension from nw_sets where identity = ?", identity.encoded()
    )
    return VectorSet(*row[0]) if row else None


def ensure_set(store: Store, identity: EmbeddingIdentity) -> VectorSet:
    """Return the set of an identity, creating it; the caller holds the lock."""
    found = find_set(store, identity)
    if found:
        return found
    run = store.connection.execute
    run(SETS)
    number = 1 + (store.one("select max(id) from nw_sets") or 0)
    made = VectorSet(number, identity.dimension)
    with store.connection:
        store.put("vectors_version", VECTORS_VERSION)
        run(
            "insert into nw_sets values (?, ?, ?)",
            (made.id, identity.encoded(), made.dimension),
        )
        run(made.create())
    return made


def all_sets(store: Store) -> list[tuple[EmbeddingIdentity, VectorSet]]:
    """Return every set with its identity, the oldest first.

    Raises:
        apsw.CorruptError: an identity is damaged.
    """
    if store.get("vectors_version") != VECTORS_VERSION:
        return []
    rows = store.rows("select id, identity, dimension from nw_sets order by id")
    try:
        return [
            (EmbeddingIdentity.decoded(identity), VectorSet(key, dimension))
            for key, identity, dimension in rows
        ]
    except (TypeError, ValueError) as error:
        raise apsw.CorruptError("the name of a set of vectors is damaged") from error


def waiting(tables: Generation, vectors: VectorSet) -> str:
    """Return the SQL condition on a chunk `c` that it waits for a vector of a set.

    Texts that the provider refused do not wait.
    """
    return (
        f"not exists (select 1 from {vectors.vectors} as v where v.digest = c.digest)"
        f" and not exists"
        f" (select 1 from {vectors.refused} as r where r.digest = c.digest)"
    )


def embedded_chunks(store: Store, tables: Generation, vectors: VectorSet) -> int:
    """Count the chunks of a generation that have a vector."""
    count: int = store.one(
        f"select count(*) from {tables.chunks} as c where exists"
        f" (select 1 from {vectors.vectors} as v where v.digest = c.digest)"
    )
    return count


def lacking(store: Store, tables: Generation, vectors: VectorSet) -> int:
    """Count the texts of a generation that wait for a vector."""
    # Not by `waiting`: three indexes side by side are three times as quick to read.
    count: int = store.one(
        f"select count(*) from (select digest from {tables.chunks}"
        f" except select digest from {vectors.vectors}"
        f" except select digest from {vectors.refused})"
    )
    return count


def still_lacking(reader: Store, tables: Generation, vectors: VectorSet) -> int:
    """Count as `lacking` does, but only once between two writes of others."""
    state = (reader.one("pragma data_version"), tables.number, vectors.id)
    before = _counted.get(reader)
    if before is None or before[0] != state:
        before = _counted[reader] = state, lacking(reader, tables, vectors)
    return before[1]
