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

from notewell.backends.builtin.schema import Generation
from notewell.backends.builtin.store import Store
from notewell.backends.builtin.vectors.quantisation import (
    QuantisedQuery,
    RoughNeighbour,
    code_bits,
    encode_rows,
    quantised_matrix,
)
from notewell.backends.builtin.vectors.sets import WINDOW_BITS, VectorSet

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from notewell.adapters.embeddings.base import Matrix

    Ids = NDArray[np.int64]
    Words = NDArray[np.uint64]
    Distances = NDArray[np.uint16]

_HELD: Final = 256 * 2**20
"""Bytes of codes that are held: a million vectors of 384 numbers. More are read anew
for each question."""


class CodeBlock(NamedTuple):
    """Codes, a word of all of them at a time, and the ids of their vectors."""

    ids: Ids
    words: Words


class CodeDistances(NamedTuple):
    """How far every code is from a question's."""

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
    """Return codes, a row each, as columns of words."""
    import numpy as np

    return np.ascontiguousarray(codes.view(np.uint64).T)


def hamming_distances(words: Words, word: Words) -> Distances:
    """Return in how many bits each column differs from the only column of `word`."""
    import numpy as np

    differing: Distances = np.bitwise_count(words ^ word).sum(axis=0, dtype=np.uint16)
    return differing


class CodeCache:
    """Codes that were read, for the next question. Safe to share between threads."""

    def __init__(self) -> None:
        self._blocks: dict[bytes, CodeBlock] = {}
        self._state: object = None

    def scan(self, store: Store, kept: VectorSet, question: Matrix) -> CodeDistances:
        """Compare the code of a question, shape (1, dimension), with all in the blocks.

        Raises:
            apsw.CorruptError: a block is damaged.
        """
        marks = store.rows(f"select mark, number from {kept.blocks}")
        found = self._known(marks, lambda number: _read(store, kept, number))
        return _scanned(found, question)

    def scan_table(
        self, store: Store, kept: VectorSet, table: str, question: Matrix
    ) -> CodeDistances:
        """Do the same with the codes in a table of sqlite-vec.

        Raises:
            apsw.CorruptError: a chunk of the table is damaged.
        """
        held = store.get(kept.coded)
        state = (table, held, store.get(kept.coded_to))
        if state != self._state:
            marks = [
                (block_mark(validity, rowids), chunk)
                for chunk, validity, rowids in store.rows(
                    f"select chunk_id, validity, rowids from {table}_chunks"
                )
            ]
            found = self._known(marks, lambda chunk: read_chunk(store, table, chunk))
            scan = _scanned(found, question)
            if len(scan.ids) != held:
                raise apsw.CorruptError("codes have gone")
            if len(self._blocks) == len(marks):  # all of them have room
                self._state = state
            return scan
        return _scanned(self._blocks.values(), question)

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


def _scanned(blocks: Iterable[CodeBlock], question: Matrix) -> CodeDistances:
    import numpy as np

    word = in_words(encode_rows(question))
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
    from hashlib import blake2b  # with OpenSSL, which most searches do not need

    return blake2b(ids + codes, digest_size=16).digest()


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


_AT_ONCE: Final = 4_096
"""Vectors that are in memory at once when all are compared."""


class ProcessSearch:
    """Compares one question with the vectors of a set, by numpy."""

    def __init__(
        self,
        store: Store,
        tables: Generation,
        kept: VectorSet,
        question: QuantisedQuery,
        held: CodeCache,
    ) -> None:
        self._store = store
        self._tables = tables
        self._kept = kept
        self._question = question
        self._held = held

    def near(self, wanted: int) -> list[RoughNeighbour]:
        """Return about so many vectors whose codes are nearest, best first.

        Those that came after the codes were written are all among them.

        Raises:
            apsw.Error: the blocks are damaged, or there are none.
        """
        last = self._store.get(self._kept.blocked_to) or 0
        rows = self._store.rows(
            f"with near(id) as materialized (select value from json_each(?)"
            f" union all select id from {self._kept.vectors} where id >= ?)"
            " select v.id, v.squares, v.vector"
            f" from near cross join {self._kept.vectors} as v on v.id = near.id",
            f"[{','.join(map(str, self._scan.nearest(wanted)))}]",
            (last + 1) << WINDOW_BITS,
        )
        return _best_first(self._compared(rows))

    def all(self, files: Sequence[int] | None) -> list[RoughNeighbour]:
        """Return every vector, or those of some files, best first."""
        every = f"select v.id, v.squares, v.vector from {self._kept.vectors} as v"
        if files is None:
            rows = self._store.connection.execute(every)
        else:
            rows = self._store.connection.execute(
                f"{every} join {self._kept.texts} as t on t.id = v.id >> {WINDOW_BITS}"
                f" join {self._tables.chunks} as c on c.digest = t.digest"
                " where c.file_id in (select value from json_each(?))",
                (f"[{','.join(map(str, files))}]",),
            )
        found: list[RoughNeighbour] = []
        while block := list(islice(rows, _AT_ONCE)):
            found += self._compared(block)
        return _best_first(found)

    @cached_property
    def _scan(self) -> CodeDistances:
        import numpy as np

        question = np.array(self._question.floats, dtype=np.float32)
        return self._held.scan(self._store, self._kept, question[None])

    def _compared(self, rows: Sequence[tuple[Any, ...]]) -> Iterator[RoughNeighbour]:
        vectors = quantised_matrix([row[2] for row in rows], self._kept.dimension)
        cosines = self._question.products([row[1] for row in rows], vectors)
        for row, cosine in zip(rows, cosines, strict=True):
            yield RoughNeighbour(row[0], cosine)


def _best_first(found: Iterable[RoughNeighbour]) -> list[RoughNeighbour]:
    return sorted(found, key=lambda one: (-one.cosine, one.vector))
