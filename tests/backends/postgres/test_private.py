"""A server of our own is made when it is needed, and goes when nobody is left."""

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from tests.backends.postgres.server import programs
from tests.backends.postgres.test_store import fill

from notewell.backends.postgres import private
from notewell.backends.postgres.address import server_address
from notewell.backends.postgres.private import PrivateServer
from notewell.backends.postgres.store import PostgresStore
from notewell.config import PostgresSettings
from notewell.errors import BackendFailed


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A state folder with programs that the system's user may start, if we are root."""
    made = Path(tempfile.mkdtemp(prefix="nw-private-")).resolve()
    made.chmod(0o711)
    place = programs()
    assert place is not None
    if not os.geteuid():
        package, version = place.parents[1], place.parent.name
        for part in (f"{package.name}/{version}", f"{package.name}.libs"):
            if (package.parent / part).is_dir():
                shutil.copytree(package.parent / part, made / part, symlinks=True)
        place = made / package.name / version / "bin"
        monkeypatch.setattr(private, "_FOR_ROOT", made / "lib")
    monkeypatch.setattr(private, "programs", lambda: place)
    yield made
    shutil.rmtree(made, ignore_errors=True)


def test_a_private_server_is_made_used_and_ends(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(private, "_GUARD", vars(private)["_GUARD"].replace(
        "run_guarded(", "from notewell.backends.postgres import private;"
        " private._LINGERS = 0.0; run_guarded(",
    ))  # fmt: skip
    limits = PostgresSettings()
    server = PrivateServer(folder / "state", as_system_user=True)
    store = PostgresStore(
        server_address(server.dsn, limits),
        None,
        limits,
        space="own",
        locks=folder / "locks",
        stays=False,
        private=server,
    )
    store.open()
    with pytest.raises(BackendFailed) as failed, store.snapshot():
        pass
    assert failed.value.reason == "not-ready"
    assert not server.is_made

    store.prepare()
    fill(store, {"a.md": "heron"})

    assert server.folder.stat().st_mode & 0o777 == 0o700
    with psycopg.connect(server.dsn.reveal()) as connection:
        said = connection.execute("show listen_addresses").fetchall()
    assert said == [("",)]
    pid = server.folder / "data" / "postmaster.pid"
    assert pid.exists()
    store.close()
    until = time.monotonic() + 300
    while pid.exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert not pid.exists()
