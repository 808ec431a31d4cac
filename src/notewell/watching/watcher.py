"""Watching folders in a thread, by the kernel or, where it has no room, by the clock."""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeAlias

from notewell.log import log
from notewell.watching.places import Places

if TYPE_CHECKING:  # loaded when something is watched
    from watchfiles.main import FileChange

Tell: TypeAlias = Callable[[bool], None]
"""Called when the index may be out of date; True: a file is known to have changed.
It returns at once and never raises."""

POLL_SECONDS: Final = 10.0
"""Seconds between two looks at the disk where nothing can be watched."""

_WAKE_MS: Final = 500
_GATHER_MS: Final = 100
_REST_SECONDS: Final = 0.2
"""Seconds before folders are looked for again that went while they were looked for."""

_NO_WATCHES: Final = (
    "The system cannot watch more files; the notes are looked through"
    " every {seconds:g} seconds instead."
)


class Watcher:
    """Tells when files have changed that an index is made of.

    Attributes:
        problem: Why the kernel does not watch for us, or None.
        ready: Set once changes are noticed.
    """

    def __init__(
        self,
        places: Callable[[], Places],
        tell: Tell,
        *,
        warn: Callable[[str], None],
        poll_seconds: float = POLL_SECONDS,
    ) -> None:
        """Take what finds the folders, and who is told.

        Args:
            warn: Told once, if the folders cannot be watched and are polled instead.
        """
        self.problem: str | None = None
        self.ready = threading.Event()
        self._places = places
        self._tell = tell
        self._warn = warn
        self._poll_seconds = poll_seconds
        self._stop = threading.Event()
        self._thread = threading.Thread(
            target=self._loop, name="notewell-watch", daemon=True
        )

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def close(self) -> None:
        """End. Calling it twice is harmless."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def _loop(self) -> None:
        while not self._stop.is_set():
            try:
                self._watch(self._places())
            except FileNotFoundError:
                self._stop.wait(_REST_SECONDS)  # a folder went while we looked
            except (OSError, RuntimeError):
                self._poll()

    def _watch(self, places: Places) -> None:
        """Watch until other folders are to be watched."""
        from watchfiles import watch

        armed = False
        for changes in watch(
            *sorted(places.watched),
            watch_filter=None,
            debounce=_WAKE_MS,
            step=_GATHER_MS,
            rust_timeout=_WAKE_MS,
            yield_on_timeout=True,
            stop_event=self._stop,
            raise_interrupt=False,
            force_polling=False,
            recursive=False,
            ignore_permission_denied=True,
        ):
            if not armed:
                armed = True
                self.ready.set()
                self._tell(False)  # of what changed before we listened nobody told us
            if self._has_moved(places, changes):
                return

    def _has_moved(self, places: Places, changes: "set[FileChange]") -> bool:
        """Tell what matters of some changes; return whether folders are others now."""
        paths = [path for _, path in changes]
        if any(map(places.matters, paths)):
            self._tell(True)
        return any(map(places.moves, paths))

    def _poll(self) -> None:
        """Have the disk looked at every few seconds, for as long as we run."""
        self.problem = _NO_WATCHES.format(seconds=self._poll_seconds)
        self._warn(self.problem)
        log("watching", "warning", self.problem)
        self.ready.set()
        self._tell(False)
        while not self._stop.wait(self._poll_seconds):
            self._tell(False)
