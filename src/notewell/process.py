"""Running a program: a process group of its own, ended whatever happens to us.

A program runs to its end (`run_program`), or stays and is spoken to in lines
(`LinePipe`). A run ends when the program ends, when its time is up, or when the
task that waits for it is cancelled. In the last two the whole group is asked to end, then
killed, and reaped before we return. Should we be killed ourselves, a shell in the group
sees our end of a pipe close, and kills the group.
"""

import asyncio
import atexit
import errno
import os
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple, Self

MOST_OUTPUT: Final = 64 * 1024 * 1024
"""Bytes of standard output that are read; more is no answer to a question."""

_MOST_COMPLAINTS: Final = 64 * 1024
_GRACE: Final = 0.5
"""Seconds between asking a group to end and killing it."""

_TICK: Final = 0.05
"""Seconds after which a silent program is looked at again."""

_SOON: Final = 0.002
"""Seconds after which one that is about to end is looked at again."""

_AFTERMATH: Final = 0.25
"""Seconds that a program's output may stay open after it has ended."""

_GUARD: Final = """exec 3<&{line}
( trap "" TERM INT HUP; exec >/dev/null 2>&1; read -r _ <&3; kill -9 0 ) &
exec "$@" 3<&- {instead}"""
"""Becomes the program, and leaves a shell beside it that waits for us to be gone.

One of the program's streams tells it, and is given to the program as something else.
"""

_NOT_STARTED: Final = {126: errno.EACCES, 127: errno.ENOENT}
"""What that shell's exit code says of a program that it could not become."""


class ProcessTimeout(Exception):
    """The program did not end in its time; its group is gone."""


class OutputTooLong(Exception):
    """The program printed more than MOST_OUTPUT; its group is gone."""


class ProcessOutput(NamedTuple):
    """What a program left behind.

    Attributes:
        code: Its exit code; the negative number of the signal that ended it.
        out: Standard output.
        err: The end of standard error.
    """

    code: int
    out: bytes
    err: bytes


async def run_program(
    command: Sequence[str],
    *,
    environ: Mapping[str, str],
    folder: Path,
    within: float,
    grace: float = _GRACE,
) -> ProcessOutput:
    """Run a program to its end, without input.

    Args:
        command: The program, absolute, and its arguments.
        environ: Its whole environment.
        folder: Where it runs.
        within: Seconds it may take.
        grace: Seconds it is given to end when its time is up, before it is killed.

    Raises:
        OSError: it cannot be started.
        ProcessTimeout, OutputTooLong: see there.
    """
    out, err = bytearray(), bytearray()
    child = await start_program(command, environ=environ, folder=folder)
    try:
        async with asyncio.timeout(within):
            await _read(child, out, err)
            code = await _code_of(child)
    except TimeoutError as exc:
        await end_program(child, grace=grace)
        raise ProcessTimeout from exc
    except BaseException:
        await end_program(child, grace=grace)
        raise
    # It is gone; what it left behind in its group is not.
    await end_program(child, grace=0)
    if code in _NOT_STARTED:
        raise OSError(_NOT_STARTED[code], os.strerror(_NOT_STARTED[code]))
    return ProcessOutput(code=code, out=bytes(out), err=bytes(err))


async def start_program(
    command: Sequence[str],
    *,
    environ: Mapping[str, str],
    folder: Path,
    talks: bool = False,
    errors: Path | None = None,
) -> Process:
    """Start a program at the head of a new group, its output in pipes.

    Args:
        command: The program, absolute, and its arguments.
        environ: Its whole environment.
        folder: Where it runs.
        talks: It is told things by its standard input; its standard error is in no pipe.
        errors: The file to which it is appended then; without one it is lost.

    Raises:
        OSError: it cannot be started.
    """
    starting = asyncio.ensure_future(_start(command, environ, folder, talks, errors))
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        with suppress(OSError, ValueError):
            await end_program(await starting, grace=0)
        raise


async def _start(
    command: Sequence[str],
    environ: Mapping[str, str],
    folder: Path,
    talks: bool,
    errors: Path | None,
) -> Process:
    line, instead = (2, '2>>"$0"') if talks else (0, "0<>/dev/null")
    guard = _GUARD.format(line=line, instead=instead)
    child = await asyncio.create_subprocess_exec(
        *("/bin/sh", "-c", guard, str(errors or os.devnull), *command),
        stdin=PIPE if talks else _lifeline(),
        stdout=PIPE,
        stderr=_lifeline() if talks else PIPE,
        limit=MOST_OUTPUT,
        cwd=folder,
        env=dict(environ),
        start_new_session=True,
        umask=0o077,
    )
    RUNNING.add(child)
    return child


