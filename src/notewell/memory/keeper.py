"""Keeping one agent's index up to date in the foreground, until it is ended.

In a server the engine does so itself; see `watch`.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from notewell.backends.base import VectorWork
from notewell.errors import BackendError, UsageError
from notewell.memory.answers import MAKE
from notewell.memory.memory import Memory
from notewell.memory.setup import set_up
from notewell.memory.sync import SyncMemory
from notewell.memory.watch import ChangeWaiter
from notewell.types import IndexReport

_FIRST_PAUSE: Final = 10.0
_LONGEST_PAUSE: Final = 3600.0
"""Seconds after a first failure, and after many; a change ends the pause."""


class Keeper:
    """Brings one agent's index up to date whenever its notes have changed.

    Attributes:
        memory: The memory, open.
    """

    def __init__(
        self,
        *,
        workspace: Path | str | None = None,
        agent: str | None = None,
        config: Path | str | None = None,
        backend: str | None = None,
        environ: Mapping[str, str] | None = None,
        overrides: Mapping[str, object] = {},
    ) -> None:
        """Open the memory; the arguments are those of `open_memory`.

        Raises:
            ConfigError: a setting makes no sense.
            UsageError: there is no such agent or workspace, or its memory is off.
        """
        self.setup = set_up(
            workspace=workspace,
            agent=agent,
            config=config,
            backend=backend,
            server=True,  # nobody wants to have a folder watched by chance
            environ=environ,
            overrides=overrides,
        )
        if not self.setup.enabled:
            raise UsageError(
                f"nothing to watch, memory is switched off: {self.setup.switch}",
                remedy="`notewell config` shows every switch",
            )
        # No server: all work is done here, in the foreground.
        self.memory = SyncMemory(Memory(self.setup, session_key=None, server=False))

    def runs(
        self, *, warn: Callable[[str], None], vectors: VectorWork = MAKE
    ) -> Iterator[IndexReport | BackendError]:
        """Index now and after each change, without end; yield what each run gave.

        Args:
            warn: Told once, if the folders cannot be watched and are polled instead.
            vectors: Who is told how far the vectors are.
        """
        pause = _FIRST_PAUSE
        with ChangeWaiter(self.setup, warn=warn) as changes:
            while True:
                try:
                    yield self.memory.refresh(vectors=vectors)
                except BackendError as error:
                    yield error
                    changes.wait(within=pause)
                    pause = min(_LONGEST_PAUSE, pause * 2)
                else:
                    pause = _FIRST_PAUSE
                    changes.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.memory.close()
