"""Builds the wheel, installs it where nothing else is, and tries it there.

What is installed must be the checkout, byte for byte. The suite has run on the
checkout, so on the wheel only that part runs again which an installation can break.
"""

import csv
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from pathlib import Path

from _environment import (
    PROJECT,
    ROOT,
    Offline,
    SetupFailed,
    make_venv,
    pip_install,
    requirements,
)
from _suite import Result, clean, run_suite

QUESTION = "what did we decide about the backup retention"
PYENV = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")


EVERYTHING = ("tests", f"--ignore={ROOT / 'tests' / 'checkout'}")
ON_THE_WHEEL = (
    # Modules, data and types are found where they were installed, and load alone.
    "tests/test_packaging.py",
    "tests/test_public_api.py",
    "tests/test_examples.py",
    "tests/bench/test_copy_of_notes.py",
    "tests/adapters/embeddings/local/test_static.py",
    "tests/adapters/embeddings/test_other_packages.py",
    "tests/adapters/surfaces/report/test_page.py",
    "tests/adapters/surfaces/cli/test_completion.py",
    "tests/adapters/surfaces/cli/test_help.py",
    # Programs start as they were installed: the command, its helper, the server, the benchmark.
    "tests/adapters/surfaces/cli/test_bench_command.py",
    "tests/adapters/surfaces/cli/test_first_meaning.py",
    "tests/adapters/surfaces/cli/test_startup.py",
    "tests/adapters/surfaces/mcp/test_startup.py",
    "tests/adapters/surfaces/tools",
    "tests/memory/test_helper.py",
    "tests/memory/test_server.py",
    "tests/test_terminal_sessions.py",
    # The packages that it names are enough: for each engine one set of vows is kept.
    "tests/backends/test_contract.py",
    # Children of other users load what they need.
    "tests/backends/builtin/test_files_on_disk.py",
    "tests/backends/builtin/test_unreadable.py",
)
"""What an installation can break; see tests/README.md."""

ON_OTHER_PYTHONS = (
    # Its Unicode data, its `re` and its calendar.
    "tests/backends/text",
    "tests/dates",
    "tests/sessions",
    "tests/test_filters.py",
    "tests/test_front_matter.py",
    "tests/test_globs.py",
    "tests/test_links.py",
    "tests/test_markdown.py",
    "tests/test_zones.py",
    # What its library does with files, paths, values and the network.
    "tests/config/test_settings.py",
    "tests/config/test_listing.py",
    "tests/workspace",
    "tests/writing/test_locks.py",
    "tests/adapters/embeddings/remote",
    "tests/test_values.py",
    # How it starts and ends processes, threads and loops.
    "tests/test_packaging.py",
    "tests/test_public_api.py",
    "tests/test_process.py",
    "tests/test_log.py",
    "tests/memory",
    "tests/adapters/surfaces/cli/test_one_json_object.py",
    "tests/adapters/surfaces/cli/test_startup.py",
    "tests/adapters/surfaces/mcp/test_startup.py",
    "tests/adapters/surfaces/tools",
    # The packages that are compiled for it: SQLite, vectors, the small model.
    "tests/adapters/embeddings/local/test_static.py",
    "tests/backends/test_contract.py",
    "tests/backends/builtin/test_built_otherwise.py",
    "tests/backends/builtin/test_files_on_disk.py",
    "tests/backends/builtin/vectors/test_agreements.py",
    "tests/backends/builtin/vectors/test_quantisation.py",
)
"""What depends on the interpreter; see tests/README.md."""


class PackagesNotFetched(Exception):
    """A Python cannot be tried, for want of packages; the message is pip's."""


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


def install_wheel(folder: Path, wheel: Path, *, base: str) -> None:
    """Install the wheel in a new environment, and ask its command something.

    Args:
        folder: Where the environment is made.
        base: The Python that it is made from.

    Raises:
        WheelBroken: its command does not answer, or it is not the checkout.
        SetupFailed: it cannot be installed.
        Offline: its dependencies are not here and cannot be fetched.
        PackagesNotFetched: they cannot be, for a Python that is not ours.
    """
    make_venv(folder, base=base)
    needed = requirements(PROJECT.read_bytes(), "suite")
    if base == sys.executable:
        install_alone(folder, wheel)
    else:
        install_with(needed, folder, wheel)
    if found := differences(folder):
        raise WheelBroken("\n".join(["installed is not the checkout:", *found]))
    ask_command(folder / "bin" / "notewell")
    if base == sys.executable:
        install_packages(folder, *needed)


def run_on_wheel(folder: Path, *arguments: str, suite: Sequence[str]) -> Result:
    """Run tests in an environment that has the wheel; `arguments` are for pytest."""
    return run_suite(
        folder / "bin" / "python",
        *("--override-ini", "pythonpath=", *arguments, *suite),
        report=folder / "report.xml",
    )


def install_packages(folder: Path, *needed: str) -> None:
    """Install without compiling what is not imported, which is half of the work."""
    pip_install(folder / "bin" / "python", "--no-compile", *needed)


def install_alone(folder: Path, wheel: Path) -> None:
    """Install the wheel and what it says it needs, into an empty environment."""
    try:
        install_packages(folder, str(wheel))
    except Offline:
        borrow_packages(folder, wheel)


def install_with(needed: Sequence[str], folder: Path, wheel: Path) -> None:
    """Fetch packages first, because a Python is no fault of ours that has none.

    Raises:
        PackagesNotFetched: pip cannot fetch or build them.
    """
    try:
        install_packages(folder, *needed)
    except (Offline, SetupFailed) as failure:
        raise PackagesNotFetched(str(failure)) from failure
    pip_install(folder / "bin" / "python", "--no-index", str(wheel))


def differences(folder: Path) -> list[str]:
    """Tell where the installed files are not those of the checkout."""
    [site] = folder.glob("lib/python*/site-packages")
    [record] = site.glob("notewell-*.dist-info/RECORD")
    rows = csv.reader(record.read_text(encoding="utf-8").splitlines())
    beside = ("notewell/", f"{record.parent.name}/", "../../../bin/notewell")
    found = [f"more: {row[0]}" for row in rows if not row[0].startswith(beside)]
    ours = {
        **files_in(ROOT / "src" / "notewell"),
        **files_in(ROOT / "adapters", "adapters"),
        **files_in(ROOT / "backends", "backends"),
    }
    theirs = files_in(site / "notewell")
    found += [f"missing: notewell/{name}" for name in ours.keys() - theirs.keys()]
    found += [f"more: notewell/{name}" for name in theirs.keys() - ours.keys()]
    both = ours.keys() & theirs.keys()
    found += [f"other: notewell/{name}" for name in both if ours[name] != theirs[name]]
    return sorted(found)


def files_in(folder: Path, below: str = "") -> dict[str, bytes]:
    """Read every file but bytecode: its path, to its bytes. Links are not followed."""
    return {
        (Path(below) / path.relative_to(folder)).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


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
    names = [shutil.which(f"python{version}") or "" for version in versions]
    names += [
        str(path) for path in sorted(PYENV.glob("versions/3.1[123].*/bin/python"))
    ]
    found: dict[str, str] = {}
    for name in filter(None, names):
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
