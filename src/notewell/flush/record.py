"""Writing what a flush says to the day's log, and keeping a record of it.

The record is a file beside OpenClaw's `sessions.json`. A flush counts when it has
succeeded, in the cycle in which it did; a session that was reset begins anew, also
where its key stays the same. A flush is done for the user's sake and never gets in the
user's way: `write_flush` raises nothing, an outcome says what became of the text.
"""

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import date
from pathlib import Path
from typing import Final, Self, cast

import orjson

from notewell.dates import day_in_name
from notewell.errors import NoteNotWritten, NotewellError
from notewell.files import create_folder, read_regular, replace_file
from notewell.sessions.reading import without_silence
from notewell.workspace import Workspace
from notewell.workspace.days import daily_note, daily_title
from notewell.writing import AppendResult, append_note, only_writer_of

RECORD_FILE: Final = "notewell-flush.json"

_MOST_SESSIONS: Final = 1_000
"""Kept in the file; the oldest go first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlushRecord:
    """What is on record of one conversation.

    Attributes:
        session_id: The session that it is about; None when nobody names sessions.
        flushed_cycle: The cycle in which a flush last succeeded, or None.
        failed_cycle: The cycle in which flushes have failed, or None.
        failures: How many in that cycle.
        at: Seconds since 1970 when this was last written.
    """

    session_id: str | None = None
    flushed_cycle: int | None = None
    failed_cycle: int | None = None
    failures: int = 0
    at: float = 0.0


def read_record(folder: Path, key: str, session_id: str | None) -> FlushRecord:
    """Return what is on record of a conversation; an empty record if nothing is."""
    found = _record(_read(folder).get(key))
    # Where neither side names a session, the key is all there is.
    if found is None or found.session_id != session_id:
        return FlushRecord(session_id=session_id)
    return found


def note_flush(
    folder: Path,
    key: str,
    *,
    session_id: str | None,
    cycle: int,
    succeeded: bool,
    now: float,
    state_dir: Path,
) -> None:
    """Put the end of a flush on record.

    Args:
        folder: Where `sessions.json` is, or would be.
        key: The session key.
        session_id: The session, where somebody names it.
        cycle: How often the conversation had been compacted when the flush began.
        succeeded: Whether the flush did its work; a failure leaves the cycle open.
        now: Seconds since 1970.
        state_dir: `<state>`, where the lock lies.

    Raises:
        NoteNotWritten: the record cannot be written.
    """
    with only_writer_of(folder / RECORD_FILE, state_dir=state_dir):
        records = dict(_read(folder))
        before = read_record(folder, key, session_id)
        failures = before.failures if before.failed_cycle == cycle else 0
        after = FlushRecord(
            session_id=session_id,
            flushed_cycle=cycle if succeeded else before.flushed_cycle,
            failed_cycle=None if succeeded else cycle,
            failures=0 if succeeded else failures + 1,
            at=now,
        )
        records.pop(key, None)  # so that it comes last: the newest
        records[key] = asdict(after)
        _write(folder, dict(list(records.items())[-_MOST_SESSIONS:]))


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
    target = daily_note(workspace, day)
    text = without_silence(reply)
    if not text.strip():
        return FlushOutcome(succeeded=True, path=target)
    try:
        appended = append_note(
            workspace,
            target,
            text,
            state_dir=state_dir,
            title=daily_title(target, day),
            # What a flush planned before midnight has written already stands there.
            known=[daily_note(workspace, planned)],
        )
    except NotewellError as error:
        return FlushOutcome(succeeded=False, path=target, problem=error.message)
    except Exception as error:  # noqa: BLE001 - a reply is not lost for a flush
        said = f"{type(error).__name__} while writing {target}"
        return FlushOutcome(succeeded=False, path=target, problem=said)
    return _outcome(appended, path)


def _read(folder: Path) -> Mapping[str, object]:
    try:
        raw = orjson.loads(read_regular(folder / RECORD_FILE, below_links=True))
    except (OSError, ValueError):
        return {}
    return cast("dict[str, object]", raw) if isinstance(raw, dict) else {}


def _record(raw: object) -> FlushRecord | None:
    import msgspec

    try:
        return msgspec.convert(raw, FlushRecord)
    except msgspec.ValidationError:
        return None


def _write(folder: Path, records: Mapping[str, object]) -> None:
    file = folder / RECORD_FILE
    try:
        create_folder(folder)
        replace_file(file, orjson.dumps(records, option=orjson.OPT_INDENT_2))
    except OSError as exc:
        raise NoteNotWritten(str(file), exc.strerror or "the disk refuses") from exc


def _outcome(appended: AppendResult, asked: str | None) -> FlushOutcome:
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
    day = day_in_name(path) if path else None
    return day if day is not None and day in (planned, today) else planned
