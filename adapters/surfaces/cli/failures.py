"""From whatever went wrong to an exit code, a sentence, and an error object."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click

from notewell.adapters.surfaces.cli.output import AnswerLost, Output
from notewell.adapters.surfaces.cli.run import Terminated
from notewell.adapters.surfaces.cli.usage import advice
from notewell.errors import NotewellError

_CODES: Final = {"usage": 2, "config": 2, "path-refused": 2}
_INTERRUPTED: Final = 130  # 128 + SIGINT, as shells count
_READER_LEFT: Final = 141  # 128 + SIGPIPE
_SIGNALLED: Final = 128  # and the number of the signal


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """What is said about an error, and the code to leave with."""

    kind: str
    message: str
    remedy: str
    code: int


def report(error: BaseException, output: Output) -> int:
    """Tell about an error where it is looked for, and return the exit code."""
    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if isinstance(error, AnswerLost):
        return _without_stdout(error, output)
    failure = failure_of(error)
    if output.json and not output.answered:
        from notewell.adapters.surfaces import wire

        output.value(wire.error(failure.kind, failure.message, failure.remedy))
    else:
        _say(failure, output)
    if failure.code == 1 and output.verbose and failure.kind == "internal":
        _trace(error, output)
    return failure.code


def failure_of(error: BaseException) -> Failure:
    """Classify an error. Nothing here repeats note text or a key."""
    if isinstance(error, click.UsageError):
        said = error.format_message().rstrip(".")
        message = said[:1].lower() + said[1:]
        return Failure(kind="usage", message=message, remedy=advice(error), code=2)
    if isinstance(error, NotewellError):
        code = _CODES.get(error.kind, 1)
        return Failure(
            kind=error.kind, message=error.message, remedy=error.remedy, code=code
        )
    if isinstance(error, KeyboardInterrupt | click.Abort):
        return _stopped("interrupted", _INTERRUPTED)
    if isinstance(error, Terminated):
        return _stopped("terminated", _SIGNALLED + error.signal)
    return Failure(
        kind="internal",
        message=f"{type(error).__name__} in {_place(error)}",
        remedy="this is a fault of notewell: run it again with --verbose, report that",
        code=1,
    )


def sentences(error: NotewellError | None) -> list[str]:
    """Return what is said about an error of ours, and what to do."""
    return [] if error is None else [error.message, error.remedy]


def _stopped(how: str, code: int) -> Failure:
    remedy = "run the command again; finished work is kept"
    return Failure(kind="internal", message=how, remedy=remedy, code=code)


def _place(error: BaseException) -> str:
    """Where it happened. The error's own text may hold a piece of a note."""
    trace, place = error.__traceback__, "notewell"
    while trace is not None:
        code = trace.tb_frame.f_code
        place = f"{Path(code.co_filename).name}, line {trace.tb_lineno}"
        trace = trace.tb_next
    return place


def _say(failure: Failure, output: Output) -> None:
    if failure.code > _SIGNALLED:
        output.note(failure.message)
        return
    output.note(f"notewell: {failure.message}")
    if failure.remedy:
        output.note(f"  {failure.remedy}")


def _trace(error: BaseException, output: Output) -> None:
    import traceback  # only for people who look for a fault

    output.note("".join(traceback.format_exception(error)).rstrip("\n"))
    output.note(f"Python {sys.version}")


def _without_stdout(lost: AnswerLost, output: Output) -> int:
    if lost.reader_left:
        return _READER_LEFT
    output.note(f"notewell: the answer could not be written: {lost.problem}")
    return 1
