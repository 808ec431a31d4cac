"""Counting after QMD: a killed update can lose documents from its full-text index.

This is the one place that looks into QMD's own file, reading only. A version that
keeps it otherwise is not audited.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final, NamedTuple

import apsw

from notewell.backends.qmd.collections import Collection, handles
from notewell.workspace import Note

_PATIENCE_MS: Final = 5_000
_WHY_NOT: Final = (
    "QMD does not read it: its name, its folder (build, dist, vendor) or its suffix"
)


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


def audit(database: Path) -> Audit | None:
    """Count what the index holds; None if this version keeps it otherwise."""
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
    except apsw.Error:
        return None
    return Audit(documents, counted if isinstance(counted, int) else -1)


def left_out(
    notes: Sequence[Note],
    collections: Sequence[Collection],
    counted: Audit,
    *,
    literal: bool,
) -> dict[str, str]:
    """Return the notes that QMD does not have, though they lie where it looks.

    Args:
        literal: It keeps names as they are; else they are compared loosely.
    """
    held = {
        (document.collection, document.path if literal else handles(document.path))
        for document in counted.documents
    }
    return {
        note.path: _WHY_NOT
        for note in notes
        if note.size
        and (names := [*_names_of(note, collections, literal=literal)])
        and held.isdisjoint(names)
    }


def _names_of(
    note: Note, collections: Sequence[Collection], *, literal: bool
) -> Iterator[tuple[str, str]]:
    for each in collections:
        if note.file.startswith(os.path.join(each.folder, "")):
            inner = os.path.relpath(note.file, each.folder)
            yield each.name, inner if literal else handles(inner)
