"""One writer of notes at a time, across processes."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from notewell.errors import NoteNotWritten
from notewell.writing.private import private_lock

_PATIENCE: Final = 10.0
"""Seconds. A note is written in milliseconds, so who waits longer meets a fault."""


@contextmanager
def only_writer_of(place: Path, *, state_dir: Path) -> Generator[None]:
    """Hold the lock of a folder of notes, or of a file of ours.

    The lock lies with our state: a folder of notes gets no files that are not notes.

    Args:
        place: What is written, resolved.
        state_dir: `<state>`.

    Raises:
        NoteNotWritten: no lock can be kept there, or somebody holds it for long.
    """
    from filelock import Timeout  # slow to import, and only for writers

    name = _lock_file(place, state_dir)
    try:
        lock = private_lock(name)
    except OSError as exc:
        raise NoteNotWritten(str(place), f"no lock at {name}: {exc.strerror}") from exc
    try:
        lock.acquire(timeout=_PATIENCE)
    except Timeout as exc:
        raise NoteNotWritten(str(place), "another process is writing") from exc
    try:
        yield
    finally:
        lock.release()


def _lock_file(place: Path, state_dir: Path) -> Path:
    from hashlib import blake2b

    digest = blake2b(os.fsencode(place), digest_size=8).hexdigest()
    return state_dir / "memory" / f"notes-{digest}.lock"
