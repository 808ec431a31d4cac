"""Runs `notewell` in a fork of a process that has imported it already.

Three quarters of the time of a short command go into starting Python and importing.
What is left is the same: a process of its own, with its own environment, folder and
pipes, that ends as Python ends. How a command starts is tried by real starts in
`cli/test_startup.py`, and by every test that needs a terminal, a signal or a setting
of Python.
"""

import gc
import importlib
import json
import os
import pkgutil
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from runpy import run_path
from typing import Any

STARTED_WITH = ("LANG", "LC_", "PYTHON", "LD_", "DYLD_")
"""What Python or the loader reads when it starts: a fork is too late for it."""


class Forks:
    """A process that has imported notewell, and runs commands by forking.

    Attributes:
        environ: With what it was started; see `fits`.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.environ = environ
        self._ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", __file__, str(theirs.fileno())],
                env=dict(environ),
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )
        self._answers = self._ours.makefile("r", encoding="utf-8")

    def fits(self, environ: Mapping[str, str]) -> bool:
        """Whether a process of this environment would have started as this one."""

        def read(variables: Mapping[str, str]) -> dict[str, str]:
            return {k: v for k, v in variables.items() if k.startswith(STARTED_WITH)}

        return read(environ) == read(self.environ)

    def run(
        self,
        words: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: Path,
        timeout: float = 300,
    ) -> tuple[int, bytes, bytes]:
        """Run a command to its end; return its exit code and what it wrote.

        Raises:
            TimeoutError: it, or what it left behind with its pipes, took too long.
        """
        asked = {"words": list(words), "env": dict(env), "cwd": str(cwd)}
        pipes = [os.pipe(), os.pipe()]
        try:
            told = [write for _, write in pipes]
            socket.send_fds(self._ours, [json.dumps(asked).encode() + b"\n"], told)
        finally:
            for _, write in pipes:
                os.close(write)
        pid = int(self._answers.readline())
        try:
            out, err = _read_all([read for read, _ in pipes], timeout)
        except TimeoutError:
            os.kill(pid, signal.SIGKILL)
            raise
        finally:
            code = int(self._answers.readline())
            for read, _ in pipes:
                os.close(read)
        return code, out, err

    def close(self) -> None:
        """End the process."""
        self._answers.close()
        self._ours.close()
        self._process.wait(timeout=300)


def _read_all(pipes: Sequence[int], timeout: float) -> list[bytes]:
    """Read pipes to their ends."""
    read: dict[int, bytearray] = {pipe: bytearray() for pipe in pipes}
    end = time.monotonic() + timeout
    with selectors.DefaultSelector() as selector:
        for pipe in pipes:
            selector.register(pipe, selectors.EVENT_READ)
        while selector.get_map():
            if not (ready := selector.select(end - time.monotonic())):
                raise TimeoutError(bytes(b"".join(read.values())))
            for key, _ in ready:
                if data := os.read(key.fd, 1 << 16):
                    read[key.fd] += data
                else:
                    selector.unregister(key.fd)
    return [bytes(read[pipe]) for pipe in pipes]


def _serve(channel: socket.socket) -> None:
    """Fork for every request; in the fork, return once it is set up as asked."""
    while True:
        data, handles, _, _ = socket.recv_fds(channel, 1 << 16, 2)
        if not data:
            raise SystemExit
        while not data.endswith(b"\n"):
            data += channel.recv(1 << 16)
        pid = os.fork()
        if not pid:
            channel.close()
            _become(json.loads(data), handles)
            return
        for handle in handles:
            os.close(handle)
        channel.sendall(b"%d\n" % pid)
        _, status = os.waitpid(pid, 0)
        channel.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))


def _become(asked: dict[str, Any], handles: Sequence[int]) -> None:
    """Take the arguments, the environment, the folder and the pipes of a request."""
    for number, handle in enumerate(handles, start=1):
        os.dup2(handle, number)
        os.close(handle)
    sys.argv[1:] = asked["words"]
    os.environ.clear()
    os.environ.update(asked["env"])
    time.tzset()
    os.chdir(asked["cwd"])


def _import_all() -> None:
    """Import notewell as a whole, and what it loads only when that is used."""
    import notewell

    for found in pkgutil.walk_packages(notewell.__path__, "notewell."):
        # The retrievers need packages of others, and no command loads them.
        if not found.name.endswith(".__main__") and not any(
            part in found.name for part in (".contract", ".retrievers.")
        ):
            importlib.import_module(found.name)
    for name in ("jinja2", "numpy", "rich.table", "sqlite_vec", "watchfiles"):
        importlib.import_module(name)
    gc.freeze()


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as served:
        _import_all()
        run_path(str(Path(__file__).with_name("patience.py")))["lift_limits"]()
        _serve(served)
    from notewell.adapters.surfaces.cli import main

    sys.exit(main())
