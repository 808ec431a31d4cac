"""Which folders QMD reads, under which names, and back from its names to our notes."""

import os
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final
from unicodedata import category

import msgspec

from notewell.backends.qmd.globs import globbed, joined
from notewell.config.schema import QmdPath
from notewell.workspace import Workspace
from notewell.workspace.extra import Extra, resolve_extra_paths
from notewell.workspace.layout import (
    LONG_TERM_NOTE,
    LONG_TERM_NOTE_IN_LOWER_CASE,
    MEMORY_FOLDER,
    has_workspace_layout,
    lists_name,
    relative_to,
)

MAIN: Final = "notes"
_EVERYTHING: Final = "**/*.md"
_ODD: Final = re.compile(r"[^a-z0-9]+")
_SUFFIX: Final = re.compile(r"\.[a-z0-9]+\Z")
_NO_LETTERS: Final = re.compile(r"[\W_]+")
_PICTURES: Final = re.compile(r"[`^]")
"""Those of ASCII."""

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
            pattern = joined(given.pattern)
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


def held_by(
    workspace: Workspace, collections: Sequence[Collection]
) -> Callable[[str], bool]:
    """Return what says of a note, by its path as cited, whether a collection has it."""
    root = os.path.realpath(workspace.root)
    areas = [
        (os.path.join(each.folder, ""), globbed(each.pattern))
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


def is_left_out_of(workspace: Workspace, paths: Sequence[QmdPath], path: str) -> bool:
    """Whether a file lies in a folder of `paths` and outside the pattern that it has there.

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
        if globbed(joined(given.pattern))(inner):
            return False
        closed = True
    return closed


def _main(root: Path) -> Collection:
    folder = os.path.realpath(root)
    pattern = _EVERYTHING
    if has_workspace_layout(folder):
        upper = lists_name(folder, LONG_TERM_NOTE)
        long_term = LONG_TERM_NOTE if upper else LONG_TERM_NOTE_IN_LOWER_CASE
        pattern = f"{{{long_term},{MEMORY_FOLDER}/{_EVERYTHING}}}"
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


def path_in(workspace: Workspace, collection: Collection, path: str) -> str | None:
    """Return a file of a collection as citations show it; None if it leads out."""
    file = os.path.normpath(os.path.join(collection.folder, path))
    if not file.startswith(os.path.join(collection.folder, "")) or "\0" in path:
        return None
    return relative_to(os.path.realpath(workspace.root), file)


@lru_cache(maxsize=65_536)
def handles(path: str) -> str:
    """Return a path as loosely as the versions before 2.8 keep it.

    Letters lose their case, `___` is a border of folders, a pictograph is its number,
    whatever else is no letter and no digit is one dash, and what is nothing then is
    left out. Two notes may come to the same, so their texts have to decide.

    >>> handles("Team notes/v1.2/My_Notes (v2).md")
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
