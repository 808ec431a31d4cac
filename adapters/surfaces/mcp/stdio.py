"""The server over standard input and output, for a client that starts it.

The SDK waits for lines in a thread that nothing but the end of the input wakes. So it
reads from a pipe, which a thread of ours fills from the real input. That thread is
there before the SDK is. It answers what a client says first, and what the SDK would
not answer at all. Both write their lines through one lock.
"""

import asyncio
import io
import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TextIO

from notewell.adapters.surfaces.mcp import Offer
from notewell.adapters.surfaces.mcp.messages import (
    MOST_BYTES,
    OpenRequests,
    refusals,
    too_large,
)
from notewell.adapters.surfaces.mcp.startup import (
    RequestId,
    initialize_answer,
    list_answer,
    loading_quickly,
    on_signals,
    read_initialize,
    read_plain_list,
)
from notewell.adapters.surfaces.tools import MemoryTools
from notewell.backends.registry import require_known
from notewell.errors import NotewellError
from notewell.memory import Memory

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from mcp.shared._stream_protocols import WriteStream
    from mcp.shared.message import SessionMessage

_STDIN: Final = 0
_STDOUT: Final = 1
_STDERR: Final = 2
_AT_ONCE: Final = 65_536
_LONGEST: Final = 30.0
"""Seconds in which a client that has closed its end still gets its answers."""


def serve_stdio(memory: Memory, offer: Offer) -> int:
    """Serve one client until it closes our standard input, or a signal comes.

    Args:
        memory: Not open yet.
        write: Offer memory_write.

    Returns:
        The exit code: 0, or 128 and the number of the signal.
    """
    entrance = _Entrance(memory, offer)
    with loading_quickly():
        import anyio
        from mcp.server.stdio import stdio_server

        from notewell.adapters.surfaces.mcp.server import make_server

    async def run() -> int:
        server = make_server(memory, offer)
        out = anyio.wrap_file(entrance.output())
        async with stdio_server(stdout=out) as (reading, writing):
            stream = _WithoutGreeting(writing, entrance)
            await server.run(reading, stream, server.create_initialization_options())
        return entrance.code

    return asyncio.run(run())


class _Entrance:
    """Stands between the client and what serves it, which writes here what it answers.

    Attributes:
        code: The exit code that a signal asked for, else 0.
        answered: The ids of requests that have their answers already.
    """

    def __init__(self, memory: Memory, offer: Offer) -> None:
        """Take the standard input and output, and begin to read.

        Args:
            memory: Not open yet.
            offer: What the client gets.
        """
        self.code = 0
        self.answered: set[RequestId] = set()
        self._memory, self._offer = memory, offer
        self._greeted = False
        self._source, self._target = os.dup(_STDIN), os.dup(_STDOUT)
        self._one_line = threading.Lock()
        self._waited = False  # for the first message
        self._open = OpenRequests()
        reading, self._writing = os.pipe()
        os.dup2(reading, _STDIN)
        os.dup2(_STDERR, _STDOUT)  # what a library prints is no message
        os.close(reading)
        on_signals(self._signalled)
        threading.Thread(target=self._serve, daemon=True).start()

    def output(self) -> TextIO:
        """Return the file for the lines of the server; closing it does nothing."""
        return _SentLines(self._send)

    def _serve(self) -> None:
        lines = _LineCutter()
        try:
            while some := os.read(self._source, _AT_ONCE):
                for line in lines.more(some):
                    self._take(line)
            self._take(lines.rest())
            # Who writes its questions and closes the pipe wants the answers.
            self._open.wait(_LONGEST)
        except OSError:
            pass  # the client is gone, or we are ending: both are the end of the input
        finally:
            self._end()

    def _take(self, line: "bytes | _LongLine") -> None:
        """Pass a message on, or answer it."""
        if isinstance(line, _LongLine):
            self._send(too_large(line.head, line.end) + b"\n")
            return
        answers = refusals(line)
        if answers is None:
            self._open.asked(line)
            self._greet(line)
            self._list(line)
            # To the SDK every kind of line end ends a message.
            _write(self._writing, line.replace(b"\r", b" ") + b"\n")
        for answer in answers or ():
            self._send(answer + b"\n")

    def _greet(self, line: bytes) -> None:
        if not self._waited and (known := read_initialize(line)):
            self._greeted = True
            self.answered.add(known[0])
            self._send(initialize_answer(*known))
        self._waited = True

    def _list(self, line: bytes) -> None:
        """Say which tools there are, to a client that was greeted here."""
        if not self._greeted or (request := read_plain_list(line)) is None:
            return
        try:
            require_known(self._memory.settings.memory.backend)
        except NotewellError:  # which the server tells when it opens the memory
            return
        tools = MemoryTools(self._memory, write=self._offer.write)
        self.answered.add(request)
        self._send(list_answer(request, tools, self._offer))

    def _send(self, line: bytes) -> None:
        with self._one_line:
            try:
                _write(self._target, line)
            except OSError:  # nobody listens any more
                self._end()
        self._open.told(line)

    def _signalled(self, code: int) -> None:
        self.code = code
        self._end()

    def _end(self) -> None:
        """Close the pipe. Its number stays taken, so that nothing else gets it."""
        self._open.forget()
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._writing)
        os.close(nowhere)


