from pathlib import Path
from typing import Any

import pytest

from notewell.errors import UsageError
from notewell.workspace.choice import WorkspaceChoice, choose_workspace


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def cwd(tmp_path: Path) -> Path:
    (tmp_path / "cwd").mkdir()
    return tmp_path / "cwd"


def choose(home: Path, cwd: Path, **options: Any) -> WorkspaceChoice:
    defaults: dict[str, Any] = {
        "flag": None,
        "configured": None,
        "configured_explicitly": False,
        "server": False,
    }
    return choose_workspace(home=home, cwd=cwd, **(defaults | options))


def test_the_flag_beats_the_configuration(home: Path, cwd: Path) -> None:
    (cwd / "notes").mkdir()

    choice = choose(
        home, cwd, flag=Path("notes"), configured=home, configured_explicitly=True
    )

    assert choice == WorkspaceChoice(root=cwd / "notes")


def test_the_flag_may_begin_with_a_tilde(home: Path, cwd: Path) -> None:
    (home / "notes").mkdir()

    assert choose(home, cwd, flag=Path("~/notes")).root == home / "notes"


def test_a_workspace_that_is_a_link_is_resolved(home: Path, cwd: Path) -> None:
    (home / "real").mkdir()
    (home / "link").symlink_to(home / "real")

    assert choose(home, cwd, flag=home / "link").root == home / "real"


@pytest.mark.parametrize("server", [True, False])
def test_the_flag_may_name_the_home_folder_and_the_disk(
    home: Path, cwd: Path, server: bool
) -> None:
    assert choose(home, cwd, flag=home, server=server).root == home
    assert choose(home, cwd, flag=Path("/"), server=server).root == Path("/")


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("nope", "does not exist"),
        ("file.md", "is not a folder"),
        ("file.md/x", "does not exist"),
        ("a\0b", "cannot be read"),
        ("n" * 300, "cannot be read"),
    ],
)
def test_a_flag_that_names_no_folder_says_what_to_do(
    home: Path, cwd: Path, name: str, problem: str
) -> None:
    (cwd / "file.md").touch()

    with pytest.raises(UsageError, match=problem) as caught:
        choose(home, cwd, flag=Path(name))

    assert "--workspace" in caught.value.message
    assert "create the folder" in caught.value.remedy


def test_the_configured_workspace_is_taken(home: Path, cwd: Path) -> None:
    (home / "vault").mkdir()

    choice = choose(
        home, cwd, configured=home / "vault", configured_explicitly=True, server=True
    )

    assert choice == WorkspaceChoice(root=home / "vault")


def test_a_missing_configured_workspace_names_its_key(home: Path, cwd: Path) -> None:
    with pytest.raises(UsageError, match=r"agents\.defaults\.workspace.*not exist"):
        choose(home, cwd, configured=home / "nope", configured_explicitly=True)


def test_a_missing_workspace_of_an_agent_names_the_key_of_that_agent(
    home: Path, cwd: Path
) -> None:
    key = "agents.list[0].workspace"

    with pytest.raises(UsageError) as caught:
        choose(
            home,
            cwd,
            configured=home / "nope",
            configured_explicitly=True,
            key=key,
        )

    assert caught.value.message.startswith(f"{key}: ")
    assert f"set {key} in the configuration" in caught.value.remedy
    assert "agents.defaults" not in caught.value.remedy


@pytest.mark.parametrize("configured", [True, False])
def test_the_usual_folder_is_taken_if_it_exists(
    home: Path, cwd: Path, configured: bool
) -> None:
    usual = home / ".openclaw" / "workspace"
    usual.mkdir(parents=True)

    choice = choose(home, cwd, configured=usual if configured else None, server=True)

    assert choice == WorkspaceChoice(root=usual)


def test_the_default_of_a_profile_is_taken_if_it_exists(home: Path, cwd: Path) -> None:
    (home / ".openclaw" / "workspace").mkdir(parents=True)
    (home / ".openclaw" / "workspace-work").mkdir()

    choice = choose(home, cwd, configured=home / ".openclaw" / "workspace-work")

    assert choice.root == home / ".openclaw" / "workspace-work"


def test_the_current_folder_is_the_last_resort_and_is_named(
    home: Path, cwd: Path
) -> None:
    choice = choose(home, cwd, configured=home / ".openclaw" / "workspace")

    assert choice.root == cwd
    assert choice.notice is not None
    assert str(cwd) in choice.notice


def test_a_server_never_takes_the_current_folder(home: Path, cwd: Path) -> None:
    with pytest.raises(UsageError) as caught:
        choose(home, cwd, server=True)

    assert "--workspace" in caught.value.remedy


@pytest.mark.parametrize("explicitly", [True, False])
def test_the_home_folder_and_the_disk_are_refused_without_the_flag(
    home: Path, cwd: Path, explicitly: bool
) -> None:
    for wide in (home, Path("/"), home / ".." / "home"):
        with pytest.raises(UsageError, match="too wide") as caught:
            choose(home, cwd, configured=wide, configured_explicitly=explicitly)
        assert "--workspace" in caught.value.remedy


def test_the_home_folder_is_refused_as_current_folder(home: Path) -> None:
    for wide in (home, Path("/")):
        with pytest.raises(UsageError, match="too wide"):
            choose(home, wide)


def test_a_link_to_the_home_folder_is_the_home_folder(home: Path, cwd: Path) -> None:
    (cwd / "link").symlink_to(home)

    with pytest.raises(UsageError, match="too wide"):
        choose(home, cwd, configured=cwd / "link", configured_explicitly=True)


@pytest.mark.parametrize("mark", [".obsidian", "logseq", ".git"])
def test_a_folder_of_a_vault_is_read_with_the_vault_and_asked_alone(
    home: Path, cwd: Path, mark: str
) -> None:
    (cwd / mark).mkdir()
    (cwd / "projects/boat").mkdir(parents=True)

    choice = choose(home, cwd / "projects/boat")

    assert (choice.root, choice.within) == (cwd, "projects/boat")
    assert str(choice.notice).endswith(f"reading the folder projects/boat of {cwd}.")
    assert choose(home, cwd).within is None


def test_of_a_workspace_only_its_memory_is_such_a_folder(home: Path, cwd: Path) -> None:
    (cwd / "MEMORY.md").touch()
    (cwd / "memory/2026").mkdir(parents=True)
    (cwd / "code").mkdir()

    assert choose(home, cwd / "memory/2026").within == "memory/2026"
    assert choose(home, cwd / "code").root == cwd / "code"


def test_the_home_folder_is_no_vault_by_accident(home: Path) -> None:
    (home / ".git").mkdir()
    (home / "notes").mkdir()

    assert choose(home, home / "notes").root == home / "notes"


def test_a_folder_that_is_named_is_read_alone(home: Path, cwd: Path) -> None:
    (cwd / ".git").mkdir()
    (cwd / "docs").mkdir()

    assert choose(home, cwd, flag=cwd / "docs") == WorkspaceChoice(root=cwd / "docs")
