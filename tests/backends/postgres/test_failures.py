"""Everything that a server can do wrong has its own reason."""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any, cast
from uuid import uuid4

import psycopg
import pytest
from tests.backends.postgres.conftest import NewStore
from tests.backends.postgres.server import Server
from tests.backends.postgres.test_store import ask, fill

from notewell.backends.postgres import connections
from notewell.backends.postgres.address import server_address
from notewell.backends.postgres.store import PostgresStore
from notewell.config import PostgresSettings, Secret
from notewell.errors import BackendError, BackendUnavailable


def reason(store: PostgresStore) -> str:
    """Return why a space cannot be read, and see that no secret is told."""
    with pytest.raises(BackendError) as failed, store.snapshot():
        pass
    error = failed.value
    assert "pa55word" not in f"{error} {error.remedy} {error.__dict__}"
    return str(getattr(error, "reason", type(error).__name__))


def space_of(store: PostgresStore) -> str:
    return str(vars(store)["_space"])


def connection_of(snapshot: object) -> "psycopg.Connection[Any]":
    return cast("psycopg.Connection[Any]", vars(snapshot)["_connection"])


@pytest.fixture
def role(dsn: str) -> Iterator[str]:
    """A user with a password and no right."""
    name = f"r{uuid4().hex[:12]}"
    with psycopg.connect(dsn, autocommit=True) as admin:
        admin.execute(f"create role {name} login password 'pa55word'".encode())
        yield name
        admin.execute(f"drop owned by {name}; drop role {name}".encode())


def test_a_server_that_is_not_there_is_a_failure_of_the_network(
    new_store: NewStore, tmp_path: Path
) -> None:
    nowhere = new_store(at=f"host={tmp_path} user=me password=pa55word dbname=x")
    closed = new_store(at="postgresql://me:pa55word@127.0.0.1:1/x")

    assert reason(nowhere) == "network"
    assert reason(closed) == "network"


def test_a_user_who_is_not_known_is_not_let_in(new_store: NewStore, dsn: str) -> None:
    assert reason(new_store(at=f"{dsn} user=nobody-here")) == "auth"


def test_a_database_that_is_not_there_is_missing(new_store: NewStore, dsn: str) -> None:
    assert reason(new_store(at=f"{dsn} dbname=nothing-here")) == "missing"


def test_a_user_without_rights_is_told_so(
    new_store: NewStore, store: PostgresStore, dsn: str, role: str
) -> None:
    assert reason(new_store(at=f"{dsn} user={role}")) == "auth"


def test_a_user_who_only_reads_cannot_write(
    new_store: NewStore, store: PostgresStore, dsn: str, role: str
) -> None:
    fill(store, {"a.md": "heron"})
    with psycopg.connect(dsn, autocommit=True) as admin:
        admin.execute(f"grant usage on schema notewell to {role}".encode())
        admin.execute(
            f"grant select on all tables in schema notewell to {role}".encode()
        )
    reader = new_store(at=f"{dsn} user={role}")

    assert ask(reader, "heron") == ["a.md"]
    reader.prepare()
    with pytest.raises(BackendError) as failed:
        fill(reader, {"b.md": "egret"})
    assert getattr(failed.value, "reason", None) == "auth"


def test_a_server_that_only_reads_says_so(
    new_store: NewStore, store: PostgresStore, dsn: str
) -> None:
    fill(store, {"a.md": "heron"})
    replica = new_store(at=f"{dsn} options='-c default_transaction_read_only=on'")

    assert ask(replica, "heron") == ["a.md"]
    with pytest.raises(BackendError) as failed:
        fill(replica, {"b.md": "egret"})
    assert getattr(failed.value, "reason", None) == "auth"


def test_a_statement_that_waits_is_broken_off(
    new_store: NewStore, store: PostgresStore, dsn: str
) -> None:
    fill(store, {"a.md": "heron"})
    with psycopg.connect(dsn) as other:
        space = new_store(timeout_ms=50)
        other.execute("create schema busy; create table busy.spaces(space text)")
        other.commit()
        other.execute("lock table busy.spaces in access exclusive mode")
        locked = new_store(timeout_ms=50, schema="busy")
        assert reason(locked) == "timeout"
        other.rollback()
        other.execute("drop schema busy cascade")
    assert ask(space, "heron") == ["a.md"]


def test_rows_of_another_version_are_neither_read_nor_written(
    new_store: NewStore, store: PostgresStore, dsn: str
) -> None:
    fill(store, {"a.md": "heron"})
    with psycopg.connect(dsn, autocommit=True) as admin:
        admin.execute("update notewell.spaces set version = 99 where space = %s",
                      (space_of(store),))  # fmt: skip

    assert reason(store) == "version"
    with pytest.raises(BackendError) as failed:
        fill(new_store(), {"a.md": "egret"})
    assert getattr(failed.value, "reason", None) == "version"


def test_an_old_server_is_not_used(
    new_store: NewStore, store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "LEAST_SERVER", 990_000)

    assert reason(new_store()) == "version"


def test_a_connection_that_is_cut_is_made_again(
    new_store: NewStore, store: PostgresStore, dsn: str
) -> None:
    fill(store, {"a.md": "heron"})
    with psycopg.connect(dsn, autocommit=True) as admin:

        def cut_off() -> None:
            with store.snapshot() as snapshot:
                pid = connection_of(snapshot).info.backend_pid
                admin.execute("select pg_terminate_backend(%s, 5000)", (pid,))
                snapshot.notes()

        with pytest.raises(BackendError) as failed:
            cut_off()
    assert getattr(failed.value, "reason", None) == "network"
    assert ask(store, "heron") == ["a.md"]


