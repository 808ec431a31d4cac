"""Counts the work that something takes, instead of its seconds.

Seconds differ from machine to machine and from run to run; these counts do not. SQLite
counts its own instructions, and they change a little with its version, as calls do with
Python's, and the statements of FTS5 with how it has merged: bounds on these leave room.
"""

import gc
import sys
import tracemalloc
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from types import FrameType
from typing import Any, Final

import apsw

_ROOM: Final[Mapping[str, float]] = {"inner": 1.3, "steps": 1.3, "calls": 1.15}
"""By how much a count may differ between versions that we do not choose."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What was done.

    Attributes:
        statements: Statements of ours that SQLite executed.
        inner: Statements that FTS5 executed for them.
        steps: Instructions of SQLite for ours.
        scanned: Steps through whole tables, those that no index helped with.
        calls: Calls of functions in notewell, nameless ones excepted.
        opened: Files that Python opened.
        walked: Folders that were listed.

    Do everything twice, and count the second time: the first one imports.
    """

    statements: int
    inner: int
    steps: int
    scanned: int
    calls: int
    opened: int
    walked: int

    def more_than(self, bound: "Work") -> list[str]:
        """Say what is above a bound, one sentence each; nothing if all is well."""
        allowed = asdict(bound)
        return [
            f"{name}: {count:,}, and {allowed[name]:,} were enough"
            for name, count in asdict(self).items()
            if count > allowed[name] * _ROOM.get(name, 1.0)
        ]


_counts: Counter[str] = Counter()
_top: dict[int, str] = {}
_looking = False


def counted(work: Callable[[], object]) -> Work:
    """Do something on this thread, on connections that it opens, and count."""
    global _looking
    _counts.clear()
    apsw.connection_hooks.append(_watch)
    _looking = True
    sys.setprofile(_called)
    try:
        work()
    finally:
        sys.setprofile(None)
        _looking = False
        apsw.connection_hooks.remove(_watch)
    return Work(**{name: _counts[name] for name in Work.__dataclass_fields__})


def peak(work: Callable[[], object]) -> int:
    """Do something, and return the most bytes that Python held for it at once.

    As with counts, the second time: the first one fills caches and imports.
    """
    gc.collect()  # else it might fall into the work, and do so for one of two
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def _watch(connection: Any) -> None:  # its own types have gaps
    connection.trace_v2(apsw.SQLITE_TRACE_STMT | apsw.SQLITE_TRACE_PROFILE, _traced)


def _traced(event: dict[str, Any]) -> None:
    if not _looking:
        return
    if event["code"] == apsw.SQLITE_TRACE_STMT:
        _counts["inner" if event["trigger"] else "statements"] += 1
        if not event["trigger"]:
            _top[event["id"]] = event["sql"]
    elif _top.get(event["id"]) == event["sql"]:
        _counts["steps"] += event["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"]
        _counts["scanned"] += event["stmt_status"]["SQLITE_STMTSTATUS_FULLSCAN_STEP"]


def _called(frame: FrameType, event: str, _given: object) -> None:
    named = event == "call" and not frame.f_code.co_name.startswith("<")
    if named and frame.f_globals.get("__name__", "").startswith("notewell."):
        _counts["calls"] += 1


def _audited(event: str, given: tuple[Any, ...]) -> None:
    if not _looking:
        return
    if event == "open" and isinstance(given[0], str | bytes):  # else opened before
        _counts["opened"] += 1
    elif event in ("os.scandir", "os.listdir"):
        _counts["walked"] += 1


sys.addaudithook(_audited)  # for good: an audit hook cannot be taken back
