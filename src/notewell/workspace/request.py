"""Reading a path that an agent gave: pure text, no disk."""

import os
import re
from dataclasses import dataclass
from typing import Final

from notewell.errors import PathRefused
from notewell.workspace.layout import is_hidden_or_heavy, is_markdown

# `#L3`, `#L3-L9` and `#L3-9` at the end of a citation.
_CITED: Final = re.compile(r"#L([1-9][0-9]{0,8})(?:-L?([1-9][0-9]{0,8}))?\Z")
_DATE: Final = re.compile(r"(?:^|/)[0-9]{4}-[0-9]{2}-[0-9]{2}\Z")
_SHOWN: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class PathRequest:
    """A path as an agent asks for it, split into what it says.

    Attributes:
        given: The very text, shortened, for messages.
        path: Without the lines, with the suffix that a date or a bare name lacks.
        first: The first line that was cited, or None.
        last: The last line that was cited, or None.
    """

    given: str
    path: str
    first: int | None = None
    last: int | None = None

    @property
    def is_bare(self) -> bool:
        """Whether it is only the name of a note, without any folder."""
        return "/" not in self.path and is_markdown(self.path) and self.path[0] != "."

    @property
    def is_foreign(self) -> bool:
        """Whether it would lead elsewhere in a shell or on another system.

        On this one such characters are part of a name, so an existing note that has
        them in its name is read; else it is said that they were not understood.
        """
        return "\\" in self.path or self.path.startswith("~")


def read_request(given: str) -> PathRequest:
    """Split a path that an agent gave.

    Raises:
        PathRefused: no disk can have that path.
    """
    shown = given if len(given) <= _SHOWN else given[:_SHOWN] + "…"
    if not given.strip():
        raise PathRefused(shown, "it is empty")
    if "\0" in given:
        raise PathRefused(shown, "it contains a NUL character")
    try:
        given.encode("utf-8")
    except UnicodeEncodeError:
        raise PathRefused(shown, "it is not valid Unicode") from None
    cited = _CITED.search(given)
    first, last = (
        (int(n) if n else None for n in cited.groups()) if cited else (None,) * 2
    )
    if first is not None and last is not None and last < first:
        raise PathRefused(shown, "its last line comes before its first line")
    path = _tidy(given[: cited.start()] if cited else given)
    return PathRequest(given=shown, path=path, first=first, last=last or first)


def _tidy(path: str) -> str:
    # POSIX lets a path begin with two slashes and mean something else by it.
    if path.startswith("//"):
        path = "/" + path.lstrip("/")
    path = os.path.normpath(path) if path else path
    is_bare = "/" not in path and "." not in path and path != ""
    return f"{path}.md" if is_bare or _DATE.search(path) else path


def refuse_by_name(request: PathRequest, parts: tuple[str, ...]) -> None:
    """Refuse a path whose very names say that it is no note.

    Raises:
        PathRefused: not Markdown, hidden, or in a folder that never holds notes.
    """
    if not parts or not is_markdown(parts[-1]):
        raise PathRefused(request.given, "it is not a Markdown file")
    if any(is_hidden_or_heavy(part) for part in parts):
        raise PathRefused(request.given, "hidden files and folders are not notes")
