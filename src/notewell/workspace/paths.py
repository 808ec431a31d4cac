"""Where an agent's path leads, and whether it may go there.

The path is resolved folder by folder against the names as listed, never through a
symbolic link. What `scan` would not take is refused, but for `DREAMS.md`. Names
differing only in Unicode form are the same name if that is unambiguous.
"""

import os
import re
import stat
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from notewell.errors import PathRefused
from notewell.types import source_of
from notewell.values import dataclass
from notewell.workspace.days import day_of, is_log_name
from notewell.workspace.extra import Extra, resolve_extra_paths
from notewell.workspace.layout import (
    HEAVY_MARKERS,
    MAX_NOTE_BYTES,
    MEMORY_FOLDER,
    READABLE_AT_ROOT,
    Workspace,
    has_workspace_layout,
    is_hidden_or_heavy,
    is_markdown,
    lists_name,
    real_path,
    relative_to,
)
from notewell.workspace.scan import IGNORE_FILE, IgnoreRules, scan

_TRANSCRIPT: Final = "transcripts are quoted in answers and not read out"

# `#L3`, `#L3-L9` and `#L3-9` at the end of a citation.
_CITED: Final = re.compile(r"#L([1-9][0-9]{0,8})(?:-L?([1-9][0-9]{0,8}))?\Z")

_DATE: Final = re.compile(r"(?:^|/)[0-9]{4}-[0-9]{2}-[0-9]{2}\Z")
_SHOWN: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteLocation:
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


class _Area(NamedTuple):
    """A folder, or a file, that may be read."""

    top: str
    only_memory: bool = False
    extra: Extra | None = None


class _Found(NamedTuple):
    path: str
    file: str | None


def locate(workspace: Workspace, path: str, *, exactly: bool = False) -> NoteLocation:
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
        self._entered: dict[tuple[str, str], IgnoreRules] = {}

    def locate(self, path: str, *, exactly: bool = False) -> NoteLocation:
        """Find the note that an agent means; see the function `locate`."""
        request = parse_path_request(path)
        try:
            return self._locate(request, exactly=exactly)
        except OSError as exc:  # folders changed while they were looked at
            why = exc.strerror or "it cannot be read"
            raise PathRefused(request.given, why) from exc

    def _locate(self, request: PathRequest, *, exactly: bool) -> NoteLocation:
        if source_of(request.path) == "sessions":
            # Other people speak in them, too: of transcripts only snippets are shown.
            return NoteLocation(path=request.path, file=None, reason=_TRANSCRIPT)
        if not self._root:
            root = real_path(self._workspace.root)
            self._areas = list(_areas(self._workspace, root))
            self._root = root
        way = _Way(self._root, request, self._areas, self._entered)
        target = os.path.normpath(os.path.join(self._root, request.path))
        if request.is_bare and not exactly:
            return _locate_bare(self._workspace, way, target)
        return _located(request, way.follow(target))


class _Way(NamedTuple):
    """From the areas that may be read to what was asked for."""

    root: str
    request: PathRequest
    areas: Sequence[_Area]
    entered: dict[tuple[str, str], IgnoreRules]

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
        file = _Steps(area.top, self.request, self.entered).follow(parts)
        selected = extra.selection() if extra is not None and file else None
        if file and selected and not selected(file):
            why = "the pattern in memorySearch.extraPaths leaves it out"
            raise PathRefused(self.request.given, why)
        return file


class _Steps:
    """The way from the top of an area to a note, one folder at a time.

    `entered` holds the rules in each folder that may be entered, by area and folder.
    """

    def __init__(
        self,
        top: str,
        request: PathRequest,
        entered: dict[tuple[str, str], IgnoreRules],
    ) -> None:
        self._top = top
        self._entered = entered
        self._folder = top
        self._path = ""
        self._request = request
        self._rules = IgnoreRules()

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

    def _enter(self) -> IgnoreRules:
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


def parse_path_request(given: str) -> PathRequest:
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


def refuse_by_name(request: PathRequest, parts: tuple[str, ...]) -> None:
    """Refuse a path whose very names say that it is no note.

    Raises:
        PathRefused: not Markdown, hidden, or in a folder that never holds notes.
    """
    if not parts or not is_markdown(parts[-1]):
        raise PathRefused(request.given, "it is not a Markdown file")
    if any(is_hidden_or_heavy(part) for part in parts):
        raise PathRefused(request.given, "hidden files and folders are not notes")


def _locate_bare(workspace: Workspace, way: "_Way", target: str) -> NoteLocation:
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
) -> NoteLocation:
    if found.file is None and request.is_foreign:
        raise PathRefused(request.given, "`~` and `\\` mean nothing in a path here")
    return NoteLocation(
        path=found.path,
        file=found.file,
        first=request.first,
        last=request.last,
        reason=reason or (None if found.file else "not-found"),
    )


def _by_name(workspace: Workspace, request: PathRequest) -> NoteLocation | None:
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


def _listed(folder: str, part: str) -> str | None:
    if lists_name(folder, part):
        return part
    wanted = _form(part)
    equal = [name for name in os.listdir(folder) if _form(name) == wanted]
    return equal[0] if len(equal) == 1 else None


def _form(name: str) -> str:
    return name if name.isascii() else unicodedata.normalize("NFC", name)


def _tidy(path: str) -> str:
    # POSIX lets a path begin with two slashes and mean something else by it.
    if path.startswith("//"):
        path = "/" + path.lstrip("/")
    path = os.path.normpath(path) if path else path
    is_bare = "/" not in path and "." not in path and path != ""
    return f"{path}.md" if is_bare or _DATE.search(path) else path
