"""Connections to an index file, and what its header and settings say."""

import os
from collections.abc import Mapping
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from typing import Any, Final

import apsw

from notewell.backends.builtin.errors import BACKEND, require_declared, require_setting
from notewell.backends.builtin.index_file import (
    CHECKSUM_BYTES,
    checksum_vfs,
    forget_open,
    inode_of,
    owner_of,
    remember_open,
    remove_index,
)
from notewell.backends.builtin.schema import (
    APPLICATION_ID,
    META,
    SCHEMA_VERSION,
    Generation,
)
from notewell.errors import BackendUnavailable
from notewell.values import dataclass

__all__ = ["BACKEND", "Store", "owner_of", "remove_index"]

_BUSY_MS: Final = 10_000
_CHECKPOINT_PAGES: Final = 10_000
"""Pages of 4 KB in the log before SQLite moves them into the file, and waits for it."""

_MOST_MAPPED: Final = 2**31 - 2**16
"""Bytes of a file: as many as this SQLite maps. What is behind them is read."""

_CACHED: Final = 64 * 1024
"""KB of pages that a program keeps which stays: the codes of some 200,000 vectors."""

_STEPS: Final = 20_000
"""Instructions of SQLite, a fraction of a millisecond, between two looks at a stop."""

_IN_THE_WAY: Final[Mapping[str, tuple[str, str]]] = {
    "somebody-else": ("belongs to another program", "move it away"),
    "link": ("is a symbolic link, which is not followed", "remove the link"),
    "closed": ("may not be read", "make it readable for this user"),
}


