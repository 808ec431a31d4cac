"""Watching what an agent's memory is made of, and telling who keeps it up to date."""

import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final, Self

from notewell.backends.base import KeepsFresh
from notewell.memory.setup import Setup
from notewell.sessions import sessions_folder
from notewell.watching import (
    POLL_SECONDS,
    OnChange,
    WatchedFolders,
    Watcher,
    watched_folders,
)

_PATIENCE: Final = 10
"""Debounces after which changes that never end are not waited for any longer."""


def watched(setup: Setup, backend: KeepsFresh) -> Watcher | None:
    """Begin to watch for a backend that keeps itself up to date; None if unwanted."""
    if not setup.agent.search.sync.watch:
        return None

    def tell(changed: bool) -> None:
        backend.refresh_soon(changed=changed)

    watcher = watcher_of(setup, tell, warn=lambda problem: None)
    watcher.start()
    return watcher


def watcher_of(
    setup: Setup,
    tell: OnChange,
    *,
    warn: Callable[[str], None],
    poll_seconds: float = POLL_SECONDS,
) -> Watcher:
    """Return a watcher of an agent's notes and, if they are a source, its transcripts."""
    return Watcher(partial(_places, setup), tell, warn=warn, poll_seconds=poll_seconds)


def _places(setup: Setup) -> WatchedFolders:
    folders: list[Path] = []
    if setup.no_transcripts is None:
        folders.append(sessions_folder(setup.settings.state_dir, setup.agent.id))
    for source in setup.programs:
        folders += source.watched()
    return watched_folders(setup.workspace, folders)


class ChangeWaiter:
    """Lets somebody wait until notes have changed and are quiet again."""

    def __init__(self, setup: Setup, *, warn: Callable[[str], None]) -> None:
        """Take what is watched, and who is told that it has to be polled."""
        sync = setup.agent.search.sync
        self._debounce = sync.watch_debounce_ms / 1000
        self._interval = sync.interval_minutes * 60
        self._happened = threading.Event()
        self._watcher = watcher_of(setup, self._tell, warn=warn)

    def __enter__(self) -> Self:
        self._watcher.start()
        self._watcher.ready.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._watcher.close()

    def wait(self, within: float | None = None) -> None:
        """Return when the notes should be looked at again, in so many seconds at most."""
        if not self._happened.wait(within or self._interval or None):
            return
        latest = time.monotonic() + _PATIENCE * self._debounce
        while self._happened.is_set() and time.monotonic() < latest:
            self._happened.clear()
            self._happened.wait(self._debounce)
        self._happened.clear()

    def _tell(self, changed: bool) -> None:
        self._happened.set()
