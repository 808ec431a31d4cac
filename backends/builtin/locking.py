"""One writer at a time, across processes. Readers need no lock."""

import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from notewell.backends.base import SILENT, Listener
from notewell.backends.builtin.errors import BACKEND, backend_errors
from notewell.errors import BackendUnavailable

if TYPE_CHECKING:
    from filelock import BaseFileLock

_LOOK_UP: Final = 0.25
"""Seconds between two looks at whether one has to wait any longer."""


@contextmanager
def writer_lock(
    path: Path,
    *,
    patient: bool,
    listener: Listener = SILENT,
    closing: threading.Event | None = None,
) -> Generator[bool]:
    """Hold the lock of an index; give False when it is taken and time is short.

    Args:
        path: The index file.
        patient: Wait for whoever holds the lock.
        listener: Told if we have to.
        closing: Set when nobody is to be waited for any longer.

    Raises:
        BackendUnavailable: no lock can be kept beside the index, or it is closing.
    """
    with backend_errors(path):
        lock = _acquired(path, patient=patient, listener=listener, closing=closing)
    try:
        yield lock is not None
    finally:
        if lock:
            lock.release()


def _acquired(
    path: Path,
    *,
    patient: bool,
    listener: Listener,
    closing: threading.Event | None,
) -> "BaseFileLock | None":
    # Slow to import, and only for writers.
    from filelock import Timeout

    from notewell.files import private_lock

    lock = private_lock(Path(f"{path}.lock"))
    try:
        lock.acquire(timeout=0)
    except Timeout:
        if not patient:
            return None
        listener.waiting()
        _wait_for(lock, closing)
    return lock


def _wait_for(lock: "BaseFileLock", closing: threading.Event | None) -> None:
    from filelock import Timeout

    while closing is None or not closing.is_set():
        try:
            lock.acquire(timeout=_LOOK_UP)
        except Timeout:
            continue
        return
    raise BackendUnavailable(BACKEND, "the index is being closed", remedy="reopen it")
