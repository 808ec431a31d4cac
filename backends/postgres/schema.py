"""The tables in the server, and the SQL that makes them and gives rights to them.

`space` is the first column of every key, and every statement names one: so rows of one
space lie together, row-level security can close it, and Citus can put each on a machine
of its own. What stands here is run by who may create tables; everything else only reads
and writes rows.
"""

from collections.abc import Iterator
from typing import Any, Final, cast

from psycopg import sql

VERSION: Final = 1
"""Of the rows: what another version wrote is neither read nor changed."""

LEAST_SERVER: Final = 140_000
"""PostgreSQL 14, as libpq counts."""

TABLES: Final = ("spaces", "holdings", "generations", "notes", "passages", "words")

_SPACES: Final = """
create table if not exists {schema}.spaces(
    space text primary key,
    version integer not null,
    next_generation integer not null,
    next_id bigint not null
)"""

_HOLDINGS: Final = """
create table if not exists {schema}.holdings(
    space text not null,
    member text not null,
    agent text not null,
    live integer,
    building integer,
    indexed_at bigint,
    primary key (space, member, agent)
)"""

_GENERATIONS: Final = """
create table if not exists {schema}.generations(
    space text not null,
    generation integer not null,
    identity text not null,
    files integer not null,
    passages bigint not null,
    lengths bigint not null,
    row_lengths bigint not null,
    counted_at bigint not null,
    primary key (space, generation)
)"""

_NOTES: Final = """
create table if not exists {schema}.notes(
    space text not null,
    generation integer not null,
    note bigint not null,
    path bytea not null,
    size bigint not null,
    mtime_ns bigint not null,
    ctime_ns bigint not null,
    digest bytea not null,
    problem text,
    remark text,
    day text,
    dated boolean not null,
    properties text[] not null,
    primary key (space, generation, note)
)"""

_PASSAGES: Final = """
create table if not exists {schema}.passages(
    space text not null,
    generation integer not null,
    passage bigint not null,
    note bigint not null,
    start_line integer not null,
    end_line integer not null,
    piece boolean not null,
    length integer not null,
    row_length integer not null,
    terms integer[] not null,
    impacts bytea not null,
    digest bytea not null,
    heading text not null,
    text text not null,
    primary key (space, generation, passage)
)"""

_WORDS: Final = """
create table if not exists {schema}.words(
    space text not null,
    generation integer not null,
    term text collate "C" not null,
    key integer not null,
    written boolean not null,
    common integer,
    primary key (space, generation, term)
)"""

_BESIDE: Final = (
    # Texts are read of a few rows, terms and impacts of thousands: only texts go aside.
    (
        "alter table {schema}.passages alter terms set storage main,"
        " alter impacts set storage main, alter text set storage extended"
    ),
    "alter table {schema}.passages set (toast_tuple_target = 128)",
    # Two that write one holding at once, by a mistake, stop one another here.
    (
        "create unique index if not exists notes_path on"
        " {schema}.notes(space, generation, path)"
    ),
    (
        "create index if not exists passages_note on"
        " {schema}.passages(space, generation, note)"
    ),
    "create index if not exists passages_terms on {schema}.passages using gin(terms)",
)


def statement_of(text: str, **names: str) -> sql.Composed:
    """Return a statement with names of tables and such; all else in it is ours."""
    named = {key: sql.Identifier(name) for key, name in names.items()}
    return sql.SQL(cast("Any", text)).format(**named)


def tables(schema: str) -> list[sql.Composed]:
    """Return the statements that make the tables; those that are there stay."""
    made = (_SPACES, _HOLDINGS, _GENERATIONS, _NOTES, _PASSAGES, _WORDS, *_BESIDE)
    return [
        sql.SQL("create schema if not exists {schema}").format(
            schema=sql.Identifier(schema)
        ),
        *(sql.SQL(each).format(schema=sql.Identifier(schema)) for each in made),
    ]


def rights(schema: str, role: str) -> list[sql.Composed]:
    """Return the statements that make a role with no right but to rows."""
    named = {"schema": sql.Identifier(schema), "role": sql.Identifier(role)}
    return [
        sql.SQL(each).format(**named)
        for each in (
            (
                "do $$ begin create role {role} login;"
                " exception when duplicate_object then null; end $$"
            ),
            "grant usage on schema {schema} to {role}",
            (
                "grant select, insert, update, delete on all tables in schema {schema}"
                " to {role}"
            ),
        )
    ]


def row_security(schema: str, role: str, space: str) -> list[sql.Composed]:
    """Return the statements that let a role see one space alone."""
    place = sql.Identifier(schema)
    who, which = sql.Identifier(role), sql.Literal(space)

    def statements() -> Iterator[sql.Composed]:
        for table in TABLES:
            named = sql.SQL("{}.{}").format(place, sql.Identifier(table))
            policy = sql.Identifier(f"space_of_{role}"[:63])
            yield sql.SQL("alter table {} enable row level security").format(named)
            yield sql.SQL("drop policy if exists {} on {}").format(policy, named)
            yield sql.SQL(
                "create policy {} on {} to {} using (space = {}) with check (space = {})"
            ).format(policy, named, who, which, which)

    return list(statements())


def distribution(schema: str) -> list[sql.Composed]:
    """Return the statements that spread the tables over the machines of Citus."""
    first, *others = TABLES
    spread = sql.SQL("select create_distributed_table({}, 'space', shard_count := 32)")
    beside = sql.SQL(
        "select create_distributed_table({}, 'space', colocate_with := {})"
    )
    leader = sql.Literal(f"{schema}.{first}")
    return [
        sql.SQL("create extension if not exists citus").format(),
        spread.format(leader),
        *(beside.format(sql.Literal(f"{schema}.{each}"), leader) for each in others),
    ]
