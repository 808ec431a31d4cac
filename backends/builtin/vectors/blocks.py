"""Codes in blocks, as a search reads them: kept in the index, held by who stays.

A block has the codes of the live vectors among some thousand neighbouring ids. Its mark
is a digest of what is in it: a block that was read before is known again, whoever has
written the index meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Final, NamedTuple

import apsw

from notewell.backends.builtin.store import Store
from notewell.backends.builtin.vectors.codes import distances, encode, words
from notewell.backends.builtin.vectors.reading import by_id
from notewell.backends.builtin.vectors.tables import VectorSet

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from notewell.adapters.embeddings.base import Matrix
    from notewell.backends.builtin.vectors.codes import Codes, Distances

    Ids = NDArray[np.int64]

_SPAN: Final = 8192
"""Ids in a block: 2 MB of codes at the most usual dimensions."""

_AT_ONCE: Final = 2_000
"""Vectors that are coded at once."""

_HELD: Final = 256 * 2**20
"""Bytes of codes that are held: a million passages of 384 numbers. More are read anew
for each question."""


class Block(NamedTuple):
    """Codes and the ids of their vectors, in the same order."""

    ids: Ids
    codes: Codes


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


class HeldCodes:
    """Codes that were read, for the next question. Safe to share between threads."""

    def __init__(self) -> None:
        self._blocks: dict[bytes, Block] = {}

    def scan(self, store: Store, vectors: VectorSet, question: Matrix) -> Scan:
        """Compare the code of a question, shape (1, dimension), with all others.

        Raises:
            apsw.CorruptError: a block is damaged.
        """
        import numpy as np

        code = encode(question)
        ids, far = [np.empty(0, np.int64)], [np.empty(0, np.uint16)]
        for block in self._all(store, vectors):
            ids.append(block.ids)
            far.append(distances(block.codes, code))
        return Scan(np.concatenate(ids), np.concatenate(far))

    def _all(self, store: Store, vectors: VectorSet) -> Iterator[Block]:
        held, kept, size = self._blocks, dict[bytes, Block](), 0
        for number, mark in store.rows(f"select number, mark from {vectors.blocks}"):
            block = held.get(mark) or _read(store, vectors, number)
            size += block.codes.nbytes
            if size <= _HELD:
                kept[mark] = block
            yield block
        self._blocks = kept


def write_blocks(store: Store, vectors: VectorSet, live: Sequence[int]) -> None:
    """Make the blocks hold the codes of these vectors, ids in order, and no others.

    Only blocks whose vectors are not the same any more are written.
    """
    import numpy as np

    store.connection.execute(
        f"create table if not exists {vectors.blocks}("
        "number integer primary key, mark blob not null, ids blob not null,"
        " codes blob not null) strict"
    )
    held = dict(store.rows(f"select number, ids from {vectors.blocks}"))
    ids = np.array(live, dtype="<i8")
    numbers = ids // _SPAN
    for number in np.unique(numbers).tolist():
        part = ids[numbers == number]
        if held.pop(number, None) != part.tobytes():
            _write(store, vectors, number, part)
    store.connection.executemany(
        f"delete from {vectors.blocks} where number = ?", [(one,) for one in held]
    )


def _write(store: Store, vectors: VectorSet, number: int, ids: Ids) -> None:
    import numpy as np

    parts = [ids[at : at + _AT_ONCE] for at in range(0, len(ids), _AT_ONCE)]
    codes = np.concatenate(
        [encode(by_id(store, vectors, part.tolist())) for part in parts], axis=1
    )
    row = ids.tobytes(), codes.tobytes()
    store.connection.execute(
        f"insert or replace into {vectors.blocks} values (?, ?, ?, ?)",
        (number, _mark(*row), *row),
    )


def _mark(ids: bytes, codes: bytes) -> bytes:
    return blake2b(ids + codes, digest_size=16).digest()


def _read(store: Store, vectors: VectorSet, number: int) -> Block:
    import numpy as np

    [(mark, ids, codes)] = store.rows(
        f"select mark, ids, codes from {vectors.blocks} where number = ?", number
    )
    length = words(vectors.dimension)
    whole = len(codes) == len(ids) * length
    if len(ids) % 8 or not whole or mark != _mark(ids, codes):
        raise apsw.CorruptError("a block of codes is damaged")
    return Block(
        np.frombuffer(ids, dtype="<i8"),
        np.frombuffer(codes, dtype=np.uint64).reshape(length, -1),
    )
