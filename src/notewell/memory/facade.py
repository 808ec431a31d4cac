"""The one object that programs hold: search, get, refresh, status."""

import time
from collections.abc import Collection
from dataclasses import replace
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from notewell.backends.base import Backend, Listener, Nudged, Query, Run, VectorWork
from notewell.backends.blocking import off_the_loop
from notewell.config import Settings
from notewell.errors import BackendError, BackendUnknown
from notewell.memory.answers import Answering, log_run, switched_off
from notewell.memory.asking import (
    asked_sources,
    closed,
    enabled_sources,
    left_out,
    limit_of,
    nothing_to_ask,
    threshold_of,
)
from notewell.memory.callbacks import (
    MAKE,
    Progress,
    Waiting,
    listening,
    vectors_of,
)
from notewell.memory.opening import Opening, build_once, open_engine, sentences
from notewell.memory.scoping import Hiding
from notewell.scope import ConversationKind
from notewell.types import (
    Document,
    IndexReport,
    ProviderProbe,
    SearchAnswer,
    Source,
    StatusReport,
)
from notewell.workspace import Workspace, get_document, scan

if TYPE_CHECKING:  # most programs only read
    from datetime import datetime

    from notewell.memory.context import SessionContext
    from notewell.memory.remembering import Remembered
    from notewell.memory.writes import FlushControl
    from notewell.watching import Watcher

_INDEX_SECONDS: Final = 2.0
"""How long who wrote something waits for the index at most."""


