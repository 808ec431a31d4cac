"""Beginning an index anew without losing the vectors that were paid for."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import TypeAlias

import apsw

from notewell.backends.builtin.errors import NONSENSE
from notewell.backends.builtin.index_file import SIDE_FILES, remove_index
from notewell.backends.builtin.store import Store
from notewell.backends.builtin.vectors.maintenance import (
    copy_older,
    has_older,
    older_sets,
    put_text,
)
from notewell.backends.builtin.vectors.sets import (
    WINDOW_BITS,
    VectorSet,
    all_sets,
    ensure_set,
    windows_of,
)

_BLOCK = 1_000

_Texts: TypeAlias = dict[bytes, list[tuple[int, int, bytes]]]


def begin_anew(path: Path) -> None:
    """Remove an index file of ours, and keep what vectors can still be read.

    Everything else is made again from the notes. The caller holds the lock. Whatever
    ends us on the way, the old file stays until the new one takes its place.

    Raises:
        apsw.Error: the vectors cannot be saved, as on a full disk.
    """
    fresh = Path(f"{path}.anew")
    remove_index(fresh)
    try:
        _copy_vectors(path, fresh)
    except BaseException:
        remove_index(fresh)
        raise
    if not fresh.exists():
        remove_index(path)
        return
    for suffix in SIDE_FILES[1:]:
        # First, for the log of the old file would be read into the new one.
        Path(f"{path}{suffix}").unlink(missing_ok=True)
    os.replace(fresh, path)


def _copy_vectors(path: Path, fresh: Path) -> None:
    with ExitStack() as open_files:
        try:
            old = open_files.enter_context(closing(Store.reader(path)))
            older = older_sets(old) if has_older(old) else []
            sets = all_sets(old)
        except apsw.BusyError:
            raise
        except NONSENSE:
            return  # nothing of it can be read, or there never were vectors
        if not sets and not older:
            return
        new = open_files.enter_context(closing(Store.writer(fresh)))
        for identity, number in older:
            copy_older(old, number, new, identity)
        for identity, kept in sets:
            target = ensure_set(new, identity, kept.cut)
            for texts in _readable(old, kept):
                _keep(new, target, texts)
        # So that the file is whole without its log.
        new.connection.execute("pragma wal_checkpoint(truncate)")


def _readable(old: Store, source: VectorSet) -> Iterator[_Texts]:
    """Yield what can be read, in the order in which it was made."""
    texts: _Texts = {}
    with suppress(*NONSENSE):
        for digest, key, squares, vector in old.connection.execute(
            f"select t.digest, v.id, v.squares, v.vector from {source.texts} as t"
            f" join {source.vectors} as v on {windows_of('v', 't')} order by v.id"
        ):
            if digest not in texts and len(texts) == _BLOCK:
                yield texts
                texts = {}
            whole = isinstance(digest, bytes) and len(vector) == source.dimension
            if whole and squares > 0:
                window = key & ((1 << WINDOW_BITS) - 1)
                texts.setdefault(digest, []).append((window, squares, vector))
    yield texts


def _keep(new: Store, target: VectorSet, texts: _Texts) -> None:
    with new.connection:
        for digest, windows in texts.items():
            put_text(new, target, digest, windows)
