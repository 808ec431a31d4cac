"""sqlite-vec: loading it into a connection, and searching vectors in the database by it.

Loading takes a fraction of a millisecond, and happens only where vectors are searched or
written. The Python package is never imported, for that would load another SQLite.

Codes lie in a table of sqlite-vec, which is derived, one for each set, and may be dropped
at any time. A search reads a few codes of every chunk of it, to see within which distance
there are as many candidates as are wanted; one statement then finds all codes within that
distance, joins them to their passages, and orders them by the cosine of their vectors.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from os.path import isfile
from pathlib import Path
from typing import Final, Literal
from weakref import WeakKeyDictionary

import apsw

from notewell.backends.builtin.store import Store
from notewell.backends.builtin.vectors.in_process import CodeCache
from notewell.backends.builtin.vectors.quantisation import (
    RoughNeighbour,
    encode_vector,
)
from notewell.backends.builtin.vectors.sets import (
    ChunkIds,
    VectorQuery,
    VectorSet,
    first_after,
    id_list,
)
from notewell.config import VectorSettings
from notewell.log import log
from notewell.types import Fallback
from notewell.values import dataclass
from notewell.workspace.layout import show_name

NAME: Final = "sqlite-vec"
IN_PROCESS: Final = "in-process"

_OLDEST: Final = (0, 1, 9)
"""Bounds on a distance, and rows that go when they are deleted."""

_TOO_NEW: Final = (0, 2)

_SUFFIXES: Final = ("", ".so", ".dylib", ".dll")
"""What SQLite itself tries behind a name."""

_PACKAGE: Final = "sqlite-vec==0.1.9"

MOST: Final = 4096
"""Rows that the table gives at once."""

_SAMPLE: Final = 1536
"""Codes that are looked at to see how near the nearest are."""

HELD_FROM: Final = 200_000
"""Codes from which on a program that stays holds them in memory, and compares them there:
their pages do not fit into the cache any more."""

_OF_CANDIDATES: Final = 4
"""One of so many candidates is compared by both halves of the query."""

_ALL: Final = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Extension:
    """How a connection stands to sqlite-vec.

    Attributes:
        version: The version that is loaded; None: it is not.
        path: Where it was loaded from, or should have been.
        reason: Why it is not loaded; None where it is, or is switched off.
        why: The same in a sentence.
    """

    version: str | None = None
    path: str = ""
    reason: Literal["missing", "version"] | None = None
    why: str = ""

    @property
    def fallback(self) -> Fallback | None:
        """The entry of an answer that does without it; none where it is switched off."""
        if self.reason is None:
            return None
        return in_process_fallback(self.reason, self.why)


_loaded: WeakKeyDictionary[Store, tuple[VectorSettings, Extension]] = (
    WeakKeyDictionary()
)
_told: set[str] = set()


def in_process_fallback(
    reason: Literal["missing", "version", "not-ready", "corrupt"], why: str
) -> Fallback:
    """Return the entry of an answer whose vectors were compared in the process."""
    return Fallback(
        kind="vector-index", from_=NAME, to=IN_PROCESS, reason=reason, message=why
    )


def load_extension(store: Store, settings: VectorSettings) -> Extension:
    """Load sqlite-vec into a connection, once."""
    before = _loaded.get(store)
    if before is None or before[0] != settings:
        before = _loaded[store] = settings, _load(store, settings)
    return before[1]


def _load(store: Store, settings: VectorSettings) -> Extension:
    if not settings.enabled:
        return Extension(why="switched off by memorySearch.store.vector.enabled")
    given = settings.extension_path
    path = given if given is not None else _installed()
    if path is None:
        return _absent("", f"sqlite-vec is not installed; {_install()}")
    shown = show_name(str(path))
    if not any(isfile(f"{path}{suffix}") for suffix in _SUFFIXES):
        return _absent(shown, f"there is no sqlite-vec at {shown}; {_install()}")
    try:
        store.connection.enable_load_extension(True)
        try:
            store.connection.load_extension(str(path))
        finally:
            store.connection.enable_load_extension(False)
        version = str(store.one("select vec_version()"))
    except (apsw.Error, AttributeError) as error:
        _log_once(f"sqlite-vec at {shown}: {show_name(str(error))}")
        return _absent(shown, f"sqlite-vec at {shown} cannot be loaded; {_install()}")
    if not _OLDEST <= _numbers(version) < _TOO_NEW:
        why = f"sqlite-vec {version} at {shown} is not one that is understood; {_install()}"
        return Extension(path=shown, reason="version", why=why)
    return Extension(version=version.removeprefix("v"), path=shown)


def _installed() -> Path | None:
    """Return the file of the package that is installed here, without importing it."""
    try:
        found = find_spec("sqlite_vec")
    except (ImportError, ValueError):
        return None
    if found is None or found.origin is None:
        return None
    suffix = {"darwin": ".dylib", "win32": ".dll"}.get(sys.platform, ".so")
    return Path(found.origin).with_name(f"vec0{suffix}")


def _install() -> str:
    from notewell.installing import install_command  # rare

    return (
        f"{install_command(_PACKAGE)}, or set memorySearch.store.vector.extensionPath"
    )


def _absent(path: str, why: str) -> Extension:
    return Extension(path=path, reason="missing", why=why)


def _numbers(version: str) -> tuple[int, ...]:
    """Return a version as numbers; what follows a hyphen does not count.

    >>> _numbers("v0.1.10-alpha.4"), _numbers("nonsense")
    ((0, 1, 10), ())
    """
    parts = version.removeprefix("v").partition("-")[0].split(".")
    return tuple(map(int, parts)) if all(part.isdecimal() for part in parts) else ()


def _log_once(said: str) -> None:
    if said not in _told:
        _told.add(said)
        log("vectors", "warning", "%s", said)


class DatabaseSearch:
    """Compares one query with the vectors of a set, in SQL."""

    def __init__(self, query: VectorQuery, *, held: CodeCache | None = None) -> None:
        """Prepare for a query.

        Args:
            held: What holds codes in memory, in a program that stays.
        """
        self._query = query
        self._held = held

    def near(self, wanted: int) -> list[RoughNeighbour]:
        """Return the best of about so many vectors whose codes are nearest, best first.

        Those that came after the codes were written are all among them.

        Raises:
            apsw.Error: the table is damaged.
        """
        store, kept = self._query.store, self._query.kept
        table = codes_table(store, kept)
        new = f"select id from {kept.vectors} where id >="
        after = first_after(store, kept.coded_to)
        if self._held is not None and (store.get(kept.coded) or 0) >= HELD_FROM:
            keys = self._held.scan_table(self._query, table).nearest(wanted)
            return self._rated(
                f"select value from json_each(?6) union all {new} ?7",
                wanted // _OF_CANDIDATES,
                id_list(keys),
                after,
            )
        code = encode_vector(self._query.vector.floats)
        return self._rated(
            f"select rowid from {table}"
            " where code match vec_bit(?6) and k = ?7 and distance <= ?8"
            f" union all {new} ?9",
            wanted // _OF_CANDIDATES,
            code,
            MOST,
            self._bound(table, code, wanted),
            after,
        )

    def all(self, which: ChunkIds | None) -> list[RoughNeighbour]:
        """Return every vector, or those of some chunks, best first."""
        if which is None:
            return self._rated(f"select id from {self._query.kept.vectors}", _ALL)
        return self._rated(
            f"select v.id from {self._query.passages} where c.id in ({which.sql})",
            _ALL,
            *which.files,
        )

    def _rated(self, which: str, most: int, *values: object) -> list[RoughNeighbour]:
        """Return the best vectors with their cosines: the sum of those with either half.

        By the first half alone it is seen which are the best, but for a few thousandths.
        """
        rows = self._query.store.rows(
            f"with near(id) as materialized ({which}), best as materialized ("
            "  select v.id, v.vector,"
            "   vec_distance_cosine(vec_int8(v.vector), vec_int8(?1)) as far"
            f"  from near cross join {self._query.kept.vectors} as v on v.id = near.id"
            "  order by far, v.id limit ?5"
            ") select id, ?3 * (1 - far)"
            "  + ?4 * (1 - vec_distance_cosine(vec_int8(vector), vec_int8(?2)))"
            " from best order by 2 desc, 1",
            *self._query.vector.halves,
            *self._query.vector.shares,
            most,
            *values,
        )
        if rows and rows[-1][1] is None:
            raise apsw.CorruptError("a vector is damaged")
        return [RoughNeighbour(*row) for row in rows]

    def _bound(self, table: str, code: bytes, wanted: int) -> int:
        """Return a distance within which there are about so many codes."""
        asked = int.from_bytes(code, "big")
        held, sample = 0, list[int]()
        for live, some in _samples(self._query.store, table, len(code)):
            held += live
            sample += [(int.from_bytes(one, "big") ^ asked).bit_count() for one in some]
        if held != self._query.store.get(self._query.kept.coded):
            raise apsw.CorruptError("codes have gone")
        if not sample:
            return 0
        sample.sort()
        return sample[min(len(sample) - 1, wanted * len(sample) // held)]


class NoCodes(apsw.SQLError):
    """No writer has made the codes of a set."""


def codes_table(store: Store, kept: VectorSet) -> str:
    """Return the name of the table that holds the codes of a set.

    Raises:
        NoCodes: there is none.
    """
    number = store.get(kept.codes)
    if number is None:
        raise NoCodes("there are no codes yet")
    return f"nw_codes_{kept.id}_{number}"


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
