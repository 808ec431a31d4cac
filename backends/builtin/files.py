"""The file of an index as the system sees it: whose it is, how large, which one."""

import os
import stat
from collections import Counter
from pathlib import Path
from threading import Lock
from typing import Final, Literal, TypeAlias

from notewell.backends.builtin.schema import APPLICATION_ID

SIDE_FILES: Final = ("", "-wal", "-shm", "-journal")

_HEADER: Final = b"SQLite format 3\x00"
_MARK: Final = APPLICATION_ID.to_bytes(4, "big")

# Closing a file that SQLite has open drops SQLite's locks on it in the whole process
# (POSIX), so an index that is open here is never opened beside SQLite.
_open_here: Counter[tuple[int, int] | None] = Counter()
_opening = Lock()

Owner: TypeAlias = Literal["nobody", "notewell", "somebody-else", "link", "closed"]


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


def size_of(path: Path) -> int:
    """Return the bytes of an index file and its side files."""
    total = 0
    for suffix in SIDE_FILES:
        try:
            total += os.stat(f"{path}{suffix}").st_size
        except OSError:
            continue
    return total


def state_of(path: Path) -> tuple[tuple[int, ...], ...]:
    """Return something that differs once another process has written an index."""
    return tuple(_state(f"{path}{suffix}") for suffix in SIDE_FILES)


def _state(file: str) -> tuple[int, ...]:
    try:
        found = os.stat(file)
    except OSError:
        return ()
    return (found.st_ino, found.st_size, found.st_mtime_ns)


def discard(path: Path) -> None:
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


def opened(path: Path) -> tuple[int, int] | None:
    """Remember that SQLite opens the file at `path`; return which file that is."""
    with _opening:
        inode = inode_of(path)
        _open_here[inode] += 1
        return inode


def closed(inode: tuple[int, int] | None) -> None:
    """Remember that SQLite has closed a file again."""
    with _opening:
        _open_here[inode] -= 1
