"""Beginning an index anew without losing the vectors that were paid for."""

import os
from contextlib import closing, suppress
from pathlib import Path

import apsw

from notewell.backends.builtin.store import SIDE_FILES, Store, discard
from notewell.backends.builtin.vectors.tables import VectorSet, all_sets, ensure_set

_BLOCK = 1_000


def begin_anew(path: Path) -> None:
    """Remove an index file of ours, and keep what vectors can still be read.

    Everything else is made again from the notes. The caller holds the lock.
    """
    fresh = Path(f"{path}.anew")
    discard(fresh)
    with suppress(apsw.Error, UnicodeDecodeError, ValueError, TypeError):
        _copy_vectors(path, fresh)
    discard(path)
    if fresh.exists():
        with suppress(apsw.Error):
            _fold_log(fresh)
        for suffix in SIDE_FILES[1:]:
            Path(f"{fresh}{suffix}").unlink(missing_ok=True)
        os.replace(fresh, path)


def _copy_vectors(path: Path, fresh: Path) -> None:
    with closing(Store.reader(path)) as old:
        sets = all_sets(old)
        if not sets:
            return
        with closing(Store.writer(fresh)) as new:
            for identity, vectors in sets:
                _copy(old, vectors, new, ensure_set(new, identity))


def _copy(old: Store, source: VectorSet, new: Store, target: VectorSet) -> None:
    """Copy as many vectors as can be read, in the order in which they were made."""
    rows = old.connection.execute(
        f"select digest, vector from {source.vectors} order by id"
    )
    size = 4 * source.dimension
    block: list[tuple[bytes, bytes]] = []
    try:
        for digest, vector in rows:
            if len(vector) == size:
                block.append((digest, vector))
            if len(block) == _BLOCK:
                _keep(new, target, block)
                block = []
    finally:
        _keep(new, target, block)


def _keep(new: Store, target: VectorSet, block: list[tuple[bytes, bytes]]) -> None:
    with new.connection:
        new.connection.executemany(
            f"insert or ignore into {target.vectors}(digest, vector) values (?, ?)",
            block,
        )


def _fold_log(fresh: Path) -> None:
    with closing(Store.writer(fresh)) as store:
        store.connection.execute("pragma wal_checkpoint(truncate)")
