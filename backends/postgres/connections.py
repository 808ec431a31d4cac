"""Connections to the server: made once by hand, so that what is wrong is told, then pooled.

A pool tries again behind one's back, and tells of a wrong password only that time is over.
A command that ends soon has one connection and no pool.
"""

import threading
import time
from collections.abc import Generator
from contextlib import closing, contextmanager
from typing import Any, Final, TypeAlias, TypeVar

import psycopg
from psycopg_pool import ConnectionPool, PoolTimeout

from notewell.backends.postgres.address import ServerAddress
from notewell.backends.postgres.failures import backend_error
from notewell.backends.postgres.identity import BACKEND
from notewell.backends.postgres.schema import LEAST_SERVER
from notewell.config import PostgresSettings
from notewell.errors import BackendFailed

_Result = TypeVar("_Result")

_PATIENCE: Final = 10.0
"""Seconds in which a server has to answer where nothing else is said."""

_GRACE: Final = 1.0
"""Seconds in which a server may say itself that a statement took too long."""


class _BoundedConnection(psycopg.Connection[tuple[Any, ...]]):
    """One on which nobody waits for ever, whatever has become of the server.

    Its own limits end with it: a process that is stopped, or behind a dead wire, keeps
    none of them.

    Attributes:
        limit: Seconds that a statement may take; None: as long as it takes.
    """

    limit: float | None = _PATIENCE

    def wait(
        self, gen: Generator[Any, Any, _Result], *args: Any, **kwargs: Any
    ) -> _Result:
        """Wait for what psycopg does on the connection."""
        if self.limit is not None:
            gen = _until(gen, time.monotonic() + self.limit)
        try:
            return super().wait(gen, *args, **kwargs)
        except psycopg.errors.ConnectionTimeout:
            self.close()  # an answer may still be under way
            raise


def _until(
    work: Generator[Any, Any, _Result], deadline: float
) -> Generator[Any, Any, _Result]:
    """Do what psycopg wants to do, and give it up at the deadline.

    Raises:
        ConnectionTimeout: it was given up.
    """
    try:
        awaited = next(work)
        while True:
            ready = yield awaited
            if not ready and time.monotonic() > deadline:
                work.close()
                raise psycopg.errors.ConnectionTimeout("no answer in time")
            awaited = work.send(ready)
    except StopIteration as done:
        result: _Result = done.value
        return result


Connection: TypeAlias = psycopg.Connection[tuple[Any, ...]]

_STAYS_OPEN: Final = 300.0
"""Seconds that a pool keeps a connection that nobody needs."""

_READS: Final = (
    "begin isolation level repeatable read read only;"
    " set local statement_timeout = {timeout};"
    " set local enable_seqscan = off;"
    " set local max_parallel_workers_per_gather = 0;"
    " set local jit = off"
)
"""One snapshot for all statements of a search, by the index, in a bounded time."""

_WRITES: Final = (
    "begin isolation level read committed;"
    " set local lock_timeout = {timeout};"
    " set local statement_timeout = 0;"
    " set local jit = off;"
    " set local gin_pending_list_limit = {pending}"
)

_NOTICES_ENDS: Final = "set local client_connection_check_interval = 2000"
"""Let a statement end whose client has ended: it would hold the lock of the space."""

_FEW: Final = 64
_MANY: Final = 16_384
"""KB of the GIN index that are not sorted in yet: every search reads through them."""


