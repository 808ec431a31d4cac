"""Which folders QMD reads, under which names, and back from its names to our notes.

QMD says which notes; the lines are looked for in the files themselves. So a citation
never leads to other lines than were shown, whatever has changed since.
"""

import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final
from unicodedata import category

import msgspec

from notewell.backends.qmd.answer import QmdHit
from notewell.backends.qmd.globs import compile_glob, portable_pattern
from notewell.backends.text.chunking import cut_passages
from notewell.backends.text.passages import Passage
from notewell.config import ChunkingSettings
from notewell.config.memory_schema import QmdPath
from notewell.errors import PathRefused
from notewell.files import read_regular
from notewell.workspace import Locator, Workspace, split_lines
from notewell.workspace.decoding import decode
from notewell.workspace.extra import Extra, resolve_extra_paths
from notewell.workspace.layout import (
    has_workspace_layout,
    long_term_note,
    memory_folder,
    relative_to,
)

if TYPE_CHECKING:
    from notewell.backends.text.filtering import ReadNote

MAIN: Final = "notes"
_NOTES: Final = ("**/*.md", "**/*.markdown")
_EVERYTHING: Final = "**/*.{md,markdown}"
_ODD: Final = re.compile(r"[^a-z0-9]+")
_SUFFIX: Final = re.compile(r"\.[a-z0-9]+\Z")
_NO_LETTERS: Final = re.compile(r"[\W_]+")
_PICTURES: Final = re.compile(r"[`^]")
"""Those of ASCII."""

_MOST_KEPT = 2_000
"""Notes whose passages are kept for the next question."""

_GLOB_SIGNS: Final = re.compile(r"([\\*?\[\]{}()!+@|])")


class Collection(msgspec.Struct, frozen=True, kw_only=True):
    """A folder that QMD reads.

    Attributes:
        name: Letters, digits and dashes: anything else breaks QMD's names of files.
        folder: Absolute and resolved.
        pattern: Which files, in the syntax of its globs.
        spoken: They are copies of transcripts, not notes.
    """

    name: str
    folder: str
    pattern: str
    spoken: bool = False

    def without(self, files: Sequence[str]) -> list[str]:
        """Return the patterns that leave these files out."""
        folder = os.path.join(self.folder, "")
        return [
            _literal(file.removeprefix(folder))
            for file in files
            if file.startswith(folder)
        ]


def collections_of(
    workspace: Workspace, paths: Sequence[QmdPath], *, default_memory: bool
) -> tuple[Collection, ...]:
    """Return what QMD should read, folders that are not there left out.

    Args:
        workspace: The notes, with every extra path.
        paths: `memory.qmd.paths`, which give names and patterns to extra paths.
        default_memory: Whether the workspace itself belongs to it.
    """
    found = [_main(workspace.root)] if default_memory else []
    extras = resolve_extra_paths(workspace)
    for extra, given in zip(extras, _given(extras, paths), strict=True):
        if extra.problem is not None:
            continue
        folder, file = os.path.split(extra.top)
        pattern = _EVERYTHING
        if extra.is_file:
            pattern = _literal(file)
        elif given is not None and given.pattern is not None:
            pattern = portable_pattern(given.pattern)
        elif extra.pattern is not None:
            pattern = extra.pattern
        taken = [each.name for each in found]
        found.append(
            Collection(
                name=free_name((given and given.name) or file, taken),
                folder=folder if extra.is_file else extra.top,
                pattern=pattern,
            )
        )
    return tuple(each for each in found if os.path.isdir(each.folder))


def _given(
    extras: Sequence[Extra], paths: Sequence[QmdPath]
) -> Sequence[QmdPath | None]:
    """Return the entry of `memory.qmd.paths` behind each extra path; they come last."""
    left, given = list(paths), list[QmdPath | None]()
    for extra in reversed(extras):
        named = bool(left) and left[-1].path == extra.configured
        given.append(left.pop() if named else None)
    return given[::-1]


def collection_filter(
    workspace: Workspace, collections: Sequence[Collection]
) -> Callable[[str], bool]:
    """Return a predicate over cited paths: does a collection hold the note?"""
    root = os.path.realpath(workspace.root)
    areas = [
        (os.path.join(each.folder, ""), compile_glob(each.pattern))
        for each in collections
        if not each.spoken
    ]

    def held(path: str) -> bool:
        file = os.path.normpath(os.path.join(root, path))
        return any(
            file.startswith(folder) and means(file[len(folder) :])
            for folder, means in areas
        )

    return held


