"""What a caller of a memory is told with: functions, instead of a listener of a run."""

from collections.abc import Callable
from typing import Final, TypeAlias

from notewell.backends.base import Listener, MissingVectors, Upload, VectorWork

Progress: TypeAlias = Callable[[int, int], None]
"""Called with (done, to do): as `Listener.indexing`."""

Waiting: TypeAlias = Callable[[], None]
"""As `Listener.waiting`."""

MAKE: Final = VectorWork()
"""Missing vectors are made, and nobody is told how far it is."""


def vectors_of(work: VectorWork | None, within: float | None) -> MissingVectors:
    """Return which vectors a run makes; with a limit of time, only the instant ones."""
    if work is None:
        return "none"
    return "all" if within is None and not work.at_once else "instant"


def listening(
    progress: Progress | None, waiting: Waiting | None, work: VectorWork | None = None
) -> Listener:
    """Return a listener that calls functions."""
    return _Functions(progress, waiting, work or MAKE)


class _Functions(Listener):
    def __init__(
        self, progress: Progress | None, waiting: Waiting | None, work: VectorWork
    ) -> None:
        self._progress = progress
        self._waiting = waiting
        self._work = work

    def indexing(self, done: int, total: int) -> None:
        if self._progress:
            self._progress(done, total)

    def embedding(self, done: int, total: int) -> None:
        self._work.progress(done, total)

    def waiting(self) -> None:
        if self._waiting:
            self._waiting()

    def uploading(self, upload: Upload) -> None:
        self._work.uploading(upload)

    def fetching(self, have: int, total: int | None) -> None:
        self._work.fetching(have, total)
