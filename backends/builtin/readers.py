"""Connections for answers: they never wait for the writer, and are used again."""

from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Event, Lock

import apsw

from notewell.backends.builtin.errors import (
    NONSENSE,
    IndexUnreadable,
    index_unreadable,
)
from notewell.backends.builtin.index_file import inode_of, owner_of
from notewell.backends.builtin.schema import IndexIdentity
from notewell.backends.builtin.store import Store
from notewell.backends.loops import WorkCancelled

_TRIES = 3
_OTHER_VERSION = "another version of notewell wrote the index; run `notewell index`"


class ReaderPool:
    """Lends connections to the index of one workspace. Safe to share between threads.

    Attributes:
        path: Where the index is.
    """

    def __init__(self, path: Path, workspace: str) -> None:
        """Remember where the index is, and of which folder it has to be."""
        self.path = path
        self._workspace = workspace
        self._idle: list[Store] = []
        self._guard = Lock()
        self._closed = False
        self._damaged: tuple[int, int] | None = None

    def close(self) -> None:
        """Close every connection, those that are lent when they come back."""
        with self._guard:
            self._closed = True
            idle, self._idle = self._idle, []
        for store in idle:
            store.close()

    @property
    def found_damage(self) -> bool:
        """Whether an answer has found the file that is there now damaged."""
        return self._damaged is not None and self._damaged == inode_of(self.path)

    def forget_damage(self) -> None:
        """Take the file that is there for a good one: it was built anew."""
        self._damaged = None

    @contextmanager
    def one(self, stop: Event | None = None) -> Generator[Store]:
        """Lend a connection; everything that is read is of one state of the index.

        Args:
            stop: Reading breaks off once it is set.

        Raises:
            IndexUnreadable: there is no index that can answer.
            WorkCancelled: `stop` was set.
        """
        store = self._take()
        try:
            store.heed(stop)
            store.connection.execute("begin")
            self._require_usable(store)
            yield store
            store.connection.execute("rollback")
            store.heed(None)
        except apsw.InterruptError as error:
            store.close()
            raise WorkCancelled from error
        except (apsw.Error, UnicodeDecodeError) as error:
            store.close()
            raise self._explained(error, store) from error
        except NONSENSE as error:
            damage = _damage_of(store)
            store.close()
            if damage is None:
                raise  # a fault of ours
            raise self._explained(damage, store) from error
        except BaseException:
            store.close()
            raise
        self._give_back(store)

    def _take(self) -> Store:
        while True:
            with self._guard:
                store = self._idle.pop() if self._idle else None
            if store is None:
                return self._open()
            if not store.was_replaced():
                return store
            store.close()

    def _open(self) -> Store:
        for _ in range(_TRIES):
            # Who begins an index anew may take it away between two looks.
            with suppress(apsw.CantOpenError):
                return self._opened()
        try:
            return self._opened()
        except apsw.CantOpenError as error:
            raise self._explained(error, None) from error

    def _opened(self) -> Store:
        owner = owner_of(self.path)
        if owner == "closed":
            why = f"the index {self.path} may not be read; see its permissions"
            raise IndexUnreadable("missing", why)
        if owner != "notewell":
            raise IndexUnreadable("not-ready", "the index was not built yet")
        try:
            store = Store.reader(self.path)
        except apsw.CantOpenError:
            raise
        except apsw.Error as error:
            raise self._explained(error, None) from error
        if store.is_empty:
            store.close()
            raise IndexUnreadable("not-ready", "the index was not built yet")
        return store

    def _give_back(self, store: Store) -> None:
        with self._guard:
            keep = store.lasting and not self._closed
            if keep:
                self._idle.append(store)
        if not keep:
            store.close()

    def _require_usable(self, store: Store) -> None:
        live = store.live()
        if live is None:
            raise IndexUnreadable("not-ready", "the index was not built yet")
        if not store.is_readable_here():
            raise IndexUnreadable("version", _OTHER_VERSION)
        try:
            built = IndexIdentity.decoded(store.built_with(live) or "")
        except (TypeError, ValueError) as error:
            raise apsw.CorruptError("its settings cannot be read") from error
        if built.workspace != self._workspace:
            raise IndexUnreadable("not-ready", "the index is of another folder")

    def _explained(
        self, error: apsw.Error | UnicodeDecodeError, store: Store | None
    ) -> IndexUnreadable:
        """Say why the index cannot answer, and remember damage."""
        why = index_unreadable(error)
        if why.reason != "corrupt":
            return why
        if _is_of_another_version(self.path):
            return IndexUnreadable("version", _OTHER_VERSION)
        self._damaged = store.inode if store else inode_of(self.path)
        return why


def _damage_of(store: Store) -> apsw.Error | None:
    """Look over all of an index in which something made no sense."""
    try:
        store.heed(None)
        store.require_sound()
    except apsw.Error as error:
        return error
    return None


def _is_of_another_version(path: Path) -> bool:
    """Say whether what looks like damage is the work of another version.

    One that keeps no checksums, for example. So the number alone is read, as it is.
    """
    with suppress(apsw.Error, UnicodeDecodeError), closing(Store.reader(path)) as store:
        store.connection.execute("pragma checksum_verification = off").fetchall()
        return not store.is_readable_here()
    return False
