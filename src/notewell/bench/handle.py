"""The benchmark's end of a worker: a process that is started, asked, and ended."""

import asyncio
import sys
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
from notewell.process import LinePipe, OutputTooLong

_GRACE: Final = 5.0
"""Seconds in which a worker may end its engine's own programs before it is killed."""

_START: Final = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from notewell.bench.worker import run_worker; run_worker()"
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
    """One worker. It is at the head of a session of its own: Ctrl-C does not reach it.

    Its pipes are read while somebody waits for it here, in an event loop of its own.
    """

    def __init__(self, workplace: Workplace, environ: Mapping[str, str]) -> None:
        """Start it.

        Raises:
            OSError: it cannot be started.
        """
        state = Path(workplace.state)
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._ended = False
        self._runner = asyncio.Runner()
        start = LinePipe.open(
            python_program(_START),
            environ=environ,
            folder=Path(),  # a file may be named from where we are
            errors=state / "worker.log",
        )
        try:
            self._worker = self._runner.run(start)
        except BaseException:
            self._runner.close()
            raise
        with suppress(WorkerLost):  # as the first question will find
            self._runner.run(self._send(encode_message(workplace)))

    def ask(
        self,
        request: WorkerRequest,
        *,
        within: float | None = None,
        on_event: Callable[[WorkerEvent], None] | None = None,
    ) -> WorkerReply:
        """Ask, and wait for the reply; what comes before it is passed on to `on_event`.

        Args:
            request: What is asked.
            within: Seconds that it may take; None: as long as it takes.
            on_event: Is given what the worker says on its way.

        Raises:
            WorkerLost: it ended, takes too long, or talks nonsense.
        """
        return self._runner.run(self._ask(request, within, on_event))

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
        if not self._ended:
            self._ended = True
            self._runner.run(self._worker.close(grace=_GRACE))
            self._runner.close()

    async def _ask(
        self,
        request: WorkerRequest,
        within: float | None,
        on_event: Callable[[WorkerEvent], None] | None,
    ) -> WorkerReply:
        try:
            async with asyncio.timeout(within):
                await self._send(encode_message(request))
                while isinstance(message := await self._receive(), WorkerEvent):
                    if on_event is not None:
                        on_event(message)
                return message
        except TimeoutError as exc:
            raise WorkerLost("timeout", "no answer in time") from exc

    async def _send(self, line: bytes) -> None:
        try:
            await self._worker.send(line)
        except OSError:
            raise await self._gone() from None

    async def _receive(self) -> WorkerEvent | WorkerReply:
        try:
            return decode_message(await self._worker.receive())
        except (EOFError, OSError):
            raise await self._gone() from None
        except (msgspec.MsgspecError, OutputTooLong) as exc:
            raise WorkerLost("garbled", "what its process said is no answer") from exc

    async def _gone(self) -> WorkerLost:
        code = await self._worker.wait()
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        return WorkerLost("crash", f"its process ended ({how})")
