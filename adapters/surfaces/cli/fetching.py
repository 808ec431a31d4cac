"""Tells a person how far a download is."""

from types import TracebackType
from typing import TYPE_CHECKING, Self

from notewell.adapters.surfaces.cli.output import STDERR, Output
from notewell.adapters.surfaces.cli.quantity import size
from notewell.adapters.surfaces.cli.screen import can_animate

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class Fetching:
    """A callback for a download: a bar on a terminal, else one line.

    Attributes:
        begun: Whether anything has come.
    """

    def __init__(self, output: Output) -> None:
        self.begun = False
        self._output = output
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def __call__(self, have: int, total: int | None) -> None:
        """Note how far it is."""
        if not self.begun:
            self.begun = True  # first: Ctrl-C may come while we draw
            self._begin(have, total)
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=have, total=total)

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

    def _begin(self, have: int, total: int | None) -> None:
        if not can_animate(STDERR):
            self._output.note(f"fetching {size(total)} …" if total else "fetching …")
            return
        from notewell.adapters.surfaces.cli.bar import download_bar  # rich is heavy

        self._bar = download_bar()
        self._task = self._bar.add_task("Fetching", total=total, completed=have)
        self._bar.start()
