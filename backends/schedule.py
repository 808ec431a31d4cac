"""Updates while a program stays: at its start, after changes, and on an interval.

They run in a thread of their own, one at a time. A failure is waited out, longer each
time, and never ends the schedule. Whatever happens how often, most of the time nothing
runs: who is told of changes all the time rests after each run.
"""

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from notewell.config import SyncSettings
from notewell.errors import NotewellError
from notewell.log import log

Work: TypeAlias = Callable[[threading.Event], object]

_FIRST_PAUSE: Final = 10.0
_LONGEST_PAUSE: Final = 3600.0
"""Seconds after a first failure, and after many."""

_PATIENCE: Final = 10
"""Debounces after which changes that never end are not waited for any longer."""

_REST: Final = 10
_LONGEST_REST: Final = 30.0
"""A rest is so many times as long as the last update took, and at most so many seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rhythm:
    """When work is due, in seconds.

    Attributes:
        debounce: Quiet after a change before an update.
        interval: Between two updates; 0 is never.
        embed_interval: Between two embeddings; 0 is never.
        on_boot: Both are due at once.
    """

    debounce: float
    interval: float
    embed_interval: float = 0.0
    on_boot: bool = True

    @classmethod
    def of(cls, settings: SyncSettings) -> "Rhythm":
        """Return the rhythm that `memorySearch.sync` asks for."""
        return cls(
            debounce=settings.watch_debounce_ms / 1000,
            interval=settings.interval_minutes * 60,
            on_boot=settings.on_session_start,
        )


@dataclass(slots=True, kw_only=True)
class Job:
    """Something that is done again and again.

    Attributes:
        work: Does it; it looks at its argument and ends when that is set.
        interval: Seconds between two runs; 0 is never.
        due: When it runs next, by the monotonic clock.
        failures: How often it failed in a row.
        problem: What it failed with last.
    """

    work: Work
    interval: float
    due: float = math.inf
    failures: int = 0
    problem: str | None = field(default=None)

    def run(self, stop: threading.Event) -> None:
        """Do it once, and say when it is due again."""
        try:
            self.work(stop)
        except Exception as error:  # noqa: BLE001 - nothing ends a schedule
            self.failures += 1
            self.problem = type(error).__name__
            if isinstance(error, NotewellError):
                self.problem = error.message
            pause = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** (self.failures - 1))
            log("schedule", "warning", "an update failed: %s", self.problem)
            self.due = time.monotonic() + max(pause, self.interval)
        else:
            self.failures, self.problem = 0, None
            self.due = time.monotonic() + _or_never(self.interval)


class Schedule:
    """Runs an update, and an embedding where there is one, when they are due."""

    def __init__(
        self, rhythm: Rhythm, *, update: Work, embed: Work | None = None
    ) -> None:
        self._debounce = rhythm.debounce
        self._update = Job(work=update, interval=rhythm.interval)
        self._embed = Job(work=embed, interval=rhythm.embed_interval) if embed else None
        self._behind = self._catching_up = self._running = False
        self._latest = self._rested = self._failed = 0.0
        self._soon = math.inf
        self._changed = threading.Condition()
        self._stop = threading.Event()
        now = time.monotonic()
        self._update.due = now if rhythm.on_boot else now + _or_never(rhythm.interval)
        if self._embed:
            later = now + _or_never(rhythm.embed_interval)
            self._embed.due = now if rhythm.on_boot else later
        self._thread = threading.Thread(
            target=self._loop, name="notewell-schedule", daemon=True
        )

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def nudge(self, *, changed: bool = False) -> None:
        """Say that an update would be good; it follows once there is quiet.

        Args:
            changed: The index is known not to agree with the notes.
        """
        with self._changed:
            self._behind |= changed
            if self._update.failures:
                if changed:  # which may have mended it
                    soon = max(self._failed + _FIRST_PAUSE, self._rested)
                    self._update.due = min(self._update.due, soon)
                    self._changed.notify()
                return  # else it is waited out
            now = time.monotonic()
            if math.isinf(self._soon):
                self._latest = now + _PATIENCE * self._debounce
            # The turn of the interval comes all the same, however often we are told.
            self._soon = max(min(now + self._debounce, self._latest), self._rested)
            self._changed.notify()

    def close(self, within: float | None = None) -> None:
        """Call off what runs, and end.

        Args:
            within: Seconds to wait for what runs; None: as long as it takes.
        """
        self._stop.set()
        with self._changed:
            self._changed.notify()
        if self._thread.is_alive():
            self._thread.join(within)

    @property
    def behind(self) -> bool:
        """Whether the index is known not to agree with the notes."""
        return self._behind or self._catching_up

    @property
    def busy(self) -> bool:
        """Whether an update runs, or is to begin at this moment."""
        return self._running or self._next_update <= time.monotonic()

    @property
    def seconds_to_next(self) -> float:
        """Seconds to the next update; infinite when there is none."""
        return max(0.0, self._next_update - time.monotonic())

    @property
    def problem(self) -> str | None:
        """What the last run failed with, if it did."""
        return self._update.problem or (self._embed.problem if self._embed else None)

    @property
    def _next_update(self) -> float:
        return min(self._update.due, self._soon)

    def _loop(self) -> None:
        while not self._stop.is_set():
            job, due = self._update, self._next_update
            if self._embed and self._embed.due < due:
                job, due = self._embed, self._embed.due
            with self._changed:
                left = due - time.monotonic()
                if left > 0:
                    self._changed.wait(None if math.isinf(left) else left)
                    continue
                if job is self._update:
                    # What changes from now on is not what this run looks at.
                    self._catching_up, self._behind = self._behind, False
                    self._running, self._soon = True, math.inf
            self._run(job)

    def _run(self, job: Job) -> None:
        began = time.monotonic()
        job.run(self._stop)
        now = time.monotonic()
        with self._changed:
            if job is self._update:
                self._behind |= self._catching_up and job.failures > 0
                self._catching_up = self._running = False
                self._rested = now + min(_LONGEST_REST, _REST * (now - began))
                self._failed = now if job.failures else 0.0
                self._soon = math.inf
                if self._behind and not job.failures:  # changed during the run
                    self._soon = max(self._rested, now + self._debounce)


def _or_never(seconds: float) -> float:
    return seconds or math.inf
