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
    from filelock import FileLock

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
) -> "FileLock | None":
    from notewell.files import private_lock, take_lock

    lock = private_lock(Path(f"{path}.lock"))
    if not take_lock(lock):
        if not patient:
            return None
        listener.waiting()
        _wait_for(lock, closing)
    return lock


def _wait_for(lock: "FileLock", closing: threading.Event | None) -> None:
    from notewell.files import take_lock

    while closing is None or not closing.is_set():
        if take_lock(lock, within=_LOOK_UP):
            return
    raise BackendUnavailable(BACKEND, "the index is being closed", remedy="reopen it")
