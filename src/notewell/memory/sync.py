"""The same memory for programs without an event loop: scripts and the command line."""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self

from notewell.backends.loops import PlainCalls, Runner, plain
from notewell.backends.registry import DRIVEN
from notewell.config import Settings
from notewell.memory.memory import Memory, open_memory
from notewell.workspace import Workspace

if TYPE_CHECKING:
    from datetime import date

    from notewell.memory.flush import SyncFlushControl


class SyncMemory(PlainCalls[Memory]):
    """`Memory` with plain calls. Made by `open_memory_sync`; for one thread at a time.

    Its methods have the arguments, results and errors of those of `Memory`.
    """

    def __init__(self, memory: Memory) -> None:
        loop = memory.settings.memory.backend not in DRIVEN
        super().__init__(memory, Runner(), loop=loop)
        try:
            self._run(memory.open(), loop=memory.server)
        except BaseException:
            self._runner.close()
            raise

    @property
    def agent(self) -> str:
        """The agent's id."""
        return self._inner.agent

    @property
    def workspace(self) -> Workspace:
        """The folder of notes."""
        return self._inner.workspace

    @property
    def settings(self) -> Settings:
        """Every setting, resolved."""
        return self._inner.settings

    @property
    def notices(self) -> tuple[str, ...]:
        """Sentences for a person, such as which folder was taken."""
        return self._inner.notices

    @property
    def today(self) -> "date":
        """The day on the user's calendar."""
        return self._inner.today

    def seen_from(self, session_key: str | None) -> "SyncMemory":
        """Return this memory as another conversation sees it; only this one is closed."""
        seen = object.__new__(SyncMemory)
        seen._inner = self._inner.seen_from(session_key)
        seen._runner, seen._needs_loop = self._runner, self._needs_loop
        return seen

    search = plain(Memory.search)
    """Answer a question from the notes; see `Memory.search`."""

    get = plain(Memory.get, loop=False)
    """Return lines of a note; see `Memory.get`."""

    get_many = plain(Memory.get_many, loop=False)
    """Return several notes at once; see `Memory.get_many`."""

    links = plain(Memory.links, loop=False)
    """Return the links in a note and those to it; see `Memory.links`."""

    remember = plain(Memory.remember)
    """Append a text to today's log; see `Memory.remember`."""

    session_context = plain(Memory.session_context, loop=False)
    """Return the notes that a session starts with; see `Memory.session_context`."""

    refresh = plain(Memory.refresh)
    """Make the index agree with the notes; see `Memory.refresh`."""

    status = plain(Memory.status)
    """Compare the notes on disk with the index; see `Memory.status`."""

    probe_providers = plain(Memory.probe_providers, loop=False)
    """Try each provider of vectors; see `Memory.probe_providers`."""

    @cached_property
    def flush(self) -> "SyncFlushControl":
        """The turn before a compaction, in which an agent writes things down."""
        from notewell.memory.flush import SyncFlushControl

        return SyncFlushControl(self._inner.flush, self._runner, loop=self._needs_loop)

    def refresh_later(self) -> Literal["started", "running"] | None:
        """Let one process go on after this program; see `Memory.refresh_later`."""
        return self._inner.refresh_later()

    def close(self) -> None:
        """Release what is held. Calling it twice is harmless."""
        self._run(self._inner.close(), loop=self._inner.opened)
        self._runner.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


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
