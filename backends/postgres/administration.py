"""What an administrator asks: the SQL that prepares a server, and whether one is fit."""

from collections.abc import Iterator
from typing import Any, Final

from psycopg import sql

from notewell.backends.postgres.connections import Connection, Connections
from notewell.backends.postgres.identity import Place
from notewell.backends.postgres.schema import (
    TABLES,
    VERSION,
    distribution,
    rights,
    row_security,
    tables,
)
from notewell.config import PostgresSettings
from notewell.errors import BackendError
from notewell.values import dataclass

_NEEDED: Final = ("select", "insert", "update", "delete")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerCheck:
    """One thing that was looked at.

    Attributes:
        name: What.
        ok: Whether it is as it has to be.
        detail: What was found.
        remedy: What to do, if it is not.
    """

    name: str
    ok: bool
    detail: str
    remedy: str = ""


def setup_sql(
    settings: PostgresSettings, *, role: str, space: str | None, citus: bool
) -> str:
    """Return the SQL that prepares a server, for its owner to read and to run.

    Args:
        settings: The name of the schema.
        role: The user as whom notewell connects.
        space: The one space that this role may see; None: all.
        citus: The tables are spread over several machines.
    """
    parts = [("The tables; those that are there stay.", tables(settings.schema))]
    if citus:
        said = "The tables over the machines of Citus, the rows of a space on one."
        parts.append((said, distribution(settings.schema)))
    said = "A user with no right but to rows; give it a password with \\password."
    parts.append((said, rights(settings.schema, role)))
    if space is not None:
        said = "This user sees one space alone."
        parts.append((said, row_security(settings.schema, role, space)))
    lines = ["-- To be run by who may create schemas and roles:"]
    lines.append("--   notewell postgres init | psql --set ON_ERROR_STOP=1 DATABASE")
    for said, statements in parts:
        lines += ["", f"-- {said}"]
        lines += [f"{each.as_string(None).strip()};" for each in statements]
    return "\n".join(lines) + "\n"


def check_server(
    connections: Connections, settings: PostgresSettings, place: Place
) -> Iterator[ServerCheck]:
    """Yield what is found at a server; nothing is changed there."""
    owner = f"{place.owner.member}/{place.owner.agent}"
    yield ServerCheck(name="space", ok=True, detail=f"{place.space}, as {owner}")
    yield ServerCheck(
        name="address",
        ok=not connections.address.weak,
        detail=connections.address.shown,
        remedy=" ".join(connections.address.warnings),
    )
    try:
        with connections.reading() as connection:
            yield from _found(connection, settings)
    except BackendError as error:
        yield ServerCheck(
            name="connection", ok=False, detail=error.message, remedy=error.remedy
        )


def _found(connection: Connection, settings: PostgresSettings) -> Iterator[ServerCheck]:
    info = connection.info
    version = info.parameter_status("server_version") or "?"
    yield ServerCheck(name="connection", ok=True, detail=f"PostgreSQL {version}")
    encoding = info.parameter_status("server_encoding") or "?"
    yield ServerCheck(
        name="encoding",
        ok=encoding == "UTF8",
        detail=encoding,
        remedy="make the database with `create database NAME encoding 'UTF8'`",
    )
    recovers = _one(connection, "select pg_is_in_recovery()")
    yield ServerCheck(
        name="writing",
        ok=not recovers,
        detail="a replica, which only reads" if recovers else "a primary",
        remedy="name the primary in memory.postgres.dsn, this one in readDsn",
    )
    missing = [name for name in TABLES if not _is_table(connection, settings, name)]
    yield ServerCheck(
        name="tables",
        ok=not missing,
        detail=f"missing: {', '.join(missing)}" if missing else "all are there",
        remedy="run the SQL of `notewell postgres init` as the owner of the database",
    )
    if missing:
        return
    lacking = [
        f"{right} on {name}"
        for name in TABLES
        for right in _NEEDED
        if not _may(connection, settings, name, right)
    ]
    yield ServerCheck(
        name="rights",
        ok=not lacking,
        detail=f"missing: {', '.join(lacking)}" if lacking else "rows can be written",
        remedy="run the grants of `notewell postgres init` as the owner of the schema",
    )
    if not lacking:
        yield _versions(connection, settings)


def _versions(connection: Connection, settings: PostgresSettings) -> ServerCheck:
    rows = connection.execute(
        sql.SQL("select distinct version from {}.spaces where version <> %s").format(
            sql.Identifier(settings.schema)
        ),
        (VERSION,),
    ).fetchall()
    others = ", ".join(str(version) for (version,) in rows)
    return ServerCheck(
        name="rows",
        ok=not others,
        detail=f"of version {others or VERSION}",
        remedy="use one version of notewell for a space, or another space",
    )


def _is_table(connection: Connection, settings: PostgresSettings, name: str) -> bool:
    found = "select 1 from pg_tables where schemaname = %s and tablename = %s"
    return bool(_one(connection, found, settings.schema, name))


def _may(
    connection: Connection, settings: PostgresSettings, name: str, right: str
) -> bool:
    # A schema is given by its name, a table as it is written in SQL.
    table = sql.Identifier(settings.schema, name).as_string(None)
    asked = "select has_schema_privilege(%s, 'usage') and has_table_privilege(%s, %s)"
    return bool(_one(connection, asked, settings.schema, table, right))


def _one(connection: Connection, statement: str, *values: Any) -> Any:
    rows = connection.execute(statement.encode(), values).fetchall()
    return rows[0][0] if rows else None
