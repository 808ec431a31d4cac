"""QMD as a Backend: which QMD, which index, and how it is asked.

QMD is driven by asyncio. Reading notes and our own records blocks, and leaves the
event loop by `off_the_loop`, one step of an answer or of a run at a time.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Self

from notewell.backends.base import (
    PLAIN_RUN,
    Bounds,
    Findings,
    Query,
    Run,
    Site,
)
from notewell.backends.loops import off_the_loop
from notewell.backends.qmd.client import (
    REBUILD,
    Deadline,
    QmdClient,
    Searcher,
)
from notewell.backends.qmd.drift import (
    database_state,
    index_problem,
    measure_drift,
    search_bounds,
)
from notewell.backends.qmd.home import IndexRecord, QmdHome, link_models_of_user
from notewell.backends.qmd.index import QmdVectors, QmdWriter
from notewell.backends.qmd.keywords import (
    DocumentFrequencies,
    KeywordHits,
    KeywordSearch,
    has_signs,
    matches_substrings,
    unspaced_runs,
)
from notewell.backends.qmd.paths import NotePassages, NotePaths
from notewell.backends.qmd.policy import QmdPolicy
from notewell.backends.qmd.program import (
    BACKEND,
    Program,
    child_environment,
    known_program,
)
from notewell.backends.qmd.search import ModeAnswer, SearchModes
from notewell.backends.qmd.transcripts import (
    TranscriptCache,
    TranscriptCopies,
    TranscriptPassages,
)
from notewell.backends.qmd.upkeep import (
    COUNTED_AT_ONCE,
    QmdUpkeep,
    details_of,
    status_of,
)
from notewell.backends.text.query import (
    QueryTerm,
    filter_test_of,
    parse_query,
    wants_newest,
)
from notewell.errors import BackendError, BackendFailed
from notewell.types import FallbackReason, IndexReport, IndexStatus

if TYPE_CHECKING:
    from notewell.backends.qmd.filtering import ChosenNotes


class QmdBackend:
    """The external engine QMD. See `notewell.backends.base.Backend`."""

    policy = QmdPolicy

    def __init__(
        self, site: Site, home: QmdHome, program: Program, environ: Mapping[str, str]
    ) -> None:
        """Attach to an index; `environ` is that of its children."""
        self._site = site
        self._home = home
        self._program = program
        self._environ = environ
        self._copies = TranscriptCopies(site, home)
        self._writer = QmdWriter(site, home, self._copies, program, environ)
        self._vectors = QmdVectors(site, home, program, environ)
        self._modes = SearchModes(site, home, program, environ)
        self._notes = NotePassages(site.workspace, site.agent.search.chunking)
        self._transcript_cache = TranscriptCache(site.agent.search.chunking)
        self._checked: tuple[IndexRecord, tuple[int, ...]] | None = None
        self._searcher: tuple[int, Searcher] | None = None
        self._upkeep = QmdUpkeep(
            site,
            home,
            self._copies,
            self._writer,
            self._vectors,
            version=program.version,
        )

    @classmethod
    async def open(cls, site: Site) -> Self:
        """Find QMD, and attach to its index of the notes of `site`.

        Raises:
            BackendError: it is not there, too old, or cannot run here.
        """
        environ = child_environment(site.environ, offline=site.memory.offline)
        home = QmdHome(site)
        await off_the_loop(home.create)
        if site.memory.qmd.search_mode != "search":
            await off_the_loop(link_models_of_user, environ, home.models)
        program = await known_program(site, environ, folder=home.folder)
        backend = cls(site, home, program, environ)
        if site.stays:
            await backend._upkeep.begin()
        return backend

    @classmethod
    def bounds(cls, site: Site) -> Bounds:
        """Return what was configured to be read and shown; see `HasBounds`."""
        return search_bounds(site)

    async def built(self) -> bool:
        """Whether an index was ever completed, so that searches are answered by it."""
        return (await off_the_loop(self._home.record)).generation > 0

    async def search(self, query: Query) -> Findings:
        """Answer a question from the index as it is.

        Raises:
            BackendError: QMD did not answer.
        """
        # The index may be older than the settings that narrow it.
        query = (await off_the_loop(search_bounds, self._site)).within(query)
        record = await off_the_loop(self._home.record)
        try:
            return await self._search(query, record)
        except BackendError as error:
            # A writer may have put another index in the place of this one.
            newer = await off_the_loop(self._home.record)
            if newer == record:
                await off_the_loop(self._mark_damaged, record, error)
                raise
            return await self._search(query, newer)

    async def _search(self, query: Query, record: IndexRecord) -> Findings:
        parsed, newest = parse_query(query.text), wants_newest(query)
        if not parsed.terms and not newest:
            return Findings(hits=(), mode="search", reason="empty-query")
        if not record.generation or not record.documents:
            missed = await off_the_loop(self._upkeep.pending, query)
            return Findings(
                hits=(),
                mode="search",
                reason="nothing-indexed",
                freshness=self._upkeep.freshness(record, False, missed),
            )
        if newest:
            return await off_the_loop(self._newest, query, record)
        await off_the_loop(self._check, record)
        counting = self._upkeep.count_in_background(query, record)
        try:
            deadline = Deadline(self._site.memory.qmd.limits.timeout_ms / 1000)
            searcher = await self._searcher_of(record)
            words = await off_the_loop(
                self._keyword_search, query, parsed.terms, record, searcher
            )
            answered = await self._modes.answer(words, record, deadline)
            pending = await counting if counting else None
        finally:
            if counting:
                counting.cancel()
        found = await off_the_loop(self._findings, query, record, answered, pending)
        if words.chosen is None:
            return found
        told = await off_the_loop(words.chosen.warnings, found.hits, deadline)
        return replace(found, warnings=(*found.warnings, *told))

    def _newest(self, query: Query, record: IndexRecord) -> Findings:
        """Return what a filter lets pass, the newest first; QMD has no say in it."""
        deadline = Deadline(self._site.memory.qmd.limits.timeout_ms / 1000)
        transcripts = TranscriptPassages(
            self._copies, self._transcript_cache, query, record.collections
        )
        chosen = self._chosen(query, self._names(record), transcripts)
        assert chosen is not None, "the caller has seen that there is a filter"
        hits = chosen.newest(deadline)
        return Findings(
            hits=hits,
            mode="search",
            reason=None if hits else "no-match",
            freshness=self._upkeep.freshness(record, record.unfinished, None),
            warnings=chosen.warnings(hits, deadline),
        )

    def _chosen(
        self, query: Query, names: NotePaths, transcripts: TranscriptPassages
    ) -> "ChosenNotes | None":
        test = filter_test_of(query)
        if test is None:
            return None
        from notewell.backends.qmd.filtering import ChosenNotes  # most have none

        return ChosenNotes(
            query, test, names=names, notes=self._notes, transcripts=transcripts
        )

    def _check(self, record: IndexRecord) -> None:
        """Make sure that the index is the one that was written; cheap if it is.

        Raises:
            BackendFailed: it is not.
        """
        seen = (record, database_state(self._home.database(record.generation)))
        if seen == self._checked:
            return
        problem = index_problem(self._home, record)
        if problem is not None:
            raise BackendFailed(
                BACKEND, problem.said, reason=problem.reason, remedy=REBUILD
            )
        self._checked = seen

    def _mark_damaged(self, record: IndexRecord, error: BackendError) -> None:
        """Mark an index as damaged, and let it be built anew soon."""
        if isinstance(error, BackendFailed) and error.reason in (
            "corrupt",
            "not-ready",
        ):
            if error.reason == "corrupt":
                self._home.doubt(record.generation)
            self.refresh_soon()

    def _keyword_search(
        self,
        query: Query,
        query_terms: tuple[QueryTerm, ...],
        record: IndexRecord,
        searcher: Searcher,
    ) -> KeywordSearch:
        transcripts = TranscriptPassages(
            self._copies, self._transcript_cache, query, record.collections
        )
        paths = self._names(record)
        chosen = self._chosen(query, paths, transcripts)
        names: Sequence[str] = transcripts.names
        if chosen is not None:
            names = chosen.collections(names)
        searcher.begin()
        return KeywordSearch(
            self._site,
            query,
            query_terms,
            searcher=searcher,
            collections=names,
            names=paths,
            notes=self._notes,
            transcripts=transcripts,
            chosen=chosen,
            counts=DocumentFrequencies(
                self._home.database(record.generation),
                by_character=self._program.abilities.substrings,
            ),
            documents=sum(record.counts.get(name, 0) for name in names)
            or record.documents,
        )

    def refresh_soon(self, *, changed: bool = True) -> None:
        """Let an update follow soon; see `KeepsFresh`."""
        self._upkeep.refresh_soon(changed=changed)

    def _findings(
        self,
        query: Query,
        record: IndexRecord,
        answered: ModeAnswer,
        pending: int | None,
    ) -> Findings:
        found = answered.found
        if found.stale:
            self.refresh_soon()
        few = record.documents <= COUNTED_AT_ONCE
        if not found.hits and pending is None and few:
            pending = self._upkeep.pending(query)
        stale = found.stale or record.unfinished
        why = self._copies.problem() if "sessions" in query.sources else None
        return Findings(
            hits=found.hits,
            mode=answered.mode,
            provider=answered.model and BACKEND,
            model=answered.model,
            fallbacks=answered.steps,
            reason=None if found.hits else "no-match",
            doubt=self._reason_to_doubt(query.text, found, record),
            freshness=self._upkeep.freshness(record, stale, pending),
            warnings=(why,) if why else (),
        )

    async def refresh(self, run: Run = PLAIN_RUN) -> IndexReport:
        """Make the index agree with the notes."""
        report = await self._writer.refresh(run)
        made = run.vectors == "all" and run.within is None
        if not made or not self._vectors.wanted:
            return report
        return await self._vectors.report(report)

    async def status(self) -> IndexStatus:
        """Count what the index holds and what it lacks."""
        return await off_the_loop(self._status)

    def _status(self) -> IndexStatus:
        now = measure_drift(self._site, self._home, self._copies)
        details = details_of(
            now.record, self._site, self._program, self._copies, self._vectors
        )
        daemon = self._searcher[1].daemon if self._searcher else None
        if daemon and daemon.pid:
            details["daemon"] = f"process {daemon.pid}"
        details.update(self._upkeep.details())
        return status_of(
            now,
            self._home,
            self._program,
            fallbacks=self._modes.steps_down(now.record),
            details=details,
        )

    async def close(self) -> None:
        """Stop the schedule and the daemon."""
        await self._upkeep.close()
        searcher, self._searcher = self._searcher, None
        if searcher:
            await searcher[1].close()

    async def _searcher_of(self, record: IndexRecord) -> Searcher:
        """Return the searcher of the live generation; the one before is closed."""
        before = self._searcher
        if before and before[0] == record.generation:
            return before[1]
        client = QmdClient(self._program, self._home, self._environ, record.generation)
        searcher = Searcher(
            client, transport=self._site.memory.qmd.transport, stays=self._site.stays
        )
        self._searcher = (record.generation, searcher)
        if before:
            await before[1].close()
        return searcher

    def _names(self, record: IndexRecord) -> NotePaths:
        notes: Mapping[str, object] | None = None

        def known() -> Iterable[str]:
            nonlocal notes
            notes = self._home.notes() if notes is None else notes
            return notes

        return NotePaths(
            self._site.workspace,
            [each for each in record.collections if not each.spoken],
            literal=self._program.abilities.literal_paths,
            notes=known,
        )

    def _reason_to_doubt(
        self, text: str, found: KeywordHits, record: IndexRecord
    ) -> FallbackReason | None:
        """Say why QMD may have missed a literal match, or None."""
        runs = unspaced_runs(text)
        whole = self._program.abilities.substrings and all(
            map(matches_substrings, runs)
        )
        if runs and not (whole and found.literal):
            return "cjk"
        if not found.literal and has_signs(text):
            return "syntax"
        return "missing" if record.not_read and not found.hits else None
