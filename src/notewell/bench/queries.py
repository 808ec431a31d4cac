"""Queries with what is right for them: read from a file of JSON lines, and checked.

    {"id": "q1", "query": "...", "category": "...",
     "relevant": [{"path": "...", "start_line": 3, "end_line": 4, "grade": 1}],
     "ignore": [{"path": "...", "start_line": 9, "end_line": 9}]}

`category`, `grade` and `ignore` may be left out; a place without lines is the whole file.
`"today": "2026-03-09"` says on which day it is asked, for words such as `yesterday`.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, Final, TypeAlias

import msgspec

from notewell.bench.metrics import LineRange, composed
from notewell.errors import UsageError
from notewell.workspace import Workspace, read_note, scan, split_lines

_WITHOUT_CATEGORY: Final = "all"
WHOLE: Final = 10**9
"""The last line of a place that is the whole file."""

_REMEDY: Final = "correct that line; `docs/bench.md` describes the format"


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedQuery:
    """One question and its judgements.

    Attributes:
        id: Unique among the queries of a run.
        text: What is asked.
        category: The kind of question.
        right: Where the answer stands; at least one place, grades above 0.
        ignored: Places that are neither right nor wrong.
        today: The day on which it is asked; None: today.
    """

    id: str
    text: str
    category: str
    right: tuple[LineRange, ...]
    ignored: tuple[LineRange, ...] = ()
    today: date | None = None


_Line: TypeAlias = Annotated[int, msgspec.Meta(le=WHOLE)]


class _Lines(msgspec.Struct, frozen=True):
    path: str
    start_line: _Line | None = None
    end_line: _Line | None = None
    grade: float = 1.0


class _Row(msgspec.Struct, frozen=True):
    id: str | int
    query: str
    relevant: tuple[_Lines, ...]
    category: str | None = None
    ignore: tuple[_Lines, ...] = ()
    today: date | None = None


def read_queries(file: Path) -> tuple[JudgedQuery, ...]:
    """Read a file of queries. Those without a right place are left out.

    Raises:
        UsageError: it cannot be read, a line is not of the form, or nothing is in it.
    """
    try:
        content = file.read_bytes()
    except OSError as exc:
        raise UsageError(
            f"{file} cannot be read: {exc.strerror or exc}",
            remedy="name a file of JSON lines with --queries",
        ) from exc
    found: dict[str, JudgedQuery] = {}
    for number, line in enumerate(content.splitlines(), 1):
        if not line.strip():
            continue
        query = _query(line, f"{file}, line {number}")
        if query.id in found:
            raise UsageError(
                f"{file}, line {number}: the id {query.id!r} was there before",
                remedy="give every query an id of its own",
            )
        found[query.id] = query
    judged = tuple(query for query in found.values() if query.right)
    if not judged:
        raise UsageError(
            f"{file} holds no query with a right place", remedy="see `docs/bench.md`"
        )
    return judged


def misplaced(
    queries: Sequence[JudgedQuery], read: Callable[[str], Sequence[str]]
) -> Iterator[str]:
    """Yield a sentence for each judgement whose lines are not there.

    Args:
        queries: The queries.
        read: Returns the lines of a note; none for a note that is not there.
    """
    for query in queries:
        for place in query.right:
            lines = len(read(place.path))
            if not lines:
                yield f"{query.id}: there is no note {place.path}"
            elif place.start > lines or lines < place.end < WHOLE:
                yield (
                    f"{query.id}: {place.path} has {lines} lines, and lines"
                    f" {place.start} to {place.end} are judged"
                )


def _query(line: bytes, where: str) -> JudgedQuery:
    try:
        row = msgspec.json.decode(line, type=_Row)
    except (msgspec.MsgspecError, UnicodeDecodeError) as exc:
        problem = str(exc).replace("`$`", "the line").replace("`$.", "`")
        raise UsageError(f"{where}: {problem}", remedy=_REMEDY) from exc
    if not row.query.strip():
        raise UsageError(f"{where}: `query` is empty", remedy=_REMEDY)
    right = [_span(each, where) for each in row.relevant]
    return JudgedQuery(
        id=str(row.id),
        text=row.query,
        category=row.category or _WITHOUT_CATEGORY,
        right=tuple(place for place in right if place.grade > 0),
        ignored=tuple(_span(each, where) for each in row.ignore),
        today=row.today,
    )


def _span(lines: _Lines, where: str) -> LineRange:
    start = 1 if lines.start_line is None else lines.start_line
    end = start if lines.end_line is None else lines.end_line
    if lines.start_line is None:
        end = WHOLE
    if not 1 <= start <= end:
        problem = f"lines {start} to {end} of {lines.path} are no lines"
        raise UsageError(f"{where}: {problem}", remedy="count lines from 1")
    if lines.grade < 0:
        problem = f"the grade {lines.grade:g} is negative"
        raise UsageError(f"{where}: {problem}", remedy="use 0 for what is not right")
    return LineRange(lines.path.removeprefix("./"), start, end, lines.grade)


def line_reader(root: Path) -> Callable[[str], Sequence[str]]:
    """Return what reads the lines of a note in the folder `root`, each note once.

    What is no note there has no lines: a judgement may name any file of this machine.
    """
    notes = {composed(note.path): note for note in scan(Workspace(root=root)).notes}
    known: dict[str, list[str]] = {}

    def read(path: str) -> Sequence[str]:
        if path not in known:
            known[path] = []
            note = notes.get(composed(path))
            if note is not None:
                with suppress(OSError):
                    known[path] = split_lines(read_note(note.file).text)
        return known[path]

    return read