class Connections:
    """Connections to one server. Safe to share between threads.

    Attributes:
        address: The server.
    """

    def __init__(
        self, address: ServerAddress, settings: PostgresSettings, *, stays: bool
    ) -> None:
        """Take the server; nothing is connected to yet.

        Args:
            stays: The program stays, so that connections are pooled.
        """
        self.address = address
        self._settings = settings
        self._stays = stays
        self._notices_ends = False
        self._lock = threading.Lock()
        self._one: _BoundedConnection | None = None
        self._pool: ConnectionPool[_BoundedConnection] | None = None

    @contextmanager
    def reading(self) -> Generator[Connection]:
        """Lend a connection in a read-only snapshot.

        Raises:
            BackendError: the server fails.
        """
        begin = _READS.format(timeout=self._settings.timeout_ms).encode()
        limit = self._settings.timeout_ms / 1000 + _GRACE
        with (
            self._lent(limit) as connection,
            _in_transaction(connection, begin, keeps=False),
        ):
            yield connection

    @contextmanager
    def writing(
        self, *, many: bool = False, patient: bool = False
    ) -> Generator[Connection]:
        """Lend a connection in a transaction that is committed at the end.

        Args:
            many: Much is written, so that the index is brought up to date later.
            patient: No answer to a question waits, so that a statement takes its time.

        Raises:
            BackendError: the server fails; nothing of the transaction is kept.
        """
        begin = self.begin(many=many)
        limit = None if patient else max(_PATIENCE, self._settings.timeout_ms / 1000)
        with self._lent(limit) as connection, _in_transaction(connection, begin):
            yield connection

    def begin(self, *, many: bool) -> bytes:
        """Return what begins a transaction that writes."""
        begin = _WRITES.format(
            timeout=max(30_000, self._settings.timeout_ms),
            pending=_MANY if many else _FEW,
        )
        return (
            f"{begin};{_NOTICES_ENDS}".encode()
            if self._notices_ends
            else begin.encode()
        )

    def close(self) -> None:
        """Close every connection; twice is harmless."""
        pool, self._pool = self._pool, None
        one, self._one = self._one, None
        if pool is not None:
            pool.close()
        if one is not None:
            one.close()

    @contextmanager
    def _lent(self, limit: float | None) -> Generator[Connection]:
        """Lend a connection whose statements may take so many seconds."""
        try:
            with (
                self._pooled().connection(self._connect_seconds)
                if self._stays
                else self._own()
            ) as connection:
                connection.limit = limit
                try:
                    yield connection
                finally:
                    connection.limit = _PATIENCE
        except PoolTimeout as error:
            self._connected().close()  # which says what is wrong, if anything is
            raise backend_error(error) from error
        except psycopg.Error as error:
            raise backend_error(error) from error

    @contextmanager
    def _own(self) -> Generator[_BoundedConnection]:
        """Lend the one connection; who comes while it is lent gets one that ends then."""
        if not self._lock.acquire(blocking=False):
            with closing(self._connected()) as another:
                yield another
            return
        try:
            if self._one is None or self._one.closed:
                self._one = self._connected()
            yield self._one
        finally:
            self._lock.release()

    def _pooled(self) -> "ConnectionPool[_BoundedConnection]":
        with self._lock:
            if self._pool is None:
                self._connected().close()
                self._pool = ConnectionPool(
                    self.address.conninfo.reveal(),
                    connection_class=_BoundedConnection,
                    kwargs={"autocommit": True, "prepare_threshold": None},
                    min_size=0,
                    max_size=self._settings.pool_size,
                    timeout=self._connect_seconds,
                    max_idle=_STAYS_OPEN,
                    reconnect_timeout=self._connect_seconds,
                    check=ConnectionPool.check_connection,
                    name=BACKEND,
                    open=True,
                )
            return self._pool

    @property
    def _connect_seconds(self) -> float:
        return self._settings.connect_timeout_ms / 1000

    def _connected(self) -> _BoundedConnection:
        """Return a new connection.

        Raises:
            BackendError: there is none, or the server is too old.
        """
        try:
            # Poolers between us and the server may give each transaction another one.
            connection = _BoundedConnection.connect(
                self.address.conninfo.reveal(), autocommit=True, prepare_threshold=None
            )
        except psycopg.Error as error:
            raise backend_error(error) from error
        self._notices_ends = _notices_ends(connection)
        version = connection.info.server_version
        if version < LEAST_SERVER:
            connection.close()
            raise BackendFailed(
                BACKEND,
                f"the server is PostgreSQL {version // 10_000}, and 14 is needed",
                reason="version",
                remedy="bring the server up to date, or name another one",
            )
        return connection


def _notices_ends(connection: Connection) -> bool:
    """Whether the server can; one on a Mac cannot."""
    try:
        connection.execute(f"begin; {_NOTICES_ENDS}; rollback".encode())
    except psycopg.Error:
        connection.execute(b"rollback")
        return False
    return True


@contextmanager
def _in_transaction(
    connection: Connection, begin: bytes, *, keeps: bool = True
) -> Generator[None]:
    """Commit at the end if it `keeps` what was written; else, and by an error, undo."""
    connection.execute(begin)
    done = False
    try:
        yield
        if keeps:
            connection.execute(b"commit")
        done = keeps
    finally:
        if not done and not connection.closed:
            try:
                connection.execute(b"rollback")
            except psycopg.Error:
                connection.close()  # what was read is as good as before
