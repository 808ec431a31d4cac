"""What the index knows of notes beside their passages: their names, and who links to them.

Which lines the links stand in is not kept: whoever shows them reads the notes as they are.
"""

from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeAlias

from notewell.backends.base import NoteCatalogue, Site
from notewell.backends.builtin.errors import BACKEND, IndexUnreadable
from notewell.backends.builtin.index_file import locate_index
from notewell.backends.builtin.readers import ReaderPool
from notewell.backends.builtin.schema import (
    FILE_NAME,
    LINKED,
    TITLE,
    Generation,
    IndexIdentity,
)
from notewell.backends.builtin.store import Store
from notewell.errors import BackendFailed
from notewell.front_matter import names_in_front_matter
from notewell.links import read_links
from notewell.markdown import Structure
from notewell.workspace.names import NamedNote, file_key, name_key

NameRow: TypeAlias = tuple[str, int, int, str]
"""A row of `Generation.names`: key, kind, file, name."""

_LONGEST = 500
"""Characters of a name; what is longer is none."""


def note_entries(
    file_id: int, path: str, lines: Sequence[str], structure: Structure
) -> set[NameRow]:
    """Return the rows of a note: its names, and the names that it links to."""
    titles = {
        (name_key(name), TITLE, file_id, name) for name in names_in_front_matter(lines)
    }
    linked = {
        (file_key(link.target), LINKED, file_id, "")
        for link in read_links(lines, structure)
    }
    rows = {(file_key(path), FILE_NAME, file_id, ""), *titles, *linked}
    return {row for row in rows if len(row[0]) <= _LONGEST and len(row[3]) <= _LONGEST}


@contextmanager
def open_catalogue(site: Site) -> Generator[NoteCatalogue]:
    """Lend what the index of a site knows; see `HasCatalogue`.

    Raises:
        BackendFailed: no index can be read.
    """
    location = locate_index(site)
    identity = IndexIdentity.current(site.workspace.root, site.agent.search.chunking)
    pool = ReaderPool(location.path, identity.workspace)
    try:
        with pool.one() as store:
            live = store.live()
            assert live is not None, "the pool has seen that there is one"
            yield _IndexedNames(store, live)
    except IndexUnreadable as error:
        raise BackendFailed(
            BACKEND, error.why, reason=error.reason, remedy="run `notewell index`"
        ) from error
    finally:
        pool.close()


class _IndexedNames:
    """See `NoteCatalogue`."""

    def __init__(self, store: Store, tables: Generation) -> None:
        self._store = store
        self._tables = tables
        self._joined = (
            f" from {tables.names} as n join {tables.files} as f on f.id = n.file_id"
        )

    def called(self, key: str) -> Sequence[NamedNote]:
        rows = self._store.rows(
            f"select f.path, n.name {self._joined} where n.key = ? and n.kind < ?",
            key,
            LINKED,
        )
        return [NamedNote(path, name) for path, name in rows]

    def every(self) -> Iterable[NamedNote]:
        rows = self._store.rows(
            f"select f.path, n.name {self._joined} where n.kind < ?", LINKED
        )
        return [NamedNote(path, name) for path, name in rows]

    def linking(self, keys: Iterable[str]) -> set[str]:
        wanted = list(keys)
        places = ", ".join("?" * len(wanted))
        rows = self._store.rows(
            f"select f.path {self._joined} where n.kind = ? and n.key in ({places})",
            LINKED,
            *wanted,
        )
        return {path for (path,) in rows}

    def signatures(self) -> Mapping[str, tuple[int, int, int]]:
        rows = self._store.rows(
            f"select path, size, mtime_ns, ctime_ns from {self._tables.files}"
            f" where problem is null"
        )
        return {path: (size, mtime, ctime) for path, size, mtime, ctime in rows}
