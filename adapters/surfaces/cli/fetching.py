"""Tells a person how far a download is."""

from notewell.adapters.surfaces.cli.output import STDERR, Output
from notewell.adapters.surfaces.cli.progress import Shown
from notewell.adapters.surfaces.cli.screen import can_animate
from notewell.adapters.surfaces.sentences import size_text


class Fetching(Shown):
    """A callback for a download: a bar on a terminal, else one line.

    Attributes:
        begun: Whether anything has come.
    """

    def __init__(self, output: Output) -> None:
        super().__init__(output)
        self.begun = False

    def __call__(self, have: int, total: int | None) -> None:
        """Note how far it is."""
        if not self.begun:
            self.begun = True  # first: Ctrl-C may come while we draw
            self._begin(have, total)
        self._move(have, total)

    def _begin(self, have: int, total: int | None) -> None:
        if not can_animate(STDERR):
            self._output.note(
                f"fetching {size_text(total)} …" if total else "fetching …"
            )
            return
        from notewell.adapters.surfaces.cli.bar import download_bar  # rich is heavy

        self._show(download_bar(), "Fetching", have, total)
