"""bin/notewell in a checkout: the private environment it makes, and how it runs.

The checkouts here have the real bin/ and a small package that answers with what it
was given. Its one dependency is a wheel in a folder, so that no network is needed.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
import zipfile
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pip
import pytest

ROOT = Path(__file__).parents[2]
ANSWER = """
import json, os, signal, sys
import greeting

def main():
    if sys.argv[1:2] == ["killed"]:
        os.kill(os.getpid(), signal.SIGTERM)
    answer = {"arguments": sys.argv[1:], "folder": os.getcwd(), "prefix": sys.prefix}
    print(json.dumps({**answer, "greeting": greeting.VERSION}))
    return int(sys.argv[2]) if sys.argv[1:2] == ["exit"] else 0
"""


ENSUREPIP = """
import os, shutil, sysconfig, time

while os.path.exists(os.environ.get("HOLD", "")):
    time.sleep(0.01)
shutil.copytree({pip!r}, os.path.join(sysconfig.get_path("purelib"), "pip"))
"""
"""Puts pip in place as it is here, once the file that is named by HOLD is gone."""


def add_wheel(folder: Path, version: str) -> None:
    """Write a wheel of the package `greeting`, which knows its version."""
    folder.mkdir(exist_ok=True)
    record = f"greeting-{version}.dist-info"
    files = {
        "greeting.py": f"VERSION = {version!r}\n",
        f"{record}/METADATA": f"Metadata-Version: 2.1\nName: greeting\nVersion: {version}\n",
        f"{record}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{record}/RECORD": "",
    }
    with zipfile.ZipFile(folder / f"greeting-{version}-py3-none-any.whl", "w") as wheel:
        for name, text in files.items():
            wheel.writestr(name, text)


def add_checkout(folder: Path) -> Path:
    """Write a checkout that needs greeting 1, laid out like the real one."""
    shutil.copytree(ROOT / "bin", folder / "bin", ignore=shutil.ignore_patterns("__*"))
    (folder / "src" / "notewell").mkdir(parents=True)
    (folder / "src" / "notewell" / "__init__.py").touch()
    start = "from notewell.adapters.surfaces.cli import main as run_command\n"
    (folder / "src" / "notewell" / "__main__.py").write_text(start, encoding="utf-8")
    for part in ("adapters", "backends"):
        (folder / part).mkdir()
        (folder / part / "__init__.py").touch()
        (folder / "src" / "notewell" / part).symlink_to(f"../../{part}")
    (folder / "adapters" / "surfaces").mkdir()
    (folder / "adapters" / "surfaces" / "cli.py").write_text(ANSWER, encoding="utf-8")
    require(folder, "greeting>=1")
    return folder


def require(checkout: Path, dependency: str, *, comment: str = "") -> None:
    """State the one dependency of a checkout."""
    project = (
        f"{comment}\n[project]\nname = 'notewell'\ndependencies = ['{dependency}']\n"
    )
    (checkout / "pyproject.toml").write_text(project, encoding="utf-8")


class Shell:
    """A person's shell: runs programs with an environment, and keeps it."""

    def __init__(self, wheels: Path, home: Path, python: Path) -> None:
        self.settings = {
            "PATH": os.pathsep.join([str(python.parent), os.defpath]),
            "HOME": str(home),
            "PIP_FIND_LINKS": str(wheels),
            "NOTEWELL_OFFLINE": "1",
        }

    def start(self, *command: str | Path, **options: Any) -> subprocess.Popen[str]:
        """Start a command in a process group of its own."""
        return subprocess.Popen(
            command,
            env=self.settings,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            start_new_session=True,
            **options,
        )

    def run(
        self, *command: str | Path, **options: Any
    ) -> subprocess.CompletedProcess[str]:
        """Run a command to its end."""
        with self.start(*command, **options) as process:
            out, err = process.communicate()
        return subprocess.CompletedProcess(command, process.returncode, out, err)

    def ask(self, *command: str | Path, **options: Any) -> dict[str, Any]:
        """Run a command that must succeed in silence; return its answer."""
        done = self.run(*command, **options)
        assert done.stderr == ""
        assert done.returncode == 0
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with greeting 1, which pip is told to look into."""
    folder = tmp_path_factory.mktemp("wheels")
    add_wheel(folder, "1")
    return folder


@pytest.fixture(scope="session")
def quick_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python that runs these tests, but for the seconds in which it installs pip.

    It is the real one where a Python does not run from another place.
    """
    base, library = Path(sys.executable).resolve(), Path(sysconfig.get_path("stdlib"))
    python = tmp_path_factory.mktemp("python") / "bin" / "python3"
    ours = python.parents[1] / "lib" / library.name
    (ours / "ensurepip").mkdir(parents=True)
    for entry in library.iterdir():
        if entry.name not in ("ensurepip", "site-packages"):
            (ours / entry.name).symlink_to(entry)
    (ours / "ensurepip" / "__init__.py").touch()
    code = ENSUREPIP.format(pip=str(Path(pip.__file__).parent))
    (ours / "ensurepip" / "__main__.py").write_text(code, encoding="utf-8")
    python.parent.mkdir()
    shutil.copy2(base, python)
    asked = [python, "-I", "-c", "import ensurepip; print(ensurepip.__file__)"]
    done = subprocess.run(asked, check=False, capture_output=True, encoding="utf-8")
    runs = done.stdout.strip() == str(ours / "ensurepip" / "__init__.py")
    return python if runs else Path(sys.executable)


