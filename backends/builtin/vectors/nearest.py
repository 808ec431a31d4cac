"""Finding the passages whose vectors are nearest to a query's.

Two ways lead there: in the database, by sqlite-vec, and in the process. Either gives
candidates, best first, and one function gives the cosines of those that are best, so
that both end in the same scores and the same order. A passage has a vector for each of
its windows, and the best one counts. Whoever may not see a passage never loses a place
to it: more candidates are taken until there are enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from operator import mul
from typing import TYPE_CHECKING, Final, NamedTuple

import apsw

from notewell.backends.builtin.schema import Generation
from notewell.backends.builtin.store import Store
from notewell.backends.builtin.vectors.calibration import (
    Calibration,
    calibration_key,
    read_calibration,
)
from notewell.backends.builtin.vectors.in_process import CodeCache, ProcessSearch
from notewell.backends.builtin.vectors.quantisation import (
    QuantisedQuery,
    RoughNeighbour,
    code_bits,
    floats_of,
)
from notewell.backends.builtin.vectors.sets import (
    WINDOW_BITS,
    ChunkIds,
    VectorQuery,
    VectorSet,
    id_list,
)
from notewell.backends.builtin.vectors.sqlite_vec import (
    MOST,
    DatabaseSearch,
    Extension,
    in_process_fallback,
    load_extension,
)
from notewell.backends.text.windows import Window, cut_windows
from notewell.config import VectorSettings
from notewell.types import Fallback

if TYPE_CHECKING:
    from notewell.backends.builtin.filtering import ChosenPassages

ONE_BY_ONE: Final = 2_000
"""Vectors up to which every one is compared: that takes a few milliseconds."""

_CANDIDATES: Final = 700
"""Codes that are looked at more closely, and one more for every so many passages:"""

_PASSAGES_PER_CANDIDATE: Final = 500

_ROUNDING: Final = 1e-5
"""By how much a candidate's cosine may be rounded."""

_TIES: Final = 4
"""Passages that are as near as the last one, times the limit, that are looked at."""

_ANEW: Final = "run `notewell index`"


class Neighbour(NamedTuple):
    """A chunk, the cosine of its best window with the query, and which one it is."""

    chunk: int
    cosine: float
    window: int


class NearestNeighbours:
    """What vectors are searched by, in one program. Safe to share between threads."""

    def __init__(self, settings: VectorSettings, *, stays: bool = False) -> None:
        """Take the settings of the store, and whether more queries will come."""
        self._settings = settings
        self._stays = stays
        self._held = CodeCache()

    def search(
        self, store: Store, tables: Generation, kept: VectorSet, vector: bytes
    ) -> VectorSearch:
        """Return the search of a set for one query."""
        store.scans(often=self._stays)
        return VectorSearch(
            VectorQuery(store, tables, kept, QuantisedQuery(vector)),
            extension=load_extension(store, self._settings),
            held=self._held,
            stays=self._stays,
        )


