"""Counting after QMD: a killed update can lose documents from its full-text index.

This is the one place that looks into QMD's own file, reading only. A version that
keeps it otherwise is not audited.
"""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import apsw

_PATIENCE_MS = 5_000


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
