"""The one object that programs hold: search, get, refresh, status; and opening one."""

import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final, Literal, Self

from notewell.backends.base import Backend, KeepsFresh, Listener, Run, VectorWork
from notewell.backends.loops import off_the_loop
from notewell.backends.registry import require_known
from notewell.config import Settings
from notewell.errors import BackendError
from notewell.memory.answers import (
    MAKE,
    AnswerBuilder,
    Progress,
    Waiting,
    ask,
    check_query,
    disabled_document,
    listener_of,
    log_run,
    question_dates,
    vectors_of,
)
from notewell.memory.reading import read_document, read_documents
from notewell.memory.setup import (
    HiddenPaths,
    LazyEngine,
    Setup,
    build_once,
    sentences,
    set_up,
)
from notewell.note_links import NoteLinks
from notewell.scope import ConversationKind
from notewell.types import (
    Document,
    IndexReport,
    ProviderProbe,
    SearchAnswer,
    Source,
    StatusReport,
    Understood,
)
from notewell.workspace import Workspace, scan
from notewell.zones import moment_in

if TYPE_CHECKING:
    from datetime import date, datetime

    from notewell.filters import Filter
    from notewell.memory.context import SessionContext
    from notewell.memory.flush import FlushControl
    from notewell.memory.remember import Remembered
    from notewell.watching import Watcher

_INDEX_SECONDS: Final = 2.0
"""How long who wrote something waits for the index at most."""


def open_memory(
    *,
    workspace: Path | str | None = None,
    agent: str | None = None,
    config: Path | str | None = None,
    backend: str | None = None,
    session_key: str | None = None,
    server: bool = False,
    environ: Mapping[str, str] | None = None,
    overrides: Mapping[str, object] = {},
) -> "Memory":
    """Open an agent's memory: `async with open_memory(...) as memory`.

    Args:
        workspace: The folder of notes; by default the configured one.
        agent: The agent's id; by default the default agent.
        config: The configuration file; by default OpenClaw's.
        backend: The engine, instead of the configured one.
        session_key: The conversation; group chats do not see personal notes.
        server: The program stays: the first answer does not wait for an index.
        environ: The environment to read; by default the process's own.
        overrides: Settings that beat the file, by their full key.

    Raises:
        ConfigError: a setting makes no sense.
        UsageError: there is no such agent or workspace.
    """
    setup = set_up(
        workspace=workspace,
        agent=agent,
        config=config,
        backend=backend,
        server=server,
        environ=environ,
        overrides=overrides,
    )
    return Memory(setup, session_key=session_key, server=server)


