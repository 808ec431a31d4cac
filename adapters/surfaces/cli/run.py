"""The frame around every command: exit codes, interruptions, one JSON object."""

import gc
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from types import FrameType
from typing import Final, NoReturn

from notewell.adapters.surfaces.cli.output import (
    AnswerLost,
    Output,
    occupy_closed_descriptors,
)

COMPLETION: Final = "_NOTEWELL_COMPLETE"
"""Set by a shell that asks what may be typed next: `bash_complete` and the like."""

_FEWEST_NEW_OBJECTS: Final = 50_000
"""How many come before a collection looks for cycles; usually 700. A command makes many
objects that stay until its end, and next to no cycles: a tenth of its time went there."""


class Terminated(BaseException):
    """SIGTERM, or SIGHUP: the terminal has gone. No Exception: whoever cleans up must
    let it pass, as with Ctrl-C.

    Attributes:
        signal: Its number.
    """

    def __init__(self, number: int = signal.SIGTERM) -> None:
        super().__init__()
        self.signal = number


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: The words after `notewell`; those of the process by default.

    Returns:
        0, or 1 when memory is unavailable or something broke, 2 for wrong usage or
        configuration, 130 after Ctrl-C, 141 when the reader of stdout has gone,
        143 after SIGTERM, 129 after SIGHUP.
    """
    if arguments is None:
        _insist_on_utf8()
        gc.set_threshold(_FEWEST_NEW_OBJECTS, 20, 20)
    occupy_closed_descriptors()
    words = list(sys.argv[1:] if arguments is None else arguments)
    output = Output(json=asks_for_json(words))
    signal.signal(signal.SIGTERM, _terminated)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:  # `nohup` has it ignored
        signal.signal(signal.SIGHUP, _terminated)
    try:
        # Inside, so that Ctrl-C while things are being loaded has an answer too.
        if (request := os.environ.get(COMPLETION)) is not None:
            from notewell.adapters.surfaces.cli.shells import completions

            output.text(completions(request))
            return 0
        from notewell.adapters.surfaces.cli.root import invoke

        return invoke(words, output)
    except BaseException as error:  # noqa: BLE001 - everything gets an exit code
        return _reported(error, output)


def asks_for_json(words: Sequence[str]) -> bool:
    """Whether JSON is asked for on the line, even on one that cannot be parsed."""
    options = words[: words.index("--")] if "--" in words else words
    if any(word == "--json" or word.startswith("--json=") for word in options):
        return True
    formats = [
        word.partition("=")[2] for word in options if word.startswith("--format=")
    ]
    formats += [value for name, value in pairwise(options) if name == "--format"]
    return any(wanted in ("json", "jsonl") for wanted in formats)


def _insist_on_utf8() -> None:
    """Start anew in Python's UTF-8 mode where the locale is of another encoding.

    There a note called 日記.md cannot be opened, and the index would learn of it
    under a name that is none.
    """
    if sys.flags.utf8_mode or sys.getfilesystemencoding() == "utf-8":
        return
    with suppress(OSError):
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])


def _reported(error: BaseException, output: Output) -> int:
    from notewell.adapters.surfaces.cli.failures import report

    try:
        return report(error, output)
    except AnswerLost as lost:
        return report(lost, output)


def _terminated(number: int, _frame: FrameType | None) -> NoReturn:
    raise Terminated(number)
