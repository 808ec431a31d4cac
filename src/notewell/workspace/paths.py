"""Where an agent's path leads, and whether it may go there.

The path is resolved folder by folder against the names as listed, never through a
symbolic link. What `scan` would not take is refused, but for `DREAMS.md`. Names
differing only in Unicode form are the same name if that is unambiguous.
"""

import os
import stat
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from notewell.errors import PathRefused
from notewell.types import source_of
from notewell.workspace.days import day_of, is_log_name
from notewell.workspace.extra import Extra, resolve_extra_paths
from notewell.workspace.ignore import IGNORE_FILE, Rules
from notewell.workspace.layout import (
    HEAVY_MARKERS,
    MAX_NOTE_BYTES,
    MEMORY_FOLDER,
    READABLE_AT_ROOT,
    Workspace,
    has_workspace_layout,
    lists_name,
    real_path,
    relative_to,
)
from notewell.workspace.request import PathRequest, read_request, refuse_by_name
from notewell.workspace.scan import scan

_TRANSCRIPT: Final = "transcripts are quoted in answers and not read out"


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


def locate(workspace: Workspace, path: str, *, exactly: bool = False) -> Located:
    """Find the note that an agent means.

    Cheap, but for a bare name that is not in the root: then the notes are scanned.

    Args:
        workspace: Where to look.
        path: Relative to the workspace or absolute, or the bare name or date of a
            note, each with or without the lines of a citation.
        exactly: `path` is one that a scan gave, so a bare name means the root only.

    Raises:
        PathRefused: it is not a note of the workspace or of an extra path, or the
            system does not let us look.
    """
    return Locator(workspace).locate(path, exactly=exactly)


class Locator:
    """Locates many notes for one question: each folder on the way is looked at once.

    What changes in those folders meanwhile may go unseen, so it is kept no longer.
    """

    def __init__(self, workspace: Workspace) -> None:
        """Look in a workspace, and at nothing yet."""
        self._workspace = workspace
        self._root = ""
        self._areas: Sequence[_Area] = ()
        self._entered: dict[tuple[str, str], Rules] = {}

    def locate(self, path: str, *, exactly: bool = False) -> Located:
        """Find the note that an agent means; see the function `locate`."""
        request = read_request(path)
        try:
            return self._locate(request, exactly=exactly)
        except OSError as exc:  # folders changed while they were looked at
            why = exc.strerror or "it cannot be read"
            raise PathRefused(request.given, why) from exc

    def _locate(self, request: PathRequest, *, exactly: bool) -> Located:
        if source_of(request.path) == "sessions":
            # Other people speak in them, too: of transcripts only snippets are shown.
            return Located(path=request.path, file=None, reason=_TRANSCRIPT)
        if not self._root:
            root = real_path(self._workspace.root)
            self._areas = list(_areas(self._workspace, root))
            self._root = root
        way = _Way(self._root, request, self._areas, self._entered)
        target = os.path.normpath(os.path.join(self._root, request.path))
        if request.is_bare and not exactly:
            return _locate_bare(self._workspace, way, target)
        return _located(request, way.follow(target))


def _locate_bare(workspace: Workspace, way: "_Way", target: str) -> Located:
    request = way.request
    found = _Found(request.path, None)
    refusal: PathRefused | None = None
    try:
        found = way.follow(target)
    except PathRefused as exc:
        # A name in the root that is no note is refused only if it is really there.
        refusal = exc if os.path.lexists(target) else None
    if found.file is not None:
        return _located(request, found)
    named = _by_name(workspace, request)
    if named is None and refusal is not None:
        raise refusal
    return named or _located(request, found)


def _located(
    request: PathRequest, found: "_Found", reason: str | None = None
) -> Located:
    if found.file is None and request.is_foreign:
        raise PathRefused(request.given, "`~` and `\\` mean nothing in a path here")
    return Located(
        path=found.path,
        file=found.file,
        first=request.first,
        last=request.last,
        reason=reason or (None if found.file else "not-found"),
    )