class Memory:
    """One agent's memory. Made by `open_memory`; safe to share between tasks.

    Attributes:
        setup: What it was opened with.
        settings: Every setting, resolved.
        workspace: The folder of notes.
        policy: What the settings mean for the engine that is configured.
        notices: Sentences for a person, such as which folder was taken.
        session_key: The conversation; None is the owner's own.
        enabled: Whether this agent has a memory to search.
        server: The program stays, so that no answer waits for an index.
    """

    def __init__(self, setup: Setup, *, session_key: str | None, server: bool) -> None:
        self.settings: Settings = setup.settings
        self.workspace: Workspace = setup.workspace
        self.notices = setup.notices
        self.policy = setup.policy
        self.session_key = session_key
        self.enabled = setup.enabled
        self.server = server
        self.setup = setup
        self._engine = LazyEngine(setup, stays=server)
        self._watcher: Watcher | None = None

    @property
    def opened(self) -> bool:
        """Whether the engine was needed by now."""
        return self._engine.begun

    @property
    def agent(self) -> str:
        """The agent's id."""
        return self.setup.agent.id

    async def open(self) -> Self:
        """Begin; an engine is opened when it is first needed, at once in a server.

        One that cannot start is told in the answers.

        Raises:
            BackendUnknown: no backend has the configured name.
        """
        if not self.enabled:
            return self
        require_known(self.settings.memory.backend)
        if self.server:
            with suppress(BackendError):
                await self._watch(await self._engine.get())
        return self

    @property
    def today(self) -> "date":
        """The day on the user's calendar."""
        return moment_in(self.settings.user_timezone).date()

    async def search(
        self,
        query: str,
        *,
        max_results: int | None = None,
        min_score: float | None = None,
        sources: Collection[Source] | None = None,
        filter: "Filter | None" = None,
        progress: Progress | None = None,
        waiting: Waiting | None = None,
        listener: Listener | None = None,
        now: "datetime | None" = None,
    ) -> SearchAnswer:
        """Answer a question from the notes.

        Args:
            query: Words, in any language. No character is syntax.
            max_results: The most results; the configured number by default.
            min_score: Leave out results below, instead of the configured threshold; exact
                words are never left out.
            sources: Where to look; everywhere that is configured by default.
            filter: Which passages are wanted; the best are chosen among these. With an
                empty `query` they are the answer, the newest first.
            progress: Told how far the first index is, when there was none yet.
            waiting: Told that another process is building it.
            listener: Hears of both, instead of the two functions.
            now: The moment of the question, from which `yesterday` is told; by default
                this one.

        Raises:
            ValueError: `max_results` or `min_score` is out of range, or a source
                has an unknown name.
            UsageError: the filter wants another source than `sources`.
        """
        asked = check_query(
            self.setup,
            query,
            session_key=self.session_key,
            max_results=max_results,
            min_score=min_score,
            sources=sources,
            chosen=filter,
        )
        named = question_dates(self.setup, query, now, filter)
        answer = self._answer(query, named.understood)
        built: tuple[str, ...] = ()
        if asked.reason is not None:
            return answer.empty(asked.reason, *asked.warnings)
        try:
            engine = await self._engine.get()
            if not self.server:  # which answers from the notes meanwhile
                heard = listener or listener_of(progress, waiting)
                built = await build_once(engine, heard, self.setup.embedding.hint)
            answer = self._answer(query, named.understood)  # the search begins here
            findings = await ask(engine, asked.query(self.hides, named), named)
        except BackendError as error:
            return answer.empty("unavailable", *built, *sentences(error))
        return answer.found(findings, *built, *asked.warnings)

    async def get(
        self,
        path: str,
        start: int = 1,
        lines: int | None = None,
        max_chars: int | None = None,
    ) -> Document:
        """Return lines of a note, read from the file as it is now.

        Args:
            path: As in a hit, also with its `#L3-L9`; or what else an agent has in hand:
                `[[Note#Heading]]`, `note.md:12-20`, a name, a title, an alias, a day.
            start: The first line, counted from 1.
            lines: How many lines; None means up to the end.
            max_chars: The most characters; `next_from` says where to go on.

        Raises:
            PathRefused: not a note of this workspace, or closed in this conversation.
            ValueError: a number is less than 1.
        """
        if not self.enabled:
            return disabled_document(path, start)
        return await off_the_loop(
            read_document,
            self.setup,
            path,
            start=start,
            lines=lines,
            max_chars=max_chars,
            hides=self.hides,
        )

    async def get_many(
        self, paths: Sequence[str], max_chars: int | None = None
    ) -> tuple[Document, ...]:
        """Return several notes at once, each as `get` does.

        Args:
            paths: At most 50; what stands there twice is read once.
            max_chars: The most characters of all of them together.

        Returns:
            One for each path; a path that is refused is one that was not found, with
            the reason.

        Raises:
            ValueError: there are no paths, or too many; or `max_chars` is less than 1.
        """
        if not self.enabled:
            return tuple(disabled_document(path, 1) for path in paths)
        return await off_the_loop(
            read_documents,
            self.setup,
            paths,
            max_chars=max_chars,
            hides=self.hides,
        )

    async def links(self, path: str) -> NoteLinks:
        """Return the links in a note and those to it, each with its line.

        Args:
            path: As in `get`.

        Raises:
            PathRefused: not a note of this workspace, or closed in this conversation.
        """
        if not self.enabled:
            return NoteLinks(path=path, found=False, reason="memory-disabled")
        from notewell.memory.links import note_links

        return await off_the_loop(note_links, self.setup, path, hides=self.hides)

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
        from notewell.memory.remember import remember

        return await remember(
            self.setup,
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
            self.setup,
            kind,
            session_key=self.session_key,
            hides=self.hides,
            max_chars=max_chars,
            now=now,
        )

    @cached_property
    def flush(self) -> "FlushControl":
        """The turn before a compaction, in which an agent writes things down."""
        from notewell.memory.flush import FlushControl

        return FlushControl(self.setup, self.session_key, self._index_now)

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
        engine = await self._engine.get()
        finished = await self._finish_notes() if within is None else ()
        run = Run(
            force=force,
            within=within,
            vectors=vectors_of(vectors, within),
            listener=listener or listener_of(progress, waiting, vectors),
        )
        report = await engine.refresh(run)
        log_run(report)
        told = (*self.setup.config_warnings, *finished, *self.setup.policy.remarks)
        return replace(report, warnings=(*told, *report.warnings))

    def refresh_later(self) -> Literal["started", "running"] | None:
        """Let one process go on with the index after this program has ended.

        Returns:
            Whether it was started, or runs already. None where there may be none: with
            `CI` set, with `sync.detach` off, and in a state folder that cannot be written.
        """
        from notewell.memory.helper import start_helper

        return start_helper(self.setup) if self.enabled else None

    async def status(self) -> StatusReport:
        """Compare the notes on disk with the index, counting both now."""
        from notewell.memory.status import status_report

        engine, problems = None, self._unwatched()
        if self.enabled:
            try:
                engine = await self._engine.get()
            except BackendError as error:
                problems = (*sentences(error), *problems)
        return status_report(
            self.setup,
            await off_the_loop(scan, self.workspace),
            await engine.status() if engine else None,
            backend=self.settings.memory.backend,
            problems=problems,
        )

    async def probe_providers(self, *, embed: bool = True) -> tuple[ProviderProbe, ...]:
        """Try each provider of vectors: is what it needs here, does it answer?

        Args:
            embed: Embed one word, for which a model may be loaded.
        """
        from notewell.memory.status import probe_providers

        return await off_the_loop(probe_providers, self.setup.embedding, embed=embed)

    def seen_from(self, session_key: str | None) -> "Memory":
        """Return this memory as another conversation sees it; only this one is closed."""
        seen = Memory(self.setup, session_key=session_key, server=self.server)
        seen._engine = self._engine
        return seen

    @property
    def hides(self) -> HiddenPaths:
        """Says of a path what this conversation may not see, as it is now."""
        return HiddenPaths(
            self.settings.state_dir,
            self.agent,
            self.session_key,
            everything=not self.setup.allows(self.session_key),
        )

    def leaves_out(self, path: str) -> bool:
        """Whether the settings close a path to everybody."""
        return self.setup.policy.left_out(self.workspace, path) is not None

    async def close(self) -> None:
        """Release what the backend holds. Calling it twice is harmless."""
        watcher, self._watcher = self._watcher, None
        if watcher is not None:
            await off_the_loop(watcher.close)
        await self._engine.close()

    async def __aenter__(self) -> Self:
        return await self.open()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def _watch(self, engine: Backend) -> None:
        if isinstance(engine, KeepsFresh):
            from notewell.memory.watch import watched

            self._watcher = watched(self.setup, engine)

    def _answer(self, query: str, understood: Understood | None) -> AnswerBuilder:
        return AnswerBuilder(
            setup=self.setup,
            query=query,
            backend=self.settings.memory.backend,
            started=time.perf_counter(),
            understood=understood,
        )

    async def _finish_notes(self) -> tuple[str, ...]:
        from notewell.memory.remember import finished_texts

        return await off_the_loop(finished_texts, self.setup)

    def _unwatched(self) -> tuple[str, ...]:
        problem = self._watcher.problem if self._watcher else None
        return (problem,) if problem else ()

    async def _index_now(self) -> IndexReport:
        return await self.refresh(within=_INDEX_SECONDS)