class _WithoutGreeting:
    """What the SDK writes, without its answers to what was answered at the entrance."""

    def __init__(self, inner: "WriteStream[SessionMessage]", entrance: "_Entrance"):
        self._inner = inner
        self._entrance = entrance

    async def send(self, item: "SessionMessage", /) -> None:
        """Send a message to the client, if it has not got it."""
        message = item.message
        request = getattr(message, "id", None)
        if request in self._entrance.answered and not hasattr(message, "method"):
            self._entrance.answered.discard(request)
            return
        await self._inner.send(item)

    async def aclose(self) -> None:
        """Close the stream."""
        await self._inner.aclose()

    async def __aenter__(self) -> "Self":
        """Lend the stream."""
        return self

    async def __aexit__(
        self,
        exc_type: "type[BaseException] | None",
        exc_val: "BaseException | None",
        exc_tb: "TracebackType | None",
    ) -> None:
        """Close the stream."""
        await self.aclose()


class _SentLines(io.StringIO):
    """A file to write lines to, each of which is sent at once."""

    def __init__(self, send: Callable[[bytes], None]) -> None:
        super().__init__()
        self._send = send

    def write(self, line: str, /) -> int:
        self._send(line.encode("utf-8", "replace"))
        return len(line)

    def close(self) -> None:
        pass


class _LongLine:
    """A line that is too long: its beginning and its end."""

    def __init__(self, line: bytes) -> None:
        self.head = line[:_AT_ONCE]
        self.end = line[-_AT_ONCE:]

    def add(self, some: bytes) -> None:
        """Go on with the line."""
        self.end = (self.end + some)[-_AT_ONCE:]


class _LineCutter:
    """Cuts what comes in into lines, and holds no more of one than it may have."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0
        self._cut: _LongLine | None = None

    def more(self, some: bytes) -> "list[bytes | _LongLine]":
        """Return the lines that end in this."""
        *ended, begun = some.split(b"\n")
        lines: list[bytes | _LongLine] = []
        for part in ended:
            self._add(part)
            lines.append(self.rest())
        self._add(begun)
        return lines

    def rest(self) -> "bytes | _LongLine":
        """Return the line that has begun, and begin another."""
        line = self._cut or b"".join(self._parts)
        self._parts, self._size, self._cut = [], 0, None
        return line

    def _add(self, part: bytes) -> None:
        if self._cut:
            self._cut.add(part)
            return
        self._parts.append(part)
        self._size += len(part)
        if self._size > MOST_BYTES:
            self._cut = _LongLine(b"".join(self._parts))
            self._parts = []


def _write(target: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(target, rest) :]