def _by_name(workspace: Workspace, request: PathRequest) -> Located | None:
    """Take a bare name for the one note that is called so, at best in `memory/`.

    The date of a day without a log means the notes of that day that have a slug.
    """
    wanted = _form(request.path)
    scanned = scan(workspace).notes
    notes = [n for n in scanned if _form(os.path.basename(n.path)) == wanted]
    day = day_of(wanted) if is_log_name(wanted) else None
    if day is not None and not notes:
        notes = [n for n in scanned if day_of(os.path.basename(n.path)) == day]
    preferred = [n for n in notes if os.path.dirname(n.path) == MEMORY_FOLDER] or notes
    if not preferred:
        return None
    if len(preferred) > 1:
        names = ", ".join(note.path for note in preferred[:5])
        reason = f"not-found: several notes have this name: {names}"
        return _located(request, _Found(request.path, None), reason)
    [note] = preferred
    return _located(request, _Found(note.path, note.file), f"read as {note.path}")


def _areas(workspace: Workspace, root: str) -> Iterator[_Area]:
    yield _Area(root, has_workspace_layout(root))
    for extra in resolve_extra_paths(workspace):
        yield _Area(extra.top, extra=extra)


class _Way(NamedTuple):
    """From the areas that may be read to what was asked for."""

    root: str
    request: PathRequest
    areas: Sequence[_Area]
    entered: dict[tuple[str, str], Rules]

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
        real = real_path(target)
        if refusal is None and real != target and os.path.isabs(self.request.path):
            return self.follow(real)
        why = "it lies outside the workspace"
        raise refusal or PathRefused(self.request.given, why)

    def _follow_in(self, area: _Area, parts: tuple[str, ...]) -> str | None:
        extra = area.extra
        if extra is not None and extra.problem is not None:
            if extra.problem.reason != "missing":
                raise PathRefused(self.request.given, extra.problem.detail)
            return None
        if extra is not None and extra.is_file and not parts:
            return extra.top
        refuse_by_name(self.request, parts)
        if area.only_memory and not _is_memory(parts):
            why = "only MEMORY.md, USER.md, DREAMS.md and memory/ are read here"
            raise PathRefused(self.request.given, why)
        return _Steps(area.top, self.request, self.entered).follow(parts)


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
    """The way from the top of an area to a note, one folder at a time.

    `entered` holds the rules in each folder that may be entered, by area and folder.
    """

    def __init__(
        self, top: str, request: PathRequest, entered: dict[tuple[str, str], Rules]
    ) -> None:
        self._top = top
        self._entered = entered
        self._folder = top
        self._path = ""
        self._request = request
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
                raise PathRefused(self._request.given, "no permission to read") from exc
            except OSError as exc:
                raise PathRefused(self._request.given, str(exc.strerror)) from exc
            if name is None:
                return None
            self._folder = os.path.join(self._folder, name)
            self._path += name if is_last else f"{name}/"
        return self._folder

    def _step(self, part: str, *, is_last: bool) -> str | None:
        """Return the listed name that `part` means in this folder, if there is one."""
        folder = self._folder
        entered = self._entered.get((self._top, folder))
        self._rules = self._enter() if entered is None else entered
        name = _listed(folder, part)
        if name is None:
            return None
        found = os.lstat(os.path.join(folder, name))
        self._refuse(name, found, is_last=is_last)
        return name

    def _enter(self) -> Rules:
        """Return the rules in this folder, if notes may lie in it."""
        folder, rules = self._folder, self._rules
        # A folder that cannot be listed says so here, before any of its names counts.
        with os.scandir(folder):
            pass
        if self._path and any(lists_name(folder, mark) for mark in HEAVY_MARKERS):
            given = self._request.given
            raise PathRefused(given, "it lies in a cache or an environment")
        if lists_name(folder, IGNORE_FILE):
            rules = rules.with_file_of(folder, self._path, [])
        self._entered[self._top, folder] = rules
        return rules

    def _refuse(self, name: str, found: os.stat_result, *, is_last: bool) -> None:
        given = self._request.given
        if stat.S_ISLNK(found.st_mode):
            raise PathRefused(given, "symbolic links are not followed")
        if self._rules.exclude(self._path + name + ("" if is_last else "/")):
            raise PathRefused(given, f"{IGNORE_FILE} leaves it out")
        if is_last and not stat.S_ISREG(found.st_mode):
            raise PathRefused(given, "it is not a regular file")
        if is_last and found.st_size > MAX_NOTE_BYTES:
            raise PathRefused(given, f"it is larger than {MAX_NOTE_BYTES:,} bytes")


def _listed(folder: str, part: str) -> str | None:
    if lists_name(folder, part):
        return part
    wanted = _form(part)
    equal = [name for name in os.listdir(folder) if _form(name) == wanted]
    return equal[0] if len(equal) == 1 else None


def _form(name: str) -> str:
    return name if name.isascii() else unicodedata.normalize("NFC", name)
