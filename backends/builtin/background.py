"""Keeping the index of a program that stays up to date, without getting in the way.

Runs happen in one thread, one at a time. They give way to searches at every note and
every batch, and end there when they are called off.
"""

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final, TypeAlias

from notewell.backends.base import Findings, Listener
from notewell.backends.freshness import Rhythm, Schedule
from notewell.config.schema import SyncSettings

Refresh: TypeAlias = Callable[[Listener], object]
"""Brings the index up to date, and tells how far it is."""

_GIVE_WAY: Final = 0.25
"""Seconds that one note waits at most, so that searches without end stop nothing."""

_CLOSING: Final = 5.0
"""Seconds in which a batch that is being embedded may come to its end."""


class _CalledOff(BaseException):
    """The program ends. No Exception: whoever cleans up must let it pass."""


class BackgroundRefresh:
    """Brings an index up to date at the start, after changes and on an interval."""

    def __init__(self, settings: SyncSettings, refresh: Refresh) -> None:
        self._on_search = settings.on_search
        self._refresh = refresh
        self._searches = 0
        self._guard = threading.Lock()
        self._quiet = threading.Event()
        self._quiet.set()
        self._schedule = Schedule(Rhythm.of(settings), update=self._update)
        self._schedule.start()

    @property
    def behind(self) -> bool:
        """Whether the index is known not to agree with the notes."""
        return self._schedule.behind

    @property
    def busy(self) -> bool:
        """Whether a run is under way, so that the index is what it was before."""
        return self._schedule.busy

    @property
    def problem(self) -> str | None:
        """What the last run failed with, if it did."""
        return self._schedule.problem

    def refresh_soon(self, *, changed: bool) -> None:
        """Let a run follow; `changed`: the index is known to be out of date."""
        self._schedule.refresh_soon(changed=changed)

    @contextmanager
    def searching(self) -> Generator[None]:
        """Let a run that is under way stand still meanwhile."""
        with self._guard:
            self._searches += 1
            self._quiet.clear()
        try:
            yield
        finally:
            with self._guard:
                self._searches -= 1
                if not self._searches:
                    self._quiet.set()

    def after(self, found: Findings) -> None:
        """Let a run follow an answer: soon, and surely if it was out of date.

        Quiet is waited for after changes. That searches go on finding what is known puts
        the run off no further, or an index that is gone would be missed for long.
        """
        if self._schedule.behind and not self._schedule.problem:
            return
        outdated = found.freshness.stale or bool(found.freshness.pending)
        if outdated or self._on_search:
            self._schedule.refresh_soon(changed=outdated)

    def close(self) -> None:
        """Call off what runs, and end."""
        self._quiet.set()
        self._schedule.close(within=_CLOSING)

    def _update(self, stop: threading.Event) -> None:
        try:
            self._refresh(_GivesWay(self._quiet, stop))
        except _CalledOff:
            return


class _GivesWay(Listener):
    """Lets a run stand still while somebody searches, and ends it when told."""

    def __init__(self, quiet: threading.Event, stop: threading.Event) -> None:
        self._quiet = quiet
        self._stop = stop

    def indexing(self, done: int, total: int) -> None:
        self._step()

    def embedding(self, done: int, total: int) -> None:
        self._step()

    def _step(self) -> None:
        self._quiet.wait(_GIVE_WAY)
        if self._stop.is_set():
            raise _CalledOff
