"""Updates while a program stays: at its start, after changes, and on an interval.

They run in a thread of their own, one at a time. A failure is waited out, longer each
time, and never ends the schedule.
"""

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from notewell.config import QmdUpdate
from notewell.errors import NotewellError

Work: TypeAlias = Callable[[threading.Event], object]

_FIRST_PAUSE: Final = 10.0
_LONGEST_PAUSE: Final = 3600.0
"""Seconds after a first failure, and after many."""


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
        except NotewellError as error:
            self.failures += 1
            self.problem = error.message
            pause = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** (self.failures - 1))
            self.due = time.monotonic() + max(pause, self.interval)
        else:
            self.failures, self.problem = 0, None
            self.due = time.monotonic() + (self.interval or math.inf)


class Schedule:
    """Runs an update, and an embedding where there is one, when they are due."""

    def __init__(
        self, settings: QmdUpdate, *, update: Work, embed: Work | None = None
    ) -> None:
        self._debounce = settings.debounce_ms / 1000
        self._update = Job(work=update, interval=settings.interval)
        self._embed = (
            Job(work=embed, interval=settings.embed_interval) if embed else None
        )
        self._changed = threading.Condition()
        self._stop = threading.Event()
        self._nudged = math.nan
        now = time.monotonic()
        later = now + (settings.interval or math.inf)
        self._update.due = now if settings.on_boot else later
        if self._embed:
            self._embed.due = now if settings.on_boot else now + settings.embed_interval
        self._thread = threading.Thread(
            target=self._loop, name="notewell-qmd", daemon=True
        )

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def nudge(self) -> None:
        """Say that notes have changed: an update follows once they are quiet."""
        with self._changed:
            quiet = time.monotonic() + self._debounce
            if self._update.failures:
                return  # it is waited out
            postponed = self._update.due == self._nudged
            self._update.due = quiet if postponed else min(self._update.due, quiet)
            self._nudged = self._update.due
            self._changed.notify()

    def close(self) -> None:
        """Call off what runs, and end."""
        self._stop.set()
        with self._changed:
            self._changed.notify()
        if self._thread.is_alive():
            self._thread.join()

    @property
    def seconds_to_next(self) -> float:
        """Seconds to the next update; infinite when there is none."""
        return max(0.0, self._update.due - time.monotonic())

    @property
    def problem(self) -> str | None:
        """What the last run failed with, if it did."""
        return self._update.problem or (self._embed.problem if self._embed else None)

    def _loop(self) -> None:
        while not self._stop.is_set():
            jobs = [job for job in (self._update, self._embed) if job]
            job = min(jobs, key=lambda job: job.due)
            with self._changed:
                left = job.due - time.monotonic()
                if left > 0:
                    self._changed.wait(None if math.isinf(left) else left)
                    continue
            job.run(self._stop)
