"""A checksum on every page of an index: what a disk turns over is found when it is read.

SQLite has an extension for this, a layer between it and the files ("cksumvfs"), and
apsw brings it. Whoever reads a page whose checksum is wrong gets an error instead of
the page. Only a file that was made with room for the checksums has them; all others are
read and written as ever.
"""

import os
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Final

import apsw

ROOM: Final = 8
"""Bytes that are kept free at the end of every page, for its checksum."""

_LAYER: Final = "cksmvfs"
_BUDGET: Final = 64 * 2**20
"""Bytes that one run looks over: some 30 ms. A larger index takes several runs."""


@cache
def file_layer() -> str | None:
    """Return what to open an index with, so that its checksums are kept and looked at.

    It stays loaded, as the first layer for all of apsw in this process, which is how
    SQLite's extension does it. None where apsw was built without its extensions.
    """
    binary = os.path.join(
        os.path.dirname(apsw.__file__), "sqlite_extra_binaries", "cksumvfs"
    )
    with closing(apsw.Connection(":memory:")) as connection:
        try:
            connection.enable_load_extension(True)
            connection.load_extension(binary)
        except apsw.Error:
            return None
    return _LAYER


def check_pages(path: Path, first: int) -> int:
    """Look over the pages from `first` on (from 0), within a budget.

    The caller keeps others from writing. A file without checksums passes.

    Returns:
        The page to go on with the next time; 0 when the end was reached.

    Raises:
        apsw.Error: a page is damaged.
    """
    layer = file_layer()
    if layer is None:
        return 0
    how = [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY, 0]
    file = apsw.VFSFile(layer, os.path.realpath(path), how)
    try:
        end = file.xFileSize()
        if not end:
            return 0
        # The layer learns from the header whether there are checksums.
        page = _page_size(file.xRead(100, 0))
        start = first * page if 0 <= first * page < end else 0
        stop = min(end, start + _BUDGET)
        for at in range(start, stop, page):
            file.xRead(page, at)
    finally:
        file.xClose()
    return 0 if stop == end else stop // page


def _page_size(header: bytes) -> int:
    size = int.from_bytes(header[16:18], "big")
    size = 65_536 if size == 1 else size
    if size < 512 or size & (size - 1):
        raise apsw.CorruptError("the size of its pages is damaged")
    return size
