"""What an agent loads when a session starts: the notes of today and yesterday.

In the main private session, and nowhere else, also what is known of the user and what
was found worth keeping. `DREAMS.md` is for people to look through and never loaded.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final, NamedTuple

from notewell.errors import PathRefused
from notewell.memory.setup import Setup
from notewell.scope import ConversationKind, conversation_kind
from notewell.types import Skipped, citation_of
from notewell.workspace import Workspace, locate, read_note, split_lines
from notewell.workspace.days import notes_of_day
from notewell.workspace.layout import USER_NOTE, long_term_note
from notewell.zones import moment_in

_USUAL_CHARS: Final = 12_000
"""As much as the other answers to an agent hold."""

_LEAST_CHARS: Final = 80
"""Fewer characters of a note than this say nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextPart:
    """Lines of one note.

    Attributes:
        path: The note, relative to the workspace.
        text: Whole lines, joined by LF.
        start_line: The first line.
        end_line: The last line.
        total_lines: Lines in the note; a final newline is not a further line.
    """

    path: str
    text: str
    start_line: int
    end_line: int
    total_lines: int

    @property
    def citation(self) -> str:
        """`path#L<start>-L<end>`, or `path#L<n>`."""
        return citation_of(self.path, self.start_line, self.end_line)

    @property
    def truncated(self) -> bool:
        """Whether lines of the note are left out."""
        return self.end_line - self.start_line + 1 < self.total_lines


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionContext:
    """The notes that a session starts with.

    Attributes:
        workspace: The folder of notes.
        agent: The agent's id.
        kind: The conversation: `main` gets everything, all others the logs alone.
        day: Today, on the user's calendar.
        parts: In the order in which they are to be read.
        skipped: Notes that are there and were left out.
        reason: Why there are no parts: `no-notes` or `memory-disabled`; else None.
    """

    workspace: str
    agent: str
    kind: ConversationKind
    day: date
    parts: tuple[ContextPart, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    reason: str | None = None


class _Source(NamedTuple):
    path: str
    lines: list[str]
    newest_last: bool


def session_context(
    setup: Setup,
    kind: ConversationKind | None,
    *,
    session_key: str | None,
    hides: Callable[[str], bool],
    max_chars: int | None = None,
    now: datetime | None = None,
) -> SessionContext:
    """Collect what a session starts with.

    Args:
        setup: Settings and workspace.
        kind: The conversation; None: what the session key says. It cannot open what
            the session key closes.
        session_key: The conversation's key, or None.
        hides: Whether a path is closed in this conversation.
        max_chars: The most characters of notes, at least 1. A log is cut at its
            beginning, other notes at their end.
        now: The moment; by default this one.

    Raises:
        ValueError: `max_chars` is less than 1.
    """
    max_chars = _USUAL_CHARS if max_chars is None else max_chars
    if max_chars < 1:
        raise ValueError(f"max_chars must be at least 1, got {max_chars}")
    kind = kind or conversation_kind(session_key)
    day = moment_in(setup.settings.user_timezone, now).date()
    skipped: list[Skipped] = []
    wanted = _wanted(setup.workspace, kind, day) if setup.enabled else []
    sources = _read(setup.workspace, [p for p in wanted if not hides(p)], skipped)
    parts = _fitted(sources, max_chars, skipped)
    nothing = "no-notes" if setup.enabled else "memory-disabled"
    return SessionContext(
        workspace=str(setup.workspace.root),
        agent=setup.agent.id,
        kind=kind,
        day=day,
        parts=tuple(parts),
        skipped=tuple(skipped),
        reason=None if parts else nothing,
    )


def _wanted(workspace: Workspace, kind: ConversationKind, day: date) -> list[str]:
    logs = [
        *notes_of_day(workspace, day - timedelta(days=1)),
        *notes_of_day(workspace, day),
    ]
    if kind != "main":
        return logs
    return [USER_NOTE, long_term_note(str(workspace.root)), *logs]


def _read(
    workspace: Workspace, paths: Sequence[str], skipped: list[Skipped]
) -> list[_Source]:
    found: dict[str, _Source] = {}
    for path in paths:
        try:
            located = locate(workspace, path, exactly=True)
            if located.file is None:
                continue
            lines = split_lines(read_note(located.file).text)
        except FileNotFoundError:
            continue
        except PathRefused as error:
            skipped.append(Skipped(path=path, reason="ignored", detail=error.why))
        except OSError as error:
            detail = error.strerror or "it cannot be read"
            skipped.append(Skipped(path=path, reason="unreadable", detail=detail))
        else:
            if any(line.strip() for line in lines):
                is_log = "/" in path
                found[located.file] = _Source(located.path, lines, is_log)
    return list(found.values())


def _fitted(
    sources: Sequence[_Source], max_chars: int, skipped: list[Skipped]
) -> list[ContextPart]:
    parts: list[ContextPart] = []
    shares = _shares([_size(source.lines) for source in sources], max_chars)
    for source, share in zip(sources, shares, strict=True):
        part = _cut(source, share)
        if part is not None:
            parts.append(part)
            continue
        said = f"no line of it fits into {share:,} characters"
        skipped.append(Skipped(path=source.path, reason="too-large", detail=said))
    return parts


def _shares(sizes: Sequence[int], total: int) -> list[int]:
    """Share characters out: what is small is given whole, the large share the rest.

    >>> _shares([10, 500, 900], 110)
    [10, 50, 50]
    """
    shares = [0] * len(sizes)
    left = total
    order = sorted(range(len(sizes)), key=lambda at: sizes[at])
    for done, at in enumerate(order):
        shares[at] = min(sizes[at], left // (len(order) - done))
        left -= shares[at]
    return shares


def _cut(source: _Source, share: int) -> ContextPart | None:
    lines = source.lines
    first, last = 0, len(lines)
    size = _size(lines)
    if size > share and share < _LEAST_CHARS:
        return None
    while first < last and size > share:
        at = first if source.newest_last else last - 1
        size -= len(lines[at]) + 1
        first, last = (first + 1, last) if source.newest_last else (first, last - 1)
    if first == last:
        return None
    return ContextPart(
        path=source.path,
        text="\n".join(lines[first:last]),
        start_line=first + 1,
        end_line=last,
        total_lines=len(lines),
    )


def _size(lines: Sequence[str]) -> int:
    """Characters of the lines, joined by LF."""
    return sum(map(len, lines)) + max(len(lines) - 1, 0)
