"""Codes in blocks: what a search in the process looks at first, where there are many.

They are written only where sqlite-vec does not load. A block has the codes of the live
vectors of some thousand neighbouring texts. Its mark is a digest of what is in it: a
block that was read before is known again, whoever has written the index meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import apsw

from notewell.backends.builtin.store import Store
from notewell.backends.builtin.vectors.codes import bits, encode
from notewell.backends.builtin.vectors.cosines import unit_rows, whole_numbers
from notewell.backends.builtin.vectors.tables import WINDOW_BITS, VectorSet

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from notewell.adapters.embeddings.base import Matrix

    Ids = NDArray[np.int64]
    Words = NDArray[np.uint64]
    Distances = NDArray[np.uint16]

_SPAN: Final = 2048
"""Texts in a block: about 2 MB of codes where each has four windows."""

_HELD: Final = 256 * 2**20
"""Bytes of codes that are held: a million vectors of 384 numbers. More are read anew
for each question."""


class Block(NamedTuple):
    """Codes, a word of all of them at a time, and the ids of their vectors."""

    ids: Ids
    words: Words


class Scan(NamedTuple):
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


def distances(words: Words, word: Words) -> Distances:
    """Return in how many bits each column differs from the only column of `word`."""
    import numpy as np

    differing: Distances = np.bitwise_count(words ^ word).sum(axis=0, dtype=np.uint16)
    return differing


class HeldCodes:
    """Codes that were read, for the next question. Safe to share between threads."""

    def __init__(self) -> None:
        self._blocks: dict[bytes, Block] = {}
        self._state: object = None

    def scan(self, store: Store, kept: VectorSet, question: Matrix) -> Scan:
        """Compare the code of a question, shape (1, dimension), with all in the blocks.

        Raises:
            apsw.CorruptError: a block is damaged.
        """
        marks = store.rows(f"select mark, number from {kept.blocks}")
        found = self._known(marks, lambda number: _read(store, kept, number))
        return _scanned(found, question)

    def scan_table(
        self, store: Store, kept: VectorSet, table: str, question: Matrix
    ) -> Scan:
        """Do the same with the codes in a table of sqlite-vec.

        Raises:
            apsw.CorruptError: a chunk of the table is damaged.
        """
        held = store.get(kept.coded)
        state = (table, held, store.get(kept.coded_to))
        if state != self._state:
            marks = [
                (_mark(validity, rowids), chunk)
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
        self, marks: Sequence[tuple[bytes, int]], read: Callable[[int], Block]
    ) -> Iterator[Block]:
        """Yield blocks by their marks; those that were not read before are read."""
        held, now, size = self._blocks, dict[bytes, Block](), 0
        for mark, number in marks:
            block = held.get(mark) or read(number)
            size += block.words.nbytes
            if size <= _HELD:
                now[mark] = block
            yield block
        self._blocks = now


def _scanned(blocks: Iterable[Block], question: Matrix) -> Scan:
    import numpy as np

    word = in_words(encode(question))
    ids, far = [np.empty(0, np.int64)], [np.empty(0, np.uint16)]
    for block in blocks:
        ids.append(block.ids)
        far.append(distances(block.words, word))
    return Scan(np.concatenate(ids), np.concatenate(far))


def read_chunk(store: Store, table: str, chunk: int) -> Block:
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
    return Block(np.frombuffer(rowids, "<i8")[live], in_words(matrix))


def write_blocks(store: Store, kept: VectorSet, live: Sequence[int]) -> None:
    """Make the blocks hold the codes of these texts; the caller has a transaction.

    Only blocks whose texts are not the same any more are written.
    """
    store.connection.execute(
        f"create table if not exists {kept.blocks}("
        "number integer primary key, mark blob not null, ids blob not null,"
        " codes blob not null) strict"
    )
    held = dict(store.rows(f"select number, ids from {kept.blocks}"))
    texts: dict[int, list[int]] = {}
    for key in live:
        texts.setdefault(key // _SPAN, []).append(key)
    for number, part in texts.items():
        before = held.pop(number, b"")
        if _texts_in(before) != part:
            _write(store, kept, number, part)
    store.connection.executemany(
        f"delete from {kept.blocks} where number = ?", [(one,) for one in held]
    )
    store.put(kept.blocked_to, store.one(f"select max(id) from {kept.texts}") or 0)


def drop_blocks(store: Store, kept: VectorSet) -> None:
    """Drop the blocks of a set, if there are any."""
    store.connection.execute(f"drop table if exists {kept.blocks}")
    store.forget(kept.blocked_to)


def _texts_in(ids: bytes) -> list[int]:
    """Return the texts of a block; none where it is damaged, so it is written anew."""
    import numpy as np

    if len(ids) % 8:
        return []
    texts: list[int] = np.unique(np.frombuffer(ids, "<i8") >> WINDOW_BITS).tolist()
    return texts


def _write(store: Store, kept: VectorSet, number: int, texts: list[int]) -> None:
    import numpy as np

    rows = store.rows(
        f"select id, vector from {kept.vectors} where id between ? and ?"
        f" and id >> {WINDOW_BITS} in (select value from json_each(?)) order by id",
        texts[0] << WINDOW_BITS,
        (texts[-1] + 1) << WINDOW_BITS,
        f"[{','.join(map(str, texts))}]",
    )
    vectors = whole_numbers([vector for _, vector in rows], kept.dimension)
    ids = np.array([key for key, _ in rows], dtype="<i8").tobytes()
    codes = in_words(encode(unit_rows(vectors))).tobytes()
    store.connection.execute(
        f"insert or replace into {kept.blocks} values (?, ?, ?, ?)",
        (number, _mark(ids, codes), ids, codes),
    )


def _mark(ids: bytes, codes: bytes) -> bytes:
    from hashlib import blake2b  # with OpenSSL, which most searches do not need

    return blake2b(ids + codes, digest_size=16).digest()


def _read(store: Store, kept: VectorSet, number: int) -> Block:
    import numpy as np

    [(mark, ids, codes)] = store.rows(
        f"select mark, ids, codes from {kept.blocks} where number = ?", number
    )
    length = bits(kept.dimension) // 64
    whole = len(codes) == len(ids) * length
    if len(ids) % 8 or not whole or mark != _mark(ids, codes):
        raise apsw.CorruptError("a block of codes is damaged")
    return Block(
        np.frombuffer(ids, dtype="<i8"),
        np.frombuffer(codes, dtype=np.uint64).reshape(length, -1),
    )
