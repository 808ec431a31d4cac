"""Which note an agent means by what it has in hand: a path, a link, a name, a day.

An exact path wins over every other reading. Whatever else is found is located by its own
path in the end, so nothing is read that could not be asked for by its path.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from functools import cached_property
from typing import Final

from notewell.errors import PathRefused
from notewell.values import dataclass
from notewell.workspace.layout import (
    MEMORY_FOLDER,
    READABLE_AT_ROOT,
    Workspace,
    has_workspace_layout,
    lists_name,
    without_suffix,
)
from notewell.workspace.names import (
    GivenNames,
    NamedNote,
    NoteNames,
    nearest_names,
    notes_by_path,
    notes_by_title,
)
from notewell.workspace.paths import Locator, NoteLocation
from notewell.workspace.requests import PathRequest, parse_path_request
from notewell.workspace.scan import scan

MOST_CANDIDATES: Final = 10
_SHOWN: Final = 5


def _shows_all(_path: str) -> bool:
    return True


def _no_titles() -> Sequence[NamedNote]:
    return ()


def _today() -> date:
    return date.today()


@dataclass(frozen=True, slots=True, kw_only=True)
class NameAids:
    """What helps to find a note whose path is not known.

    Attributes:
        indexed: Returns the names that an index holds; None if there is no index.
        titles: Returns the titles and aliases of notes, where there is no index.
        shows: Whether a path may be named in this conversation.
        today: Returns the day to which `yesterday` is relative.
    """

    indexed: Callable[[], NoteNames | None] = lambda: None
    titles: Callable[[], Sequence[NamedNote]] = _no_titles
    shows: Callable[[str], bool] = _shows_all
    today: Callable[[], date] = _today


NO_AIDS: Final = NameAids()
"""No index, no titles: files are found by their names."""


def locate(workspace: Workspace, path: str, *, exactly: bool = False) -> NoteLocation:
    """Find the note that an agent means.

    Args:
        workspace: Where to look.
        path: Relative to the workspace or absolute, with or without the lines of a
            citation; or anything else that `find_note` reads.
        exactly: `path` is one that a scan gave: it means that path and nothing else.

    Raises:
        PathRefused: it is not a note of the workspace or of an extra path, or the
            system does not let us look.
    """
    if exactly:
        return Locator(workspace).locate(path)
    return find_note(workspace, path, NO_AIDS)


def find_note(workspace: Workspace, given: str, aids: NameAids) -> NoteLocation:
    """Find the note that is meant, or tell which may be.

    Cheap for a path that is there; else names are looked up, in the index if there is
    one, and the notes are scanned.

    Raises:
        PathRefused: see `locate`.
    """
    return _Finder(workspace, aids).find(given)


class _Finder:
    def __init__(self, workspace: Workspace, aids: NameAids) -> None:
        self._workspace = workspace
        self._aids = aids
        self._locator = Locator(workspace)

    def find(self, given: str) -> NoteLocation:
        """Return where the first reading leads that leads to a note."""
        literal = parse_path_request(given)
        found = self._exactly(literal)
        if isinstance(found, NoteLocation) and _settled(found):
            return found
        from notewell.workspace.references import read_reference  # for other than paths

        requests = read_reference(given)
        for request in requests[1:]:
            found = self._exactly(request)
            if isinstance(found, NoteLocation) and _settled(found):
                return found
        last = requests[-1]
        # What is there, but is no note to be read, is not taken for another one.
        closed = isinstance(found, PathRefused) and self._locator.lists(last)
        if not (closed and not last.is_bare) and (named := self._by_name(requests)):
            return named
        if isinstance(found, NoteLocation):
            return self._missing(found, last)
        if closed or last.is_foreign or not last.is_bare:
            raise found
        return self._missing(
            NoteLocation(path=last.path, file=None, reason="not-found"), last
        )

    def _exactly(self, request: PathRequest) -> NoteLocation | PathRefused:
        try:
            return self._locator.follow(request)
        except PathRefused as exc:
            return exc

    def _by_name(self, requests: Sequence[PathRequest]) -> NoteLocation | None:
        asked = [request for request in requests if request.name]
        if not asked:
            return None
        for look in (_by_path, notes_by_title):  # a file's name before any title
            for names in self._sources():
                for request in asked:
                    paths = look(names, request.name or "")
                    if located := self._one_of(request, paths):
                        return located
        for request in asked:
            if located := self._one_of(request, self._of_day(request.name or "")):
                return located
        return None

    def _sources(self) -> Iterator[NoteNames]:
        if self._indexed:
            yield self._indexed
        yield self._scanned
        if not self._indexed:
            yield self._titled

    @cached_property
    def _indexed(self) -> NoteNames | None:
        return self._aids.indexed()

    @cached_property
    def _titled(self) -> NoteNames:
        return GivenNames(self._aids.titles())

    @cached_property
    def _paths(self) -> list[str]:
        """Every note that may be read and named here."""
        root = str(self._workspace.root)
        paths = [note.path for note in scan(self._workspace).notes]
        if has_workspace_layout(root):
            more = (name for name in READABLE_AT_ROOT if lists_name(root, name))
            paths = [*dict.fromkeys((*paths, *more))]
        return [path for path in paths if self._aids.shows(path)]

    @cached_property
    def _scanned(self) -> NoteNames:
        return GivenNames(NamedNote(path) for path in self._paths)

    def _one_of(
        self, request: PathRequest, paths: Iterable[str]
    ) -> NoteLocation | None:
        """Return the one note that is there; or, of several, that it is not clear."""
        there = [
            located
            for path in paths
            if self._aids.shows(path) and (located := self._there(request, path))
        ]
        if len(there) < 2:
            return there[0] if there else None
        found = tuple(located.path for located in there[:MOST_CANDIDATES])
        names = ", ".join(found[:_SHOWN])
        return NoteLocation(
            path=request.path,
            file=None,
            candidates=found,
            reason=f"not-found: several notes have this name: {names}",
        )

    def _there(self, request: PathRequest, path: str) -> NoteLocation | None:
        try:
            located = self._locator.follow(replace(request, path=path))
        except PathRefused:  # an index may hold what has become something else
            return None
        reason = f"read as {path}"
        return replace(located, reason=reason) if located.file else None

    def _of_day(self, text: str) -> list[str]:
        """Return the log of the day that a text names, else the day's other notes."""
        from notewell.dates import day_in_name, read_range  # where no note has the name

        today = self._aids.today()
        found = read_range(text, today)
        if found is None or found.first != found.last:
            return []
        notes = [path for path in self._paths if day_in_name(path) == found.first]
        stems = {path: without_suffix(os.path.basename(path)) for path in notes}
        logs = [path for path in notes if read_range(stems[path], today) == found]
        return _preferred(logs or notes)

    def _missing(self, found: NoteLocation, request: PathRequest) -> NoteLocation:
        name = request.name
        if name is None or found.reason != "not-found":
            return found
        known = (
            note
            for names in self._sources()
            for note in names.every()
            if self._aids.shows(note.path)
        )
        return replace(found, nearest=tuple(nearest_names(name, known)))


def _settled(found: NoteLocation) -> bool:
    """Say whether nothing else is to be looked for: it is there, or a transcript."""
    return found.file is not None or found.reason != "not-found"


def _by_path(names: NoteNames, asked: str) -> list[str]:
    return _preferred(notes_by_path(names, asked))


def _preferred(paths: list[str]) -> list[str]:
    """Return the notes of `memory/` itself, if there are any."""
    return [p for p in paths if os.path.dirname(p).casefold() == MEMORY_FOLDER] or paths
