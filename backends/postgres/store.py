"""A space in a PostgreSQL server. See `notewell.backends.remote.store`."""

import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from psycopg import Connection, sql

from notewell.backends.postgres.address import ServerAddress
from notewell.backends.postgres.connections import Connections
from notewell.backends.postgres.failures import failed
from notewell.backends.postgres.identity import BACKEND
from notewell.backends.postgres.reading import Reader
from notewell.backends.postgres.schema import TABLES, tables
from notewell.backends.postgres.terms import TermKeys
from notewell.backends.postgres.writing import Writer
from notewell.backends.remote.store import Owner
from notewell.config import PostgresSettings
from notewell.errors import BackendFailed
from notewell.files import private_lock, take_lock

if TYPE_CHECKING:
    from notewell.backends.postgres.private import PrivateServer

_AS_LONG_AS_IT_TAKES: Final = 86_400.0


class PostgresStore:
    """A space in a server. Safe to share between threads.

    Attributes:
        name: Of the engine, for its errors.
        location: Where it is, fit to be shown.
        host: The machine to which notes go; None: they stay on this one.
        warnings: What a person should know of the connection.
    """

    name = BACKEND

    def __init__(
        self,
        address: ServerAddress,
        replica: ServerAddress | None,
        settings: PostgresSettings,
        *,
        space: str,
        locks: Path,
        stays: bool,
        private: "PrivateServer | None" = None,
    ) -> None:
        """Take where the space is; nothing is connected to yet.

        Args:
            address: The server that is written.
            replica: The one that is read, if it is another.
            settings: Limits, and the name of the schema.
            space: The name of the space.
            locks: A folder for locks between processes of this machine.
            stays: The program stays.
            private: The server, where it is one of our own.
        """
        self.location = f"{address.shown} ({settings.schema})"
        self.host = None if address.local else address.host
        self.warnings: Sequence[str] = tuple(
            dict.fromkeys((*address.warnings, *(replica.warnings if replica else ())))
        )
        self._schema = settings.schema
        self._space = space
        self._locks = locks
        self._private = private
        self._keys = TermKeys(space)
        self._primary = Connections(address, settings, stays=stays)
        self._reads = (
            Connections(replica, settings, stays=stays) if replica else self._primary
        )

    def open(self) -> None:
        """Connect, and see that the server can be used. Makes no tables."""
        if self._is_made():
            with self._reads.reading():
                pass

    def close(self) -> None:
        """Let every connection go; twice is harmless."""
        self._primary.close()
        self._reads.close()
        if self._private:
            self._private.close()

    def _is_made(self) -> bool:
        """Start a server of our own if there is one; say whether there is a server."""
        if self._private is None:
            return True
        if self._private.is_made:
            self._private.start()
        return self._private.is_made

    def prepare(self) -> None:
        """Make the tables that are missing, before the first write."""
        if self._private:
            self._private.start()
        with self._primary.writing() as connection:
            if self._is_complete(connection):
                return
        with suppress(BackendFailed), self._primary.writing() as connection:
            for statement in tables(self._schema):
                connection.execute(statement)
            return
        with self._primary.writing() as connection:  # by somebody else, meanwhile?
            if not self._is_complete(connection):
                for statement in tables(self._schema):
                    connection.execute(statement)

    @contextmanager
    def snapshot(self) -> Generator[Reader]:
        """Lend the space as it is now, for reading."""
        if not self._is_made():
            raise failed("not-ready", "there is no index yet", "run `notewell index`")
        with self._reads.reading() as connection:
            yield Reader(connection, self._schema, self._space, self._keys)

    @contextmanager
    def writing(self, owner: Owner, *, wait: float | None) -> Generator[Writer]:
        """Lend the right to write a holding."""
        lock = private_lock(self._locks / f"{self._space}.lock")
        until = time.monotonic() + (_AS_LONG_AS_IT_TAKES if wait is None else wait)
        if not take_lock(lock, within=max(0.0, until - time.monotonic())):
            raise failed("busy", "another process is writing", "try again")
        try:
            with self._primary.writing(
                many=wait is None, patient=wait != 0
            ) as connection:

                def again() -> None:
                    connection.execute(self._primary.begin(many=wait is None))

                writer = Writer(
                    connection, self._schema, self._space, owner, self._keys, again
                )
                yield writer
                writer.finish()
        finally:
            lock.release()

    def stored_bytes(self) -> int | None:
        """Return what the space takes in the server, about; None: not known."""
        with self._reads.reading() as connection:
            rows = connection.execute(
                sql.SQL(
                    "select sum(g.passages)::float8, (select sum(pg_total_relation_size"
                    "(c.oid))::float8 from pg_class c join pg_namespace n"
                    " on n.oid = c.relnamespace where n.nspname = %s and c.relkind = 'r'),"
                    " (select greatest(reltuples, 1)::float8 from pg_class c join"
                    " pg_namespace n on n.oid = c.relnamespace"
                    " where n.nspname = %s and relname = 'passages')"
                    " from {}.generations g where space = %s"
                ).format(sql.Identifier(self._schema)),
                (self._schema, self._schema, self._space),
            ).fetchall()
        passages, size, total = map(float, (each or 0.0 for each in rows[0]))
        return round(size * min(1.0, passages / max(passages, total, 1.0)))

    def _is_complete(self, connection: Connection[Any]) -> bool:
        rows = connection.execute(
            "select count(*) from pg_tables where schemaname = %s and tablename = any(%s)",
            (self._schema, list(TABLES)),
        ).fetchall()
        return bool(rows[0][0] == len(TABLES))