def is_outside_patterns(
    workspace: Workspace, paths: Sequence[QmdPath], path: str
) -> bool:
    """Whether a file lies in a folder of `paths` but does not match its pattern.

    Args:
        path: As cited.
    """
    file = os.path.normpath(os.path.join(os.path.realpath(workspace.root), path))
    extras = resolve_extra_paths(workspace)
    closed = False
    for extra, given in zip(extras, _given(extras, paths), strict=True):
        inner = file.removeprefix(os.path.join(extra.top, ""))
        if inner == file and extra.top != file:
            continue
        if given is None or given.pattern is None or extra.is_file:
            return False
        if compile_glob(portable_pattern(given.pattern))(inner):
            return False
        closed = True
    return closed


def _main(root: Path) -> Collection:
    folder = os.path.realpath(root)
    pattern = _EVERYTHING
    if has_workspace_layout(folder):
        below = memory_folder(folder)
        notes = ",".join(f"{below}/{each}" for each in _NOTES)
        pattern = f"{{{long_term_note(folder)},{notes}}}"
    return Collection(name=MAIN, folder=folder, pattern=pattern)


def free_name(wanted: str, taken: Sequence[str]) -> str:
    """Return a name that QMD can carry and no other collection has.

    >>> free_name("Team Docs (v2)", ["notes", "team-docs-v2"])
    'team-docs-v2-2'
    """
    base = _ODD.sub("-", wanted.lower().removesuffix(".md")).strip("-") or "folder"
    names = (base, *(f"{base}-{number}" for number in range(2, len(taken) + 3)))
    return next(name for name in names if name not in taken)


def _literal(name: str) -> str:
    return _GLOB_SIGNS.sub(r"\\\1", name)


def note_path(workspace: Workspace, collection: Collection, path: str) -> str | None:
    """Return the cited path of a file in a collection; None if it leads outside."""
    file = os.path.normpath(os.path.join(collection.folder, path))
    if not file.startswith(os.path.join(collection.folder, "")) or "\0" in path:
        return None
    return relative_to(os.path.realpath(workspace.root), file)


@lru_cache(maxsize=65_536)
def handle_of(path: str) -> str:
    """Return a path as loosely as the versions before 2.8 keep it.

    Letters lose their case, `___` is a border of folders, a pictograph is its number,
    whatever else is no letter and no digit is one dash, and what is nothing then is
    left out. Two notes may come to the same, so their texts have to decide.

    >>> handle_of("Team notes/v1.2/My_Notes (v2).md")
    'team-notes/v1-2/my-notes-v2.md'
    """
    *folders, name = path.replace("___", "/").lower().split("/")
    suffix = _SUFFIX.search(name)
    end = suffix[0] if suffix else ""
    parts = [*map(_handle, folders), _handle(name.removesuffix(end)) + end]
    return "/".join(part for part in parts if part)


def has_handle(path: str) -> bool:
    """Whether the versions before 2.8 have a name for a note; without one they fail.

    >>> has_handle("memory/a.md"), has_handle("memory/---.md")
    (True, False)
    """
    stem = re.sub(r"\.[^.]+$", "", path.rpartition("/")[2])
    return any(sign.isalnum() or sign == "$" or _is_picture(sign) for sign in stem)


def _handle(part: str) -> str:
    numbered = (
        part if part.isascii() and not _PICTURES.search(part) else _numbered(part)
    )
    return _NO_LETTERS.sub("-", numbered).strip("-")


def _numbered(part: str) -> str:
    """Replace pictographs by their numbers, with dashes between neighbours."""
    written, last = "", False
    for sign in part:
        if _is_picture(sign):
            written += f"{'-' if last else ''}{ord(sign):x}"
            last = True
        elif not (last and category(sign) == "Mn"):
            written += sign
            last = False
    return written


def _is_picture(sign: str) -> bool:
    return category(sign) in ("So", "Sk")


