"""Connections to an index file, and what its header and settings say."""

import os
import stat
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from threading import Event, Lock
from typing import Any, Final, Literal, TypeAlias

import apsw

from notewell.backends.builtin.schema import (
    APPLICATION_ID,
    META,
    SCHEMA_VERSION,
    Generation,
)
from notewell.errors import BackendFailed, BackendUnavailable
from notewell.workspace.layout import show_name

BACKEND: Final = "builtin"
SIDE_FILES: Final = ("", "-wal", "-shm", "-journal")

_BUSY_MS: Final = 10_000
_CHECKPOINT_PAGES: Final = 10_000
"""Pages of 4 KB in the log before SQLite moves them into the file, and waits for it."""

_STEPS: Final = 20_000
"""Instructions of SQLite, a fraction of a millisecond, between two looks at a stop."""

_HEADER: Final = b"SQLite format 3\x00"
_SPOILT = (apsw.CorruptError, apsw.NotADBError, apsw.FormatError)
_NOT_HERE = (apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError)

# Closing a file that SQLite has open drops SQLite's locks on it in the whole process
# (POSIX), so an index that is open here is never opened beside SQLite.
_open_here: Counter[tuple[int, int] | None] = Counter()
_opening = Lock()

Owner: TypeAlias = Literal["nobody", "notewell", "somebody-else"]


def owner_of(path: Path) -> Owner:
    """Say whose file stands at `path`, from its header alone.

    An empty file is nobody's. A file of ours stays ours when its pages are
    damaged, as long as the first hundred bytes are whole.
    """
    with _opening:
        inode = inode_of(path)
        if inode and _open_here[inode]:
            return "notewell"
        return _owner_by_header(path)


def _owner_by_header(path: Path) -> Owner:
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return "somebody-else"  # reading a pipe would wait for a writer
        with path.open("rb") as file:
            header = file.read(100)
    except FileNotFoundError:
        return "nobody"
    except OSError:
        return "somebody-else"
    if not header:
        return "nobody"
    ours = header[:16] == _HEADER and header[68:72] == APPLICATION_ID.to_bytes(4, "big")
    return "notewell" if ours else "somebody-else"


def size_of(path: Path) -> int:
    """Return the bytes of an index file and its side files."""
    total = 0
    for suffix in SIDE_FILES:
        try:
            total += os.stat(f"{path}{suffix}").st_size
        except OSError:
            continue
    return total


def state_of(path: Path) -> tuple[tuple[int, ...], ...]:
    """Return something that differs once another process has written an index."""
    return tuple(_state(f"{path}{suffix}") for suffix in SIDE_FILES)


def _state(file: str) -> tuple[int, ...]:
    try:
        found = os.stat(file)
    except OSError:
        return ()
    return (found.st_ino, found.st_size, found.st_mtime_ns)


def discard(path: Path) -> None:
    """Remove an index file of ours with its side files; it is derived from the notes."""
    for suffix in SIDE_FILES:
        Path(f"{path}{suffix}").unlink(missing_ok=True)


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
        self._closed = False
        with _opening:
            self.inode = inode_of(path)
            _open_here[self.inode] += 1
        try:
            self.connection = apsw.Connection(name, flags=flags)
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
        store = cls(path, f"file:{_quoted(path)}?{how}", flags=flags, lasting=lasting)
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
        if owner_of(path) == "somebody-else":
            raise BackendUnavailable(
                BACKEND,
                f"{path} belongs to another program",
                remedy="move it away, or set memorySearch.store.path",
            )
        flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
        store = cls(path, str(path), flags=flags)
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
            self.connection.execute(f"pragma application_id = {APPLICATION_ID}")
        self.connection.execute("pragma journal_mode = wal")
        self.connection.execute("pragma synchronous = normal")
        self.connection.execute(f"pragma wal_autocheckpoint = {_CHECKPOINT_PAGES}")
        self.connection.execute(META)

    def close(self) -> None:
        """Close the connection; twice is harmless."""
        self.connection.close()
        self._forget()

    def _forget(self) -> None:
        with _opening:
            if not self._closed:
                self._closed = True
                _open_here[self.inode] -= 1

    def heed(self, stop: Event | None) -> None:
        """Break off what is read with `apsw.InterruptError` once `stop` is set."""
        self.connection.set_progress_handler(stop.is_set if stop else None, _STEPS)

    def one(self, sql: str, *values: Any) -> Any:
        """Return the first column of the first row, or None."""
        return self.connection.execute(sql, values).get

    def rows(self, sql: str, *values: Any) -> list[Any]:
        """Return all rows."""
        return self.connection.execute(sql, values).fetchall()

    def get(self, key: str) -> Any:
        """Return a value of `nw_meta`, or None."""
        return self.one("select value from nw_meta where key = ?", key)

    def put(self, key: str, value: str | int | bytes | None) -> None:
        """Set a value of `nw_meta`."""
        self.connection.execute(
            "insert or replace into nw_meta(key, value) values (?, ?)", (key, value)
        )

    def forget(self, key: str) -> None:
        """Remove a value of `nw_meta`."""
        self.connection.execute("delete from nw_meta where key = ?", (key,))

    def live(self) -> Generation | None:
        """Return the generation that searches read, if one was ever completed."""
        number = self.get("live")
        return None if number is None else Generation(int(number))

    def building(self) -> Generation | None:
        """Return the generation that a rebuild is filling, if there is one."""
        number = self.get("building")
        return None if number is None else Generation(int(number))

    def indexed_at(self) -> datetime | None:
        """Return when the index last agreed with the files."""
        seconds = self.get("indexed_at")
        try:
            return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
        except (OverflowError, OSError, ValueError):
            return None  # written by a clock that was far off

    def is_readable_here(self) -> bool:
        """Say whether this version of the program can read the tables."""
        return bool(self.get("schema") == SCHEMA_VERSION)

    def was_replaced(self) -> bool:
        """Say whether another file now stands at the path."""
        return inode_of(self.path) != self.inode


def is_spoilt(error: apsw.Error) -> bool:
    """Say whether an error means that the file is damaged."""
    return isinstance(error, _SPOILT)


@contextmanager
def explained(path: Path) -> Generator[None]:
    """Turn what SQLite and the system say about a write into a BackendError."""
    name = show_name(str(path))
    try:
        yield
    except (apsw.FullError, apsw.IOError) as error:
        raise BackendFailed(
            BACKEND,
            f"the index {name} cannot be written: {error}",
            reason="exit",
            remedy="free some disk space and run `notewell index`; no note was touched",
        ) from error
    except (apsw.BusyError, apsw.LockedError) as error:
        raise BackendFailed(
            BACKEND,
            f"another program holds the index {name}",
            reason="busy",
            remedy="wait for it, or end it",
        ) from error
    except (OSError, UnicodeEncodeError, *_NOT_HERE) as error:
        raise BackendUnavailable(
            BACKEND,
            f"no index can be kept at {name}: {show_name(str(error))}",
            remedy="make the folder writable, or set memorySearch.store.path",
        ) from error
    except apsw.Error as error:
        raise BackendFailed(
            BACKEND,
            f"the index {name} cannot be written: {error}",
            reason="corrupt" if is_spoilt(error) else "exit",
            remedy="run `notewell index --force`; no note was touched",
        ) from error


def _create_private(path: Path) -> None:
    from notewell.writing.private import create_folder  # only for writers

    create_folder(path.parent)
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))


def _quoted(path: Path) -> str:
    from urllib.parse import quote

    return quote(str(path))


def inode_of(path: Path) -> tuple[int, int] | None:
    """Return what tells one file from another at the same path; None without a file."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino
