"""Signals that end a server, kept for the exit code."""

import signal
from collections.abc import Callable
from types import FrameType
from typing import Final

_SIGNALLED: Final = 128
"""Exit codes after a signal are this and its number, as shells count."""


def on_signals(end: Callable[[int], None]) -> None:
    """Call `end` with the exit code when a signal ends us; in the main thread."""

    def signalled(number: int, _frame: FrameType | None) -> None:
        end(_SIGNALLED + number)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signalled)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # as `nohup` has it
        signal.signal(signal.SIGHUP, signalled)
