"""One writer of notes at a time, across processes."""

import contextlib
import errno
import os
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from notewell.errors import NoteNotWritten
from notewell.files import private_lock, take_lock

if TYPE_CHECKING:
    from filelock import FileLock

_PATIENCE: Final = 10.0
"""Seconds. A note is written in milliseconds, so who waits longer meets a fault."""

_LOOK: Final = 0.02
"""Seconds between two looks at a lock that tells nobody when it is free."""

READ_ONLY: Final = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
"""Errors of a folder that this user may read and not write."""


@contextmanager
def only_writer_of(
    place: Path,
    *,
    state_dir: Path,
    patience: float = _PATIENCE,
    stop: threading.Event | None = None,
) -> Generator[None]:
    """Hold the lock of a folder of notes, or of a file of ours.

    The lock lies with our state: a folder of notes gets no files that are not notes.
    Where our state cannot be written, the folder itself is locked.

    Args:
        place: What is written, resolved.
        state_dir: `<state>`.
        patience: Seconds for which somebody else is waited for.
        stop: Set when nobody is to be waited for any longer.

    Raises:
        NoteNotWritten: no lock can be kept there, or somebody holds it for long.
    """
    waiting = _Waiting(place, patience, stop)
    file = state_file(place, state_dir, "lock")
    try:
        lock = private_lock(file)
    except OSError as exc:
        if exc.errno not in READ_ONLY:
            why = f"no lock at {file}: {exc.strerror}"
            raise NoteNotWritten(str(place), why) from exc
        with _locked_folder(waiting):
            yield
        return
    _acquire(lock, file, waiting)
    try:
        yield
    finally:
        lock.release()


def state_file(place: Path, state_dir: Path, suffix: str) -> Path:
    """Return the file in our state that belongs to a folder of notes."""
    from hashlib import blake2b

    digest = blake2b(os.fsencode(place), digest_size=8).hexdigest()
    return state_dir / "memory" / f"notes-{digest}.{suffix}"


class _Waiting:
    """How long one writer waits for another."""

    def __init__(
        self, place: Path, patience: float, stop: threading.Event | None
    ) -> None:
        self.place = place
        self._patience = patience
        self._stop = stop
        self._until = time.monotonic() + patience

    def go_on(self, holder: Callable[[], str]) -> None:
        """Return if there is time for another look.

        Raises:
            NoteNotWritten: there is none; it says who is writing.
        """
        if self._stop is not None and self._stop.is_set():
            raise NoteNotWritten(str(self.place), "it was called off")
        if time.monotonic() < self._until:
            return
        said = holder()
        raise NoteNotWritten(
            str(self.place),
            f"{said} has been writing to it for more than {self._patience:g} s",
            remedy=f"try again when {said} has finished; there is no fault of the disk",
        )


def _acquire(lock: "FileLock", file: Path, waiting: _Waiting) -> None:
    """Take the lock, and write into it who has it.

    Raises:
        NoteNotWritten: somebody holds it for longer.
    """
    while not take_lock(lock):
        waiting.go_on(lambda: _holder(file))
        time.sleep(_LOOK)
    with contextlib.suppress(OSError):  # a full disk: it is a help, no more
        file.write_text(f"{os.getpid()}\n", encoding="ascii")


def _holder(file: Path) -> str:
    try:
        pid = int(file.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return "another process"
    return "another task of this program" if pid == os.getpid() else f"process {pid}"


@contextmanager
def _locked_folder(waiting: _Waiting) -> Generator[None]:
    """Hold a lock on a folder, or on that of a file.

    Raises:
        NoteNotWritten: the system cannot do it, or somebody holds it for longer.
    """
    import fcntl

    place = waiting.place
    folder = place if place.is_dir() else place.parent
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as exc:
        raise NoteNotWritten(str(place), exc.strerror or "no lock") from exc
    try:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                waiting.go_on(lambda: "another process")
                time.sleep(_LOOK)
            except OSError as exc:
                raise NoteNotWritten(str(place), f"no lock: {exc.strerror}") from exc
        yield
    finally:
        os.close(descriptor)
