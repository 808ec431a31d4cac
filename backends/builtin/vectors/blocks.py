"""Codes in blocks: what a search in the process looks at first, where there are many.

They are written only where sqlite-vec does not load. A block has the codes of the live
vectors of some thousand neighbouring texts. Its mark is a digest of what is in it: a
block that was read before is known again, whoever has written the index meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
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

    def scan(self, store: Store, kept: VectorSet, question: Matrix) -> Scan:
        """Compare the code of a question, shape (1, dimension), with all others.

        Raises:
            apsw.CorruptError: a block is damaged.
        """
        import numpy as np

        word = in_words(encode(question))
        ids, far = [np.empty(0, np.int64)], [np.empty(0, np.uint16)]
        for block in self._all(store, kept):
            ids.append(block.ids)
            far.append(distances(block.words, word))
        return Scan(np.concatenate(ids), np.concatenate(far))

    def _all(self, store: Store, kept: VectorSet) -> Iterator[Block]:
        held, now, size = self._blocks, dict[bytes, Block](), 0
        for number, mark in store.rows(f"select number, mark from {kept.blocks}"):
            block = held.get(mark) or _read(store, kept, number)
            size += block.words.nbytes
            if size <= _HELD:
                now[mark] = block
            yield block
        self._blocks = now


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
