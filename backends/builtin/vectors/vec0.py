"""Searching vectors in the database: codes in a table of sqlite-vec.

The table is derived, one for each set, and may be dropped at any time. A search reads a
few codes of every chunk of it, to see within which distance there are as many
candidates as are wanted; one statement then finds all codes within that distance, joins
them to their passages, and orders them by the cosine of their vectors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import apsw

from notewell.backends.builtin.schema import Generation
from notewell.backends.builtin.store import Store
from notewell.backends.builtin.vectors.blocks import HeldCodes, Scan
from notewell.backends.builtin.vectors.codes import encode_one
from notewell.backends.builtin.vectors.cosines import Question
from notewell.backends.builtin.vectors.tables import WINDOW_BITS, VectorSet, windows_of

MOST: Final = 4096
"""Rows that the table gives at once."""

_SAMPLE: Final = 1536
"""Codes that are looked at to see how near the nearest are."""

HELD_FROM: Final = 200_000
"""Codes from which on a program that stays holds them in memory, and compares them there:
their pages do not fit into the cache any more."""

_OF_CANDIDATES: Final = 4
"""One of so many candidates is compared by both halves of the question."""

_ALL: Final = -1


class Rough(NamedTuple):
    """A vector by its id, and its cosine with the question, which may be rounded."""

    vector: int
    cosine: float


class DatabaseSearch:
    """Compares one question with the vectors of a set, in SQL."""

    def __init__(
        self,
        store: Store,
        tables: Generation,
        kept: VectorSet,
        question: Question,
        *,
        held: HeldCodes | None = None,
    ) -> None:
        """Prepare for a question.

        Args:
            held: What holds codes in memory, in a program that stays.
        """
        self._store = store
        self._held = held
        self._tables = tables
        self._kept = kept
        self._question = question

    def near(self, wanted: int) -> list[Rough]:
        """Return the best of about so many vectors whose codes are nearest, best first.

        Those that came after the codes were written are all among them.

        Raises:
            apsw.Error: the table is damaged.
        """
        table = codes_table(self._store, self._kept)
        last = self._store.get(self._kept.coded_to) or 0
        coded = self._store.get(self._kept.coded) or 0
        if self._held is not None and coded >= HELD_FROM:
            keys = self._scan(self._held, table).nearest(wanted)
            return self._rated(
                "select value from json_each(?6)"
                f" union all select id from {self._kept.vectors} where id >= ?7",
                wanted // _OF_CANDIDATES,
                f"[{','.join(map(str, keys))}]",
                (last + 1) << WINDOW_BITS,
            )
        code = encode_one(self._question.floats)
        bound = self._bound(table, code, wanted)
        return self._rated(
            f"select rowid from {table}"
            " where code match vec_bit(?6) and k = ?7 and distance <= ?8"
            f" union all select id from {self._kept.vectors} where id >= ?9",
            wanted // _OF_CANDIDATES,
            code,
            MOST,
            bound,
            (last + 1) << WINDOW_BITS,
        )

    def all(self, files: Sequence[int] | None) -> list[Rough]:
        """Return every vector, or those of some files, best first."""
        if files is None:
            return self._rated(f"select id from {self._kept.vectors}", _ALL)
        return self._rated(
            f"select v.id from {self._tables.chunks} as c"
            f" join {self._kept.texts} as t on t.digest = c.digest"
            f" join {self._kept.vectors} as v on {windows_of('v', 't')}"
            " where c.file_id in (select value from json_each(?6))",
            _ALL,
            f"[{','.join(map(str, files))}]",
        )

    def _rated(self, which: str, most: int, *values: object) -> list[Rough]:
        """Return the best vectors with their cosines: the sum of those with either half.

        By the first half alone it is seen which are the best, but for a few thousandths.
        """
        rows = self._store.rows(
            f"with near(id) as materialized ({which}), best as materialized ("
            "  select v.id, v.vector,"
            "   vec_distance_cosine(vec_int8(v.vector), vec_int8(?1)) as far"
            f"  from near cross join {self._kept.vectors} as v on v.id = near.id"
            "  order by far, v.id limit ?5"
            ") select id, ?3 * (1 - far)"
            "  + ?4 * (1 - vec_distance_cosine(vec_int8(vector), vec_int8(?2)))"
            " from best order by 2 desc, 1",
            *self._question.halves,
            *self._question.shares,
            most,
            *values,
        )
        if rows and rows[-1][1] is None:
            raise apsw.CorruptError("a vector is damaged")
        return [Rough(*row) for row in rows]

    def _scan(self, held: HeldCodes, table: str) -> Scan:
        import numpy as np

        question = np.array([self._question.floats], dtype=np.float32)
        return held.scan_table(self._store, self._kept, table, question)

    def _bound(self, table: str, code: bytes, wanted: int) -> int:
        """Return a distance within which there are about so many codes."""
        asked = int.from_bytes(code, "big")
        held, sample = 0, list[int]()
        for live, some in _samples(self._store, table, len(code)):
            held += live
            sample += [(int.from_bytes(one, "big") ^ asked).bit_count() for one in some]
        if held != self._store.get(self._kept.coded):
            raise apsw.CorruptError("codes have gone")
        if not sample:
            return 0
        sample.sort()
        return sample[min(len(sample) - 1, wanted * len(sample) // held)]


def codes_table(store: Store, kept: VectorSet) -> str:
    """Return the name of the table that holds the codes of a set.

    Raises:
        NoCodes: there is none.
    """
    number = store.get(kept.codes)
    if number is None:
        raise NoCodes("there are no codes yet")
    return f"nw_codes_{kept.id}_{number}"


class NoCodes(apsw.SQLError):
    """No writer has made the codes of a set."""


def _samples(
    store: Store, table: str, size: int
) -> Iterator[tuple[int, Sequence[bytes]]]:
    """Yield for each chunk how many codes it holds, and the first ones.

    Raises:
        apsw.CorruptError: a code is empty, which no vector's is.
    """
    chunks = store.rows(f"select chunk_id, validity from {table}_chunks")
    if not chunks:
        return
    each = max(1, _SAMPLE // len(chunks))
    column = f"{table}_vector_chunks00"
    blob = store.connection.blob_open(
        "main", column, "vectors", chunks[0][0], writeable=False
    )
    with blob:
        for chunk, validity in chunks:
            # Bits from the lowest on, so that the first slot is that of the number 1.
            slots = int.from_bytes(validity, "little")
            blob.reopen(chunk)
            codes = blob.read(each * size)
            some = [
                codes[slot * size : (slot + 1) * size]
                for slot in range(each)
                if slots >> slot & 1
            ]
            if not all(map(any, some)):
                raise apsw.CorruptError("codes are damaged")
            yield slots.bit_count(), some