class Store:
    """One connection to an index file. Not to be shared between threads at once.

    Attributes:
        connection: The connection.
        path: The file.
        inode: The file that stood at the path when it was opened.
        lasting: It sees what others write later; False where SQLite cannot lock.
        is_empty: A reader that met the file before its first table was made.
    """

    def __init__(self, path: Path, name: str, *, flags: int, lasting: bool = True):
        self.path = path
        self.lasting = lasting
        self.is_empty = False
        self._mapped = 0
        self._closed = False
        self.inode = remember_open(path)
        try:
            self.connection = apsw.Connection(
                name, flags=flags | apsw.SQLITE_OPEN_NOFOLLOW, vfs=checksum_vfs()
            )
        except BaseException:
            self._forget()
            raise

    @classmethod
    def reader(cls, path: Path) -> "Store":
        """Open for reading; the file must exist.

        Raises:
            apsw.Error: it cannot be read as a database of ours.
        """
        try:
            return cls._checked(path, "mode=ro", lasting=True)
        except (apsw.CantOpenError, apsw.ReadOnlyError):
            # A folder in which SQLite may not create its shared memory file.
            return cls._checked(path, "immutable=1", lasting=False)

    @classmethod
    def _checked(cls, path: Path, how: str, *, lasting: bool) -> "Store":
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        store = cls(
            path, f"file:{_quoted(_real(path))}?{how}", flags=flags, lasting=lasting
        )
        try:
            store.connection.set_busy_timeout(_BUSY_MS)
            store.is_empty = not store.one("select count(*) from sqlite_schema")
        except BaseException:
            store.close()
            raise
        return store

    @classmethod
    def writer(cls, path: Path) -> "Store":
        """Open for writing, creating what is missing; the caller holds the lock.

        Raises:
            OSError, apsw.Error: the file cannot be created or written, or is spoilt.
            BackendUnavailable: somebody else's file is there; it is not touched.
        """
        _create_private(path)
        in_the_way = _IN_THE_WAY.get(owner_of(path))
        if in_the_way:
            why, remedy = in_the_way
            raise BackendUnavailable(
                BACKEND,
                f"{path} {why}",
                remedy=f"{remedy}, or set memorySearch.store.path",
            )
        flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
        store = cls(path, _real(path), flags=flags)
        try:
            store._prepare()
        except BaseException:
            store.close()
            raise
        return store

    def _prepare(self) -> None:
        self.connection.set_busy_timeout(_BUSY_MS)
        # First of all, and not through the log: whatever ends us, the file is ours.
        if self.one("pragma application_id") != APPLICATION_ID:
            if checksum_vfs():
                self.connection.reserve_bytes("main", CHECKSUM_BYTES)
            self.connection.execute(
                f"begin; pragma application_id = {APPLICATION_ID};"
                f" pragma user_version = {APPLICATION_ID}; commit"
            )
        self.connection.execute("pragma journal_mode = wal")
        self.connection.execute("pragma synchronous = normal")
        self.connection.wal_autocheckpoint(_CHECKPOINT_PAGES)
        self.connection.execute(META)

    def close(self) -> None:
        """Close the connection; twice is harmless."""
        self.connection.close()
        self._forget()

    @classmethod
    def empty_log_of(cls, path: Path) -> None:
        """Empty the log of an index; the caller holds the lock."""
        with closing(cls(path, _real(path), flags=apsw.SQLITE_OPEN_READWRITE)) as store:
            store.one("select count(*) from sqlite_schema")  # opens the log
            store.empty_log()

    def empty_log(self) -> None:
        """Move the log into the file, as far as nobody has to be waited for.

        Readers of ours leave it as it is. Another program's SQLite, which moves it when
        it was the last to look, keeps no checksums: only what it finds in the file is
        safe from it.
        """
        with suppress(apsw.Error):  # what cannot be moved now stays in the log
            self.connection.set_busy_timeout(0)
            self.connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)

    def _forget(self) -> None:
        if not self._closed:
            self._closed = True
            forget_open(self.inode)

    def heed(self, stop: Event | None) -> None:
        """Break off what is read with `apsw.InterruptError` once `stop` is set."""
        self.connection.set_progress_handler(stop.is_set if stop else None, _STEPS)

    def one(self, sql: str, *values: Any) -> Any:
        """Return the first column of the first row, or None; checked as in `rows`."""
        rows = self.rows(sql, *values)
        return rows[0][0] if rows else None

    def rows(self, sql: str, *values: Any) -> list[Any]:
        """Return all rows. This is the one door for what is read from an index.

        Raises:
            apsw.CorruptError: a value is not of the type that its table declares.
        """
        cursor = self.connection.execute(sql, values)
        try:
            columns = cursor.get_description()
        except apsw.ExecutionCompleteError:
            return []  # there is no row
        rows = cursor.fetchall()
        if any(declared for _, declared in columns):
            require_declared(columns, rows)
        return rows

    def get(self, key: str) -> Any:
        """Return a value of `nw_meta`, or None.

        Raises:
            apsw.CorruptError: it is not of the type that is written under this key.
        """
        value = self.one("select value from nw_meta where key = ?", key)
        require_setting(key, value)
        return value

    def put(self, key: str, value: str | int | bytes | None) -> None:
        """Set a value of `nw_meta`."""
        self.put_all({key: value})

    def put_all(self, settings: Mapping[str, str | int | bytes | None]) -> None:
        """Set values of `nw_meta`."""
        places = ", ".join(["(?, ?)"] * len(settings))
        self.connection.execute(
            f"insert or replace into nw_meta(key, value) values {places}",
            [each for setting in settings.items() for each in setting],
        )

    def forget(self, key: str) -> None:
        """Remove a value of `nw_meta`."""
        self.connection.execute("delete from nw_meta where key = ?", (key,))

    def live(self) -> Generation | None:
        """Return the generation that searches read, if one was ever completed."""
        return self._generation("live")

    def building(self) -> Generation | None:
        """Return the generation that a rebuild is filling, if there is one."""
        return self._generation("building")

    def _generation(self, key: str) -> Generation | None:
        number = self.get(key)
        if number is not None and number < 1:
            raise apsw.CorruptError(f"its setting {key!r} is damaged")
        return None if number is None else Generation(number)

    def built_with(self, tables: Generation | None) -> str | None:
        """Return the identity with which a generation was built, if it is known."""
        text: str | None = self.get(tables.identity_key) if tables else None
        return text

    def problems(self, tables: Generation) -> dict[str, str]:
        """Return why files could not be read when they were indexed, by path."""
        return dict(
            self.rows(
                f"select path, problem from {tables.files} where problem is not null"
                " order by path"
            )
        )

    def remarks(self, tables: Generation) -> list[tuple[str, str | None, str | None]]:
        """Return path, problem and guessed encoding of every file that has one of them."""
        return self.rows(
            f"select path, problem, remark from {tables.files}"
            " where problem is not null or remark is not null order by path"
        )

    def require_whole(self) -> dict[str, Any]:
        """See that every table that searches read is there; return all settings.

        Raises:
            apsw.CorruptError: a table is missing, or a setting is of another type.
        """
        settings: dict[str, Any] = dict(self.rows("select key, value from nw_meta"))
        for key, value in settings.items():
            require_setting(key, value)
        if settings.get("live"):
            live = Generation(settings["live"])
            # The full-text index looks at its own settings when it is opened.
            remember_open = f"exists (select 1 from {live.fts})"
            here = dict(self.rows(f"select name, {remember_open} from sqlite_schema"))
            missing = live.tables - here.keys()
            if missing:
                raise apsw.CorruptError(f"the table {min(missing)} is missing")
        return settings

    def indexed_at(self) -> datetime | None:
        """Return when the index last agreed with the files."""
        seconds = self.get("indexed_at")
        try:
            return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
        except (OverflowError, OSError, ValueError):
            return None  # written by a clock that was far off

    def require_sound(self) -> None:
        """Look over every table, and every page that one uses.

        Raises:
            apsw.Error: something is damaged.
        """
        self.require_whole()
        verdict = self.one("pragma quick_check(1)")
        if verdict != "ok":
            raise apsw.CorruptError("SQLite finds it damaged")

    def is_readable_here(self) -> bool:
        """Say whether this version of the program can read the tables.

        Raises:
            apsw.CorruptError: there are some, and nothing says which version made them.
        """
        version = self.get("schema")
        if version is None and self.live():
            raise apsw.CorruptError("its setting 'schema' is missing")
        return version in (None, SCHEMA_VERSION)

    @property
    def is_writable_here(self) -> bool:
        """Whether checksums that the file has are kept when it is written here."""
        return bool(
            checksum_vfs() or self.connection.reserve_bytes("main") != CHECKSUM_BYTES
        )

    def was_replaced(self) -> bool:
        """Say whether another file now stands at the path, or less of this one."""
        if inode_of(self.path) != self.inode:
            return True
        return os.stat(self.path).st_size < self._mapped

    def scans(self, *, often: bool) -> None:
        """Prepare for reading much of the file at once, as vectors are.

        Pages with checksums are read and checked; others are looked at where the system
        has them, without a copy. Only for who asks `was_replaced` before each use: looking
        behind the end of a file that was cut off meanwhile would end the process.

        Args:
            often: Keep what was read for the next time.
        """
        if self._mapped:
            return
        self._mapped = os.stat(self.path).st_size
        self.connection.execute(f"pragma mmap_size = {_MOST_MAPPED}")
        if often:
            self.connection.execute(f"pragma cache_size = -{_CACHED}")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a search sees of an index: a connection in a transaction, and its tables."""

    store: Store
    tables: Generation


def _create_private(path: Path) -> None:
    from notewell.files import create_folder  # only for writers

    create_folder(path.parent)
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))


def _real(path: Path) -> str:
    """Return the file with no link on the way: SQLite is told to follow none."""
    return os.path.join(os.path.realpath(path.parent), path.name)


def _quoted(path: str) -> str:
    from urllib.parse import quote

    return quote(path)
