"""`get`: the lines of one note, as an agent asks for them."""

from collections.abc import Callable
from typing import NamedTuple

from notewell.errors import PathRefused
from notewell.types import Document
from notewell.workspace.layout import NoteText, Workspace, read_note, split_lines
from notewell.workspace.paths import NoteLocation, locate


class _Page(NamedTuple):
    lines: list[str]
    truncated: bool = False
    cut: int | None = None


def get_document(
    workspace: Workspace,
    path: str,
    *,
    start: int = 1,
    lines: int | None = None,
    max_chars: int | None = None,
    hidden: Callable[[str], bool] | None = None,
    left_out: Callable[[str], str | None] | None = None,
) -> Document:
    """Return lines of a note. That there is no such note is an answer, not an error.

    Args:
        workspace: Where to look.
        path: As in a hit, also with its `#L3-L9`, which then stands in for `start`
            and `lines`; an absolute path; or the bare name or date of a note.
        start: The first line, counted from 1.
        lines: How many lines; None means up to the end.
        max_chars: The most characters of text. The answer ends with the last line
            that fits, and `next_from` is the next one. A line that is longer than
            all of `max_chars` is cut, `reason` says so, and `next_from` is the line
            after it, or None if that was the last: an agent always gets on.
        hidden: Whether a path is closed in this conversation.
        left_out: Why the settings leave a path out, if they do.

    Raises:
        PathRefused: not a note of this workspace, closed, or not readable.
        ValueError: `start`, `lines` or `max_chars` is less than 1.
    """
    for name, number in (("start", start), ("lines", lines), ("max_chars", max_chars)):
        if number is not None and number < 1:
            raise ValueError(f"{name} must be at least 1, got {number}")
    located = locate(workspace, path)
    if hidden is not None and hidden(located.path):
        raise PathRefused(path, "denied in this conversation")
    if left_out is not None and (why := left_out(located.path)) is not None:
        raise PathRefused(path, why)
    start, lines = _window(located, start, lines)
    note = _read(located)
    if note is None:
        return _missing(located, start)
    return _document(located, note, start=start, count=lines, max_chars=max_chars)


def _window(
    located: NoteLocation, start: int, lines: int | None
) -> tuple[int, int | None]:
    if located.first is None or located.last is None or start != 1:
        return start, lines
    return located.first, lines or located.last - located.first + 1


def _read(located: NoteLocation) -> NoteText | None:
    if located.file is None:
        return None
    try:
        return read_note(located.file)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except PermissionError as exc:
        raise PathRefused(located.path, "no permission to read") from exc
    except OSError as exc:
        raise PathRefused(located.path, exc.strerror or "it cannot be read") from exc


def _missing(located: NoteLocation, start: int) -> Document:
    return Document(
        path=located.path,
        text="",
        start_line=start,
        end_line=start - 1,
        total_lines=0,
        found=False,
        reason=located.reason or "not-found",
    )


def _document(
    located: NoteLocation,
    note: NoteText,
    *,
    start: int,
    count: int | None,
    max_chars: int | None,
) -> Document:
    every = split_lines(note.text)
    last = len(every) if count is None else start - 1 + count
    asked = every[start - 1 : last]
    page = _fit(asked, max_chars)
    end = start - 1 + len(page.lines)
    cut = f"line {end} is cut after {page.cut} characters" if page.cut else None
    remarks = [remark for remark in (located.reason, note.odd, cut) if remark]
    return Document(
        path=located.path,
        text="\n".join(page.lines),
        start_line=start,
        end_line=end,
        total_lines=len(every),
        found=True,
        truncated=page.truncated,
        next_from=end + 1 if len(page.lines) < len(asked) else None,
        reason="; ".join(remarks) or None,
    )


def _fit(lines: list[str], max_chars: int | None) -> _Page:
    if max_chars is None or not lines:
        return _Page(lines)
    if len(lines[0]) > max_chars:
        return _Page([lines[0][:max_chars]], truncated=True, cut=max_chars)
    room = max_chars + 1  # the first line has no LF before it
    for at, line in enumerate(lines):
        room -= len(line) + 1
        if room < 0:
            return _Page(lines[:at], truncated=True)
    return _Page(lines)
