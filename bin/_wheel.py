"""Builds the wheel, installs it where nothing else is, and runs the suite on it."""

import json
import os
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

from _environment import (
    PROJECT,
    ROOT,
    Offline,
    make_venv,
    pip_install,
    requirements,
)
from _suite import Result, clean, run_suite

QUESTION = "what did we decide about the backup retention"
PYENV = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")


class WheelBroken(Exception):
    """The wheel cannot be built, or does not work; the message says how."""


def build_wheel(into: Path) -> Path:
    """Build the wheel from the checkout.

    Raises:
        WheelBroken: the build failed.
    """
    answer(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(into))
    [wheel] = into.glob("*.whl")
    return wheel


def check_wheel(wheel: Path, *suite: str, base: str) -> Result:
    """Install the wheel in a new environment, ask it something, run the suite there.

    Args:
        suite: Further arguments for pytest.
        base: The Python that the environment is made from.

    Raises:
        WheelBroken: its command does not answer.
        SetupFailed: it cannot be installed.
        Offline: its dependencies are not here and cannot be fetched.
    """
    with tempfile.TemporaryDirectory(prefix="notewell-wheel-") as scratch:
        # Tests start it as another user, who must find what loads only when used.
        Path(scratch).chmod(0o755)
        folder = Path(scratch) / "environment"
        make_venv(folder, base=base)
        try:
            pip_install(folder / "bin" / "python", str(wheel))
        except Offline:
            borrow_packages(folder, wheel)
        ask_command(folder / "bin" / "notewell")
        needed = requirements(PROJECT.read_bytes(), "suite")
        pip_install(folder / "bin" / "python", *needed)
        return run_suite(
            folder / "bin" / "python",
            *("--override-ini", "pythonpath=", *suite),
            *(f"--ignore={ROOT / 'tests' / 'checkout'}", str(ROOT / "tests")),
            report=Path(scratch) / "report.xml",
        )


def borrow_packages(folder: Path, wheel: Path) -> None:
    """Install only the wheel, and take its dependencies from our own environment.

    Raises:
        Offline: the new environment has another Python than ours.
    """
    ours = Path(sysconfig.get_path("purelib"))
    theirs = folder / "lib" / ours.parent.name / ours.name
    if not theirs.exists():
        raise Offline("no network to fetch the wheel's dependencies")
    print("no network: testing the wheel with the packages of .venv", flush=True)
    pip_install(folder / "bin" / "python", "--no-index", "--no-deps", str(wheel))
    (theirs / "borrowed.pth").write_text(f"{ours}\n", encoding="utf-8")


def ask_command(notewell: Path) -> None:
    """Try the installed command from a strange folder, as a newcomer would.

    Raises:
        WheelBroken: it does not know its version, or finds nothing.
    """
    answer(str(notewell), "--version")
    example = ["--workspace", str(ROOT / "docs" / "example"), "--json"]
    found = json.loads(answer(str(notewell), "search", QUESTION, *example))
    if not found["results"]:
        raise WheelBroken("the installed command finds nothing in docs/example")


def answer(*command: str) -> str:
    """Run a command with an empty state of its own; return what it printed.

    Raises:
        WheelBroken: it exited with another code than 0.
    """
    with tempfile.TemporaryDirectory(prefix="notewell-state-") as state:
        done = subprocess.run(
            command,
            cwd=ROOT if "hatchling" in command else state,
            env={**clean(os.environ), "OPENCLAW_STATE_DIR": state},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
    if done.returncode:
        raise WheelBroken(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def other_pythons() -> dict[str, str]:
    """Find the supported Pythons besides our own: version to executable.

    Each is started, because a pyenv shim can exist and yet start nothing.
    """
    versions = ["3.11", "3.12", "3.13"]
    names = [f"python{version}" for version in versions]
    names += [
        str(path) for path in sorted(PYENV.glob("versions/3.1[123].*/bin/python"))
    ]
    found: dict[str, str] = {}
    for name in names:
        version = version_of(name)
        if version in versions and version != "{}.{}".format(*sys.version_info):
            found.setdefault(version, name)
    return found


def version_of(python: str) -> str | None:
    """Return the version of a Python that can make environments, else None."""
    question = 'import sys, venv, ensurepip; print("{}.{}".format(*sys.version_info))'
    try:
        asked = subprocess.run(
            [python, "-I", "-c", question],
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
    except OSError:
        return None
    return asked.stdout.strip() or None
