"""Files: reading what somebody else may have put there, and writing ones of our own.

What is read is a regular file and no link, also when it is replaced between a look and
the opening, and nobody is waited for. What is ours is for its owner alone, whole at
every moment, and written by one process at a time.
"""

import errno
import os
import re
import stat
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

if TYPE_CHECKING:
    from filelock import FileLock

MAX_FILE_BYTES: Final = 20 * 1024 * 1024
"""A larger file is an export or a log."""

LINK_REFUSED: Final = "symbolic links are not followed"

_UNWRITABLE: Final = "[\0\ud800-\udfff]"  # compiled when it is needed
_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)
# Without O_NONBLOCK a pipe that takes the place of a file would block us for ever.
_READ: Final = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_FOLDER: Final = (
    _NO_LINK | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_PATH", os.O_RDONLY)
)


def open_regular(
    file: str | os.PathLike[str], *, follow_link: bool = False
) -> BinaryIO:
    """Open a regular file for reading, without ever waiting for a writer.

    Args:
        file: The file.
        follow_link: It may be a link.

    Raises:
        OSError: it is missing, unreadable, a link, or not a regular file.
    """
    return _opened(file, follow_link=follow_link)[0]


def read_regular(
    file: str | os.PathLike[str],
    *,
    follow_link: bool = False,
    below_links: bool = False,
) -> bytes:
    """Return the bytes of a regular file, without ever waiting for a writer.

    Args:
        file: The file, by an absolute and resolved path.
        follow_link: It may be a link.
        below_links: Folders on the way may be links: it is no note.

    Raises:
        OSError: it is missing, unreadable, a symbolic link or behind one, not a
            regular file, or larger than MAX_FILE_BYTES.
    """
    opened, found = _opened(file, follow_link=follow_link)
    with opened:
        if not (follow_link or below_links):
            _refuse_links(opened.fileno(), os.fspath(file))
        # Python makes room for as much as it is asked for, so first for what is there.
        raw = opened.read(min(found.st_size, MAX_FILE_BYTES) + 1)
        if len(raw) > found.st_size:  # it grows, or is of a kind that tells no size
            raw += opened.read(MAX_FILE_BYTES + 1 - len(raw))
    if len(raw) > MAX_FILE_BYTES:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), os.fspath(file))
    return raw


def without_links(opened: int, file: str | os.PathLike[str]) -> str:
    """Return the path of a file or folder that is open, empty if a link led to it.

    Each folder is opened from the one above, which follows nothing.
    """
    folder = os.open(os.sep, _FOLDER)
    try:
        *above, name = os.fspath(file).strip(os.sep).split(os.sep)
        for part in above:
            below = os.open(part, _FOLDER, dir_fd=folder)
            os.close(folder)
            folder = below
        here = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return ""
    finally:
        os.close(folder)
    return os.fspath(file) if os.path.samestat(here, os.fstat(opened)) else ""


def writable_text(text: str) -> str:
    r"""Put U+FFFD where a note or an index can hold no character.

    That is NUL, and half of a surrogate pair, which UTF-8 cannot hold.

    >>> writable_text("a\0\ud83d") == "a\ufffd\ufffd"
    True
    """
    return re.sub(_UNWRITABLE, "\ufffd", text)


@cache
def blake2b() -> Any:
    """Return the BLAKE2b of `hashlib`, without loading OpenSSL for every other digest.

    That is a fiftieth of a search.
    """
    return import_module("_blake2").blake2b


def short_digest(raw: bytes, *, size: int) -> bytes:
    """Return so many bytes that tell one content from any other: BLAKE2b."""
    return bytes(blake2b()(raw, digest_size=size).digest())


def create_folder(folder: Path) -> None:
    """Create a folder, and those above it that are missing, for their owner alone.

    Raises:
        OSError: it cannot be created.
    """
    if not folder.is_dir():
        create_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def private_lock(file: Path) -> "FileLock":
    """Return a lock between processes that nobody holds yet by this call.

    Raises:
        OSError: its file cannot be created.
    """
    from filelock import FileLock  # slow to import, and only for writers

    create_folder(file.parent)
    # The library takes a file that cannot be made for one that is held.
    os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    return FileLock(file, mode=0o600)


def take_lock(lock: "FileLock", *, within: float = 0.0) -> bool:
    """Take a lock; say False if another holds it for longer than so many seconds."""
    from filelock import Timeout

    try:
        lock.acquire(timeout=within)
    except Timeout:
        return False
    return True


def replace_file(file: Path, raw: bytes, *, mode: int = 0o600) -> None:
    """Put other bytes in the place of a file, or make one; never a part of them.

    Args:
        file: The file; a link there is replaced, and not followed.
        raw: What it holds then.
        mode: Its permissions then.

    Raises:
        OSError: the folder cannot be written; the file is as it was.
    """
    draft = file.with_name(f".{file.name}.{os.getpid()}")
    draft.unlink(missing_ok=True)  # left by a process of the same number
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)
    try:
        with open(os.open(draft, flags, 0o600), "wb") as opened:
            opened.write(raw)
            opened.flush()
            if mode != 0o600:
                os.fchmod(opened.fileno(), mode)
            os.fsync(opened.fileno())
        draft.replace(file)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def _opened(
    file: str | os.PathLike[str], *, follow_link: bool
) -> tuple[BinaryIO, os.stat_result]:
    opened = open(os.open(file, _READ if follow_link else _READ | _NO_LINK), "rb")  # noqa: SIM115
    # What was looked at before may have been replaced since; this cannot be.
    found = os.fstat(opened.fileno())
    if not stat.S_ISREG(found.st_mode):
        opened.close()
        raise OSError(errno.EINVAL, "not a regular file", os.fspath(file))
    return opened, found


def _refuse_links(opened: int, file: str) -> None:
    """Refuse a file behind a folder that became a link after it was looked at.

    What is open cannot change any more, so it is asked where it is.
    """
    try:
        there = os.readlink(f"/proc/self/fd/{opened}")
    except OSError:  # no Linux, or no /proc
        there = without_links(opened, file)
    if there != file:
        raise OSError(errno.ELOOP, LINK_REFUSED, file)
