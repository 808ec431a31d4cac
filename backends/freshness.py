"""Updates while a program stays: at its start, after changes, and on an interval.

They run in a thread of their own, one at a time. A failure is waited out, longer each
time, and never ends the schedule. Whatever happens how often, most of the time nothing
runs: who is told of changes all the time rests after each run.

Engines that have no schedule get one, and are refreshed by it. An engine may belong to
the event loop in which it was opened, so its runs happen there; only their times are
kept by a thread.
"""

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import ClassVar, Final, Self, TypeAlias

from notewell.backends.base import (
    PLAIN_RUN,
    Backend,
    Findings,
    Query,
    Run,
    Site,
)
from notewell.backends.loops import LoopWork, off_the_loop
from notewell.config import SyncSettings
from notewell.errors import NotewellError
from notewell.log import log
from notewell.types import IndexReport, IndexStatus

Work: TypeAlias = Callable[[threading.Event], object]

_FIRST_PAUSE: Final = 10.0

_LONGEST_PAUSE: Final = 3600.0
"""Seconds after a first failure, and after many."""

_PATIENCE: Final = 10
"""Debounces after which changes that never end are not waited for any longer."""

_REST: Final = 10

_LONGEST_REST: Final = 30.0
"""A rest is so many times as long as the last update took, and at most so many seconds."""

_CLOSING: Final = 5.0
"""Seconds in which a run that was called off may end."""


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
class ScheduledTask:
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
        self._update = ScheduledTask(work=update, interval=rhythm.interval)
        self._embed = (
            ScheduledTask(work=embed, interval=rhythm.embed_interval) if embed else None
        )
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

    def refresh_soon(self, *, changed: bool = False) -> None:
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

    def _run(self, job: ScheduledTask) -> None:
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


class ScheduledBackend:
    """A backend with a rhythm that is not its own. See `Backend` and `KeepsFresh`.

    Attributes:
        engine: The engine that is kept up to date.
    """

    engine: ClassVar[type[Backend]]

    def __init__(self, backend: Backend, site: Site) -> None:
        self._backend = backend
        self._run = LoopWork(lambda: backend.refresh(Run(vectors="all")))
        settings = site.agent.search.sync
        self._on_search = settings.on_search
        self._schedule = Schedule(Rhythm.of(settings), update=self._run)
        self._schedule.start()

    @classmethod
    async def open(cls, site: Site) -> Self:
        """Open the engine, and begin to keep it up to date."""
        return cls(await cls.engine.open(site), site)

    async def built(self) -> bool:
        """Whether an index was ever completed."""
        return await self._backend.built()

    async def refresh(self, run: Run = PLAIN_RUN) -> IndexReport:
        """Make the index agree with the files."""
        return await self._backend.refresh(run)

    async def search(self, query: Query) -> Findings:
        """Return at most `query.limit` hits, and let a run follow."""
        behind, busy = self._schedule.behind, self._schedule.busy
        found = await self._backend.search(query)
        outdated = found.freshness.stale or bool(found.freshness.pending)
        if not busy and (outdated or self._on_search):
            self.refresh_soon(changed=outdated)
        if not behind:
            return found
        return replace(found, freshness=replace(found.freshness, stale=True))

    async def status(self) -> IndexStatus:
        """Count what the index holds, and say how the last run went."""
        status, problem = await self._backend.status(), self._schedule.problem
        if problem is None:
            return status
        return replace(status, warnings=(*status.warnings, f"The last run: {problem}"))

    def refresh_soon(self, *, changed: bool = True) -> None:
        """Say that the index should be brought up to date."""
        self._schedule.refresh_soon(changed=changed)

    async def close(self) -> None:
        """Call off what runs, and close the backend."""
        await off_the_loop(self._schedule.close, _CLOSING)
        await self._run.ended(_CLOSING)
        await self._backend.close()


def scheduled(engine: type[Backend]) -> "type[ScheduledBackend]":
    """Return an engine that is like another one and keeps its index up to date."""
    return type(f"KeptUp{engine.__name__}", (ScheduledBackend,), {"engine": engine})


def _or_never(seconds: float) -> float:
    return seconds or math.inf
