"""Beginning an index anew without losing the vectors that were paid for."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import TypeAlias

import apsw

from notewell.backends.builtin.store import SIDE_FILES, Store, discard
from notewell.backends.builtin.vectors.tables import VectorSet, all_sets, ensure_set

_BLOCK = 1_000

_DAMAGE = (apsw.CorruptError, apsw.NotADBError, apsw.FormatError, UnicodeDecodeError)
_Rows: TypeAlias = list[tuple[bytes, bytes]]


def begin_anew(path: Path) -> None:
    """Remove an index file of ours, and keep what vectors can still be read.

    Everything else is made again from the notes. The caller holds the lock. Whatever
    ends us on the way, the old file stays until the new one takes its place.

    Raises:
        apsw.Error: the vectors cannot be saved, as on a full disk.
    """
    fresh = Path(f"{path}.anew")
    discard(fresh)
    try:
        _copy_vectors(path, fresh)
    except BaseException:
        discard(fresh)
        raise
    if not fresh.exists():
        discard(path)
        return
    for suffix in SIDE_FILES[1:]:
        # First, for the log of the old file would be read into the new one.
        Path(f"{path}{suffix}").unlink(missing_ok=True)
    os.replace(fresh, path)


def _copy_vectors(path: Path, fresh: Path) -> None:
    with ExitStack() as open_files:
        try:
            old = open_files.enter_context(closing(Store.reader(path)))
            sets = all_sets(old)
        except (*_DAMAGE, apsw.SQLError):
            return  # nothing of it can be read, or there never were vectors
        if not sets:
            return
        new = open_files.enter_context(closing(Store.writer(fresh)))
        for identity, vectors in sets:
            target = ensure_set(new, identity)
            for rows in _readable(old, vectors):
                _keep(new, target, rows)
        # So that the file is whole without its log.
        new.connection.execute("pragma wal_checkpoint(truncate)")


def _readable(old: Store, source: VectorSet) -> Iterator[_Rows]:
    """Yield what can be read, in the order in which it was made."""
    size = 4 * source.dimension
    rows: _Rows = []
    with suppress(apsw.Error, UnicodeDecodeError, TypeError):
        for digest, vector in old.connection.execute(
            f"select digest, vector from {source.vectors} order by id"
        ):
            if len(vector) == size:
                rows.append((digest, vector))
            if len(rows) == _BLOCK:
                yield rows
                rows = []
    yield rows


def _keep(new: Store, target: VectorSet, rows: _Rows) -> None:
    with new.connection:
        new.connection.executemany(
            f"insert or ignore into {target.vectors}(digest, vector) values (?, ?)",
            rows,
        )
