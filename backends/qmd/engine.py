"""The engine without an event loop: which QMD, which index, and how it is asked."""

import threading
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from notewell.backends.base import Findings, Progress, Query, Site, Waiting
from notewell.backends.qmd.answering import Words
from notewell.backends.qmd.asking import Asking, Budget
from notewell.backends.qmd.client import Client
from notewell.backends.qmd.contract import BACKEND
from notewell.backends.qmd.copies import Copies
from notewell.backends.qmd.home import Home, Record
from notewell.backends.qmd.modes import Answered, Modes
from notewell.backends.qmd.outlook import bounds, not_read, outlook
from notewell.backends.qmd.program import child_environment
from notewell.backends.qmd.reading import Names, Reading
from notewell.backends.qmd.remembered import known_program
from notewell.backends.qmd.sayings import Sayings, Speech
from notewell.backends.qmd.vectors import Vectors
from notewell.backends.qmd.words import has_runs, has_signs
from notewell.backends.qmd.writing import Writer
from notewell.backends.schedule import Rhythm, Schedule
from notewell.backends.text.query import read as read_query
from notewell.errors import BackendError
from notewell.types import FallbackReason, Freshness, IndexReport, IndexStatus

_COUNTED_AT_ONCE = 5_000
"""Notes that are compared with the index before an empty answer is given."""


