"""The tables of the vectors: one set per identity, beside the generations of the text.

A set is never part of a generation: a rebuild of the text index finds the vectors of
every text that is still there, and an outage of a provider touches nothing. A text has a
vector for each of its windows; which set that is tells also how they are cut. Here are
also the texts of a generation that wait for a vector of a set.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

import apsw

from notewell.adapters.embeddings.base import EmbeddingIdentity
from notewell.backends.builtin.errors import IndexUnreadable
from notewell.backends.builtin.schema import Generation
from notewell.backends.builtin.store import Store
from notewell.foreign import read_json, read_member, read_names
from notewell.values import dataclass

if TYPE_CHECKING:
    from notewell.backends.builtin.vectors.quantisation import QuantisedQuery

VECTORS_VERSION: Final = 2
"""Of these tables; another one's sets are not read."""

WINDOW_BITS: Final = 8
"""The id of a vector is that of its text, followed by these bits for its window."""

AT_ONCE: Final = 2_000
"""Texts that get their vectors while somebody waits, if that is instant."""

SETS: Final = """
create table if not exists nw_vector_sets(
    id integer primary key,
    identity text not null,
    cut text not null,
    dimension integer not null,
    unique(identity, cut)
) strict
"""

PickGeneration: TypeAlias = Callable[[Store], Generation]
"""Says which generation of the text index is meant."""

_PROBLEMS: Final = "vector_problems"
"""Key of what `last_problems` reads."""

_State: TypeAlias = tuple[int | None, int]

