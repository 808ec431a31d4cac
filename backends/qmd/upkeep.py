"""How fresh QMD's index is, who keeps it so in a program that stays, and its `status`."""

import asyncio
import math
import time
from datetime import UTC, datetime
from typing import Final

from notewell.backends.base import Query, Site
from notewell.backends.freshness import Rhythm, Schedule
from notewell.backends.loops import LoopWork, off_the_loop
from notewell.backends.qmd.drift import Drift, measure_drift, skipped_notes
from notewell.backends.qmd.home import IndexRecord, QmdHome
from notewell.backends.qmd.index import QmdVectors, QmdWriter
from notewell.backends.qmd.program import Program
from notewell.backends.qmd.transcripts import TranscriptCopies
from notewell.types import Fallback, Freshness, IndexStatus

COUNTED_AT_ONCE: Final = 5_000
"""Notes that are compared with the index while a question is answered."""

_LOOK_AGAIN: Final = 10.0
"""Seconds after which a program that does not stay compares them again."""


class QmdUpkeep:
    """Compares the notes with the index, and updates it on a schedule once begun."""

    def __init__(
        self,
        site: Site,
        home: QmdHome,
        copies: TranscriptCopies,
        writer: QmdWriter,
        vectors: QmdVectors,
        *,
        version: str,
    ) -> None:
        """Look after the index of a home; `version` is that of the QMD that is here."""
        self._site = site
        self._version = version
        self._home = home
        self._copies = copies
        self._writer = writer
        self._update = LoopWork(lambda: writer.refresh(patient=False))
        self._embed = LoopWork(vectors.make) if vectors.wanted else None
        self._schedule: Schedule | None = None
        self._looked = -math.inf

    async def begin(self) -> None:
        """Start the schedule; with `waitForBootSync`, after an update here and now.

        Raises:
            BackendError: that first time failed.
        """
        settings = self._site.memory.qmd.update
        if settings.on_boot and settings.wait_for_boot_sync:
            await self._writer.refresh()
        rhythm = Rhythm(
            debounce=settings.debounce_ms / 1000,
            interval=settings.interval,
            embed_interval=settings.embed_interval,
            on_boot=settings.on_boot,
        )
        self._schedule = Schedule(rhythm, update=self._update, embed=self._embed)
        self._schedule.start()

    def refresh_soon(self, *, changed: bool) -> None:
        """Let an update follow soon; see `KeepsFresh`."""
        if self._schedule:
            self._schedule.refresh_soon(changed=changed)

    def count_in_background(
        self, query: Query, record: IndexRecord
    ) -> "asyncio.Task[int | None] | None":
        """Start to count pending files beside a search, if no schedule does."""
        now = time.monotonic()
        if self._schedule or record.documents > COUNTED_AT_ONCE:
            return None
        if now - self._looked < _LOOK_AGAIN:
            return None
        self._looked = now
        return asyncio.create_task(off_the_loop(self.pending, query))

    def pending(self, query: Query) -> int | None:
        """Count the files that the index lacks, among those that a question is put to.

        None if it lacks none but another QMD wrote it, which has to write it anew.
        """
        spoken = "sessions" in query.sources
        now = measure_drift(
            self._site, self._home, self._copies, spoken=spoken, thorough=False
        )
        same = now.record.version in ("", self._version)
        return now.pending if same or now.pending else None

    def freshness(
        self, record: IndexRecord, stale: bool, pending: int | None
    ) -> Freshness:
        """Say how fresh the index is; unknown stays None."""
        known = pending is not None
        if self._schedule:
            stale = stale or self._schedule.behind
            known = known or self._site.agent.search.sync.watch
        stale = stale or bool(pending)
        return Freshness(
            indexed_at=utc_time(record.indexed_at),
            pending=pending,
            stale=stale if stale or known else None,
        )

    def details(self) -> dict[str, str]:
        """Say for a person when the next run is, and what became of the last one."""
        if self._schedule is None:
            return {}
        due = self._schedule.seconds_to_next
        details = {"next update": f"in {due:.0f} s" if due < 1e9 else "never"}
        if self._schedule.problem:
            details["last update"] = self._schedule.problem
        return details

    async def close(self) -> None:
        """Cancel what runs, and wait for its end."""
        if self._schedule is None:
            return
        await off_the_loop(self._schedule.close)
        await self._update.ended()
        if self._embed:
            await self._embed.ended()


def status_of(
    now: Drift,
    home: QmdHome,
    program: Program,
    *,
    fallbacks: tuple[Fallback, ...],
    details: dict[str, str],
) -> IndexStatus:
    """Count what the index holds and what it lacks.

    Args:
        now: The notes and what the index knows of them.
        home: Where the index is.
        program: Which QMD it is.
        fallbacks: The steps down that a search takes.
        details: What else a person may want to know.
    """
    record, well = now.record, now.problem is None
    return IndexStatus(
        location=str(home.folder),
        bytes=_size(home, record),
        files=len(home.notes()) if record.generation and well else 0,
        chunks=record.documents if well else 0,
        pending=now.pending,
        gone=now.gone,
        indexed_at=utc_time(record.indexed_at),
        last_error=record.last_error,
        identity={"qmd": record.version or program.version},
        skipped=(*now.transcripts.skipped, *skipped_notes(record)),
        fallbacks=fallbacks,
        warnings=now.warnings,
        details=details,
    )


def details_of(
    record: IndexRecord,
    site: Site,
    program: Program,
    copies: TranscriptCopies,
    vectors: QmdVectors,
) -> dict[str, str]:
    """Say what a person may want to know of the program and its index."""
    details = {
        "program": f"{program.path}, version {program.version}",
        "runs as": " ".join(program.command),
        "mode": site.memory.qmd.search_mode,
    }
    counted = ", ".join(
        f"{name} {record.counts.get(name, 0):,}"
        for name in (each.name for each in record.collections)
    )
    if counted:
        details["collections"] = counted
    if copies.wanted:
        details["transcripts"] = copies.said()
    if vectors.wanted:
        left, when = record.pending_vectors, utc_time(record.embedded_at)
        details["vectors"] = (
            f"{'?' if left is None else left} documents to embed, last run "
            f"{'never' if when is None else f'{when:%Y-%m-%d %H:%M}'}"
        )
    return details


def utc_time(seconds: float | None) -> datetime | None:
    """Return a time of the record, if there is one."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def _size(home: QmdHome, record: IndexRecord) -> int:
    total = 0
    folder = home.database(record.generation).parent
    if record.generation and folder.is_dir():
        for file in folder.glob("index.sqlite*"):
            total += file.stat().st_size
    return total
