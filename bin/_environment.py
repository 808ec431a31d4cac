"""Makes the private environment of this checkout and prints where it is.

`.venv/` holds dependencies, never notewell itself. For each purpose that it serves
it has a `ready-<purpose>.toml`, a copy of the pyproject.toml it was made for,
written last; while it is being changed it has a `half-made` and no such copy.
Set-ups take turns by a file lock. pip inherits it, so a pip that outlives a
killed set-up still keeps the next one out.

Standard library only: this runs before anything is installed.
"""

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

ROOT = Path(__file__).resolve().parents[1]
PROJECT = ROOT / "pyproject.toml"

# What pip prints when it cannot reach an index, as opposed to being refused by one.
OFFLINE_SIGNS = (
    "NewConnectionError",
    "ConnectTimeoutError",
    "NameResolutionError",
    "Network is unreachable",
    "Temporary failure in name resolution",
    "ProxyError",
)
# pip settings that would install somewhere else than into the environment.
MISPLACING = ("PIP_PREFIX", "PIP_ROOT", "PIP_TARGET")


class SetupFailed(Exception):
    """The environment could not be made; the message says what to do."""


class Offline(Exception):
    """pip could not reach an index; the message is what it printed."""


def say(text: str) -> None:
    """Tell the person; stdout belongs to the command."""
    print(f"notewell: {text}", file=sys.stderr, flush=True)


def requirements(project: bytes, purpose: str) -> list[str]:
    """List what a purpose (`run`, or the name of a dependency group) needs."""
    parsed = tomllib.loads(project.decode())
    needed: list[str] = list(parsed["project"]["dependencies"])
    return needed if purpose == "run" else needed + group(parsed, purpose)


def group(parsed: dict[str, Any], name: str) -> list[str]:
    """List one dependency group, with the groups that it includes."""
    found: list[str] = []
    for entry in parsed["dependency-groups"][name]:
        included = not isinstance(entry, str)
        found += group(parsed, entry["include-group"]) if included else [entry]
    return found


def make_venv(folder: Path, *, base: str, keep: Sequence[int] = ()) -> None:
    """Make a virtual environment with pip, based on one Python.

    The resolved name of that Python goes in: /usr/bin/python3 may be another
    version tomorrow, /usr/bin/python3.11 is this one or gone.

    Raises:
        SetupFailed: Python could not make it.
    """
    python = os.path.realpath(base)
    made = run([python, "-I", "-m", "venv", str(folder)], keep=keep)
    if made.returncode:
        raise SetupFailed(f"{made.stdout}\ncould not make an environment in {folder}")


def pip_install(python: Path, *arguments: str, keep: Sequence[int] = ()) -> None:
    """Install into the environment of python, by the user's own pip settings.

    Raises:
        Offline: no index could be reached, or NOTEWELL_OFFLINE forbids to try.
        SetupFailed: pip failed for another reason.
    """
    pip(python, "install", *arguments, keep=keep)


def pip(
    python: Path,
    action: str,
    *arguments: str,
    keep: Sequence[int] = (),
    settings: Mapping[str, str] | None = None,
) -> None:
    """Run pip with environment variables of its own over those that there are.

    Raises:
        Offline: no index could be reached, or NOTEWELL_OFFLINE forbids to try.
        SetupFailed: pip failed for another reason.
    """
    offline = os.environ.get("NOTEWELL_OFFLINE", "") not in ("", "0")
    flags = ["--quiet", "--disable-pip-version-check", "--no-color", "--no-input"]
    flags += ["--no-index"] if offline else []
    command = [str(python), "-I", "-m", "pip", action, *flags, *arguments]
    done = run(command, keep=keep, settings=settings)
    if not done.returncode:
        return
    if offline or any(sign in done.stdout for sign in OFFLINE_SIGNS):
        raise Offline(done.stdout.strip())
    raise SetupFailed(
        f"{done.stdout.strip()}\nnotewell: pip could not install the dependencies; "
        f"see above. Its settings: {python} -m pip config list"
    )