@pytest.mark.parametrize(
    "dsn",
    ["dbname=x", "service=memory", "postgresql://a b", "", "host=x nonsense=pa55word"],
)
def test_an_address_that_leads_nowhere_is_refused(dsn: str) -> None:
    with pytest.raises(BackendUnavailable) as refused:
        server_address(Secret(dsn), PostgresSettings())

    assert "pa55word" not in str(refused.value)


def test_off_this_machine_the_server_has_to_show_who_it_is() -> None:
    settings = PostgresSettings()
    far = server_address(Secret("postgresql://me:pw@db.example.org/memory"), settings)
    weak = server_address(
        Secret("postgresql://db.example.org/x?sslmode=require"), settings
    )
    near = server_address(Secret("postgresql://127.0.0.1/memory"), settings)

    assert (far.local, far.weak, "verify-full" in far.conninfo.reveal()) == (
        False,
        None,
        True,
    )
    assert weak.weak == "require"
    assert "sslmode=require" in weak.warnings[0]
    assert (near.local, near.weak) == (True, None)
    assert far.shown == "db.example.org/memory"
    assert "pw" not in repr(far)


def test_a_name_that_resolves_to_this_machine_is_another_machine() -> None:
    for host in ("x.localhost", "localhost.", "127.0.0.1,db.example.org"):
        address = server_address(Secret(f"host={host}"), PostgresSettings())
        assert not address.local
    told = server_address(
        Secret("host=localhost hostaddr=10.0.0.7"), PostgresSettings()
    )
    assert not told.local
    assert "10.0.0.7" in told.host  # which is what somebody agrees to


@pytest.mark.parametrize(
    "dsn",
    [
        "postgresql://me:p@ssw0rd@db.example.org/memory",
        "postgresql://me:secret/word@db.example.org/memory",
        "postgresql://me:s3@cret/x@db.example.org/memory?sslmode=require",
        "postgresql://me@db.example.org:secret/memory",
        "host='p@ssw0rd db' user=me",
        "host=db.example.org port=secret",
        "host=db.example.org sslmode=secret",
        "host=db.example.org connect_timeout=secret",
    ],
)
def test_no_part_of_a_password_is_taken_for_a_host_and_shown(dsn: str) -> None:
    with pytest.raises(BackendUnavailable) as refused:
        server_address(Secret(dsn), PostgresSettings())

    told = str(refused.value)
    assert not any(part in told for part in ("ssw0rd", "secret", "word@", "cret"))


def test_a_password_that_is_written_as_uris_want_it_is_taken() -> None:
    for login in ("me:p%40ss%2Fword", "me:p:ss?word", "me"):
        dsn = Secret(f"postgresql://{login}@db.example.org/memory?options=a@b/c")
        assert server_address(dsn, PostgresSettings()).shown == "db.example.org/memory"


def test_a_server_that_stops_in_the_middle_of_a_question_is_given_up(
    new_store: NewStore, store: PostgresStore
) -> None:
    fill(store, {"a.md": "heron"})
    patient = new_store(timeout_ms=100)

    def ask_in_vain() -> None:
        with patient.snapshot() as snapshot:
            stopped = connection_of(snapshot).info.backend_pid
            os.kill(stopped, signal.SIGSTOP)  # it ends no statement any more
            try:
                snapshot.notes()
            finally:
                os.kill(stopped, signal.SIGCONT)

    with pytest.raises(BackendError) as failed:
        ask_in_vain()

    assert getattr(failed.value, "reason", None) == "timeout"
    assert "0 s" not in str(failed.value)
    assert ask(patient, "heron") == ["a.md"]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A server that can be killed, unlike the one that all tests share."""
    made = Server.made()
    made.start()
    yield made
    made.remove()


def test_a_wrong_password_is_said_to_be_wrong(
    server: Server, new_store: NewStore
) -> None:
    with psycopg.connect(server.dsn, autocommit=True) as admin:
        admin.execute("create role locked login password 'right'")
    at = f"host={server.folder} user=locked dbname=postgres"

    assert reason(new_store(at=f"{at} password=pa55word")) == "auth"
    assert reason(new_store(at=at)) == "auth"
    assert reason(new_store(at=f"{at} password=right")) == "not-ready"


def test_a_server_that_is_killed_keeps_what_was_committed(
    server: Server, new_store: NewStore
) -> None:
    kept = new_store(at=server.dsn)
    kept.prepare()
    fill(kept, {"a.md": "heron"})
    for turn in range(20):
        writing = Thread(target=_fill_in_vain, args=(new_store(at=server.dsn), turn))
        writing.start()
        if turn % 2:
            with kept.snapshot():
                server.kill()
        else:
            server.kill()
        writing.join()
        assert reason(kept) == "network"
        server.start()
        with kept.snapshot() as snapshot:
            paths = {each.path for each in snapshot.notes()}
            [holding] = snapshot.holdings()
        assert paths in ({"a.md"}, {f"{n}.md" for n in range(200)})
        assert holding.files == len(paths) == holding.passages


def _fill_in_vain(store: PostgresStore, turn: int) -> None:
    with suppress(BackendError):
        fill(store, {f"{n}.md": f"egret {turn}" for n in range(200)})
