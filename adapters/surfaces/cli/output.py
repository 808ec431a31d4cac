"""Where a command writes: UTF-8 bytes to two descriptors, whatever the locale says.

`print` would obey the locale (an ASCII one refuses a note in Japanese) and keep
a buffer that fails once more when Python ends after `| head` has gone.
"""

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Final, Protocol

from notewell.adapters.surfaces.plain_text import encode_utf8, visible

if TYPE_CHECKING:
    from notewell.memory import SyncMemory

STDIN: Final = 0
STDOUT: Final = 1
STDERR: Final = 2


class StdoutError(Exception):
    """Stdout did not take the answer.

    Attributes:
        reader_left: True when the reader has gone, as `head` does.
    """

    def __init__(self, problem: str, *, reader_left: bool) -> None:
        super().__init__(problem)
        self.problem = problem
        self.reader_left = reader_left


class CommandHost(Protocol):
    """A program that stays, and runs a command of another one.

    Attributes:
        environ: The environment of the other one.
        columns: How wide its terminal is; None: it has none.
    """

    environ: Mapping[str, str]
    columns: int | None

    def memory_of(self, call: Any) -> "AbstractContextManager[SyncMemory]":
        """Lend the memory that the options of a call name, if it is the open one."""
        ...

    def accept(self, name: str) -> None:
        """Go on with a command if it is one that is served."""
        ...

    def require_complete(self, complete: bool) -> None:
        """Go on with an answer if it is complete; else the other one asks for itself."""
        ...


class CommandOutput:
    """The answer goes to stdout, once; everything else goes to stderr.

    Attributes:
        json: Whether the answer is one JSON object.
        verbose: Whether diagnostics are shown in full.
        answered: Whether the answer has been written.
        host: Who runs the command for another program; None: this is its own process.
    """

    host: CommandHost | None = None

    def __init__(self, *, json: bool) -> None:
        self.json = json
        self.verbose = False
        self.answered = False

    def text(self, text: str) -> None:
        """Write the answer for people, or a part of it."""
        self._write(encode_utf8(text))

    def value(self, value: Mapping[str, object]) -> None:
        """Write the answer as one JSON object."""
        from notewell.adapters.surfaces import wire  # orjson, only when wanted

        self._write(wire.dump(value))

    def note(self, text: str) -> None:
        """Tell a person something on stderr; control characters are shown, not sent."""
        try:
            write_all(STDERR, encode_utf8(visible(text) + "\n"))
        except OSError:
            return  # nobody listens there; the answer matters more

    def finish(self) -> None:
        """Let go of stdout, so that a reader of the pipe sees its end at once."""
        _silence(STDOUT)
        if not self.verbose:
            _silence(STDERR)

    def _write(self, encoded: bytes) -> None:
        self.answered = True
        try:
            write_all(STDOUT, encoded)
        except BrokenPipeError as exc:
            _silence(STDOUT)
            raise StdoutError("the reader has gone", reader_left=True) from exc
        except OSError as exc:
            problem = exc.strerror or "unknown error"
            raise StdoutError(problem, reader_left=False) from exc


def write_all(descriptor: int, encoded: bytes) -> None:
    """Write every byte, also to a pipe that somebody made non-blocking."""
    rest = memoryview(encoded)
    while rest:
        try:
            rest = rest[os.write(descriptor, rest) :]
        except BlockingIOError:
            import select  # rare

            select.select([], [descriptor], [])


def occupy_closed_descriptors() -> None:
    """Open the null device on 0, 1 and 2 where a caller has closed them.

    Otherwise the next file to be opened, an index for one, gets that number,
    and our messages are written into it. Nothing can be written to such a stdout, so that
    an answer that nobody gets is an error.
    """
    for descriptor in (STDIN, STDOUT, STDERR):
        try:
            os.fstat(descriptor)
        except OSError:
            how = os.O_RDONLY if descriptor == STDOUT else os.O_RDWR
            os.open(os.devnull, how)  # takes the lowest free number


def _silence(descriptor: int) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)
