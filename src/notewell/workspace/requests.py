"""A path as an agent asks for it, split into what it says, word by word."""

import os
import re
from typing import Final

from notewell.errors import PathRefused
from notewell.values import dataclass
from notewell.workspace.layout import is_markdown, without_suffix

# `#L3`, `#L3-L9` and `#L3-9` at the end of a citation, also with columns.
CITED: Final = (  # like those below compiled when it is needed: most paths need none
    r"#L([1-9][0-9]{0,8})(?:C\d{1,9})?(?:-L?([1-9][0-9]{0,8})(?:C\d{1,9})?)?\Z"
)
_DATE: Final = r"(?:^|/)[0-9]{4}-[0-9]{2}-[0-9]{2}\Z"
_SUFFIX: Final = r"\.(?=\d*[a-z])[a-z0-9]{1,8}\Z"
_TRANSCRIPT: Final = r"sessions/.+\.jsonl(?:\..+)?\Z"
"""As hits cite them: `sessions/4f2a.jsonl.reset.2026-01-01T04-00-00.000Z`."""

_SHOWN: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class PathRequest:
    """A path as an agent asks for it, split into what it says.

    Attributes:
        given: The very text, shortened, for messages.
        path: Without the lines, with the suffix that a date or a bare name lacks.
        first: The first line that was cited, or None.
        last: The last line that was cited, or None.
        part: The heading, or `^` and the id of the block, that is meant; empty: all.
    """

    given: str
    path: str
    first: int | None = None
    last: int | None = None
    part: str = ""

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

    @property
    def name(self) -> str | None:
        """What a note may be called by it; None if it can only be a path.

        What leads out of a folder, or names a place on a disk, is no name.
        """
        path = self.path
        odd = self.is_foreign or path[:1] in ("/", ".") or path[1:3] in (":/", ":\\")
        if odd or ".." in path.split("/") or not is_markdown(path):
            return None
        return without_suffix(path)


def shown_path(given: str) -> str:
    """Return what was asked for as an answer repeats it: long nonsense is cut."""
    return given if len(given) <= _SHOWN else given[:_SHOWN] + "…"


def parse_path_request(given: str) -> PathRequest:
    """Split a path that an agent gave, read word by word.

    Raises:
        PathRefused: no disk can have that path.
    """
    shown = shown_path(given)
    if not given.strip():
        raise PathRefused(shown, "it is empty")
    if "\0" in given:
        raise PathRefused(shown, "it contains a NUL character")
    try:
        given.encode("utf-8")
    except UnicodeEncodeError:
        raise PathRefused(shown, "it is not valid Unicode") from None
    return request_of(shown, given, re.search(CITED, given) if "#L" in given else None)


def request_of(shown: str, given: str, lines: re.Match[str] | None) -> PathRequest:
    """Return a request for what stands before the lines, as a pattern found them.

    Raises:
        PathRefused: the last line comes before the first.
    """
    if lines is None:
        return PathRequest(given=shown, path=_tidy(given))
    first, last = (int(n) if n else None for n in lines.groups())
    if first is not None and last is not None and last < first:
        raise PathRefused(shown, "its last line comes before its first line")
    path = _tidy(given[: lines.start()])
    return PathRequest(given=shown, path=path, first=first, last=last or first)


def _tidy(path: str) -> str:
    # POSIX lets a path begin with two slashes and mean something else by it.
    if path.startswith("//"):
        path = "/" + path.lstrip("/")
    path = os.path.normpath(path) if path else path
    name = path.rpartition("/")[2]
    if is_markdown(name) or re.match(_TRANSCRIPT, path, re.DOTALL):
        return path
    # `v1.2` has no suffix, `a.txt` has one.
    lacks_suffix = name.strip(".") and not re.search(_SUFFIX, name, re.IGNORECASE)
    return f"{path}.md" if lacks_suffix or re.search(_DATE, path) else path
