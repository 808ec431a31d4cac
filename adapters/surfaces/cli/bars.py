"""The progress bar. Loaded only when a terminal is there to show it: rich is heavy."""

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.text import Text


class Rate(ProgressColumn):
    """Files per second."""

    def render(self, task: Task) -> Text:
        """Draw the rate, once there is one."""
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:,.0f}/s", style="dim")


def files_bar() -> Progress:
    """Return a bar on stderr that leaves no trace when it ends."""
    return _bar(MofNCompleteColumn(), Rate())


def download_bar() -> Progress:
    """Return the same for a download, in bytes."""
    return _bar(DownloadColumn(), TransferSpeedColumn())


def _bar(*columns: ProgressColumn) -> Progress:
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=32),
        *columns,
        TimeRemainingColumn(compact=True),
        console=Console(stderr=True),
        transient=True,
    )