class VectorSearch:
    """The vectors of one set, to be compared with one query.

    Attributes:
        fallbacks: Why they were compared in the process, if they were to be in the
            database.
    """

    def __init__(
        self, query: VectorQuery, *, extension: Extension, held: CodeCache, stays: bool
    ) -> None:
        self._query = query
        self._in_process = ProcessSearch(query, held)
        self._database: DatabaseSearch | None = None
        self._many = needs_codes(query.store, query.kept)
        hindered = hindrance(query.store, query.kept, extension, many=self._many)
        self.fallbacks = (hindered,) if hindered else ()
        if extension.version is not None and not hindered:
            self._database = DatabaseSearch(query, held=held if stays else None)

    def nearest(
        self,
        limit: int,
        visible: Callable[[str], bool],
        chosen: ChosenPassages | None = None,
    ) -> list[Neighbour]:
        """Return the nearest chunks of notes that are visible, best first.

        Args:
            limit: The most chunks.
            visible: Says of a note's path whether it may be seen.
            chosen: What a filter lets pass, if there is one. Where that is little, all of
                it is compared.
        """
        condition = chosen.condition if chosen else "true"
        if self._is_coded() and not (chosen and chosen.narrow):
            wanted = max(self._candidates(), limit * 4)
            while wanted <= MOST:
                found = self._best(self._near(wanted), limit, visible, condition)
                if len(found) >= limit:
                    return found
                wanted *= 4
        which = self._which(visible, chosen) if self._many else None
        return self._best(self._all(which), limit, visible, condition)

    def cosines(self, chunks: Sequence[int]) -> dict[int, Neighbour]:
        """Return for each of these chunks that has a vector how near it is."""
        rows = self._query.store.rows(
            f"select c.id, v.id, v.squares, v.vector from {self._query.passages}"
            " where c.id in (select value from json_each(?))",
            id_list(chunks),
        )
        cosines = self._query.vector.cosines([(row[2], row[3]) for row in rows])
        best: dict[int, Neighbour] = {}
        for (chunk, key, *_), cosine in zip(rows, cosines, strict=True):
            window = key & ((1 << WINDOW_BITS) - 1)
            before = best.get(chunk)
            if before is None or (cosine, -window) > (before.cosine, -before.window):
                best[chunk] = Neighbour(chunk, cosine, window)
        return best

    @cached_property
    def calibration(self) -> Calibration:
        """What the vectors are worth among these notes."""
        return read_calibration(self._known.get(calibration_key(self._query.kept)))

    @cached_property
    def background(self) -> float:
        """The mean cosine of all vectors with the query's."""
        mean = self._known.get(self._query.kept.mean)
        if mean is None:
            return 0.0
        if not isinstance(mean, bytes):
            raise apsw.CorruptError("the mean vector is damaged")
        floats = floats_of(mean)
        if len(floats) != self._query.kept.dimension:
            raise apsw.CorruptError("the mean vector is damaged")
        return float(sum(map(mul, floats, self._query.vector.floats)))

    @cached_property
    def _known(self) -> dict[str, object]:
        """What is kept of the set as a whole."""
        rows = self._query.store.rows(
            "select key, value from nw_meta where key in (?, ?)",
            self._query.kept.mean,
            calibration_key(self._query.kept),
        )
        return dict(rows)

    def window(self, text: str, number: int) -> Window:
        """Return a window of a passage: its lines, and its text."""
        cut = cut_windows(text, self._query.kept.cut)
        return cut[min(number, len(cut) - 1)]

    def _is_coded(self) -> bool:
        """Say whether codes choose candidates."""
        if not self._many:
            return False
        kept = self._query.kept
        key = kept.coded_to if self._database else kept.blocked_to
        return _has_codes(self._query.store, kept, key)

    def _near(self, wanted: int) -> list[RoughNeighbour]:
        found = self._in_database(
            lambda database: database.near(wanted), "the codes of vectors are damaged"
        )
        if found is not None:
            return found
        if _has_codes(self._query.store, self._query.kept, self._query.kept.blocked_to):
            return self._in_process.near(wanted)
        return self._in_process.all(None)

    def _all(self, which: ChunkIds | None) -> list[RoughNeighbour]:
        found = self._in_database(
            lambda database: database.all(which), "sqlite-vec failed"
        )
        return self._in_process.all(which) if found is None else found

    def _in_database(
        self, search: Callable[[DatabaseSearch], list[RoughNeighbour]], failed: str
    ) -> list[RoughNeighbour] | None:
        """Search in the database; None, and no more, once that has failed."""
        if self._database is None:
            return None
        try:
            return search(self._database)
        except (apsw.InterruptError, apsw.BusyError):
            raise
        except apsw.Error as error:
            self._database = None
            why = f"{failed} ({error}); {_ANEW}"
            self.fallbacks = (in_process_fallback("corrupt", why),)
            return None

    def _candidates(self) -> int:
        passages = self._query.store.get("passages") or 0
        return _CANDIDATES + int(passages) // _PASSAGES_PER_CANDIDATE

    def _which(
        self, visible: Callable[[str], bool], chosen: ChosenPassages | None
    ) -> ChunkIds | None:
        """Return the chunks that may be seen; None if that is all of them."""
        if chosen:
            return ChunkIds(chosen.chunks)
        rows = self._query.store.rows(
            f"select id, path from {self._query.tables.files}"
        )
        seen = [key for key, path in rows if visible(path)]
        if len(seen) == len(rows):
            return None
        files = "file_id in (select value from json_each(?6))"
        sql = f"select id from {self._query.tables.chunks} where {files}"
        return ChunkIds(sql, (id_list(seen),))

    def _best(
        self,
        rough: Sequence[RoughNeighbour],
        limit: int,
        visible: Callable[[str], bool],
        condition: str,
    ) -> list[Neighbour]:
        """Compare the best passages that are visible by every window they have."""
        best: dict[int, float] = {}
        bound = -2.0
        for chunk, cosine in self._visible(rough, limit, visible, condition):
            if cosine < bound or len(best) >= _TIES * limit:
                break
            best.setdefault(chunk, cosine)
            if len(best) == limit and bound == -2.0:
                bound = cosine - _ROUNDING
        found = self.cosines(list(best)).values()
        return sorted(found, key=lambda near: (-near.cosine, near.chunk))[:limit]

    def _visible(
        self,
        rough: Sequence[RoughNeighbour],
        limit: int,
        visible: Callable[[str], bool],
        condition: str,
    ) -> Iterator[tuple[int, float]]:
        """Yield the passages of vectors whose notes are visible, as they are needed.

        Args:
            condition: What has to hold of a file `f` and its chunk `c`.
        """
        seen: dict[str, bool] = {}
        start, size = 0, 2 * limit
        while start < len(rough):
            block = rough[start : start + size]
            start, size = start + size, 2 * size
            cosines = {one.vector: one.cosine for one in block}
            # In the order of the list that is given: the best first.
            for key, chunk, path in self._query.store.rows(
                "select n.value, c.id, f.path from json_each(?) as n"
                f" cross join {self._query.kept.texts} as t"
                f" on t.id = n.value >> {WINDOW_BITS}"
                f" cross join {self._query.tables.chunks} as c on c.digest = t.digest"
                f" cross join {self._query.tables.files} as f on f.id = c.file_id"
                f" where {condition} order by n.key, c.id",
                id_list(cosines),
            ):
                if path not in seen:
                    seen[path] = visible(path)
                if seen[path]:
                    yield chunk, cosines[key]