class Memory:
    """One agent's memory. Made by `open_memory`; safe to share between tasks.

    Attributes:
        settings: Every setting, resolved.
        workspace: The folder of notes.
        policy: What the settings mean for the engine that is configured.
        notices: Sentences for a person, such as which folder was taken.
        session_key: The conversation; None is the owner's own.
        enabled: Whether this agent has a memory to search.
    """

    def __init__(
        self, opening: Opening, *, session_key: str | None, server: bool
    ) -> None:
        self.settings: Settings = opening.settings
        self.workspace: Workspace = opening.workspace
        self.notices = opening.notices
        self.policy = opening.policy
        self._opening = opening
        self.session_key = session_key
        self.enabled = opening.enabled
        self._server = server
        self._backend: Backend | None = None
        self._failure: BackendError | None = None
        self._watcher: Watcher | None = None

    @property
    def agent(self) -> str:
        """The agent's id."""
        return self._opening.agent.id

    async def open(self) -> Self:
        """Open the backend. A backend that cannot start is told in the answers.

        Raises:
            BackendUnknown: no backend has the configured name.
        """
        if not self.enabled:
            return self
        try:
            site = self._opening.site(stays=self._server)
            self._backend = await open_engine(site)
        except BackendUnknown:
            raise
        except BackendError as error:
            self._failure = error
        if self._server and isinstance(self._backend, Nudged):
            from notewell.memory.watching import watched

            self._watcher = watched(self._opening, self._backend)
        return self

    async def search(
        self,
        query: str,
        *,
        max_results: int | None = None,
        min_score: float | None = None,
        sources: Collection[Source] | None = None,
        progress: Progress | None = None,
        waiting: Waiting | None = None,
        listener: Listener | None = None,
    ) -> SearchAnswer:
        """Answer a question from the notes.

        Args:
            query: Words, in any language. No character is syntax.
            max_results: The most results; the configured number by default.
            min_score: Leave out results below, instead of the configured threshold; exact
                words are never left out.
            sources: Where to look; everywhere that is configured by default.
            progress: Told how far the first index is, when there was none yet.
            waiting: Told that another process is building it.
            listener: Hears of both, instead of the two functions.

        Raises:
            ValueError: `max_results` or `min_score` is out of range, or a source
                has an unknown name.
        """
        limit = limit_of(max_results, self._opening.policy.max_results)
        threshold = threshold_of(min_score)
        asked = asked_sources(sources) & enabled_sources(self._opening)
        reason = nothing_to_ask(query, asked, self._opening, self.session_key)
        unsaid = left_out(sources, self._opening)
        if reason:
            why = (
                (self._opening.policy.denied,)
                if reason == "denied-by-scope"
                else unsaid
            )
            return self._answering(query).empty(reason, *why)
        if self._backend is None:
            why = sentences(self._failure)
            return self._answering(query).empty("unavailable", *why)
        built: tuple[str, ...] = ()
        if not self._server:  # which answers from the notes meanwhile
            heard = listener or listening(progress, waiting)
            built = await build_once(self._backend, heard)
        answering = self._answering(query)  # the search begins here
        question = Query(
            text=query,
            limit=limit,
            min_score=threshold,
            sources=asked,
            hides=self.hides,
        )
        try:
            findings = await self._backend.search(question)
        except BackendError as error:
            return answering.empty("unavailable", *built, *sentences(error))
        return answering.found(findings, *built, *unsaid)

    async def get(
        self,
        path: str,
        start: int = 1,
        lines: int | None = None,
        max_chars: int | None = None,
    ) -> Document:
        """Return lines of a note, read from the file as it is now.

        Args:
            path: As in a hit; also with its `#L3-L9`, or a bare name or date.
            start: The first line, counted from 1.
            lines: How many lines; None means up to the end.
            max_chars: The most characters; `next_from` says where to go on.

        Raises:
            PathRefused: not a note of this workspace, or closed in this conversation.
            ValueError: a number is less than 1.
        """
        if not self.enabled:
            return switched_off(path, start)
        return await off_the_loop(
            get_document,
            self.workspace,
            path,
            start=start,
            lines=lines,
            max_chars=max_chars,
            hidden=self.hides,
            left_out=self.leaves_out,
        )

    async def remember(self, text: str, *, long_term: bool = False) -> "Remembered":
        """Append a text to today's log, and make it searchable.

        What stands there already is not repeated. The index is given two seconds.

        Args:
            text: Markdown.
            long_term: To the long-term note instead, `MEMORY.md`.

        Raises:
            UsageError: memory is switched off, or the folder is no place to write to.
            PathRefused: the note is closed in this conversation, or is a link.
            NoteNotWritten: the disk refuses, or somebody else is writing for long.
            ValueError: the text is empty.
        """
        from notewell.memory.writes import remember

        return await remember(
            self._opening,
            text,
            long_term=long_term,
            hides=self.hides,
            index=self._index_now,
        )

    async def session_context(
        self,
        kind: ConversationKind | None = None,
        *,
        max_chars: int | None = None,
        now: "datetime | None" = None,
    ) -> "SessionContext":
        """Return the notes that a session starts with: today's and yesterday's.

        The main private session also gets `USER.md` and `MEMORY.md`.

        Args:
            kind: The conversation; by default what the session key says.
            max_chars: The most characters of notes; by default 12,000.
            now: The moment; by default this one.

        Raises:
            ValueError: `max_chars` is less than 1.
        """
        from notewell.memory.context import session_context

        return await off_the_loop(
            session_context,
            self._opening,
            kind,
            session_key=self.session_key,
            hides=self.hides,
            max_chars=max_chars,
            now=now,
        )

    @cached_property
    def flush(self) -> "FlushControl":
        """The turn before a compaction, in which an agent writes things down."""
        from notewell.memory.writes import FlushControl

        return FlushControl(self._opening, self.session_key, self._index_now)

    async def refresh(
        self,
        *,
        force: bool = False,
        within: float | None = None,
        progress: Progress | None = None,
        waiting: Waiting | None = None,
        vectors: VectorWork | None = MAKE,
        listener: Listener | None = None,
    ) -> IndexReport:
        """Make the index agree with the notes, and make the vectors that are missing.

        Args:
            force: Build everything anew; searches go on meanwhile.
            within: Stop after about this many seconds, at the next note, and make no
                vectors but a few that need no model and no server.
            progress: Told how far the run is.
            waiting: Told that another process has to finish first.
            vectors: Who is told how far the vectors are; None: make none.
            listener: Hears of all of it, instead of the functions.

        Without `within`, a text is finished first whose writer was killed.

        Raises:
            BackendError: the index cannot be written.
        """
        if not self.enabled:
            return IndexReport(files=0, chunks=0, warnings=("Memory is switched off.",))
        if self._backend is None:
            raise self._failure or closed()
        finished = await self._finish_notes() if within is None else ()
        run = Run(
            force=force,
            within=within,
            vectors=vectors_of(vectors, within),
            listener=listener or listening(progress, waiting, vectors),
        )
        report = await self._backend.refresh(run)
        log_run(report)
        half = self._opening.policy.remarks
        return replace(report, warnings=(*finished, *half, *report.warnings))

    def refresh_later(self) -> bool:
        """Let one process go on with the index after this program has ended.

        Returns:
            Whether it was started. It is not where one runs already, with `CI` set, with
            `sync.detach` off, and where the state folder cannot be written.
        """
        from notewell.memory.helper import start_helper

        return self.enabled and start_helper(self._opening)

    async def status(self) -> StatusReport:
        """Compare the notes on disk with the index, counting both now."""
        from notewell.memory.report import status_report

        index = None if self._backend is None else await self._backend.status()
        return status_report(
            self._opening,
            await off_the_loop(scan, self.workspace),
            index,
            backend=self.settings.memory.backend,
            problems=(*sentences(self._failure), *self._unwatched()),
        )

    async def probe_providers(self, *, embed: bool = True) -> tuple[ProviderProbe, ...]:
        """Try each provider of vectors: is what it needs here, does it answer?

        Args:
            embed: Embed one word, for which a model may be loaded.
        """
        from notewell.memory.probing import probe_providers

        return await off_the_loop(probe_providers, self._opening.embedding, embed=embed)

    def seen_from(self, session_key: str | None) -> "Memory":
        """Return this memory as another conversation sees it; only this one is closed."""
        seen = Memory(self._opening, session_key=session_key, server=self._server)
        seen._backend, seen._failure = self._backend, self._failure
        return seen

    @property
    def hides(self) -> Hiding:
        """Says of a path what this conversation may not see, as it is now."""
        return Hiding(
            self.settings.state_dir,
            self.agent,
            self.session_key,
            everything=not self._opening.allows(self.session_key),
        )

    def leaves_out(self, path: str) -> bool:
        """Whether the settings close a path to everybody."""
        return self._opening.policy.leaves_out(self.workspace, path)

    async def close(self) -> None:
        """Release what the backend holds. Calling it twice is harmless."""
        backend, self._backend = self._backend, None
        watcher, self._watcher = self._watcher, None
        self._failure = self._failure or closed()
        if watcher is not None:
            await off_the_loop(watcher.close)
        if backend is not None:
            await backend.close()

    async def __aenter__(self) -> Self:
        return await self.open()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    def _answering(self, query: str) -> Answering:
        return Answering(
            opening=self._opening,
            query=query,
            backend=self.settings.memory.backend,
            started=time.perf_counter(),
        )

    async def _finish_notes(self) -> tuple[str, ...]:
        from notewell.memory.writes import finished_texts

        return await off_the_loop(finished_texts, self._opening)

    def _unwatched(self) -> tuple[str, ...]:
        problem = self._watcher.problem if self._watcher else None
        return (problem,) if problem else ()

    async def _index_now(self) -> IndexReport:
        return await self.refresh(within=_INDEX_SECONDS)