class NotePaths:
    """Resolves QMD's names of files to paths of notes, for one question.

    Attributes:
        locator: Finds the files.
    """

    def __init__(
        self,
        workspace: Workspace,
        collections: Sequence[Collection],
        *,
        literal: bool,
        notes: Callable[[], Iterable[str]],
    ) -> None:
        """Know the collections.

        Args:
            literal: The names are those of the files; else they were altered.
            notes: Gives the paths of the notes, when altered names have to be traced.
        """
        self.locator = Locator(workspace)
        self._workspace = workspace
        self._collections = {each.name: each for each in collections}
        self._literal = literal
        self._notes = notes
        self._by_handle: dict[str, list[str]] | None = None

    def paths(self, document: QmdHit) -> list[str]:
        """Return the notes that a document may be; none if it is unknown."""
        collection = self._collections.get(document.collection)
        if collection is None:
            return []
        path = note_path(self._workspace, collection, document.path)
        if path is None:
            return []
        if self._literal:
            return [path]
        return self._traced().get(handle_of(path)) or self._others()

    def known(self) -> Iterable[str]:
        """Return the paths of the notes that are indexed."""
        return self._notes()

    @property
    def of_notes(self) -> set[str]:
        """The names of the collections of notes."""
        return set(self._collections)

    def collections_of(self, paths: Iterable[str]) -> set[str]:
        """Return the names of the collections in which some notes lie."""
        root = os.path.realpath(self._workspace.root)
        found: set[str] = set()
        for path in paths:
            file = os.path.normpath(os.path.join(root, path))
            found.update(
                each.name
                for each in self._collections.values()
                if file.startswith(os.path.join(each.folder, ""))
            )
            if len(found) == len(self._collections):
                break
        return found

    def _traced(self) -> dict[str, list[str]]:
        if self._by_handle is None:
            found: dict[str, list[str]] = defaultdict(list)
            for path in self._notes():
                found[handle_of(path)].append(path)
            self._by_handle = dict(found)
        return self._by_handle

    def _others(self) -> list[str]:
        """Return the notes whose names a version may have altered in ways of its own."""
        return [path for path in self._notes() if not path.isascii()]


class NotePassages:
    """Reads the notes that QMD named, and caches the passages of unchanged ones.

    Attributes:
        workspace: The notes.
    """

    def __init__(self, workspace: Workspace, chunking: ChunkingSettings) -> None:
        self.workspace = workspace
        self._chunking = chunking
        self._kept: dict[str, tuple[tuple[int, int, int], str, list[Passage]]] = {}

    def passages(
        self, document: QmdHit, names: NotePaths
    ) -> tuple[list[Passage], bool]:
        """Return a document's passages, and whether it is as QMD indexed it."""
        for path in names.paths(document):
            found = self._read(path, names.locator)
            if found is None:
                continue
            digest, passages = found
            same = not document.docid or digest.startswith(document.docid)
            if same:
                return passages, True
            if len(names.paths(document)) == 1:
                return passages, False
        return [], False

    def passages_at(self, path: str, locator: Locator) -> list[Passage]:
        """Return the passages of a note; none if it cannot be read."""
        found = self._read(path, locator)
        return [] if found is None else found[1]

    def note_at(self, path: str, locator: Locator) -> "ReadNote | None":
        """Return a note as it is now, if `get` would read it."""
        from notewell.backends.text.filtering import ReadNote

        try:
            file = locator.locate(path).file
            if file is None:
                return None
            lines = split_lines(decode(read_regular(file)).text)
            return ReadNote(path, lines, os.lstat(file).st_mtime_ns)
        except (PathRefused, OSError, ValueError):
            return None

    def _read(self, path: str, locator: Locator) -> tuple[str, list[Passage]] | None:
        """Return digest and passages of a note that `get` would read."""
        try:
            file = locator.locate(path).file
            if file is None:
                return None
            state = os.lstat(file)
            signature = (state.st_size, state.st_mtime_ns, state.st_ctime_ns)
            kept = self._kept.get(path)
            if kept and kept[0] == signature:
                return kept[1:]
            raw = read_regular(file)
            lines = split_lines(decode(raw).text)
        except (PathRefused, OSError, ValueError):
            return None
        passages = list(cut_passages(lines, path, signature, self._chunking))
        if len(self._kept) >= _MOST_KEPT:
            self._kept.clear()
        self._kept[path] = (signature, digest_of(raw), passages)
        return self._kept[path][1:]


def digest_of(raw: bytes) -> str:
    """Return the SHA-256 of a note's text as QMD takes it: U+FFFD for odd bytes."""
    return sha256(raw.decode("utf-8", "replace").encode()).hexdigest()
