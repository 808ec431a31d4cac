"""Who we are to a server, and which space is whose."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs

from notewell.backends.base import Site
from notewell.backends.postgres.engine import PostgresBackend
from notewell.backends.postgres.identity import member_of, place_of
from notewell.config import load_settings
from notewell.errors import BackendError, BackendFailed, BackendUnavailable
from notewell.workspace import Workspace


def site(folder: Path, **postgres: object) -> Site:
    given = {f"memory.postgres.{key}": value for key, value in postgres.items()}
    settings = load_settings(
        environ={"OPENCLAW_STATE_DIR": str(folder / "state")},
        home=folder,
        overrides={"agents.defaults.workspace": str(folder / "notes"), **given},
    )
    return Site(
        workspace=Workspace(root=folder / "notes"),
        agent=settings.agent(None),
        memory=settings.memory,
        state_dir=folder / "state",
    )


def offline(site: Site) -> Site:
    return replace(site, memory=structs.replace(site.memory, offline=True))


def test_a_state_folder_keeps_one_name_whoever_asks_first(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as threads:
        names = set(threads.map(member_of, [tmp_path / "state"] * 40))

    assert len(names) == 1
    assert len(names.pop()) == 16
    assert [file.name for file in (tmp_path / "state").iterdir()] == ["notewell-member"]


def test_each_agent_and_each_state_folder_has_its_own_space(tmp_path: Path) -> None:
    spaces = {
        place_of(tmp_path / state, agent).space
        for state in ("one", "two")
        for agent in ("main", "work")
    }

    assert len(spaces) == 4


def test_another_workspace_has_a_space_of_its_own(tmp_path: Path) -> None:
    own = site(tmp_path)
    other = replace(own, workspace=Workspace(root=tmp_path / "elsewhere"))

    first, second = map(PostgresBackend.owner, (own, other))

    assert first.member == second.member
    assert first.agent == "main"
    assert second.agent.startswith("main.")


def test_a_name_that_cannot_be_kept_is_told(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file", encoding="utf-8")

    with pytest.raises(BackendUnavailable) as failed:
        place_of(tmp_path / "state", "main")

    assert "state folder" in failed.value.message


def test_offline_no_other_machine_is_connected_to(tmp_path: Path) -> None:
    far = offline(site(tmp_path, dsn="postgresql://db.example.org/x"))

    with pytest.raises(BackendFailed) as failed:
        PostgresBackend.store(far)

    assert failed.value.reason == "offline"


@pytest.mark.parametrize("host", ["/run/postgresql", "localhost", "127.0.0.2", "[::1]"])
def test_offline_this_machine_is_connected_to(tmp_path: Path, host: str) -> None:
    dsn = f"host={host}" if host[0] == "/" else f"postgresql://{host}/x"
    near = offline(site(tmp_path, dsn=dsn))

    store = PostgresBackend.store(near)

    assert store.host is None


def test_a_replica_elsewhere_is_held_to_the_same_rule(tmp_path: Path) -> None:
    near = offline(site(tmp_path, dsn="host=/run", readDsn="host=far.example.org"))

    with pytest.raises(BackendFailed):
        PostgresBackend.store(near)


def test_a_dsn_whose_variable_is_not_set_leads_nowhere(tmp_path: Path) -> None:
    unset = site(tmp_path, dsn="env:NOTEWELL_NO_SUCH_THING")

    with pytest.raises(BackendError) as failed:
        PostgresBackend.store(unset)

    assert "dsn" in str(failed.value)
