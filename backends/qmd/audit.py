"""Counting after QMD: is its index what was written, and can all of it be found?

A killed update can lose documents from its full-text index; a file can be emptied,
replaced or damaged by anybody. This is the one place that looks into QMD's own file,
reading only. A version that keeps it otherwise is not audited.
"""

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

import apsw

from notewell.backends.qmd.collections import Collection, handles
from notewell.backends.qmd.globs import globbed, is_left_out
from notewell.backends.qmd.reading import digest_of
from notewell.workspace import Note
from notewell.workspace.layout import USER_NOTE, read_regular

_PATIENCE_MS: Final = 5_000
_PASSED_OVER: Final = (
    "QMD does not read it: its name, its folder (build, dist, vendor) or its suffix"
)
_NOT_MEANT: Final = (
    "it is no part of the default collection; memory.qmd.paths can name it"
)


_SAME_NAME: Final = (
    "this version of QMD gives it the name of another note, which it keeps instead; "
    "2.8 and newer keep both"
)
_Name: TypeAlias = tuple[str, str]


class Held(NamedTuple):
    """A document of QMD's index: its collection, its path there, its digest."""

    collection: str
    path: str
    digest: str


class Audit(NamedTuple):
    """What an index of QMD's holds.

    Attributes:
        documents: Everything that it means to hold.
        searchable: How many of them its full-text index has.
    """

    documents: Sequence[Held]
    searchable: int

    @property
    def whole(self) -> bool:
        """Whether every document can be found."""
        return self.searchable == len(self.documents)

    @property
    def digest(self) -> str:
        """What changes when a document does."""
        rows = "\n".join(sorted("\0".join(document) for document in self.documents))
        return sha256(rows.encode("utf-8", "surrogatepass")).hexdigest()


class Damaged(Exception):
    """What lies in the place of an index cannot be read as one."""


def audit(database: Path, *, pages: bool = False) -> Audit | None:
    """Count what the index holds; None if this version keeps it otherwise.

    Args:
        pages: Look at every page of the file, too.

    Raises:
        Damaged: it is no database, or a broken one.
    """
    try:
        with closing(
            apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY)
        ) as connection:
            connection.set_busy_timeout(_PATIENCE_MS)
            rows = connection.execute(
                "select collection, path, hash from documents where active = 1"
            )
            documents = [Held(*map(str, row)) for row in rows]
            counted = connection.execute("select count(*) from documents_fts").get
            if pages and connection.execute("pragma quick_check(1)").get != "ok":
                raise Damaged
    except (apsw.NotADBError, apsw.CorruptError) as exc:
        raise Damaged from exc
    except apsw.Error:
        return None
    return Audit(documents, counted if isinstance(counted, int) else -1)


def file_state(database: Path) -> tuple[int, ...]:
    """Return what changes when somebody writes to an index; nothing if it is gone.

    What was written last may still be beside the file, in its log.
    """
    try:
        file = os.stat(database)
    except OSError:
        return ()
    try:
        log = os.stat(f"{database}-wal").st_size
    except OSError:
        log = 0
    return (file.st_ino, file.st_size, file.st_mtime_ns, log)


def left_out(
    notes: Sequence[Note],
    collections: Sequence[Collection],
    counted: Audit,
    *,
    literal: bool,
) -> dict[str, str]:
    """Return the notes that QMD does not have, though they lie where it looks.

    Args:
        literal: It keeps names as they are; else they are compared loosely, and of
            several notes that come to the same name it has kept one.
    """
    held: dict[_Name, set[str]] = defaultdict(set)
    for document in counted.documents:
        path = document.path if literal else handles(document.path)
        held[document.collection, path].add(document.digest)
    names_of = _namer(collections, literal=literal)
    names = {note: names_of(note) for note in notes if note.size}
    shared = Counter(name for each in names.values() for name in each)
    missing: dict[str, str] = {}
    for note, named in names.items():
        kept = [name for name in named if name in held]
        if not named and note.path == USER_NOTE:
            missing[note.path] = _NOT_MEANT
        elif named and not kept:
            missing[note.path] = _PASSED_OVER
        elif kept and not any(
            shared[name] <= len(held[name]) or _digest(note) in held[name]
            for name in kept
        ):
            missing[note.path] = _SAME_NAME
    return missing


def _digest(note: Note) -> str:
    try:
        return digest_of(read_regular(note.file))
    except (OSError, ValueError):
        return ""


def _namer(
    collections: Sequence[Collection], *, literal: bool
) -> Callable[[Note], set[_Name]]:
    """Return what gives the names that a note would have in the collections."""
    areas = [
        (each.name, os.path.join(each.folder, ""), globbed(each.pattern))
        for each in collections
    ]

    def names(note: Note) -> set[_Name]:
        found: set[_Name] = set()
        for name, folder, means in areas:
            inner = note.file.removeprefix(folder)
            if inner != note.file and _is_meant(inner, means):
                found.add((name, inner if literal else handles(inner)))
        return found

    return names


def _is_meant(inner: str, means: Callable[[str], bool]) -> bool:
    """Whether a note is to be read, as far as that is not up to QMD."""
    return is_left_out(inner) or means(f"{inner[:-3]}{inner[-3:].lower()}")
