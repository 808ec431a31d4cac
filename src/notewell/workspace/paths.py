"""Where an agent's path leads, and whether it may go there.

The path is resolved folder by folder against the names as listed, never through a
symbolic link. What `scan` would not take is refused, but for `DREAMS.md`. Names
differing only in Unicode form are the same name if that is unambiguous.
"""

import os
import stat
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from notewell.errors import PathRefused
from notewell.types import source_of
from notewell.values import dataclass
from notewell.workspace.extra import Extra, resolve_extra_paths
from notewell.workspace.layout import (
    HEAVY_MARKERS,
    MAX_NOTE_BYTES,
    MEMORY_FOLDER,
    READABLE_AT_ROOT,
    Workspace,
    as_listed,
    has_workspace_layout,
    is_hidden_or_heavy,
    is_markdown,
    lists_name,
    memory_folder,
    real_path,
    relative_to,
)
from notewell.workspace.requests import PathRequest, parse_path_request
from notewell.workspace.scan import IGNORE_FILE, IgnoreRules

_TRANSCRIPT: Final = "transcripts are quoted in answers and not read out"


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteLocation:
    """Where a path leads.

    Attributes:
        path: POSIX, relative to the workspace, as in a hit.
        file: The absolute path of a regular file, or None when there is none.
        first: The first line that the path cites, or None.
        last: The last line that the path cites, or None.
        part: The heading or the block that is meant; see `PathRequest`.
        candidates: The notes that may be meant, where there are several.
        nearest: The notes with the most similar names, where there is none.
        reason: How the path was read when it was not taken word by word, or why
            there is no file.
    """

    path: str
    file: str | None
    first: int | None = None
    last: int | None = None
    part: str = ""
    candidates: tuple[str, ...] = ()
    nearest: tuple[str, ...] = ()
    reason: str | None = None


class _Area(NamedTuple):
    """A folder, or a file, that may be read."""

    top: str
    only_memory: bool = False
    extra: Extra | None = None


class _Found(NamedTuple):
    path: str
    file: str | None


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

    def locate(self, path: str) -> NoteLocation:
        """Find the note at a path as a scan gives it, with or without lines.

        Raises:
            PathRefused: it is not a note of the workspace or of an extra path, or the
                system does not let us look.
        """
        return self.follow(parse_path_request(path))

    def follow(self, request: PathRequest) -> NoteLocation:
        """Find the note at the path of a request, read word by word."""
        try:
            return self._follow(request)
        except OSError as exc:  # folders changed while they were looked at
            why = exc.strerror or "it cannot be read"
            raise PathRefused(request.given, why) from exc

    def lists(self, request: PathRequest) -> bool:
        """Whether anything at all is at the path of a request, note or not."""
        return os.path.lexists(
            os.path.join(real_path(self._workspace.root), request.path)
        )

    def _follow(self, request: PathRequest) -> NoteLocation:
        if source_of(request.path) == "sessions":
            # Other people speak in them, too: of transcripts only snippets are shown.
            return NoteLocation(path=request.path, file=None, reason=_TRANSCRIPT)
        if not self._root:
            root = real_path(self._workspace.root)
            self._areas = list(_areas(self._workspace, root))
            self._root = root
        way = _Way(self._root, request, self._areas, self._entered)
        target = os.path.normpath(os.path.join(self._root, request.path))
        found = way.follow(target)
        if found.file is None and not os.path.isabs(request.path):
            listed = as_listed(self._root, request.path)
            if listed != request.path:
                found = way.follow(os.path.join(self._root, listed))
        return _located(request, found)


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
        if area.only_memory and not _is_memory(area.top, parts):
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


def refuse_by_name(request: PathRequest, parts: tuple[str, ...]) -> None:
    """Refuse a path whose very names say that it is no note.

    Raises:
        PathRefused: not Markdown, hidden, or in a folder that never holds notes.
    """
    if not parts or not is_markdown(parts[-1]):
        raise PathRefused(request.given, "it is not a Markdown file")
    if any(is_hidden_or_heavy(part) for part in parts):
        raise PathRefused(request.given, "hidden files and folders are not notes")


def _located(request: PathRequest, found: _Found) -> NoteLocation:
    if found.file is None and request.is_foreign:
        raise PathRefused(request.given, "`~` and `\\` mean nothing in a path here")
    return NoteLocation(
        path=found.path,
        file=found.file,
        first=request.first,
        last=request.last,
        part=request.part,
        reason=None if found.file else "not-found",
    )


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


def _is_memory(top: str, parts: tuple[str, ...]) -> bool:
    if len(parts) == 1:
        return parts[0] in READABLE_AT_ROOT
    return parts[0] == MEMORY_FOLDER or parts[0] == memory_folder(top)


def _listed(folder: str, part: str) -> str | None:
    if lists_name(folder, part):
        return part
    wanted = _form(part)
    equal = [name for name in os.listdir(folder) if _form(name) == wanted]
    return equal[0] if len(equal) == 1 else None


def _form(name: str) -> str:
    return name if name.isascii() else unicodedata.normalize("NFC", name)
