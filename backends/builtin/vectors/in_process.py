"""Searching vectors in the process, by numpy: where sqlite-vec is not there or switched off.

Where there are blocks of codes, they choose candidates; else every vector that is kept is
read and compared. A block has the codes of the live vectors of some thousand neighbouring
texts, and is written only where sqlite-vec does not load. Its mark is a digest of what is
in it: a block that was read before is known again, whoever has written the index meanwhile.
A program that stays holds the codes of many vectors here as well (`CodeCache.scan_table`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import apsw

from notewell.backends.builtin.store import Store
from notewell.backends.builtin.vectors.quantisation import (
    RoughNeighbour,
    code_bits,
    encode_rows,
    quantised_matrix,
)
from notewell.backends.builtin.vectors.sets import (
    ChunkIds,
    VectorQuery,
    VectorSet,
    first_after,
    id_list,
)
from notewell.files import short_digest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ids = NDArray[np.int64]
    Words = NDArray[np.uint64]
    Distances = NDArray[np.uint16]

_HELD: Final = 256 * 2**20
"""Bytes of codes that are held: a million vectors of 384 numbers. More are read anew
for each query."""

_AT_ONCE: Final = 4_096
"""Vectors that are in memory at once when all are compared."""


class CodeBlock(NamedTuple):
    """Codes, a word of all of them at a time, and the ids of their vectors.

    Attributes:
        ids: Shape (n,).
        words: Shape (bits in a code / 64, n).
    """

    ids: Ids
    words: Words


class CodeDistances(NamedTuple):
    """The Hamming distances of codes from a query's: ids and distances, shape (n,)."""

    ids: Ids
    distances: Distances

    def nearest(self, wanted: int) -> list[int]:
        """Return the ids of that many nearest codes, and of all as near as the last."""
        import numpy as np

        within = np.cumsum(np.bincount(self.distances))
        bound = np.searchsorted(within, wanted)
        ids: list[int] = self.ids[self.distances <= bound].tolist()
        return ids


def in_words(codes: NDArray[np.uint8]) -> Words:
    """Return codes, uint8 of shape (n, bytes), as words of shape (bytes / 8, n)."""
    import numpy as np

    return np.ascontiguousarray(codes.view(np.uint64).T)


def hamming_distances(words: Words, word: Words) -> Distances:
    """Return in how many bits each column differs from the only column of `word`.

    Args:
        words: Shape (m, n).
        word: Shape (m, 1).

    Returns:
        Shape (n,).
    """
    import numpy as np

    differing: Distances = np.bitwise_count(words ^ word).sum(axis=0, dtype=np.uint16)
    return differing


class CodeCache:
    """Codes that were read, for the next query. Safe to share between threads."""

    def __init__(self) -> None:
        self._blocks: dict[bytes, CodeBlock] = {}
        self._state: object = None

    def scan(self, query: VectorQuery) -> CodeDistances:
        """Compare the code of a query with all in the blocks.

        Raises:
            apsw.CorruptError: a block is damaged.
        """
        store, kept = query.store, query.kept
        marks = store.rows(f"select mark, number from {kept.blocks}")
        found = self._known(marks, lambda number: _read(store, kept, number))
        return _scanned(found, query)

    def scan_table(self, query: VectorQuery, table: str) -> CodeDistances:
        """Do the same with the codes in a table of sqlite-vec.

        Raises:
            apsw.CorruptError: a chunk of the table is damaged.
        """
        store, kept = query.store, query.kept
        held = store.get(kept.coded)
        state = (table, held, store.get(kept.coded_to))
        if state == self._state:
            return _scanned(self._blocks.values(), query)
        marks = [
            (block_mark(validity, rowids), chunk)
            for chunk, validity, rowids in store.rows(
                f"select chunk_id, validity, rowids from {table}_chunks"
            )
        ]
        found = self._known(marks, lambda chunk: read_chunk(store, table, chunk))
        scan = _scanned(found, query)
        if len(scan.ids) != held:
            raise apsw.CorruptError("codes have gone")
        if len(self._blocks) == len(marks):  # all of them have room
            self._state = state
        return scan

    def _known(
        self, marks: Sequence[tuple[bytes, int]], read: Callable[[int], CodeBlock]
    ) -> Iterator[CodeBlock]:
        """Yield blocks by their marks; those that were not read before are read."""
        held, now, size = self._blocks, dict[bytes, CodeBlock](), 0
        for mark, number in marks:
            block = held.get(mark) or read(number)
            size += block.words.nbytes
            if size <= _HELD:
                now[mark] = block
            yield block
        self._blocks = now


