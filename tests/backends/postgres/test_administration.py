"""The SQL that prepares a server runs, and what a server lacks is told."""

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from tests.backends.postgres.conftest import NewStore
from tests.backends.postgres.test_store import OWNER, ask, fill

from notewell.backends.postgres.address import server_address
from notewell.backends.postgres.administration import check_server, setup_sql
from notewell.backends.postgres.connections import Connections
from notewell.backends.postgres.identity import Place
from notewell.backends.postgres.private import PrivateServer
from notewell.config import PostgresSettings, Secret
from notewell.errors import BackendError, BackendUnavailable


@pytest.fixture
def database(dsn: str) -> Iterator[str]:
    """A database of its own, and a user that may connect to it, by one name."""
    name = f"d{uuid4().hex[:12]}"
    with psycopg.connect(dsn, autocommit=True) as admin:
        admin.execute(f"create database {name}".encode())
        yield name
        admin.execute(f"drop database {name} with (force)".encode())
        admin.execute(f"drop role if exists {name}".encode())


def problems(at: str) -> dict[str, str]:
    """Return what is not well, by name, with its remedy."""
    settings = PostgresSettings()
    connections = Connections(
        server_address(Secret(at), settings), settings, stays=False
    )
    checks = list(check_server(connections, settings, Place("s", OWNER)))
    connections.close()
    return {check.name: check.remedy for check in checks if not check.ok}


def test_the_printed_sql_makes_a_server_that_a_poor_user_can_use(
    dsn: str, database: str, new_store: NewStore
) -> None:
    owner = f"{dsn} dbname={database}"
    told = setup_sql(PostgresSettings(), role=database, space=None, citus=False)
    assert problems(owner).keys() == {"tables"}

    for _ in range(2):  # what is there stays
        with psycopg.connect(owner, autocommit=True) as admin:
            admin.execute(told.encode())

    user = f"{owner} user={database}"
    assert problems(user) == {}
    store = new_store(at=user)
    store.prepare()
    fill(store, {"a.md": "heron"})
    assert ask(store, "heron") == ["a.md"]
    with psycopg.connect(user) as poor, pytest.raises(psycopg.Error):
        poor.execute("drop table notewell.notes")


def test_row_security_leaves_one_space(
    dsn: str, database: str, new_store: NewStore
) -> None:
    owner = f"{dsn} dbname={database}"
    told = setup_sql(PostgresSettings(), role=database, space="own", citus=False)
    with psycopg.connect(owner, autocommit=True) as admin:
        admin.execute(told.encode())
    fill(new_store("other", at=owner), {"b.md": "egret"})
    user = f"{owner} user={database}"

    fill(new_store("own", at=user), {"a.md": "heron"})

    assert ask(new_store("own", at=user), "heron", "egret") == ["a.md"]
    assert ask(new_store("other", at=user), "egret") == []
    with pytest.raises(BackendError):
        fill(new_store("other", at=user), {"c.md": "stork"})


def test_a_user_without_rights_hears_which_are_missing(
    dsn: str, database: str, new_store: NewStore
) -> None:
    owner = f"{dsn} dbname={database}"
    new_store(at=owner).prepare()
    with psycopg.connect(owner, autocommit=True) as admin:
        admin.execute(f"create role {database} login".encode())

    assert problems(f"{owner} user={database}").keys() == {"rights"}


def test_a_server_that_is_not_there_is_a_problem_of_the_connection(
    tmp_path: Path,
) -> None:
    assert problems(f"host={tmp_path}").keys() == {"connection"}


def test_citus_gets_every_table_by_its_space() -> None:
    told = setup_sql(PostgresSettings(), role="me", space=None, citus=True)

    assert told.count("create_distributed_table('notewell.") == 6
    assert told.count("'space'") == 6


def test_a_private_server_is_not_run_by_root_unasked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)

    with pytest.raises(BackendUnavailable, match="root"):
        PrivateServer(tmp_path).start()