def run(
    command: Sequence[str],
    *,
    keep: Sequence[int],
    settings: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run to the end; standard output of the result has both streams."""
    environment = {k: v for k, v in os.environ.items() if k not in MISPLACING}
    return subprocess.run(
        command,
        env={**environment, "PIP_USER": "0", **(settings or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        pass_fds=keep,
        check=False,
    )


class Environment:
    """The private environment in one folder, worked on under its lock."""

    def __init__(self, folder: Path, lock: int) -> None:
        self.folder = folder
        self.python = folder / "bin" / "python"
        self._half_made = folder / "half-made"
        self._lock = lock

    @property
    def lock(self) -> int:
        """The descriptor to hand on, so that what outlives us keeps the lock."""
        return self._lock

    def ready(self, purpose: str) -> bool:
        """Whether everything is there that the purpose needs."""
        project = PROJECT.read_bytes()
        known = {} if self._problem() else self._stamps()
        if purpose not in known:
            return False
        return requirements(known[purpose], purpose) == requirements(project, purpose)

    def ensure(self, purpose: str, *options: str) -> None:
        """Make everything ready that the purpose needs; `options` are for pip.

        Raises:
            SetupFailed: it cannot be done; the next call starts afresh.
        """
        project = PROJECT.read_bytes()
        if self.ready(purpose):
            self._stamp(purpose, project)
            return
        problem = self._problem()
        known = {} if problem else self._stamps()
        started = time.monotonic()
        if problem:
            self._create(problem)
        elif purpose in known:
            say(f"updating {self.folder.name}, because the dependencies changed")
        else:
            say(f"adding to {self.folder.name} what the checks need")
        needed = [*options, *requirements(project, purpose)]
        self._install(purpose, needed, known)
        say(f"ready after {time.monotonic() - started:.0f} s")

    def _problem(self) -> str | None:
        """Say why the folder is no environment to build on, if it is none."""
        if not self.folder.exists():
            return "first run"
        if self._half_made.exists():
            return "the last set-up did not finish"
        asked = 'import sys; print("{}.{}".format(*sys.version_info))'
        try:
            version = run([str(self.python), "-I", "-c", asked], keep=()).stdout.strip()
        except OSError:
            return f"the Python of {self.folder.name} is gone"
        fits = version in ("3.11", "3.12", "3.13")
        if not fits or not (self.folder / "lib" / f"python{version}").exists():
            return f"the Python of {self.folder.name} has changed"
        return None

    def _stamps(self) -> dict[str, bytes]:
        """Return what the environment is ready for: purpose to project file."""
        found = self.folder.glob("ready-*.toml")
        return {p.stem.removeprefix("ready-"): p.read_bytes() for p in found}

    def _stamp(self, purpose: str, project: bytes) -> None:
        """Declare the environment ready for a purpose, in one step."""
        half_written = self.folder / f"ready-{purpose}.new"
        half_written.write_bytes(project)
        half_written.replace(self.folder / f"ready-{purpose}.toml")

    def _create(self, problem: str) -> None:
        """Replace the folder by a new environment without packages."""
        version = "{}.{}.{}".format(*sys.version_info)
        say(
            f"{problem}; setting up {self.folder} with Python {version} "
            f"({sys.executable}). This takes a minute, once."
        )
        if self.folder.exists():
            shutil.rmtree(self.folder)
        self.folder.mkdir()
        self._half_made.touch()
        make_venv(self.folder, base=sys.executable, keep=[self._lock])

    def _install(
        self, purpose: str, needed: list[str], known: dict[str, bytes]
    ) -> None:
        """Install what is needed, or without network settle for what is there."""
        self._half_made.touch()
        for stale in known:
            (self.folder / f"ready-{stale}.toml").unlink()
        project = PROJECT.read_bytes()
        # Of what the checks need most is never imported; what is, Python compiles then.
        lazily = () if purpose == "run" else ("--no-compile",)
        try:
            pip_install(self.python, *lazily, *needed, keep=[self._lock])
            known = {**known, "run": project, purpose: project}
        except Offline as offline:
            if not known:
                raise SetupFailed(
                    f"{offline}\nnotewell: pip reached no package index, and this "
                    "first run needs one; connect, or give pip a folder of wheels "
                    "(PIP_FIND_LINKS), then run this again"
                ) from offline
            say("no network: nothing was updated, going on with what is there")
        for ready, content in known.items():
            self._stamp(ready, content)
        self._half_made.unlink()


@contextmanager
def environment_in(folder: Path) -> Generator[Environment]:
    """Hold the lock of a folder; a second set-up waits here for the first."""
    folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with open(folder.parent / f"{folder.name}.lock", "ab") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"waiting for another set-up of {folder.name}")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield Environment(folder, lock.fileno())


def place(cache: Path | None) -> Path:
    """Choose the folder: in the checkout, or in the cache if that is read-only.

    Raises:
        SetupFailed: the checkout is read-only and no cache may be used.
    """
    inside = ROOT / ".venv"
    if os.access(inside if inside.exists() else ROOT, os.W_OK):
        return inside
    if cache is None:
        raise SetupFailed(f"notewell: {ROOT} is read-only; the checks write into it")
    return cache.absolute() / "venv"


def stop(signum: int, _frame: object) -> NoReturn:
    """Leave by an exception, which takes a running pip along."""
    raise SystemExit(128 + signum)


def main(purpose: str, cache: str | None = None) -> int:
    """Make the environment ready; print its folder for the calling script."""
    signal.signal(signal.SIGTERM, stop)
    folder = None
    try:
        folder = place(Path(cache) if cache else None)
        with environment_in(folder) as environment:
            environment.ensure(purpose)
    except SetupFailed as failure:
        print(failure, file=sys.stderr)
        return 1
    except (OSError, ValueError, KeyError) as failure:
        say(f"cannot set up {folder} for {PROJECT}: {failure!r}")
        return 1
    except KeyboardInterrupt:
        say("set-up interrupted; the next run starts it again")
        return 130
    print(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
