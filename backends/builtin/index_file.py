"""The file of an index: where it is, whose it is, and a checksum on every page.

SQLite has an extension for checksums, a layer between it and the files ("cksumvfs"), and
apsw brings it. What a disk turns over is found when it is read: whoever reads a page
whose checksum is wrong gets an error instead of the page. Only a file that was made with
room for the checksums has them; all others are read and written as ever.
"""

import os
import stat
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Final, Literal, TypeAlias

import apsw

from notewell.backends.base import Site
from notewell.backends.builtin.schema import APPLICATION_ID
from notewell.files import short_digest
from notewell.values import dataclass

SIDE_FILES: Final = ("", "-wal", "-shm", "-journal")

CHECKSUM_BYTES: Final = 8
"""Bytes that are kept free at the end of every page, for its checksum."""

_VFS: Final = "cksmvfs"
_BUDGET: Final = 64 * 2**20
"""Bytes that one run looks over: some 30 ms. A larger index takes several runs."""

_HEADER: Final = b"SQLite format 3\x00"
_MARK: Final = APPLICATION_ID.to_bytes(4, "big")

# Closing a file that SQLite has open drops SQLite's locks on it in the whole process
# (POSIX), so an index that is open here is never opened beside SQLite.
_open_here: Counter[tuple[int, int] | None] = Counter()
_opening = Lock()

Owner: TypeAlias = Literal["nobody", "notewell", "somebody-else", "link", "closed"]

_NOT_OURS: Final[Mapping[str, str]] = {
    "somebody-else": "belongs to another program",
    "link": "is a symbolic link, which is not followed",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexLocation:
    """Where the index is.

    Attributes:
        path: The index file; it need not exist.
        notice: What a person should know about it, or None.
    """

    path: Path
    notice: str | None = None


def locate_index(site: Site) -> IndexLocation:
    """Return where the index of this agent and workspace belongs.

    A workspace other than the agent's own gets a file of its own, and so does an
    agent at whose place somebody else's file or a link lies: those are never touched.
    """
    configured = site.agent.search.store.path
    own = _same_folder(site.workspace.root, site.agent.workspace)
    path = configured if own else _beside(configured, _mark(site.workspace.root))
    why = _NOT_OURS.get(owner_of(path))
    if why is None:
        return IndexLocation(path=path)
    return IndexLocation(
        path=_beside(path, "notewell"),
        notice=f"{path} {why}; the index lies beside it",
    )


def _same_folder(left: Path, right: Path) -> bool:
    return os.path.realpath(left) == os.path.realpath(right)


def _beside(path: Path, mark: str) -> Path:
    """Return `main.sqlite` as `main.<mark>.sqlite`."""
    # The root folder has no name, whatever it was configured for.
    return path.parent / f"{path.stem or 'main'}.{mark}{path.suffix or '.sqlite'}"


def _mark(root: Path) -> str:
    return short_digest(os.fsencode(root), size=6).hex()


def owner_of(path: Path) -> Owner:
    """Say whose file stands at `path`, from how it begins.

    An empty file is nobody's; a link is not followed; what may not be read is closed.
    A file of ours stays ours when it is damaged, as long as two of its three marks are
    whole: SQLite's, and ours twice.
    """
    with _opening:
        inode = inode_of(path)
        if inode and _open_here[inode]:
            return "notewell"
        return _owner_by_header(path)


def _owner_by_header(path: Path) -> Owner:
    try:
        mode = os.lstat(path).st_mode
        if stat.S_ISLNK(mode):
            return "link"
        if not stat.S_ISREG(mode):
            return "somebody-else"  # reading a pipe would wait for a writer
        with path.open("rb") as file:
            header = file.read(100)
    except (FileNotFoundError, NotADirectoryError):
        return "nobody"
    except OSError:
        return "closed"
    if not header:
        return "nobody"
    marks = (header[:16] == _HEADER, header[60:64] == _MARK, header[68:72] == _MARK)
    return "notewell" if sum(marks) > 1 else "somebody-else"


def index_bytes(path: Path) -> int:
    """Return the bytes of an index file and its side files."""
    total = 0
    for suffix in SIDE_FILES:
        try:
            total += os.stat(f"{path}{suffix}").st_size
        except OSError:
            continue
    return total


def index_state(path: Path) -> tuple[tuple[int, ...], ...]:
    """Return something that differs once another process has written an index."""
    return tuple(_state(f"{path}{suffix}") for suffix in SIDE_FILES)


def _state(file: str) -> tuple[int, ...]:
    try:
        found = os.stat(file)
    except OSError:
        return ()
    return (found.st_ino, found.st_size, found.st_mtime_ns)


def remove_index(path: Path) -> None:
    """Remove an index file of ours with its side files; it is derived from the notes."""
    for suffix in SIDE_FILES:
        Path(f"{path}{suffix}").unlink(missing_ok=True)


def inode_of(path: Path) -> tuple[int, int] | None:
    """Return what tells one file from another at the same path; None without a file."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def remember_open(path: Path) -> tuple[int, int] | None:
    """Remember that SQLite opens the file at `path`; return which file that is."""
    with _opening:
        inode = inode_of(path)
        _open_here[inode] += 1
        return inode


def forget_open(inode: tuple[int, int] | None) -> None:
    """Remember that SQLite has closed a file again."""
    with _opening:
        _open_here[inode] -= 1


@cache
def checksum_vfs() -> str | None:
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
    return _VFS


def check_pages(path: Path, first: int) -> int:
    """Look over the pages from `first` on (from 0), within a budget.

    The caller keeps others from writing. A file without checksums passes.

    Returns:
        The page to go on with the next time; 0 when the end was reached.

    Raises:
        apsw.Error: a page is damaged.
    """
    layer = checksum_vfs()
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
