"""The texts of a generation that wait for a vector."""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from notewell.backends.builtin.readers import Unreadable
from notewell.backends.builtin.schema import Generation
from notewell.backends.builtin.store import Store
from notewell.backends.builtin.vectors.tables import VectorSet, waiting

AT_ONCE = 2_000
"""Texts that get their vectors while somebody waits, if that is instant."""

Which: TypeAlias = Callable[[Store], Generation]
"""Says which generation of the text index is meant."""


def live(store: Store) -> Generation:
    """Return the generation that searches read.

    Raises:
        Unreadable: there is none; somebody has removed the index.
    """
    found = store.live()
    if found is None:
        raise Unreadable("not-ready", "the index was removed while it was written")
    return found


def newest(store: Store) -> Generation:
    """Return the generation that a rebuild is filling; the live one without any."""
    return store.building() or live(store)


class Text(NamedTuple):
    """A passage without a vector.

    Attributes:
        chunk: Its id.
        digest: The key of its vector.
        shown: Its text, which a model is given.
    """

    chunk: int
    digest: bytes
    shown: str


def next_texts(
    store: Store, tables: Generation, vectors: VectorSet, *, after: int, limit: int
) -> list[Text]:
    """Return the first texts that wait, of chunks with larger ids, at most `limit`."""
    rows = store.connection.execute(
        f"select c.id, c.digest, c.text from {tables.chunks} as c"
        f" where c.id > ? and {waiting(tables, vectors)} order by c.id limit ?",
        (after, limit),
    )
    return [Text(*row) for row in rows]


def count_texts(
    store: Store, tables: Generation, vectors: VectorSet
) -> tuple[int, int]:
    """Return how many texts wait for a vector, and about how many bytes they have."""
    count, size = store.rows(
        "select count(*), coalesce(sum(size), 0) from"
        " (select max(length(cast(c.text as blob))) as size"
        f" from {tables.chunks} as c where {waiting(tables, vectors)}"
        " group by c.digest)"
    )[0]
    return count, size
