"""Our own record of flushes: a file beside OpenClaw's `sessions.json`.

A flush counts when it has succeeded, in the cycle in which it did. A session that was
reset begins anew, also where its key stays the same.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, cast

import orjson

from notewell.errors import NoteNotWritten
from notewell.workspace.notes import read_regular
from notewell.writing import only_writer_of
from notewell.writing.private import create_folder, replace_file

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
