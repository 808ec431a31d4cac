"""Our standard input, from the first moment: greeted, passed on, and ended by us.

The SDK waits for lines in a thread that nothing but the end of the input wakes. So it
reads from a pipe, which a thread of ours fills from the real input. That thread is
there before the SDK is, and answers what a client says first.
"""

import os
import threading
from typing import Final

from notewell.adapters.surfaces.mcp.greeting import RequestId, asked_by, greeting
from notewell.adapters.surfaces.mcp.signals import on_signals

_STDIN: Final = 0
_STDOUT: Final = 1
_AT_ONCE: Final = 65_536


class Entrance:
    """Stands between the client and what serves it.

    Attributes:
        code: The exit code that a signal asked for, else 0.
        greeted: The id of the request that has its answer already.
    """

    def __init__(self) -> None:
        """Take the standard input, and begin to read it."""
        self.code = 0
        self.greeted: RequestId | None = None
        source, answers = os.dup(_STDIN), os.dup(_STDOUT)
        reading, self._writing = os.pipe()
        os.dup2(reading, _STDIN)
        os.close(reading)
        on_signals(self._signalled)
        threading.Thread(
            target=self._serve, args=(source, answers), daemon=True
        ).start()

    def _serve(self, source: int, answers: int) -> None:
        try:
            first = _first_line(source)
            self._greet(first, answers)
            self._pass_on(first)
            while some := os.read(source, _AT_ONCE):
                self._pass_on(some)
        except OSError:
            pass  # the client is gone, or we are ending: both are the end of the input
        finally:
            self._end()

    def _greet(self, first: bytes, answers: int) -> None:
        if known := asked_by(first.partition(b"\n")[0]):
            self.greeted = known[0]
            _write(answers, greeting(*known))
        os.close(answers)

    def _pass_on(self, some: bytes) -> None:
        _write(self._writing, some)

    def _signalled(self, code: int) -> None:
        self.code = code
        self._end()

    def _end(self) -> None:
        """Close the pipe. Its number stays taken, so that nothing else gets it."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._writing)
        os.close(nowhere)


def _first_line(source: int) -> bytes:
    """Return what comes up to a first line's end, and what came with it."""
    first = b""
    while b"\n" not in first and len(first) < _AT_ONCE:
        some = os.read(source, _AT_ONCE)
        if not some:
            break
        first += some
    return first


def _write(target: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(target, rest) :]
