"""Tells a person how far long work is."""

import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

from notewell.adapters.surfaces.cli.output import STDERR, Output
from notewell.adapters.surfaces.cli.screen import can_animate
from notewell.adapters.surfaces.sentences import number_of

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class Shown:
    """Long work of which a person is told: a bar on a terminal, else one line."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._bar: Progress | None = None
        self._task: TaskID | None = None

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

    def _show(self, bar: "Progress", title: str, done: int, total: int | None) -> None:
        self._bar = bar
        self._task = bar.add_task(title, total=total, completed=done)
        bar.start()

    def _move(self, done: int, total: int | None) -> None:
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=done, total=total)


class Indexing(Shown):
    """A callback for an indexing run: a bar on a terminal, else one line.

    Attributes:
        total: Files, or passages, that there are to do; 0 until the run has begun.
    """

    def __init__(
        self, output: Output, title: str = "Indexing", *, noun: str = "file"
    ) -> None:
        super().__init__(output)
        self.total = 0
        self._title = title
        self._noun = noun
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
        self._move(done, total)

    def wait(self) -> None:
        """Tell that another process has to finish first."""
        self._output.note("another process is indexing; waiting for it")

    def _begin(self, total: int) -> None:
        if not can_animate(STDERR):
            self._output.note(f"{self._title} {number_of(total, self._noun)} …")
            return
        from notewell.adapters.surfaces.cli.bar import bar  # rich is heavy

        self._show(bar(), self._title, 0, total)
