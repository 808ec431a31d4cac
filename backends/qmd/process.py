"""Running a program once: a process group of its own, ended whatever happens to us.

Nothing here knows QMD. A run ends in one of four ways: the program ends, its time is
up, somebody sets `stop`, or we are interrupted. In the last three the whole group is
asked to end, then killed, and reaped before we return.
"""

import atexit
import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

MOST_OUTPUT: Final = 64 * 1024 * 1024
"""Bytes of standard output that are read; more is no answer to a question."""

_MOST_COMPLAINTS: Final = 64 * 1024
_GRACE: Final = 0.5
"""Seconds between asking a group to end and killing it."""

_TICK: Final = 0.05
"""Seconds after which a silent program is looked at again."""

_AFTERMATH: Final = 0.25
"""Seconds that a program's output may stay open after it has ended."""


class TimeUp(Exception):
    """The program did not end in its time; its group is gone."""


class Stopped(Exception):
    """Nobody waits for the program any more; its group is gone."""


class TooMuch(Exception):
    """The program printed more than MOST_OUTPUT; its group is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What a program left behind.

    Attributes:
        code: Its exit code; the negative number of the signal that ended it.
        out: Standard output.
        err: The end of standard error.
    """

    code: int
    out: bytes
    err: bytes


def run(
    command: Sequence[str],
    *,
    environ: Mapping[str, str],
    folder: Path,
    within: float,
    stop: threading.Event | None = None,
    grace: float = _GRACE,
) -> Output:
    """Run a program to its end, without a shell and without input.

    Args:
        command: The program, absolute, and its arguments.
        environ: Its whole environment.
        folder: Where it runs.
        within: Seconds it may take.
        stop: Set by whoever no longer waits.
        grace: Seconds it is given to end when its time is up, before it is killed.

    Raises:
        OSError: it cannot be started.
        TimeUp, Stopped, TooMuch: see there.
    """
    until = time.monotonic() + within
    process = start(command, environ=environ, folder=folder, stdin=subprocess.DEVNULL)
    try:
        out, err = _Reader(process, until, stop or threading.Event()).read()
    except BaseException:
        end(process, grace=grace)
        raise
    end(process, grace=0)  # it is gone; what it left behind in its group is not
    return Output(code=process.returncode, out=out, err=err)


def start(
    command: Sequence[str],
    *,
    environ: Mapping[str, str],
    folder: Path,
    stdin: int,
    stderr: int = subprocess.PIPE,
) -> "subprocess.Popen[bytes]":
    """Start a program at the head of a new group, its output in a pipe.

    Raises:
        OSError: it cannot be started.
    """
    process = subprocess.Popen(
        command,
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=stderr,
        cwd=folder,
        env=dict(environ),
        start_new_session=True,
        umask=0o077,
        bufsize=0,
    )
    RUNNING.add(process)
    return process


def end(process: "subprocess.Popen[bytes]", *, grace: float = _GRACE) -> None:
    """Ask a program's group to end, kill what is left, and reap. Harmless twice."""
    if grace and process.poll() is None:
        _signal(process, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(grace)
    _signal(process, signal.SIGKILL)
    process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe:
            with suppress(OSError):
                pipe.close()
    RUNNING.discard(process)


def _signal(process: "subprocess.Popen[bytes]", number: signal.Signals) -> None:
    # The group keeps its number as long as one of it lives; with all of them gone
    # there is no such group, and the system is in no hurry to give the number away.
    if process in RUNNING:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)


RUNNING: Final[set["subprocess.Popen[bytes]"]] = set()
"""Every program that was started here and is not known to be gone."""


def _end_all() -> None:
    for process in list(RUNNING):
        end(process)


atexit.register(_end_all)


class _Reader:
    """Reads both streams of a program until it has ended."""

    def __init__(
        self, process: "subprocess.Popen[bytes]", until: float, stop: threading.Event
    ) -> None:
        self._process = process
        self._until = until
        self._stop = stop
        self._ended: float | None = None
        self._out, self._err = bytearray(), bytearray()

    def read(self) -> tuple[bytes, bytes]:
        """Return standard output, and the end of standard error."""
        out, err = self._process.stdout, self._process.stderr
        assert out is not None
        assert err is not None
        with selectors.DefaultSelector() as selector:
            selector.register(out, selectors.EVENT_READ, self._out)
            selector.register(err, selectors.EVENT_READ, self._err)
            while selector.get_map() and not self._is_over():
                for key, _ in selector.select(self._patience()):
                    if not self._take(key.fileobj, key.data):
                        selector.unregister(key.fileobj)
        while self._process.poll() is None:
            self._is_over()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_TICK)
        return bytes(self._out), bytes(self._err)

    def _take(self, pipe: object, into: bytearray) -> bool:
        """Read what there is; say whether there may be more."""
        read: IO[bytes] = pipe  # type: ignore[assignment]
        piece = os.read(read.fileno(), 1 << 16)
        into += piece
        if into is self._err:
            del self._err[:-_MOST_COMPLAINTS]
        elif len(into) > MOST_OUTPUT:
            raise TooMuch
        return bool(piece)

    def _patience(self) -> float:
        return max(0.0, min(_TICK, self._until - time.monotonic()))

    def _is_over(self) -> bool:
        """Say whether the program has ended, though something holds its output open.

        Raises:
            TimeUp, Stopped: nobody waits any longer.
        """
        now = time.monotonic()
        if self._stop.is_set():
            raise Stopped
        if now >= self._until:
            raise TimeUp
        if self._ended is None and self._process.poll() is not None:
            self._ended = now
        return self._ended is not None and now - self._ended > _AFTERMATH
