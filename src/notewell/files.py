"""Files of ours: for their owner alone, and whole at every moment."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from filelock import FileLock


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


def replace_file(file: Path, raw: bytes) -> None:
    """Put other bytes in the place of a file, or make one; never a part of them.

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
            os.fsync(opened.fileno())
        draft.replace(file)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
