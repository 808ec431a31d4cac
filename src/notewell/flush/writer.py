"""Writing what a flush says: to the day's log, whatever name was asked for.

A flush is done for the user's sake and never gets in the user's way: here nothing
raises, an outcome says what became of the text.
"""

import os
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Self

from notewell.errors import NotewellError
from notewell.sessions.silence import without_silence
from notewell.workspace import Workspace
from notewell.workspace.days import day_of, log_of
from notewell.writing import Appended, append_note


@dataclass(frozen=True, slots=True, kw_only=True)
class FlushOutcome:
    """What became of a flush.

    Attributes:
        succeeded: Whether it did its work; also when there was nothing to write.
        path: The log it went to, or would have.
        written: Whether anything was new.
        start_line: The first line that was written; 0 when nothing was.
        end_line: The last one; 0 likewise.
        repeated: Blocks that stood there already and were left out.
        problem: Why it did not succeed, or how the name was read; else None.
        finished: What was done before about a text that a kill had left unwritten.
    """

    succeeded: bool
    path: str
    written: bool = False
    start_line: int = 0
    end_line: int = 0
    repeated: int = 0
    problem: str | None = None
    finished: tuple[str, ...] = ()

    def with_problem(self, problem: str) -> Self:
        """Return the same outcome with something else to say of it."""
        return replace(self, problem=problem)


def write_flush(
    workspace: Workspace,
    reply: str,
    *,
    planned: date,
    today: date,
    state_dir: Path,
    path: str | None = None,
) -> FlushOutcome:
    """Append the result of a flush to the log of its day. Never raises an Exception.

    Args:
        workspace: Where the logs are.
        reply: What the agent wants to be written; `NO_REPLY` is nothing.
        planned: The day when the flush was planned, which its prompts name.
        today: The day now: midnight may have passed.
        state_dir: `<state>`, where the lock lies.
        path: Where the agent wants it. Only the logs of `planned` and `today` are
            taken; anything else goes to the log of its day, else to that of `planned`.
    """
    day = _meant(path, planned, today)
    target = log_of(day)
    text = without_silence(reply)
    if not text.strip():
        return FlushOutcome(succeeded=True, path=target)
    try:
        appended = append_note(
            workspace,
            target,
            text,
            state_dir=state_dir,
            title=f"# {day.isoformat()}",
            # What a flush planned before midnight has written already stands there.
            known=[log_of(planned)],
        )
    except NotewellError as error:
        return FlushOutcome(succeeded=False, path=target, problem=error.message)
    except Exception as error:  # noqa: BLE001 - a reply is not lost for a flush
        said = f"{type(error).__name__} while writing {target}"
        return FlushOutcome(succeeded=False, path=target, problem=said)
    return _outcome(appended, path)


def _outcome(appended: Appended, asked: str | None) -> FlushOutcome:
    written, target = appended.written, appended.path
    moved = asked is not None and os.path.normpath(asked) != target
    return FlushOutcome(
        succeeded=True,
        path=target,
        written=written,
        start_line=appended.start_line if written else 0,
        end_line=appended.end_line if written else 0,
        repeated=appended.repeated,
        finished=appended.finished,
        problem=f"written to {target}, not under another name" if moved else None,
    )


def _meant(path: str | None, planned: date, today: date) -> date:
    day = day_of(os.path.basename(path)) if path else None
    return day if day is not None and day in (planned, today) else planned
