"""QMD as a Backend: which QMD, which index, and how it is asked.

QMD is driven by asyncio. Reading notes and our own records blocks, and leaves the
event loop by `off_the_loop`, one step of an answer or of a run at a time.
"""

import asyncio
import math
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Self

from notewell.backends.base import (
    Bounds,
    Findings,
    Progress,
    Query,
    Site,
    VectorWork,
    Waiting,
)
from notewell.backends.blocking import InLoop, off_the_loop
from notewell.backends.qmd.answering import Worded, Words
from notewell.backends.qmd.asking import Asking, Budget, Question
from notewell.backends.qmd.audit import file_state
from notewell.backends.qmd.client import REBUILD, Client
from notewell.backends.qmd.contract import BACKEND
from notewell.backends.qmd.copies import Copies
from notewell.backends.qmd.counts import Counts, can_be_cut
from notewell.backends.qmd.home import Home, Record
from notewell.backends.qmd.models import borrow
from notewell.backends.qmd.modes import Answered, Modes
from notewell.backends.qmd.outlook import bounds, not_read, outlook, problem_of
from notewell.backends.qmd.program import Program, child_environment
from notewell.backends.qmd.reading import Names, Reading
from notewell.backends.qmd.remembered import known_program
from notewell.backends.qmd.sayings import Sayings, Speech
from notewell.backends.qmd.vectors import Vectors
from notewell.backends.qmd.words import has_signs, runs_in
from notewell.backends.qmd.writing import Writer
from notewell.backends.schedule import Rhythm, Schedule
from notewell.backends.text.query import Want
from notewell.backends.text.query import read as read_query
from notewell.errors import BackendError, BackendFailed
from notewell.types import FallbackReason, Freshness, IndexReport, IndexStatus

_COUNTED_AT_ONCE: Final = 5_000
"""Notes that are compared with the index while a question is answered."""

_LOOK_AGAIN: Final = 10.0
"""Seconds after which a program that does not stay compares them again."""


