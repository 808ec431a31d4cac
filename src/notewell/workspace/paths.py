"""Where an agent's path leads, and whether it may go there.

The path is resolved folder by folder against the names as listed, never through a
symbolic link. What `scan` would not take is refused, but for `USER.md` and
`DREAMS.md`. Names differing only in Unicode form are the same name if that is
unambiguous.
"""

import os
import stat
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from notewell.errors import PathRefused
from notewell.workspace.asked import Asked, read_asked, refuse_by_name
from notewell.workspace.extra import Extra, resolve_extra_paths
from notewell.workspace.ignore import IGNORE_FILE, Rules
from notewell.workspace.layout import (
    HEAVY_MARKERS,
    MAX_NOTE_BYTES,
    MEMORY_FOLDER,
    READABLE_AT_ROOT,
    Workspace,
    has_workspace_layout,
    relative_to,
)
from notewell.workspace.scan import scan


@dataclass(frozen=True, slots=True, kw_only=True)
class Located:
    """Where a path leads.

    Attributes:
        path: POSIX, relative to the workspace, as in a hit.
        file: The absolute path of a regular file, or None when there is none.
        first: The first line that the path cites, or None.
        last: The last line that the path cites, or None.
        reason: How the path was read when it was not taken word by word, or why
            there is no file.
    """

    path: str
    file: str | None
    first: int | None = None
    last: int | None = None
    reason: str | None = None


class _Area(NamedTuple):
    """A folder, or a file, that may be read."""

    top: str
    only_memory: bool = False
    extra: Extra | None = None


class _Found(NamedTuple):
    path: str
    file: str | None


def locate(workspace: Workspace, path: str) -> Located:
    """Find the note that an agent means.

    Args:
        workspace: Where to look.
        path: Relative to the workspace or absolute, or the bare name or date of a
            note, each with or without the lines of a citation.

    Raises:
        PathRefused: it is not a note of the workspace or of an extra path.
    """
    asked = read_asked(path)
    root = os.path.realpath(workspace.root)
    way = _Way(root, asked, list(_areas(workspace, root)))
    target = os.path.normpath(os.path.join(root, asked.path))
    if asked.is_bare:
        return _locate_bare(workspace, way, target)
    return _located(asked, way.follow(target))


def _locate_bare(workspace: Workspace, way: "_Way", target: str) -> Located:
    asked = way.asked
    found = _Found(asked.path, None)
    refusal: PathRefused | None = None
    try:
        found = way.follow(target)
    except PathRefused as exc:
        # A name in the root that is no note is refused only if it is really there.
        refusal = exc if os.path.lexists(target) else None
    if found.file is not None:
        return _located(asked, found)
    named = _by_name(workspace, asked)
    if named is None and refusal is not None:
        raise refusal
    return named or _located(asked, found)


def _located(asked: Asked, found: "_Found", reason: str | None = None) -> Located:
    if found.file is None and asked.is_foreign:
        raise PathRefused(asked.given, "`~` and `\\` mean nothing in a path here")
    return Located(
        path=found.path,
        file=found.file,
        first=asked.first,
        last=asked.last,
        reason=reason or (None if found.file else "not-found"),
    )


def _by_name(workspace: Workspace, asked: Asked) -> Located | None:
    """Take a bare name for the one note that is called so, at best in `memory/`."""
    wanted = _form(asked.path)
    notes = [
        note
        for note in scan(workspace).notes
        if _form(os.path.basename(note.path)) == wanted
    ]
    preferred = [n for n in notes if os.path.dirname(n.path) == MEMORY_FOLDER] or notes
    if not preferred:
        return None
    if len(preferred) > 1:
        names = ", ".join(note.path for note in preferred[:5])
        reason = f"not-found: several notes have this name: {names}"
        return _located(asked, _Found(asked.path, None), reason)
    [note] = preferred
    return _located(asked, _Found(note.path, note.file), f"read as {note.path}")


def _areas(workspace: Workspace, root: str) -> Iterator[_Area]:
    yield _Area(root, has_workspace_layout(root))
    for extra in resolve_extra_paths(workspace):
        yield _Area(extra.top, extra=extra)


