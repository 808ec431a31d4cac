"""Signals that end a server: told to the event loop, and kept for the exit code."""

import asyncio
import signal
from collections.abc import Callable
from typing import Final

_SIGNALLED: Final = 128
"""Exit codes after a signal are this and its number, as shells count."""


def on_signals(end: Callable[[int], None]) -> None:
    """Call `end` with the exit code when SIGINT or SIGTERM comes, from the loop."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, end, _SIGNALLED + number)