def _scanned(blocks: Iterable[CodeBlock], query: VectorQuery) -> CodeDistances:
    import numpy as np

    row = np.array([query.vector.floats], dtype=np.float32)
    word = in_words(encode_rows(row))
    ids, far = [np.empty(0, np.int64)], [np.empty(0, np.uint16)]
    for block in blocks:
        ids.append(block.ids)
        far.append(hamming_distances(block.words, word))
    return CodeDistances(np.concatenate(ids), np.concatenate(far))


def read_chunk(store: Store, table: str, chunk: int) -> CodeBlock:
    """Return the codes in a chunk of a table of sqlite-vec.

    Raises:
        apsw.CorruptError: it is damaged.
    """
    import numpy as np

    rows = store.rows(
        f"select c.validity, c.rowids, v.vectors from {table}_chunks as c"
        f" join {table}_vector_chunks00 as v on v.rowid = c.chunk_id"
        " where c.chunk_id = ?",
        chunk,
    )
    validity, rowids, codes = rows[0] if rows else (b"", b"x", b"")
    slots = 8 * len(validity)
    if len(rowids) != 8 * slots or len(codes) % (8 * slots or 1):
        raise apsw.CorruptError("a chunk of codes is damaged")
    live = np.unpackbits(np.frombuffer(validity, np.uint8), bitorder="little") == 1
    matrix = np.frombuffer(codes, np.uint8).reshape(slots, -1)[live]
    if not matrix.any(axis=1).all():
        raise apsw.CorruptError("codes are damaged")
    return CodeBlock(np.frombuffer(rowids, "<i8")[live], in_words(matrix))


def block_mark(ids: bytes, codes: bytes) -> bytes:
    """Return what tells a block from any other: 16 bytes."""
    return short_digest(ids + codes, size=16)


def _read(store: Store, kept: VectorSet, number: int) -> CodeBlock:
    import numpy as np

    [(mark, ids, codes)] = store.rows(
        f"select mark, ids, codes from {kept.blocks} where number = ?", number
    )
    length = code_bits(kept.dimension) // 64
    whole = len(codes) == len(ids) * length
    if len(ids) % 8 or not whole or mark != block_mark(ids, codes):
        raise apsw.CorruptError("a block of codes is damaged")
    return CodeBlock(
        np.frombuffer(ids, dtype="<i8"),
        np.frombuffer(codes, dtype=np.uint64).reshape(length, -1),
    )


class ProcessSearch:
    """Compares one query with the vectors of a set, by numpy."""

    def __init__(self, query: VectorQuery, held: CodeCache) -> None:
        self._query = query
        self._held = held

    def near(self, wanted: int) -> list[RoughNeighbour]:
        """Return about so many vectors whose codes are nearest, best first.

        Those that came after the codes were written are all among them.

        Raises:
            apsw.Error: the blocks are damaged, or there are none.
        """
        store, kept = self._query.store, self._query.kept
        rows = store.rows(
            f"with near(id) as materialized (select value from json_each(?)"
            f" union all select id from {kept.vectors} where id >= ?)"
            " select v.id, v.squares, v.vector"
            f" from near cross join {kept.vectors} as v on v.id = near.id",
            id_list(self._scan.nearest(wanted)),
            first_after(store, kept.blocked_to),
        )
        return _best_first(self._compared(rows))

    def all(self, which: ChunkIds | None) -> list[RoughNeighbour]:
        """Return every vector, or those of some chunks, best first."""
        query = self._query
        columns = "select v.id, v.squares, v.vector from"
        execute = query.store.connection.execute
        if which is None:
            rows = execute(f"{columns} {query.kept.vectors} as v")
        else:
            given = (*[None] * 5, *which.files) if which.files else ()
            rows = execute(
                f"{columns} {query.passages} where c.id in ({which.sql})", given
            )
        found: list[RoughNeighbour] = []
        while block := list(islice(rows, _AT_ONCE)):
            found += self._compared(block)
        return _best_first(found)

    @cached_property
    def _scan(self) -> CodeDistances:
        return self._held.scan(self._query)

    def _compared(self, rows: Sequence[tuple[Any, ...]]) -> Iterator[RoughNeighbour]:
        query = self._query
        vectors = quantised_matrix([row[2] for row in rows], query.kept.dimension)
        cosines = query.vector.products([row[1] for row in rows], vectors)
        for row, cosine in zip(rows, cosines, strict=True):
            yield RoughNeighbour(row[0], cosine)


def _best_first(found: Iterable[RoughNeighbour]) -> list[RoughNeighbour]:
    return sorted(found, key=lambda one: (-one.cosine, one.vector))