class LinePipe:
    """A program that stays, and is spoken to in lines over its standard streams."""

    def __init__(self, child: Process) -> None:
        """Take a program that was started to be talked to."""
        assert child.stdin is not None
        assert child.stdout is not None
        self._child = child
        self._into, self._out = child.stdin, child.stdout

    @classmethod
    async def open(
        cls,
        command: Sequence[str],
        *,
        environ: Mapping[str, str],
        folder: Path,
        errors: Path | None = None,
    ) -> Self:
        """Start a program; see `start_program`.

        Raises:
            OSError: it cannot be started.
        """
        return cls(
            await start_program(
                command, environ=environ, folder=folder, talks=True, errors=errors
            )
        )

    @property
    def pid(self) -> int | None:
        """The process, as long as it is there and its output is open."""
        ended = self._child.returncode is not None or self._out.at_eof()
        return None if ended else self._child.pid

    async def send(self, line: bytes) -> None:
        """Say one line.

        Raises:
            OSError: it does not listen any more.
        """
        self._into.write(line + b"\n")
        await self._into.drain()

    async def receive(self) -> bytes:
        """Return the next line that it says, without its end.

        Raises:
            EOFError: it says nothing any more; what it had begun to say is lost.
            OutputTooLong: the line goes on for more than MOST_OUTPUT.
        """
        try:
            line = await self._out.readline()
        except ValueError as exc:
            raise OutputTooLong from exc
        if not line.endswith(b"\n"):
            raise EOFError
        return line.removesuffix(b"\n")

    async def wait(self) -> int:
        """Return its exit code once it has ended."""
        return await _code_of(self._child)

    async def close(self, *, grace: float = _GRACE) -> None:
        """Say nothing any more, and end it with all of its group. Harmless twice."""
        self._into.close()
        await end_program(self._child, grace=grace)


async def end_program(child: Process, *, grace: float = _GRACE) -> None:
    """Ask a program's group to end, kill what is left, and reap. Harmless twice.

    Who does not wait for the end has it killed and its pipes closed all the same: a loop
    that ends with them tells of it with a traceback.
    """
    try:
        if grace and child.returncode is None:
            _signal(child, signal.SIGTERM)
            with suppress(TimeoutError):
                async with asyncio.timeout(grace):
                    await _code_of(child)
    finally:
        _signal(child, signal.SIGKILL)
        RUNNING.discard(child)
        try:
            await _code_of(child)
        finally:
            # What left the group may hold them open; there is no public way to do this.
            child._transport.close()  # type: ignore[attr-defined]  # pyright: ignore


def _signal(child: Process, number: signal.Signals) -> None:
    # The group keeps its number as long as one of it lives; with all of them gone
    # there is no such group, and the system is in no hurry to give the number away.
    if child in RUNNING:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, number)


RUNNING: Final[set[Process]] = set()
"""Every program that was started here and is not known to be gone."""


@atexit.register
def _kill_all() -> None:
    for child in list(RUNNING):
        _signal(child, signal.SIGKILL)


@cache
def _lifeline() -> int:
    """Return the end of a pipe that is read; the other one is open as long as we live."""
    reads, _ = os.pipe()
    return reads


async def _read(child: Process, out: bytearray, err: bytearray) -> None:
    """Read both streams until they end, or shortly after the program has.

    Raises:
        OutputTooLong: it prints without end.
    """
    assert child.stdout is not None
    assert child.stderr is not None
    readers = (
        asyncio.ensure_future(_all(child.stdout, out)),
        asyncio.ensure_future(_last(child.stderr, err)),
    )
    pending = set(readers)
    try:
        while pending and child.returncode is None:
            ended, pending = await asyncio.wait(
                pending, timeout=_TICK, return_when=asyncio.FIRST_EXCEPTION
            )
            for reader in ended:
                reader.result()
        if pending:
            await asyncio.wait(pending, timeout=_AFTERMATH)
    finally:
        for reader in readers:
            reader.cancel()


async def _all(stream: asyncio.StreamReader, into: bytearray) -> None:
    while piece := await stream.read(1 << 16):
        into += piece
        if len(into) > MOST_OUTPUT:
            raise OutputTooLong


async def _last(stream: asyncio.StreamReader, into: bytearray) -> None:
    while piece := await stream.read(1 << 16):
        into += piece
        del into[:-_MOST_COMPLAINTS]


async def _code_of(child: Process) -> int:
    """Wait for the program; `Process.wait` waits for whoever holds its output, too."""
    while child.returncode is None:  # noqa: ASYNC110 - there is no other event
        await asyncio.sleep(_SOON)
    return child.returncode