class QmdBackend:
    """The external engine QMD. See `notewell.backends.base.Backend`."""

    def __init__(
        self, site: Site, home: Home, program: Program, environ: Mapping[str, str]
    ) -> None:
        """Attach to an index; `environ` is that of its children."""
        self._site = site
        self._home = home
        self._program = program
        self._environ = environ
        self._copies = Copies(site, home)
        self._writer = Writer(site, home, self._copies, program, environ)
        self._vectors = Vectors(site, home, program, environ)
        self._modes = Modes(site, home, program, environ)
        self._reading = Reading(site.workspace, site.agent.search.chunking)
        self._speech = Speech(site.agent.search.chunking)
        self._looked = -math.inf
        self._sound: tuple[Record, tuple[int, ...]] | None = None
        self._asking: tuple[int, Asking] | None = None
        self._kept_up: _KeptUp | None = None

    @classmethod
    async def open(cls, site: Site) -> Self:
        """Find QMD, and attach to its index of the notes of `site`.

        Raises:
            BackendError: it is not there, too old, or cannot run here.
        """
        environ = child_environment(site.environ, offline=site.memory.offline)
        home = Home(site)
        await off_the_loop(home.create)
        if site.memory.qmd.search_mode != "search":
            await off_the_loop(borrow, environ, home.models)
        program = await known_program(site, environ, folder=home.folder)
        backend = cls(site, home, program, environ)
        if site.stays:
            await backend._stay()
        return backend

    @classmethod
    def bounds(cls, site: Site) -> Bounds:
        """Return what was configured to be read and shown; see `Bounded`."""
        return bounds(site)

    async def _stay(self) -> None:
        """Begin to keep the index up to date; maybe after a first time, here and now.

        Raises:
            BackendError: that first time failed.
        """
        settings = self._site.memory.qmd.update
        if settings.on_boot and settings.wait_for_boot_sync:
            await self._writer.refresh()
        update = InLoop(lambda: self._writer.refresh(patient=False))
        embed = InLoop(self._vectors.make) if self._vectors.wanted else None
        rhythm = Rhythm(
            debounce=settings.debounce_ms / 1000,
            interval=settings.interval,
            embed_interval=settings.embed_interval,
            on_boot=settings.on_boot,
        )
        schedule = Schedule(rhythm, update=update, embed=embed)
        self._kept_up = _KeptUp(schedule=schedule, update=update, embed=embed)
        schedule.start()

    async def built(self) -> bool:
        """Whether an index was ever completed, so that searches are answered by it."""
        return (await off_the_loop(self._home.record)).generation > 0

    async def search(self, query: Query) -> Findings:
        """Answer a question from the index as it is.

        Raises:
            BackendError: QMD did not answer.
        """
        # The index may be older than the settings that narrow it.
        query = (await off_the_loop(bounds, self._site)).within(query)
        record = await off_the_loop(self._home.record)
        try:
            return await self._found(query, record)
        except BackendError as error:
            # A writer may have put another index in the place of this one.
            newer = await off_the_loop(self._home.record)
            if newer == record:
                await off_the_loop(self._doubt, record, error)
                raise
            return await self._found(query, newer)

    async def _found(self, query: Query, record: Record) -> Findings:
        asked = read_query(query.text)
        if not asked.wants:
            return Findings(hits=(), mode="search", reason="empty-query")
        if not record.generation or not record.documents:
            missed = await off_the_loop(self._pending, query)
            return Findings(
                hits=(),
                mode="search",
                reason="nothing-indexed",
                freshness=self._freshness(record, False, missed),
            )
        await off_the_loop(self._check, record)
        looking = self._looking(query, record)
        try:
            answered = await self._answered(query, asked.wants, record)
            pending = await looking if looking else None
        finally:
            if looking:
                looking.cancel()
        return await off_the_loop(self._findings, query, record, answered, pending)

    async def _answered(
        self, query: Query, wants: tuple[Want, ...], record: Record
    ) -> Answered:
        budget = Budget(self._site.memory.qmd.limits.timeout_ms / 1000)
        asking = await self._asking_of(record)
        words, question = await off_the_loop(self._words, query, wants, record, asking)
        return await self._modes.answer(words, record, question, budget)

    def _check(self, record: Record) -> None:
        """Make sure that the index is the one that was written; cheap if it is.

        Raises:
            BackendFailed: it is not.
        """
        seen = (record, file_state(self._home.database(record.generation)))
        if seen == self._sound:
            return
        problem = problem_of(self._home, record)
        if problem is not None:
            raise BackendFailed(
                BACKEND, problem.said, reason=problem.reason, remedy=REBUILD
            )
        self._sound = seen

    def _doubt(self, record: Record, error: BackendError) -> None:
        """Let an index that was found damaged be built anew."""
        if isinstance(error, BackendFailed) and error.reason in (
            "corrupt",
            "not-ready",
        ):
            if error.reason == "corrupt":
                self._home.doubt(record.generation)
            self.nudge()

    def _words(
        self, query: Query, wants: tuple[Want, ...], record: Record, asking: Asking
    ) -> tuple[Words, Question]:
        sayings = Sayings(self._copies, self._speech, query, record.collections)
        names = sayings.names
        question = asking.begin(names)
        words = Words(
            self._site,
            query,
            wants,
            asking=question,
            names=self._names(record),
            reading=self._reading,
            sayings=sayings,
            counts=Counts(
                self._home.database(record.generation),
                by_character=self._program.abilities.substrings,
            ),
            documents=sum(record.counts.get(name, 0) for name in names)
            or record.documents,
        )
        return words, question

    def nudge(self, *, changed: bool = True) -> None:
        """Let an update follow soon; see `Nudged`."""
        if self._kept_up:
            self._kept_up.schedule.nudge(changed=changed)

    def _findings(
        self, query: Query, record: Record, answered: Answered, pending: int | None
    ) -> Findings:
        worded = answered.worded
        if worded.stale:
            self.nudge()
        few = record.documents <= _COUNTED_AT_ONCE
        if not worded.hits and pending is None and few:
            pending = self._pending(query)
        stale = worded.stale or record.unfinished
        why = self._copies.problem() if "sessions" in query.sources else None
        return Findings(
            hits=worded.hits,
            mode=answered.mode,
            provider=answered.model and BACKEND,
            model=answered.model,
            fallbacks=answered.steps,
            reason=None if worded.hits else "no-match",
            doubt=self._missed(query.text, worded, record),
            freshness=self._freshness(record, stale, pending),
            warnings=(why,) if why else (),
        )

    async def refresh(
        self,
        *,
        force: bool = False,
        within: float | None = None,
        progress: Progress | None = None,
        waiting: Waiting | None = None,
        vectors: VectorWork | None = None,
    ) -> IndexReport:
        """Make the index agree with the notes."""
        report = await self._writer.refresh(
            force=force, within=within, progress=progress, waiting=waiting
        )
        made = vectors is not None and not vectors.at_once and within is None
        if not made or not self._vectors.wanted:
            return report
        return await self._vectors.report(report)

    async def status(self) -> IndexStatus:
        """Count what the index holds and what it lacks."""
        return await off_the_loop(self._status)

    def _status(self) -> IndexStatus:
        now = outlook(self._site, self._home, self._copies)
        record, well = now.record, now.problem is None
        return IndexStatus(
            location=str(self._home.folder),
            bytes=_size(self._home, record),
            files=len(self._home.notes()) if record.generation and well else 0,
            chunks=record.documents if well else 0,
            pending=now.pending,
            indexed_at=_moment(record.indexed_at),
            last_error=record.last_error,
            identity={"qmd": record.version or self._program.version},
            skipped=(*now.due.skipped, *not_read(record)),
            fallbacks=self._modes.steps_down(record),
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
        if self._kept_up:
            schedule = self._kept_up.schedule
            due = schedule.seconds_to_next
            details["next update"] = f"in {due:.0f} s" if due < 1e9 else "never"
            if schedule.problem:
                details["last update"] = schedule.problem
        return details

    async def close(self) -> None:
        """Stop the schedule and the daemon."""
        if self._kept_up:
            await self._kept_up.close()
        asking, self._asking = self._asking, None
        if asking:
            await asking[1].close()

    async def _asking_of(self, record: Record) -> Asking:
        """Return how the live generation is asked; an older one's daemon is stopped."""
        before = self._asking
        if before and before[0] == record.generation:
            return before[1]
        client = Client(self._program, self._home, self._environ, record.generation)
        asking = Asking(
            client, transport=self._site.memory.qmd.transport, stays=self._site.stays
        )
        self._asking = (record.generation, asking)
        if before:
            await before[1].close()
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

    def _missed(
        self, text: str, worded: Worded, record: Record
    ) -> FallbackReason | None:
        """Say why QMD may have missed what stands in the notes as it is written."""
        runs = runs_in(text)
        whole = self._program.abilities.substrings and all(map(can_be_cut, runs))
        if runs and not (whole and worded.literal):
            return "cjk"
        if not worded.literal and has_signs(text):
            return "syntax"
        return "missing" if record.not_read and not worded.hits else None

    def _looking(self, query: Query, record: Record) -> "asyncio.Task[int] | None":
        """Compare the notes with the index while QMD looks, where nobody watches them."""
        now = time.monotonic()
        if self._kept_up or record.documents > _COUNTED_AT_ONCE:
            return None
        if now - self._looked < _LOOK_AGAIN:
            return None
        self._looked = now
        return asyncio.create_task(off_the_loop(self._pending, query))

    def _pending(self, query: Query) -> int:
        spoken = "sessions" in query.sources
        return outlook(
            self._site, self._home, self._copies, spoken=spoken, thorough=False
        ).pending

    def _freshness(self, record: Record, stale: bool, pending: int | None) -> Freshness:
        """Say how fresh the index is, and not that it is when that was not checked."""
        known = pending is not None
        if self._kept_up:
            stale = stale or self._kept_up.schedule.behind
            known = known or self._site.agent.search.sync.watch
        stale = stale or bool(pending)
        return Freshness(
            indexed_at=_moment(record.indexed_at),
            pending=pending,
            stale=stale if stale or known else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _KeptUp:
    """What keeps an index up to date in a program that stays."""

    schedule: Schedule
    update: InLoop
    embed: InLoop | None

    async def close(self) -> None:
        """Call off what runs, and wait until it has ended."""
        await off_the_loop(self.schedule.close)
        await self.update.ended()
        if self.embed:
            await self.embed.ended()


def _moment(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def _size(home: Home, record: Record) -> int:
    total = 0
    folder = home.database(record.generation).parent
    if record.generation and folder.is_dir():
        for file in folder.glob("index.sqlite*"):
            total += file.stat().st_size
    return total
