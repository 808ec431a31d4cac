"""Tells a person how far an indexing run is."""

import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

from notewell.adapters.surfaces.cli.output import STDERR, Output
from notewell.adapters.surfaces.cli.screen import can_animate

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class Indexing:
    """A callback for an indexing run: a bar on a terminal, else one line.

    Attributes:
        total: Files, or passages, that there are to do; 0 until the run has begun.
    """

    def __init__(
        self, output: Output, title: str = "Indexing", *, noun: str = "file"
    ) -> None:
        self.total = 0
        self._output = output
        self._title = title
        self._noun = noun
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._began = time.monotonic()

    @property
    def ran(self) -> bool:
        """Whether there was anything to do."""
        return self.total > 0

    @property
    def seconds(self) -> float:
        """How long this has taken so far."""
        return time.monotonic() - self._began

    def __call__(self, done: int, total: int) -> None:
        """Note how far the run is."""
        begins = total > 0 and not self.ran
        self.total = total  # first: Ctrl-C may come while we draw
        if begins:
            self._begin(total)
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=done, total=total)

    def wait(self) -> None:
        """Tell that another process has to finish first."""
        self._output.note("another process is indexing; waiting for it")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _begin(self, total: int) -> None:
        if not can_animate(STDERR):
            self._output.note(f"{self._title} {total:,} {plural(total, self._noun)} …")
            return
        from notewell.adapters.surfaces.cli.bar import bar  # rich is heavy

        self._bar = bar()
        self._task = self._bar.add_task(self._title, total=total)
        self._bar.start()


def plural(count: int, noun: str) -> str:
    """Return the noun as the count wants it."""
    return noun if count == 1 else f"{noun}s"
