"""Watching what an agent's memory is made of, and following it.

In a server the engine follows; `Keeper` does so in the foreground, until it is ended.
"""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from notewell.backends.base import KeepsFresh, VectorWork
from notewell.errors import BackendError, UsageError
from notewell.memory.answers import MAKE
from notewell.memory.memory import Memory
from notewell.memory.setup import Setup, set_up
from notewell.memory.sync import SyncMemory
from notewell.sessions import sessions_folder
from notewell.types import IndexReport
from notewell.watching import (
    POLL_SECONDS,
    OnChange,
    WatchedFolders,
    Watcher,
    watched_folders,
)

_PATIENCE: Final = 10
"""Debounces after which changes that never end are not waited for any longer."""

_FIRST_PAUSE: Final = 10.0
_LONGEST_PAUSE: Final = 3600.0
"""Seconds after a first failure, and after many; a change ends the pause."""


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
    folder = sessions_folder(setup.settings.state_dir, setup.agent.id)
    return watched_folders(setup.workspace, [folder] if setup.transcripts else [])


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


class Keeper:
    """Brings one agent's index up to date whenever its notes have changed.

    Attributes:
        memory: The memory, open.
    """

    def __init__(
        self,
        *,
        workspace: Path | str | None = None,
        agent: str | None = None,
        config: Path | str | None = None,
        backend: str | None = None,
        environ: Mapping[str, str] | None = None,
        overrides: Mapping[str, object] = {},
    ) -> None:
        """Open the memory; the arguments are those of `open_memory`.

        Raises:
            ConfigError: a setting makes no sense.
            UsageError: there is no such agent or workspace, or its memory is off.
        """
        self._setup = set_up(
            workspace=workspace,
            agent=agent,
            config=config,
            backend=backend,
            server=True,  # nobody wants to have a folder watched by chance
            environ=environ,
            overrides=overrides,
        )
        if not self._setup.enabled:
            raise UsageError(
                "memory is switched off, so there is nothing to watch",
                remedy="see memorySearch.enabled and plugins.slots.memory",
            )
        # No server: all work is done here, in the foreground.
        self.memory = SyncMemory(Memory(self._setup, session_key=None, server=False))

    def runs(
        self, *, warn: Callable[[str], None], vectors: VectorWork = MAKE
    ) -> Iterator[IndexReport | BackendError]:
        """Index now and after each change, without end; yield what each run gave.

        Args:
            warn: Told once, if the folders cannot be watched and are polled instead.
            vectors: Who is told how far the vectors are.
        """
        pause = _FIRST_PAUSE
        with ChangeWaiter(self._setup, warn=warn) as changes:
            while True:
                try:
                    yield self.memory.refresh(vectors=vectors)
                except BackendError as error:
                    yield error
                    changes.wait(within=pause)
                    pause = min(_LONGEST_PAUSE, pause * 2)
                else:
                    pause = _FIRST_PAUSE
                    changes.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.memory.close()
