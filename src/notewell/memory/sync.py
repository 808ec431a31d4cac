"""The same memory for programs without an event loop: scripts and the command line."""

from collections.abc import Collection, Coroutine, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from notewell.backends.base import Listener, VectorWork
from notewell.backends.blocking import drive
from notewell.backends.registry import DRIVEN
from notewell.config import Settings
from notewell.memory.callbacks import MAKE, Progress, Waiting
from notewell.memory.entry import open_memory
from notewell.memory.facade import Memory
from notewell.scope import ConversationKind
from notewell.types import (
    Document,
    IndexReport,
    ProviderProbe,
    SearchAnswer,
    Source,
    StatusReport,
)
from notewell.workspace import Workspace

if TYPE_CHECKING:
    from datetime import datetime

    from notewell.memory.context import SessionContext
    from notewell.memory.looping import LoopThread
    from notewell.memory.remembering import Remembered
    from notewell.memory.writes import SyncFlushControl

_T = TypeVar("_T")


class SyncMemory:
    """`Memory` with plain calls. Made by `open_memory_sync`; for one thread at a time."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._loop: LoopThread | None = None
        if memory.settings.memory.backend not in DRIVEN:
            self._loop = _new_loop()
        try:
            self._run(memory.open())
        except BaseException:
            self._end_loop()
            raise

    @property
    def agent(self) -> str:
        """The agent's id."""
        return self._memory.agent

    @property
    def workspace(self) -> Workspace:
        """The folder of notes."""
        return self._memory.workspace

    @property
    def settings(self) -> Settings:
        """Every setting, resolved."""
        return self._memory.settings

    @property
    def notices(self) -> tuple[str, ...]:
        """Sentences for a person, such as which folder was taken."""
        return self._memory.notices

    def search(
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
        """Answer a question from the notes; see `Memory.search`."""
        return self._run(
            self._memory.search(
                query,
                max_results=max_results,
                min_score=min_score,
                sources=sources,
                progress=progress,
                waiting=waiting,
                listener=listener,
            )
        )

    def get(
        self,
        path: str,
        start: int = 1,
        lines: int | None = None,
        max_chars: int | None = None,
    ) -> Document:
        """Return lines of a note; see `Memory.get`."""
        return self._run(self._memory.get(path, start, lines, max_chars))

    def remember(self, text: str, *, long_term: bool = False) -> "Remembered":
        """Append a text to today's log; see `Memory.remember`."""
        return self._run(self._memory.remember(text, long_term=long_term))

    def session_context(
        self,
        kind: ConversationKind | None = None,
        *,
        max_chars: int | None = None,
        now: "datetime | None" = None,
    ) -> "SessionContext":
        """Return the notes that a session starts with; see `Memory.session_context`."""
        return self._run(
            self._memory.session_context(kind, max_chars=max_chars, now=now)
        )

    @property
    def flush(self) -> "SyncFlushControl":
        """The turn before a compaction, in which an agent writes things down."""
        from notewell.memory.writes import SyncFlushControl

        return SyncFlushControl(self._memory.flush, self._run)

    def refresh(
        self,
        *,
        force: bool = False,
        within: float | None = None,
        progress: Progress | None = None,
        waiting: Waiting | None = None,
        vectors: VectorWork | None = MAKE,
        listener: Listener | None = None,
    ) -> IndexReport:
        """Make the index agree with the notes; see `Memory.refresh`."""
        return self._run(
            self._memory.refresh(
                force=force,
                within=within,
                progress=progress,
                waiting=waiting,
                listener=listener,
                vectors=vectors,
            )
        )

    def refresh_later(self) -> bool:
        """Let one process go on after this program; see `Memory.refresh_later`."""
        return self._memory.refresh_later()

    def status(self) -> StatusReport:
        """Compare the notes on disk with the index; see `Memory.status`."""
        return self._run(self._memory.status())

    def probe_providers(self, *, embed: bool = True) -> tuple[ProviderProbe, ...]:
        """Try each provider of vectors; see `Memory.probe_providers`."""
        return self._run(self._memory.probe_providers(embed=embed))

    def close(self) -> None:
        """Release what is held. Calling it twice is harmless."""
        self._run(self._memory.close())
        self._end_loop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _end_loop(self) -> None:
        if self._loop:
            self._loop.close()
            self._loop = None

    def _run(self, coroutine: Coroutine[Any, Any, _T]) -> _T:
        if self._loop:
            return self._loop.run(coroutine)
        return drive(coroutine)


def open_memory_sync(
    *,
    workspace: Path | str | None = None,
    agent: str | None = None,
    config: Path | str | None = None,
    backend: str | None = None,
    session_key: str | None = None,
    server: bool = False,
    environ: Mapping[str, str] | None = None,
    overrides: Mapping[str, object] = {},
) -> SyncMemory:
    """Open an agent's memory: `with open_memory_sync(...) as memory`.

    See `open_memory` for the arguments and errors.
    """
    return SyncMemory(
        open_memory(
            workspace=workspace,
            agent=agent,
            config=config,
            backend=backend,
            session_key=session_key,
            server=server,
            environ=environ,
            overrides=overrides,
        )
    )


def _new_loop() -> "LoopThread":
    from notewell.memory.looping import LoopThread  # slow to import, and seldom needed

    return LoopThread()