class Engine:
    """QMD on one workspace. Safe to share between threads."""

    def __init__(self, site: Site) -> None:
        """Find the program.

        Raises:
            BackendError: it is not there, too old, or cannot run here.
        """
        self._site = site
        self._environ = child_environment(site.environ)
        self._home = Home(site)
        self._home.create()
        self._program = known_program(site, self._environ, folder=self._home.folder)
        self._copies = Copies(site, self._home)
        self._writer = Writer(
            site, self._home, self._copies, self._program, self._environ
        )
        self._vectors = Vectors(site, self._home, self._program, self._environ)
        self._modes = Modes(site, self._home, self._program, self._environ)
        self._reading = Reading(site.workspace, site.agent.search.chunking)
        self._speech = Speech(site.agent.search.chunking)
        self._lock = threading.Lock()
        self._asking: tuple[int, Asking] | None = None
        self._schedule = self._scheduled() if site.stays else None

    def _scheduled(self) -> Schedule:
        """Begin to keep the index up to date; maybe after a first time, here and now.

        Raises:
            BackendError: that first time failed.
        """
        settings = self._site.memory.qmd.update
        if settings.on_boot and settings.wait_for_boot_sync:
            self._writer.refresh()
        schedule = Schedule(
            Rhythm(
                debounce=settings.debounce_ms / 1000,
                interval=settings.interval,
                embed_interval=settings.embed_interval,
                on_boot=settings.on_boot,
            ),
            update=lambda stop: self._writer.refresh(stop=stop, patient=False),
            embed=self._vectors.make if self._vectors.wanted else None,
        )
        schedule.start()
        return schedule

    def built(self) -> bool:
        """Say whether an index was ever completed."""
        return self._home.record().generation > 0

    def search(self, query: Query, stop: threading.Event | None = None) -> Findings:
        """Answer a question from the index as it is.

        Raises:
            BackendError: QMD did not answer.
        """
        # The index may be older than the settings that narrow it.
        query = bounds(self._site).within(query)
        record = self._home.record()
        try:
            return self._found(query, record, stop)
        except BackendError:
            # A writer may have put another generation in the place of this one.
            newer = self._home.record()
            if newer.generation == record.generation:
                raise
            return self._found(query, newer, stop)

    def _found(
        self, query: Query, record: Record, stop: threading.Event | None
    ) -> Findings:
        asked = read_query(query.text)
        if not asked.wants:
            return Findings(hits=(), mode="search", reason="empty-query")
        if not record.generation or not record.documents:
            return Findings(
                hits=(),
                mode="search",
                reason="nothing-indexed",
                freshness=self._freshness(record, stale=False),
            )
        budget = Budget(self._site.memory.qmd.limits.timeout_ms / 1000, stop)
        sayings = Sayings(self._copies, self._speech, query, record.collections)
        names = sayings.names
        asking = self._asking_of(record).begin(names)
        words = Words(
            self._site,
            query,
            asked.wants,
            asking=asking,
            names=self._names(record),
            reading=self._reading,
            sayings=sayings,
            documents=sum(record.counts.get(name, 0) for name in names)
            or record.documents,
        )
        answered = self._modes.answer(words, record, asking, budget)
        return self._findings(query, record, answered)

    def nudge(self, *, changed: bool = True) -> None:
        """Let an update follow soon; see `Nudged`."""
        if self._schedule:
            self._schedule.nudge(changed=changed)

    def _findings(self, query: Query, record: Record, answered: Answered) -> Findings:
        worded = answered.worded
        if worded.stale:
            self.nudge()
        behind = self._schedule is not None and self._schedule.behind
        stale = worded.stale or record.unfinished or behind
        why = self._copies.problem() if "sessions" in query.sources else None
        return Findings(
            hits=worded.hits,
            mode=answered.mode,
            provider=answered.model and BACKEND,
            model=answered.model,
            fallbacks=answered.steps,
            reason=None if worded.hits else "no-match",
            doubt=None if worded.literal else _doubt(query.text),
            freshness=self._freshness(
                record, stale=stale, empty=None if worded.hits else query
            ),
            warnings=(why,) if why else (),
        )

    def refresh(
        self,
        *,
        force: bool,
        within: float | None,
        progress: Progress | None,
        waiting: Waiting | None,
        vectors: bool,
        stop: threading.Event | None = None,
    ) -> IndexReport:
        """Make the index agree with the notes; see `Backend.refresh`."""
        report = self._writer.refresh(
            force=force, within=within, progress=progress, waiting=waiting, stop=stop
        )
        if not vectors or within is not None or not self._vectors.wanted:
            return report
        return self._vectors.report(report, stop)

    def status(self) -> IndexStatus:
        """Count what the index holds and what it lacks."""
        now = outlook(self._site, self._home, self._copies)
        record = now.record
        return IndexStatus(
            location=str(self._home.folder),
            bytes=_size(self._home, record),
            files=len(self._home.notes()) if record.generation else 0,
            chunks=record.documents,
            pending=now.pending,
            indexed_at=_moment(record.indexed_at),
            last_error=record.last_error,
            identity={"qmd": record.version or self._program.version},
            skipped=(*now.due.skipped, *not_read(record)),
            warnings=now.warnings,
            details=self._details(record),
        )

    def _details(self, record: Record) -> dict[str, str]:
        """Say what a person may want to know of the program and its index."""
        program, qmd = self._program, self._site.memory.qmd
        details = {
            "program": f"{program.path}, version {program.version}",
            "runs as": " ".join(program.command),
            "mode": qmd.search_mode,
        }
        counted = ", ".join(
            f"{name} {record.counts.get(name, 0):,}"
            for name in (each.name for each in record.collections)
        )
        if counted:
            details["collections"] = counted
        if self._copies.wanted:
            details["transcripts"] = self._copies.said()
        if self._vectors.wanted:
            left, when = record.pending_vectors, _moment(record.embedded_at)
            details["vectors"] = (
                f"{'?' if left is None else left} documents to embed, last run "
                f"{'never' if when is None else f'{when:%Y-%m-%d %H:%M}'}"
            )
        asking = self._asking
        daemon = asking[1].daemon if asking else None
        if daemon and daemon.pid:
            details["daemon"] = f"process {daemon.pid}"
        if self._schedule:
            due = self._schedule.seconds_to_next
            details["next update"] = f"in {due:.0f} s" if due < 1e9 else "never"
            if self._schedule.problem:
                details["last update"] = self._schedule.problem
        return details

    def close(self) -> None:
        """Stop the schedule and the daemon."""
        if self._schedule:
            self._schedule.close()
        with self._lock:
            asking, self._asking = self._asking, None
        if asking:
            asking[1].close()

    def _asking_of(self, record: Record) -> Asking:
        """Return how the live generation is asked; an older one's daemon is stopped."""
        with self._lock:
            before = self._asking
            if before and before[0] == record.generation:
                return before[1]
            client = Client(self._program, self._home, self._environ, record.generation)
            asking = Asking(
                client,
                transport=self._site.memory.qmd.transport,
                stays=self._site.stays,
            )
            self._asking = (record.generation, asking)
        if before:
            before[1].close()
        return asking

    def _names(self, record: Record) -> Names:
        notes: Mapping[str, object] | None = None

        def known() -> Iterable[str]:
            nonlocal notes
            notes = self._home.notes() if notes is None else notes
            return notes

        return Names(
            self._site.workspace,
            [each for each in record.collections if not each.spoken],
            literal=self._program.abilities.literal_paths,
            notes=known,
        )

    def _freshness(
        self, record: Record, *, stale: bool, empty: Query | None = None
    ) -> Freshness:
        """Say how fresh the index is; few notes are counted for an empty answer."""
        indexed_at = _moment(record.indexed_at)
        if empty is None or record.documents > _COUNTED_AT_ONCE:
            return Freshness(indexed_at=indexed_at, stale=stale)
        spoken = "sessions" in empty.sources
        pending = outlook(self._site, self._home, self._copies, spoken=spoken).pending
        return Freshness(
            indexed_at=indexed_at, pending=pending, stale=stale or pending > 0
        )


def _doubt(text: str) -> FallbackReason | None:
    """Say why QMD may not know the words of a query as they are written."""
    if has_runs(text):
        return "cjk"
    return "syntax" if has_signs(text) else None


def _moment(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def _size(home: Home, record: Record) -> int:
    total = 0
    folder = home.database(record.generation).parent
    if record.generation and folder.is_dir():
        for file in folder.glob("index.sqlite*"):
            total += file.stat().st_size
    return total
