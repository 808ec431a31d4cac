"""`get`: the lines of one note, as an agent asks for them."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from notewell.errors import PathRefused
from notewell.types import Document
from notewell.workspace.finding import NO_AIDS, NameAids, find_note
from notewell.workspace.layout import NoteText, Workspace, read_note, split_lines
from notewell.workspace.paths import NoteLocation
from notewell.workspace.requests import shown_path

_MOST_LINKED_NOTES: Final = 20
"""Notes that a document names, of those to which its lines link."""

_MAY_LINK: Final = re.compile(r"\[\[|\]\(|\]\[|\]:")


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
    aids: NameAids = NO_AIDS,
) -> Document:
    """Return lines of a note. That there is no such note is an answer, not an error.

    Args:
        workspace: Where to look.
        path: As in a hit, also with its `#L3-L9`, which then stands in for `start`
            and `lines`; an absolute path; a link, a name or a day, as `read_reference`
            reads them, also with a heading.
        start: The first line, counted from 1.
        lines: How many lines; None means up to the end.
        max_chars: The most characters of text. The answer ends with the last line
            that fits, and `next_from` is the next one. A line that is longer than
            all of `max_chars` is cut, `reason` says so, and `next_from` is the line
            after it, or None if that was the last: an agent always gets on.
        hidden: Whether a path is closed in this conversation.
        left_out: Why the settings leave a path out, if they do.
        aids: What helps where there is no such path.

    Raises:
        PathRefused: not a note of this workspace, closed, or not readable.
        ValueError: `start`, `lines` or `max_chars` is less than 1.
    """
    _require_positive(start=start, lines=lines, max_chars=max_chars)
    located = find_open_note(
        workspace, path, hidden=hidden, left_out=left_out, aids=aids
    )
    note = read_located(located)
    if note is None:
        return _missing(located, start)
    every = split_lines(note.text)
    if located.part:
        from notewell.workspace.sections import lines_of_part  # rarely asked for

        found = lines_of_part(every, located.part)
        if found is None:
            return _without_part(located, every, start)
        located = replace(located, first=found[0], last=found[1])
    start, lines = _window(located, start, lines)
    return _document(
        located, note, every, start=start, count=lines, max_chars=max_chars
    )


def find_open_note(
    workspace: Workspace,
    path: str,
    *,
    hidden: Callable[[str], bool] | None,
    left_out: Callable[[str], str | None] | None,
    aids: NameAids,
) -> NoteLocation:
    """Find the note that is meant, among those that are not closed.

    Raises:
        PathRefused: it is no note of this workspace, or closed.
    """

    def why_closed(other: str) -> str | None:
        if hidden is not None and hidden(other):
            return "denied in this conversation"
        return None if left_out is None else left_out(other)

    def shows(other: str) -> bool:
        return why_closed(other) is None

    located = find_note(workspace, path, replace(aids, shows=shows))
    if (why := why_closed(located.path)) is not None:
        raise PathRefused(path, why)
    return located


def _require_positive(**numbers: int | None) -> None:
    for name, number in numbers.items():
        if number is not None and number < 1:
            raise ValueError(f"{name} must be at least 1, got {number}")


def _window(
    located: NoteLocation, start: int, lines: int | None
) -> tuple[int, int | None]:
    if located.first is None or located.last is None or start != 1:
        return start, lines
    return located.first, lines or located.last - located.first + 1


def read_located(located: NoteLocation) -> NoteText | None:
    """Read a note that was located; None if there is none any more.

    Raises:
        PathRefused: it is not readable.
    """
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
        path=shown_path(located.path),
        text="",
        start_line=start,
        end_line=start - 1,
        total_lines=0,
        found=False,
        reason=located.reason or "not-found",
        candidates=located.candidates,
        nearest=located.nearest,
    )


def _without_part(located: NoteLocation, lines: Sequence[str], start: int) -> Document:
    from notewell.workspace.sections import nearest_headings

    near = nearest_headings(lines, located.part)
    what = "block" if located.part.startswith("^") else "heading"
    missing = replace(
        located,
        reason=f"not-found: {located.path} has no {what} {located.part!r}",
        nearest=tuple(f"{located.path}#{heading}" for heading in near),
    )
    return _missing(missing, start)


def _document(
    located: NoteLocation,
    note: NoteText,
    every: list[str],
    *,
    start: int,
    count: int | None,
    max_chars: int | None,
) -> Document:
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
        links=_links(located.path, every, start, end),
    )


def _links(path: str, every: list[str], start: int, end: int) -> tuple[str, ...]:
    """Return the notes to which these lines link, as `get` takes them."""
    if not any(_MAY_LINK.search(line) for line in every[start - 1 : end]):
        return ()
    from notewell.links import read_links  # most lines have none

    shown = (link for link in read_links(every) if start - 1 <= link.line < end)
    return tuple(dict.fromkeys(link.as_path(path) for link in shown))[
        :_MOST_LINKED_NOTES
    ]


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