@pytest.fixture
def shell(wheels: Path, tmp_path: Path, quick_python: Path) -> Shell:
    """A shell whose PATH leads to the Python that runs these tests."""
    return Shell(wheels, tmp_path / "home", quick_python)


@pytest.fixture
def fresh(tmp_path: Path) -> Path:
    """A checkout nobody has run anything in, in a path with spaces."""
    return add_checkout(tmp_path / "a fresh checkout")


@pytest.fixture(scope="session")
def set_up(
    wheels: Path, quick_python: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A checkout after its first run. Tests may not change it."""
    checkout = add_checkout(tmp_path_factory.mktemp("set up") / "checkout")
    shell = Shell(wheels, checkout.parent, quick_python)
    first = shell.run(checkout / "bin" / "notewell")
    assert first.returncode == 0, first.stderr
    return checkout


@pytest.fixture
def used(set_up: Path, tmp_path: Path) -> Path:
    """A checkout after its first run, which a test may change."""
    return shutil.copytree(set_up, tmp_path / "used", symlinks=True)


def wait_for(path: Path) -> None:
    """Return when the path is there; there is no event for what a child writes."""
    deadline = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} was never written"
        time.sleep(0.01)


def test_the_first_run_says_that_it_sets_up_and_answers(
    fresh: Path, wheels: Path, tmp_path: Path
) -> None:
    shell = Shell(wheels, tmp_path / "home", Path(sys.executable))

    first = shell.run(fresh / "bin" / "notewell", "search", "tea")

    answer = json.loads(first.stdout)
    assert answer["arguments"] == ["search", "tea"]
    assert answer["prefix"] == str(fresh / ".venv")
    assert f"setting up {fresh / '.venv'} with Python" in first.stderr
    assert len(first.stderr.splitlines()) == 2


def test_arguments_arrive_as_they_were_given(set_up: Path, shell: Shell) -> None:
    arguments = ["two words", "", "*", "--", "-I", "$HOME", "line\nbreak", "'\"\\"]

    answer = shell.ask(set_up / "bin" / "notewell", *arguments)

    assert answer["arguments"] == arguments


def test_the_exit_code_is_that_of_the_command(set_up: Path, shell: Shell) -> None:
    assert shell.run(set_up / "bin" / "notewell", "exit", "7").returncode == 7


def test_a_signal_ends_it_as_it_ends_the_command(set_up: Path, shell: Shell) -> None:
    done = shell.run(set_up / "bin" / "notewell", "killed")

    assert done.returncode == -signal.SIGTERM


def test_it_runs_in_the_folder_of_the_caller(
    set_up: Path, shell: Shell, tmp_path: Path
) -> None:
    answer = shell.ask(set_up / "bin" / "notewell", cwd=tmp_path)

    assert answer["folder"] == str(tmp_path)


def test_it_runs_by_a_relative_name_and_in_silence(set_up: Path, shell: Shell) -> None:
    answer = shell.ask("sh", "notewell", cwd=set_up / "bin")

    assert answer["prefix"] == str(set_up / ".venv")


def test_it_runs_through_links(set_up: Path, shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(set_up / "bin" / "notewell")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "relative link").symlink_to("../link")
    (tmp_path / "bin").symlink_to(set_up / "bin")

    for command in ("link", "sub/relative link", "bin/notewell"):
        assert shell.ask(f"./{command}", cwd=tmp_path)["prefix"] == str(
            set_up / ".venv"
        )


def test_the_python_settings_of_the_user_do_not_reach_it(
    set_up: Path, shell: Shell, tmp_path: Path
) -> None:
    (tmp_path / "greeting.py").write_text("VERSION = 'foreign'\n", encoding="utf-8")
    shell.settings |= {"PYTHONPATH": str(tmp_path), "PYTHONHOME": "/nowhere"}

    answer = shell.ask(set_up / "bin" / "notewell", cwd=tmp_path)

    assert answer["greeting"] == "1"


def test_two_first_runs_at_once_set_up_once(fresh: Path, shell: Shell) -> None:
    both = [shell.start(fresh / "bin" / "notewell") for _ in range(2)]
    outputs = [process.communicate() for process in both]

    assert [json.loads(out)["greeting"] for out, _ in outputs] == ["1", "1"]
    errors = "".join(err for _, err in outputs)
    assert errors.count("setting up") == 1
    assert errors.count("waiting for another set-up") == 1


@pytest.fixture
def interruptible() -> Generator[None]:
    """Let children be interrupted even if these tests run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupted_set_up_counts_for_nothing(
    fresh: Path, shell: Shell, tmp_path: Path
) -> None:
    hold = tmp_path / "hold"
    hold.touch()
    shell.settings["HOLD"] = str(hold)
    for sent in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        with shell.start(fresh / "bin" / "notewell") as interrupted:
            wait_for(fresh / ".venv" / "bin" / "python")
            os.killpg(interrupted.pid, sent)
            interrupted.communicate()

        assert interrupted.returncode != 0
        assert not list((fresh / ".venv").glob("ready*"))
        (fresh / ".venv" / "bin" / "python").unlink()
    hold.unlink()

    again = shell.run(fresh / "bin" / "notewell")

    assert json.loads(again.stdout)["greeting"] == "1"
    assert "the last set-up did not finish" in again.stderr


def test_an_environment_whose_python_is_gone_is_made_again(
    used: Path, shell: Shell
) -> None:
    (used / ".venv" / "bin" / "python").unlink()
    (used / ".venv" / "bin" / "python").symlink_to("/nowhere/bin/python3")

    again = shell.run(used / "bin" / "notewell")

    assert json.loads(again.stdout)["greeting"] == "1"
    assert "the Python of .venv is gone" in again.stderr


def test_a_change_that_leaves_the_dependencies_alone_costs_nothing(
    used: Path, shell: Shell
) -> None:
    require(used, "greeting>=1", comment="# another line length for ruff")

    assert shell.ask(used / "bin" / "notewell")["greeting"] == "1"


def test_a_changed_dependency_is_installed(
    used: Path, shell: Shell, tmp_path: Path
) -> None:
    add_wheel(tmp_path / "new wheels", "2")
    shell.settings["PIP_FIND_LINKS"] = (tmp_path / "new wheels").as_uri()
    require(used, "greeting>=2")

    updated = shell.run(used / "bin" / "notewell")

    assert json.loads(updated.stdout)["greeting"] == "2"
    assert "updating .venv, because the dependencies changed" in updated.stderr
    assert shell.ask(used / "bin" / "notewell")["greeting"] == "2"


def test_what_one_purpose_needs_is_added_and_the_others_stay_ready(
    used: Path, shell: Shell
) -> None:
    groups = "[dependency-groups]\nmore = ['greeting']\nmost = ['greeting']\n"
    require(used, "greeting>=1", comment=groups)
    set_up = (sys.executable, "-I", used / "bin" / "_environment.py")

    added = [shell.run(*set_up, purpose).stderr for purpose in ("more", "most")]
    again = [shell.run(*set_up, purpose).stderr for purpose in ("run", "more", "most")]

    assert all("adding to .venv what the checks need" in said for said in added)
    assert again == ["", "", ""]


def test_without_network_a_changed_dependency_is_left_for_later(
    used: Path, shell: Shell
) -> None:
    require(used, "greeting>=2")

    done = shell.run(used / "bin" / "notewell")

    assert json.loads(done.stdout)["greeting"] == "1"
    assert "no network: nothing was updated" in done.stderr


def test_a_first_run_without_network_says_what_it_needs(
    fresh: Path, shell: Shell
) -> None:
    require(fresh, "greeting>=2")

    done = shell.run(fresh / "bin" / "notewell")

    assert (done.returncode, done.stdout) == (1, "")
    assert "pip reached no package index" in done.stderr
    assert "PIP_FIND_LINKS" in done.stderr


def only_with(folder: Path, **pythons: str) -> dict[str, str]:
    """Make a PATH with the few tools of the script, and these Pythons."""
    folder.mkdir()
    for name in ("cmp", "dirname", "readlink", "sh"):
        (folder / name).symlink_to(shutil.which(name) or f"/bin/{name}")
    for name, script in pythons.items():
        (folder / name).write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        (folder / name).chmod(0o755)
    return {"PATH": str(folder), "PYENV_ROOT": str(folder)}


def test_a_python_that_is_too_old_is_refused_with_the_versions_that_work(
    fresh: Path, shell: Shell, tmp_path: Path
) -> None:
    shell.settings |= only_with(tmp_path / "path", python3="echo 3.10.13")

    done = shell.run(fresh / "bin" / "notewell")

    assert (done.returncode, done.stdout) == (1, "")
    assert "needs Python 3.11, 3.12 or 3.13" in done.stderr
    assert "python3 is 3.10.13" in done.stderr
    assert not (fresh / ".venv").exists()


def test_a_suitable_python_is_taken_when_python3_is_too_old(
    fresh: Path, shell: Shell, quick_python: Path, tmp_path: Path
) -> None:
    suitable = {"python3.11": f'exec "{quick_python}" "$@"', "python3.12": "exit 127"}
    shell.settings |= only_with(tmp_path / "path", python3="echo 3.9.1", **suitable)

    done = shell.run(fresh / "bin" / "notewell")

    assert json.loads(done.stdout)["greeting"] == "1"
    assert "with Python {}.{}.{}".format(*sys.version_info) in done.stderr


def test_links_that_git_wrote_as_text_files_do_no_harm(
    used: Path, shell: Shell
) -> None:
    for part in ("adapters", "backends"):
        (used / "src" / "notewell" / part).unlink()
        (used / "src" / "notewell" / part).write_text(f"../../{part}", encoding="utf-8")

    assert shell.ask(used / "bin" / "notewell", "status")["arguments"] == ["status"]


@pytest.fixture
def public_folder() -> Generator[Path]:
    """A folder that every user can read."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def test_a_read_only_checkout_is_set_up_in_the_cache(
    public_folder: Path, shell: Shell
) -> None:
    checkout = add_checkout(public_folder / "checkout")
    add_wheel(public_folder / "wheels", "1")
    cache = public_folder / "cache"
    cache.mkdir()
    cache.chmod(0o777)
    nobody: dict[str, Any] = {}
    if os.getuid() == 0:
        nobody = {"user": 65534, "group": 65534, "extra_groups": []}
        shell.settings["PATH"] = os.defpath
        probe = (
            "import sys, ensurepip; sys.exit(not (3, 11) <= sys.version_info < (3, 14))"
        )
        if shell.run("/usr/bin/python3", "-c", probe, **nobody).returncode:
            pytest.skip("no Python here that other users can start")
    else:
        checkout.chmod(0o555)
    shell.settings["PIP_FIND_LINKS"] = str(public_folder / "wheels")
    shell.settings["XDG_CACHE_HOME"] = str(cache)

    first = shell.run(checkout / "bin" / "notewell", cwd="/", **nobody)
    answer = shell.ask(checkout / "bin" / "notewell", cwd="/", **nobody)

    assert f"setting up {cache / 'notewell' / 'venv'}" in first.stderr
    assert answer["prefix"] == str(cache / "notewell" / "venv")
    assert not (checkout / ".venv").exists()
    assert list((cache / "notewell" / "pycache").rglob("cli.*.pyc"))