_counted: WeakKeyDictionary[Store, tuple[_State, dict[int, int]]] = WeakKeyDictionary()
"""By connection the last counts of each set, and the state of the index they are of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexAccess:
    """How the index is reached.

    Attributes:
        reading: Lends a reader.
        writing: Lends a writer, with the lock.
    """

    reading: Callable[[], AbstractContextManager[Store]]
    writing: Callable[[], AbstractContextManager[Store]]


@dataclass(frozen=True, slots=True)
class VectorSet:
    """The vectors of one identity, and the names of their tables.

    Attributes:
        id: The set's number.
        dimension: Numbers in a vector.
        cut: How passages are cut into windows, as `windows.cut_name` says it.
    """

    id: int
    dimension: int
    cut: str = ""

    @property
    def texts(self) -> str:
        """One row per text that has vectors, by its digest."""
        return f"nw_texts_{self.id}"

    @property
    def vectors(self) -> str:
        """One row per window: numbers from -127 to 127, and the sum of their squares."""
        return f"nw_vectors_{self.id}"

    @property
    def blocks(self) -> str:
        """Codes for a search in the process, some thousand in a row."""
        return f"nw_blocks_{self.id}"

    @property
    def refused(self) -> str:
        """Texts that the provider gave no usable vector for, and when."""
        return f"nw_refused_{self.id}"

    @property
    def codes(self) -> str:
        """Key of the number of the table of sqlite-vec that holds the codes."""
        return f"codes_{self.id}"

    @property
    def coded(self) -> str:
        """Key of how many codes that table holds."""
        return f"coded_{self.id}"

    @property
    def coded_to(self) -> str:
        """Key of the last text whose codes may be in that table."""
        return f"coded_to_{self.id}"

    @property
    def blocked_to(self) -> str:
        """The same for the blocks."""
        return f"blocked_to_{self.id}"

    @property
    def whole(self) -> str:
        """Key that says that a run has given every text of it a vector."""
        return f"whole_{self.id}"

    @property
    def mean(self) -> str:
        """Key of the mean vector."""
        return f"mean_{self.id}"

    def create(self) -> str:
        """Return the statements that create the tables, but for those of the codes."""
        # An id is never given twice: the code of a vector that is gone must not
        # stand for another one.
        return f"""
        create table {self.texts}(
            id integer primary key autoincrement,
            digest blob not null unique
        ) strict;
        create table {self.vectors}(
            id integer primary key,
            squares integer not null,
            vector blob not null
        ) strict;
        create table {self.refused}(
            digest blob primary key,
            at integer not null
        ) strict, without rowid;
        """


class ChunkIds(NamedTuple):
    """The SQL that gives the ids of some chunks.

    Attributes:
        sql: `?6` in it is the JSON of the ids of some files.
        files: That JSON; empty where the SQL has no `?6`.
    """

    sql: str
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class VectorQuery:
    """One query, and the vectors that it is compared with.

    Attributes:
        store: A reader of the index.
        tables: The generation of the text whose passages are meant.
        kept: The set of vectors.
        vector: The query's own.
    """

    store: Store
    tables: Generation
    kept: VectorSet
    vector: QuantisedQuery

    @property
    def passages(self) -> str:
        """The SQL that joins each chunk `c` with its text `t` and its windows `v`."""
        return (
            f"{self.tables.chunks} as c"
            f" join {self.kept.texts} as t on t.digest = c.digest"
            f" join {self.kept.vectors} as v on {windows_of('v', 't')}"
        )


def find_set(store: Store, identity: EmbeddingIdentity, cut: str) -> VectorSet | None:
    """Return the set of an identity whose passages are cut so, if there is one."""
    if store.get("vectors_version") != VECTORS_VERSION:
        return None
    row = store.rows(
        "select id, dimension, cut from nw_vector_sets where identity = ? and cut = ?",
        identity.encoded(),
        cut,
    )
    return VectorSet(*row[0]) if row else None


def answering_set(
    reader: Store, tables: Generation, identity: EmbeddingIdentity, cut: str
) -> VectorSet | None:
    """Return the set that answers: the best of those of an identity."""
    if reader.get("vectors_version") != VECTORS_VERSION:
        return None
    found = [
        VectorSet(*row)
        for row in reader.rows(
            "select id, dimension, cut from nw_vector_sets where identity = ?",
            identity.encoded(),
        )
    ]
    return best_set(reader, tables, found, cut)


def best_set(
    reader: Store, tables: Generation, found: Sequence[VectorSet], cut: str
) -> VectorSet | None:
    """Return of the sets of one identity the one that is wanted, once it is whole.

    Until then another one answers, if it lacks less; of equals the newest.
    """
    if len(found) < 2:
        return found[0] if found else None
    wanted = sorted(found, key=lambda kept: (kept.cut != cut, -kept.id))
    return min(wanted, key=lambda kept: missing_now(reader, tables, kept))


def ensure_set(store: Store, identity: EmbeddingIdentity, cut: str) -> VectorSet:
    """Return the set of an identity, creating it; the caller holds the lock."""
    found = find_set(store, identity, cut)
    if found:
        return found
    run = store.connection.execute
    number = 1 + max(_last(store, "nw_vector_sets"), _last(store, "nw_sets"))
    made = VectorSet(number, identity.dimension, cut)
    with store.connection:
        run(SETS)
        store.put("vectors_version", VECTORS_VERSION)
        run(
            "insert into nw_vector_sets values (?, ?, ?, ?)",
            (made.id, identity.encoded(), cut, made.dimension),
        )
        run(made.create())
    return made


def _last(store: Store, sets: str) -> int:
    """Return the largest number of a set; version 1 kept them in a table of its own."""
    if not store.one("select 1 from sqlite_schema where name = ?", sets):
        return 0
    return store.one(f"select max(id) from {sets}") or 0


def all_sets(store: Store) -> list[tuple[EmbeddingIdentity, VectorSet]]:
    """Return every set with its identity, the oldest first.

    Raises:
        apsw.CorruptError: an identity is damaged.
    """
    if store.get("vectors_version") != VECTORS_VERSION:
        return []
    rows = store.rows(
        "select id, identity, dimension, cut from nw_vector_sets order by id"
    )
    return [
        (read_identity(identity), VectorSet(key, dimension, cut))
        for key, identity, dimension, cut in rows
    ]


def last_problems(store: Store) -> dict[str, str]:
    """Return why the last run has not made all vectors, by the name of the provider."""
    written = store.get(_PROBLEMS)
    try:
        found = read_json(written.encode()) if written else None
    except ValueError:
        return {}
    told = ((name, read_member(found, name)) for name in read_names(found))
    return {name: why for name, why in told if isinstance(why, str)}


def last_problem(store: Store, provider: str) -> str | None:
    """Return why the last run has not made all vectors of a provider, and what to do."""
    told = last_problems(store).get(provider)
    if told is None or "notewell index" in told:
        return told
    return f"{told}, then run `notewell index`"


def note_problem(store: Store, provider: str, problem: str | None) -> None:
    """Write down why the last run has not made all vectors of a provider."""
    others = {k: v for k, v in last_problems(store).items() if k != provider}
    now = {**others, provider: problem} if problem else others
    store.put(_PROBLEMS, json.dumps(now))


def read_identity(identity: str) -> EmbeddingIdentity:
    """Read the identity of a set.

    Raises:
        apsw.CorruptError: it is damaged.
    """
    try:
        return EmbeddingIdentity.decoded(identity)
    except (TypeError, ValueError) as error:
        raise apsw.CorruptError("the name of a set of vectors is damaged") from error


def waits_condition(tables: Generation, vectors: VectorSet) -> str:
    """Return the SQL condition on a chunk `c` that it waits for vectors of a set.

    Texts that the provider refused do not wait.
    """
    return (
        f"not exists (select 1 from {vectors.texts} as t where t.digest = c.digest)"
        f" and not exists"
        f" (select 1 from {vectors.refused} as r where r.digest = c.digest)"
    )


def count_embedded(store: Store, tables: Generation, vectors: VectorSet) -> int:
    """Count the chunks of a generation that have a vector."""
    count: int = store.one(
        f"select count(*) from {tables.chunks} as c where exists"
        f" (select 1 from {vectors.texts} as t where t.digest = c.digest)"
    )
    return count


def count_missing(store: Store, tables: Generation, vectors: VectorSet) -> int:
    """Count the texts of a generation that wait for a vector."""
    # Not by `waiting`: three indexes side by side are three times as quick to read.
    count: int = store.one(
        f"select count(*) from (select digest from {tables.chunks}"
        f" except select digest from {vectors.texts}"
        f" except select digest from {vectors.refused})"
    )
    return count


def missing_now(reader: Store, tables: Generation, vectors: VectorSet) -> int:
    """Count as `lacking` does, but only once between two writes of others."""
    state = (reader.one("pragma data_version"), tables.number)
    before = _counted.get(reader)
    if before is None or before[0] != state:
        before = _counted[reader] = state, {}
    if vectors.id not in before[1]:
        before[1][vectors.id] = count_missing(reader, tables, vectors)
    return before[1][vectors.id]


def first_after(store: Store, key: str) -> int:
    """Return the least id of the vectors that came after codes were written.

    Args:
        key: Of the last text that may have codes: `coded_to` or `blocked_to` of a set.
    """
    return (int(store.get(key) or 0) + 1) << WINDOW_BITS


def id_list(ids: Iterable[int]) -> str:
    """Return ids as `json_each` of SQLite reads them.

    >>> id_list([3, 5])
    '[3,5]'
    """
    return f"[{','.join(map(str, ids))}]"


def windows_of(vector: str, text: str) -> str:
    """Return the SQL condition that a vector is of a text."""
    return (
        f"{vector}.id between {text}.id << {WINDOW_BITS}"
        f" and ({text}.id << {WINDOW_BITS}) + {(1 << WINDOW_BITS) - 1}"
    )


def live_generation(store: Store) -> Generation:
    """Return the generation that searches read.

    Raises:
        IndexUnreadable: there is none; somebody has removed the index.
    """
    found = store.live()
    if found is None:
        raise IndexUnreadable("not-ready", "the index was removed while it was written")
    return found


def newest_generation(store: Store) -> Generation:
    """Return the generation that a rebuild is filling; the live one without any."""
    return store.building() or live_generation(store)


class PendingText(NamedTuple):
    """A passage without a vector.

    Attributes:
        chunk: Its id.
        digest: The key of its vector.
        shown: Its text, which a model is given.
    """

    chunk: int
    digest: bytes
    shown: str


def pending_texts(
    store: Store,
    tables: Generation,
    vectors: VectorSet,
    *,
    after: int,
    limit: int,
    allowed: str = "",
) -> list[PendingText]:
    """Return the first texts that wait, of chunks with larger ids, at most `limit`.

    Args:
        allowed: The end of an SQL condition on a chunk `c`.
    """
    rows = store.connection.execute(
        f"select c.id, c.digest, c.text from {tables.chunks} as c where c.id > ?"
        f" and {waits_condition(tables, vectors)}{allowed} order by c.id limit ?",
        (after, limit),
    )
    return [PendingText(*row) for row in rows]


def whole_size(store: Store, tables: Generation, allowed: str = "") -> tuple[int, int]:
    """Return how many texts a generation has, and about how many bytes they have."""
    count, size = store.rows(
        "select count(*), coalesce(sum(size), 0) from"
        " (select max(length(cast(c.text as blob))) as size"
        f" from {tables.chunks} as c where true{allowed} group by c.digest)"
    )[0]
    return count, size


def pending_size(
    store: Store, tables: Generation, vectors: VectorSet, allowed: str = ""
) -> tuple[int, int]:
    """Return how many texts wait for a vector, and about how many bytes they have."""
    count, size = store.rows(
        "select count(*), coalesce(sum(size), 0) from"
        " (select max(length(cast(c.text as blob))) as size"
        f" from {tables.chunks} as c"
        f" where {waits_condition(tables, vectors)}{allowed} group by c.digest)"
    )[0]
    return count, size
