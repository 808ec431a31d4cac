"""The frame around every command: exit codes, interruptions, one JSON object.

`main` is what `notewell` runs. It loads the commands late, so that Ctrl-C meanwhile
has an answer too; whatever goes wrong becomes a sentence or an error object.
"""

import atexit
import gc
import os
import signal
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Final, NoReturn

from notewell.adapters.surfaces.cli.output import (
    CommandOutput,
    StdoutError,
    occupy_closed_descriptors,
)
from notewell.errors import NotewellError
from notewell.values import dataclass

COMPLETION: Final = "_NOTEWELL_COMPLETE"
"""Set by a shell that asks what may be typed next: `bash_complete` and the like."""

_FEWEST_NEW_OBJECTS: Final = 50_000
"""How many come before a collection looks for cycles; usually 700. A command makes many
objects that stay until its end, and next to no cycles: a tenth of its time went there."""

_EXIT_CODES: Final = {"usage": 2, "config": 2, "path-refused": 2}
_INTERRUPTED: Final = 130  # 128 + SIGINT, as shells count
_READER_LEFT: Final = 141  # 128 + SIGPIPE
_SIGNALLED: Final = 128  # and the number of the signal


class TerminationSignal(SystemExit):
    """SIGTERM, or SIGHUP: the terminal has gone. Whoever cleans up must let it pass, as
    with Ctrl-C; asyncio keeps every other BaseException to itself.

    Attributes:
        signal: Its number.
    """

    def __init__(self, number: int = signal.SIGTERM) -> None:
        super().__init__(_SIGNALLED + number)
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
    output = CommandOutput(json=asks_for_json(words))
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:  # as `__main__` left it
        signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, _terminated)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:  # `nohup` has it ignored
        signal.signal(signal.SIGHUP, _terminated)
    try:
        # Inside, so that Ctrl-C while things are being loaded has an answer too.
        if (request := os.environ.get(COMPLETION)) is not None:
            from notewell.adapters.surfaces.cli.root import completions

            output.text(completions(request, COMPLETION))
            return 0
        from notewell.adapters.surfaces.cli.root import invoke

        return invoke(words, output)
    except BaseException as error:  # noqa: BLE001 - everything gets an exit code
        return _reported(error, output)


def run() -> int:
    """Run the command of this process, and end the process at once.

    What Python does at its end is done but for taking objects apart, which took a tenth
    of a short command: exit functions are called and streams flushed. Where a thread is
    left, Python ends as ever.
    """
    code = main()
    if threading.active_count() > 1:
        return code
    atexit._run_exitfuncs()  # pyright: ignore[reportPrivateUsage]
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (AttributeError, OSError, ValueError):  # none, closed, or nobody reads
        return code
    os._exit(code)


def lost_answer(problem: OSError, words: Sequence[str]) -> int:
    """Tell that stdout did not take an answer that was made elsewhere."""
    output = CommandOutput(json=asks_for_json(words))
    said = problem.strerror or "unknown error"
    return report_failure(StdoutError(said, reader_left=False), output)


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


def _reported(error: BaseException, output: CommandOutput) -> int:
    try:
        return report_failure(error, output)
    except StdoutError as lost:
        return report_failure(lost, output)


def _terminated(number: int, _frame: FrameType | None) -> NoReturn:
    raise TerminationSignal(number)


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandFailure:
    """What is said about an error, and the code to leave with."""

    kind: str
    message: str
    remedy: str
    code: int


def report_failure(error: BaseException, output: CommandOutput) -> int:
    """Tell about an error where it is looked for, and return the exit code."""
    import click

    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if isinstance(error, StdoutError):
        return _without_stdout(error, output)
    failure = classify_error(error)
    if output.json and not output.answered:
        from notewell.adapters.surfaces import wire

        output.value(wire.error_json(failure.kind, failure.message, failure.remedy))
    else:
        _tell(failure, output)
    if failure.code == 1 and output.verbose and failure.kind == "internal":
        _trace(error, output)
    return failure.code


def classify_error(error: BaseException) -> CommandFailure:
    """Say what kind of error it is. Nothing here repeats note text or a key."""
    import click

    if isinstance(error, click.UsageError):
        from notewell.adapters.surfaces.cli.options import advice

        # Of a missing choice click says over several lines, with tabs, which there are.
        said = " ".join(error.format_message().split()).rstrip(".")
        message = said[:1].lower() + said[1:]
        return CommandFailure(
            kind="usage", message=message, remedy=advice(error), code=2
        )
    if isinstance(error, NotewellError):
        code = _EXIT_CODES.get(error.kind, 1)
        return CommandFailure(
            kind=error.kind, message=error.message, remedy=error.remedy, code=code
        )
    if isinstance(error, KeyboardInterrupt | click.Abort):
        return _stopped("interrupted", _INTERRUPTED)
    if isinstance(error, TerminationSignal):
        return _stopped("terminated", _SIGNALLED + error.signal)
    return CommandFailure(
        kind="internal",
        message=f"{type(error).__name__} in {_origin_of(error)}",
        remedy="this is a fault of notewell: run it again with --verbose, report that",
        code=1,
    )


def error_lines(error: NotewellError | None) -> list[str]:
    """Return what is said about an error of ours, and what to do."""
    return [] if error is None else [error.message, error.remedy]


def _stopped(how: str, code: int) -> CommandFailure:
    remedy = "run the command again; finished work is kept"
    return CommandFailure(kind="internal", message=how, remedy=remedy, code=code)


def _origin_of(error: BaseException) -> str:
    """Where it happened. The error's own text may hold a piece of a note."""
    trace, place = error.__traceback__, "notewell"
    while trace is not None:
        code = trace.tb_frame.f_code
        place = f"{Path(code.co_filename).name}, line {trace.tb_lineno}"
        trace = trace.tb_next
    return place


def _tell(failure: CommandFailure, output: CommandOutput) -> None:
    if failure.code > _SIGNALLED:
        output.note(failure.message)
        return
    output.note(f"notewell: {failure.message}")
    if failure.remedy:
        output.note(f"  {failure.remedy}")


def _trace(error: BaseException, output: CommandOutput) -> None:
    import traceback  # only for people who look for a fault

    output.note("".join(traceback.format_exception(error)).rstrip("\n"))
    output.note(f"Python {sys.version}")


def _without_stdout(lost: StdoutError, output: CommandOutput) -> int:
    if lost.reader_left:
        return _READER_LEFT
    output.note(f"notewell: the answer could not be written: {lost.problem}")
    return 1
