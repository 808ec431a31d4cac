"""Searching vectors in the process, where sqlite-vec is not there or switched off.

Where there are blocks of codes, they choose candidates; else every vector that is kept
is read and compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import Any, Final

from notewell.backends.builtin.schema import Generation
from notewell.backends.builtin.store import Store
from notewell.backends.builtin.vectors.blocks import HeldCodes, Scan
from notewell.backends.builtin.vectors.cosines import Question, whole_numbers
from notewell.backends.builtin.vectors.tables import WINDOW_BITS, VectorSet
from notewell.backends.builtin.vectors.vec0 import Rough

_AT_ONCE: Final = 4_096
"""Vectors that are in memory at once when all are compared."""


class ProcessSearch:
    """Compares one question with the vectors of a set, by numpy."""

    def __init__(
        self,
        store: Store,
        tables: Generation,
        kept: VectorSet,
        question: Question,
        held: HeldCodes,
    ) -> None:
        self._store = store
        self._tables = tables
        self._kept = kept
        self._question = question
        self._held = held

    def near(self, wanted: int) -> list[Rough]:
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

    def all(self, files: Sequence[int] | None) -> list[Rough]:
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
        found: list[Rough] = []
        while block := list(islice(rows, _AT_ONCE)):
            found += self._compared(block)
        return _best_first(found)

    @cached_property
    def _scan(self) -> Scan:
        import numpy as np

        question = np.array(self._question.floats, dtype=np.float32)
        return self._held.scan(self._store, self._kept, question[None])

    def _compared(self, rows: Sequence[tuple[Any, ...]]) -> Iterator[Rough]:
        vectors = whole_numbers([row[2] for row in rows], self._kept.dimension)
        cosines = self._question.products([row[1] for row in rows], vectors)
        for row, cosine in zip(rows, cosines, strict=True):
            yield Rough(row[0], cosine)


def _best_first(found: Iterable[Rough]) -> list[Rough]:
    return sorted(found, key=lambda one: (-one.cosine, one.vector))
