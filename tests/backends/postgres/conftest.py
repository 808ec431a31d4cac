"""The server of this run, and spaces in it."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias
from uuid import uuid4

import pytest
from tests.backends.postgres.server import guarded

from notewell.backends.postgres.address import server_address
from notewell.backends.postgres.store import PostgresStore
from notewell.config import PostgresSettings, Secret

NewStore: TypeAlias = Callable[..., PostgresStore]


@pytest.fixture(scope="session")
def dsn(tmp_path_factory: pytest.TempPathFactory) -> str:
    """How a real PostgreSQL is reached, with every right."""
    named = os.environ.get("NOTEWELL_TEST_POSTGRES")
    if named:
        return named
    shared: Path = tmp_path_factory.getbasetemp()
    return guarded(shared.parent if "PYTEST_XDIST_WORKER" in os.environ else shared)


@pytest.fixture
def new_store(dsn: str, tmp_path: Path) -> Iterator[NewStore]:
    """Opens stores of the server; those without a name are of one new space."""
    made: list[PostgresStore] = []
    fresh = f"t-{uuid4().hex}"

    def make(space: str = fresh, *, at: str = dsn, **settings: object) -> PostgresStore:
        limits = PostgresSettings(**settings)  # type: ignore[arg-type]
        store = PostgresStore(
            server_address(Secret(at), limits),
            None,
            limits,
            space=space,
            locks=tmp_path / "locks",
            stays=False,
        )
        made.append(store)
        return store

    yield make
    for each in made:
        each.close()


@pytest.fixture
def store(new_store: NewStore) -> PostgresStore:
    """A space of its own, with tables."""
    made = new_store()
    made.prepare()
    return made
