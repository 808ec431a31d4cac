"""The benchmark's end of a worker: a process that is started, asked, and ended."""

import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from notewell.bench.contenders import Workplace
from notewell.bench.messages import (
    FinishReply,
    FinishRequest,
    WorkerEvent,
    WorkerReply,
    WorkerRequest,
    decode_message,
    encode_message,
)

_GRACE: Final = 5.0
"""Seconds in which a worker may end its engine's own programs before it is killed."""

_START: Final = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from notewell.bench.worker import main; main()"
)


class WorkerLost(Exception):
    """The worker did not answer, and has to be ended.

    Attributes:
        kind: `crash` (it ended), `timeout`, or `garbled` (what it said is no answer).
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


def python_program(code: str, *arguments: str) -> list[str]:
    """Return how this Python runs `code`, which is to add its first argument, the
    folder in which notewell lies, to where modules are looked for."""
    folder = str(Path(__file__).parents[2])
    return [sys.executable, "-P", "-X", "utf8", "-c", code, folder, *arguments]


class Handle:
    """One worker. It is at the head of a session of its own: Ctrl-C does not reach it."""

    def __init__(self, workplace: Workplace, environ: Mapping[str, str]) -> None:
        """Start it.

        Raises:
            OSError: it cannot be started.
        """
        state = Path(workplace.state)
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (state / "worker.log").open("ab") as log:
            self._process = subprocess.Popen(
                python_program(_START),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=dict(environ),
                start_new_session=True,
                bufsize=0,
            )
        self._heard = bytearray()
        self._write(encode_message(workplace))

    def ask(
        self,
        request: WorkerRequest,
        *,
        within: float | None = None,
        told: Callable[[WorkerEvent], None] | None = None,
    ) -> WorkerReply:
        """Ask, and wait for the reply; what comes before it is passed on to `told`.

        Args:
            request: What is asked.
            within: Seconds that it may take; None: as long as it takes.
            told: Is given what the worker says on its way.

        Raises:
            WorkerLost: it ended, takes too long, or talks nonsense.
        """
        self._write(encode_message(request))
        until = None if within is None else time.monotonic() + within
        while True:
            message = self._next(until)
            if not isinstance(message, WorkerEvent):
                return message
            if told is not None:
                told(message)

    def hang_up(self) -> None:
        """Say nothing any more, as when we are gone: it ends itself."""
        assert self._process.stdin is not None
        self._process.stdin.close()

    def finish(self) -> int | None:
        """Let it close its engine; return the peak memory, or None if it failed."""
        peak = None
        with suppress(WorkerLost):
            reply = self.ask(FinishRequest(), within=_GRACE * 4)
            peak = reply.peak_memory if isinstance(reply, FinishReply) else None
        self.end()
        return peak

    def end(self) -> None:
        """End it with everything that it has started. Harmless twice."""
        process = self._process
        if process.poll() is None:
            _signal(process, signal.SIGTERM)  # it ends its engine's programs itself
            with suppress(subprocess.TimeoutExpired):
                process.wait(_GRACE)
        _signal(process, signal.SIGKILL)
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe:
                with suppress(OSError):
                    pipe.close()

    def _write(self, line: bytes) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line + b"\n")
        except (BrokenPipeError, ValueError):
            raise self._gone() from None

    def _next(self, until: float | None) -> WorkerEvent | WorkerReply:
        while b"\n" not in self._heard:
            self._hear(until)
        line, _, rest = bytes(self._heard).partition(b"\n")
        self._heard = bytearray(rest)
        try:
            return decode_message(line)
        except msgspec.MsgspecError as exc:
            raise WorkerLost("garbled", "what its process said is no answer") from exc

    def _hear(self, until: float | None) -> None:
        pipe = self._process.stdout
        assert pipe is not None
        with selectors.DefaultSelector() as selector:
            selector.register(pipe, selectors.EVENT_READ)
            left = None if until is None else max(0.0, until - time.monotonic())
            if not selector.select(left):
                raise WorkerLost("timeout", "no answer in time")
        piece = os.read(pipe.fileno(), 1 << 16)
        if not piece:
            raise self._gone()
        self._heard += piece

    def _gone(self) -> WorkerLost:
        code = self._process.wait()
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        return WorkerLost("crash", f"its process ended ({how})")


def _signal(process: "subprocess.Popen[bytes]", number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