class _Way(NamedTuple):
    """From the areas that may be read to what was asked for."""

    root: str
    asked: Asked
    areas: Sequence[_Area]

    def follow(self, target: str) -> _Found:
        """Follow `target` in the first area that allows it; the last refusal counts."""
        refusal: PathRefused | None = None
        for area in self.areas:
            parts = _below(area.top, target)
            if parts is None:
                continue
            try:
                file = self._follow_in(area, parts)
            except PathRefused as exc:
                refusal = exc
            else:
                return _Found(relative_to(self.root, file or target), file)
        # The same place under another name, such as /tmp and /private/tmp.
        real = os.path.realpath(target)
        if refusal is None and real != target and os.path.isabs(self.asked.path):
            return self.follow(real)
        why = "it lies outside the workspace"
        raise refusal or PathRefused(self.asked.given, why)

    def _follow_in(self, area: _Area, parts: tuple[str, ...]) -> str | None:
        extra = area.extra
        if extra is not None and extra.problem is not None:
            if extra.problem.reason != "missing":
                raise PathRefused(self.asked.given, extra.problem.detail)
            return None
        if extra is not None and extra.is_file and not parts:
            return extra.top
        refuse_by_name(self.asked, parts)
        if area.only_memory and not _is_memory(parts):
            why = "only MEMORY.md, USER.md, DREAMS.md and memory/ are read here"
            raise PathRefused(self.asked.given, why)
        return _Steps(area.top, self.asked).follow(parts)


def _below(top: str, target: str) -> tuple[str, ...] | None:
    if target == top:
        return ()
    start = os.path.join(top, "")
    if not target.startswith(start):
        return None
    return tuple(target[len(start) :].split(os.sep))


def _is_memory(parts: tuple[str, ...]) -> bool:
    if len(parts) == 1:
        return parts[0] in READABLE_AT_ROOT
    return parts[0] == MEMORY_FOLDER


class _Steps:
    """The way from the top of an area to a note, one folder at a time."""

    def __init__(self, top: str, asked: Asked) -> None:
        self._folder = top
        self._path = ""
        self._asked = asked
        self._rules = Rules()

    def follow(self, parts: tuple[str, ...]) -> str | None:
        """Return the file as listed, or None when there is none."""
        for at, part in enumerate(parts, start=1):
            is_last = at == len(parts)
            try:
                name = self._step(part, is_last=is_last)
            except (FileNotFoundError, NotADirectoryError):
                return None
            except PermissionError as exc:
                raise PathRefused(self._asked.given, "no permission to read") from exc
            except OSError as exc:
                raise PathRefused(self._asked.given, str(exc.strerror)) from exc
            if name is None:
                return None
            self._folder = os.path.join(self._folder, name)
            self._path += name if is_last else f"{name}/"
        return self._folder

    def _step(self, part: str, *, is_last: bool) -> str | None:
        """Return the listed name that `part` means in this folder, if there is one."""
        names = os.listdir(self._folder)
        if self._path and not HEAVY_MARKERS.isdisjoint(names):
            raise PathRefused(self._asked.given, "it lies in a cache or an environment")
        if IGNORE_FILE in names:
            self._rules = self._rules.with_file_of(self._folder, self._path, [])
        name = _listed(names, part)
        if name is None:
            return None
        found = os.lstat(os.path.join(self._folder, name))
        self._refuse(name, found, is_last=is_last)
        return name

    def _refuse(self, name: str, found: os.stat_result, *, is_last: bool) -> None:
        given = self._asked.given
        if stat.S_ISLNK(found.st_mode):
            raise PathRefused(given, "symbolic links are not followed")
        if self._rules.exclude(self._path + name + ("" if is_last else "/")):
            raise PathRefused(given, f"{IGNORE_FILE} leaves it out")
        if is_last and not stat.S_ISREG(found.st_mode):
            raise PathRefused(given, "it is not a regular file")
        if is_last and found.st_size > MAX_NOTE_BYTES:
            raise PathRefused(given, f"it is larger than {MAX_NOTE_BYTES:,} bytes")


def _listed(names: list[str], part: str) -> str | None:
    if part in names:
        return part
    wanted = _form(part)
    equal = [name for name in names if _form(name) == wanted]
    return equal[0] if len(equal) == 1 else None


def _form(name: str) -> str:
    return name if name.isascii() else unicodedata.normalize("NFC", name)