def hindrance(
    store: Store, kept: VectorSet, extension: Extension, *, many: bool
) -> Fallback | None:
    """Return why a set is not searched in the database, if it is to be and is not.

    Args:
        many: Codes have to choose what is compared.
    """
    if extension.version is None:
        return extension.fallback
    if not many or _has_codes(store, kept, kept.coded_to):
        return None
    return in_process_fallback(
        "not-ready", f"sqlite-vec has no codes of these vectors yet; {_ANEW}"
    )


def needs_codes(store: Store, kept: VectorSet) -> bool:
    """Say whether there are so many vectors in a set that codes are worth it."""
    return code_bits(kept.dimension) > 0 and not _has_few(store, kept, first=0)


def _has_codes(store: Store, kept: VectorSet, key: str) -> bool:
    """Say whether all but a few vectors may have their codes."""
    last = store.get(key)
    if last is None:
        return False
    return _has_few(store, kept, first=(int(last) + 1) << WINDOW_BITS)


def _has_few(store: Store, kept: VectorSet, *, first: int) -> bool:
    """Say whether few vectors have this id or a larger one."""
    count: int = store.one(
        f"select count(*) from (select 1 from {kept.vectors} where id >= ? limit ?)",
        first,
        ONE_BY_ONE + 1,
    )
    return count <= ONE_BY_ONE
