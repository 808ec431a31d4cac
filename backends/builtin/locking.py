"""One writer at a time, across processes. Readers need no lock."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from notewell.backends.base import Waiting
from notewell.backends.builtin.store import create_folder, explained

if TYPE_CHECKING:
    from filelock import BaseFileLock


@contextmanager
def only_writer(
    path: Path, *, patient: bool, waiting: Waiting | None = None
) -> Generator[bool]:
    """Hold the lock of an index; give False when it is taken and time is short.

    Args:
        path: The index file.
        patient: Wait for whoever holds the lock.
        waiting: Called once if we have to.

    Raises:
        BackendUnavailable: no lock can be kept beside the index.
    """
    with explained(path):
        lock = _acquired(path, patient=patient, waiting=waiting)
    try:
        yield lock is not None
    finally:
        if lock:
            lock.release()


def _acquired(
    path: Path, *, patient: bool, waiting: Waiting | None
) -> "BaseFileLock | None":
    from filelock import FileLock, Timeout  # slow to import, and only for writers

    create_folder(path.parent)
    name = f"{path}.lock"
    # The library takes a file that cannot be made for one that is held.
    os.close(os.open(name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    lock = FileLock(name, mode=0o600)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        if not patient:
            return None
        if waiting:
            waiting()
        lock.acquire()
    return lock
