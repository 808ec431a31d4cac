"""Finding the passages whose vectors are nearest to a question's.

Small sets are compared one by one. Large ones in two stages: codes choose candidates,
whose vectors are then compared exactly. Whoever may not see a passage never loses a
place to it: more candidates are taken until there are enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import apsw

from notewell.backends.builtin.schema import Generation
from notewell.backends.builtin.store import Store
from notewell.backends.builtin.vectors.reading import matrix_of
from notewell.backends.builtin.vectors.tables import VectorSet

if TYPE_CHECKING:
    from notewell.adapters.embeddings.base import Matrix
    from notewell.backends.builtin.vectors.blocks import HeldCodes, Scan

_ONE_BY_ONE = 5_000
"""Passages up to which every vector is compared: that takes a few milliseconds."""

_CANDIDATES = 500
"""Codes that are looked at more closely, and one more for every so many passages:"""

_PASSAGES_PER_CANDIDATE = 1_000

_MOST_CANDIDATES = 16_000
"""Above so many, comparing all of them is no slower."""

_BLOCK = 4_096
"""Vectors that are in memory at once when all are compared."""


class Near(NamedTuple):
    """A chunk by its id, and the cosine of its vector with the question's."""

    chunk: int
    cosine: float


class Vectors:
    """The vectors of one set, to be compared with one question."""

    def __init__(
        self,
        store: Store,
        tables: Generation,
        kept: VectorSet,
        question: Matrix,
        codes: HeldCodes | None,
    ) -> None:
        """Prepare for a question.

        Args:
            question: One unit vector, shape (1, dimension).
            codes: What reads the codes; None: every vector is compared.
        """
        self._store = store
        self._tables = tables
        self._kept = kept
        self._question = question
        self._codes = codes

    def nearest(self, limit: int, visible: Callable[[str], bool]) -> list[Near]:
        """Return the nearest chunks of notes that are visible, best first.

        Args:
            limit: The most chunks.
            visible: Says of a note's path whether it may be seen.
        """
        if self._scan is not None:
            wanted = max(self._candidates(), limit * 2)
            while wanted <= _MOST_CANDIDATES:
                near = self._compared(self._scan.nearest(wanted))
                found = self._visible(near, limit, visible)
                if len(found) >= limit:
                    return found
                wanted *= 4
        return self._visible(self._all(), limit, visible)

    @property
    def background(self) -> float:
        """The mean cosine of all vectors with the question's."""
        mean: object = self._store.get(self._kept.mean)
        if mean is None:
            return 0.0
        if not isinstance(mean, bytes):
            raise apsw.CorruptError("the mean vector is damaged")
        return self._products(matrix_of([mean], self._kept))[0]

    def cosines(self, chunks: Sequence[int]) -> dict[int, float]:
        """Return the cosine of each of these chunks that has a vector."""
        import orjson

        rows = self._store.rows(
            f"select c.id, v.vector from {self._tables.chunks} as c"
            f" join {self._kept.vectors} as v on v.digest = c.digest"
            " where c.id in (select value from json_each(?))",
            orjson.dumps(list(chunks)).decode(),
        )
        return dict(self._cosines(rows))

    @cached_property
    def _scan(self) -> Scan | None:
        """The first stage, if there are enough passages for two."""
        few = (self._store.get("passages") or 0) <= _ONE_BY_ONE
        if few or self._codes is None or self._store.get(self._kept.coded) != 1:
            return None
        return self._codes.scan(self._store, self._kept, self._question)

    def _candidates(self) -> int:
        passages = self._store.get("passages") or 0
        return _CANDIDATES + int(passages) // _PASSAGES_PER_CANDIDATE

    def _compared(self, keys: Sequence[int]) -> list[Near]:
        """Compare vectors exactly and return their chunks, best first."""
        import orjson

        rows = self._store.rows(
            f"select c.id, v.vector from {self._kept.vectors} as v"
            f" join {self._tables.chunks} as c on c.digest = v.digest"
            " where v.id in (select value from json_each(?))",
            orjson.dumps(list(keys)).decode(),
        )
        return _best_first(self._cosines(rows))

    def _all(self) -> list[Near]:
        """Compare every vector of the generation, a block at a time."""
        rows = self._store.connection.execute(
            f"select c.id, v.vector from {self._tables.chunks} as c"
            f" join {self._kept.vectors} as v on v.digest = c.digest"
        )
        found: list[Near] = []
        while block := list(islice(rows, _BLOCK)):
            found += self._cosines(block)
        return _best_first(found)

    def _cosines(self, rows: Sequence[tuple[int, bytes]]) -> list[Near]:
        products = self._products(matrix_of([row[1] for row in rows], self._kept))
        return [Near(row[0], one) for row, one in zip(rows, products, strict=True)]

    def _products(self, matrix: Matrix) -> list[float]:
        """Return the cosine of each row with the question, the same for equal rows."""
        # One row at a time in the same order: a product of matrices may round a row
        # differently depending on the rows around it.
        import numpy as np

        products: list[float] = np.einsum("ij,j->i", matrix, self._question[0]).tolist()
        return products

    def _visible(
        self, near: Sequence[Near], limit: int, visible: Callable[[str], bool]
    ) -> list[Near]:
        """Return the first of these whose notes are visible."""
        import orjson

        path_of = (
            f"select c.id, f.path from {self._tables.chunks} as c"
            f" join {self._tables.files} as f on f.id = c.file_id"
            " where c.id in (select value from json_each(?))"
        )
        found: list[Near] = []
        for start in range(0, len(near), limit):
            block = near[start : start + limit]
            chunks = orjson.dumps([one.chunk for one in block]).decode()
            paths = dict(self._store.rows(path_of, chunks))
            found += [one for one in block if visible(paths[one.chunk])]
            if len(found) >= limit:
                break
        return found[:limit]


def _best_first(found: Iterable[Near]) -> list[Near]:
    return sorted(found, key=lambda near: (-near.cosine, near.chunk))
