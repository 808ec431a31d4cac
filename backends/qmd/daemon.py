"""One `qmd mcp` that stays: an answer costs milliseconds instead of a start of Node.

It is spoken to over its standard streams, never over HTTP, which has no
authentication. It ends when its input closes, so it cannot outlive us.
"""

import json
import os
import selectors
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, cast

from notewell.backends.qmd.answer import Document, documents_of
from notewell.backends.qmd.process import MOST_OUTPUT, end, start

IDLE_SECONDS: Final = 600.0
"""A daemon that nobody asked anything for so long is stopped."""

_HUNG_SECONDS: Final = 60.0
"""A daemon that has answered nothing for so long, though it was asked, is stopped."""

_PROTOCOL: Final = "2025-06-18"
_TICK: Final = 0.05


class DaemonFailed(Exception):
    """The daemon did not answer; it is gone, and the command line may still work."""


class DaemonLate(DaemonFailed):
    """Nobody waits for the answer any longer. The daemon may be loading a model."""


class Daemon:
    """A `qmd mcp` on one index. Safe to share between threads, which take turns."""

    def __init__(
        self, command: Sequence[str], *, environ: Mapping[str, str], folder: Path
    ) -> None:
        self._command = (*command, "mcp")
        self._environ = environ
        self._folder = folder
        self._turn = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._rest = b""
        self._number = 0
        self._idle: threading.Timer | None = None
        self._late_since: float | None = None

    @property
    def pid(self) -> int | None:
        """The process, when there is one."""
        process = self._process
        return process.pid if process and process.poll() is None else None

    def typed(
        self,
        searches: Sequence[tuple[str, str]],
        names: Sequence[str],
        *,
        count: int,
        within: float,
        stop: threading.Event | None = None,
    ) -> list[Document]:
        """Return what several typed searches find, fused by rank; starts it if needed.

        Raises:
            DaemonFailed: there is no answer.
        """
        arguments = {
            "searches": [{"type": kind, "query": query} for kind, query in searches],
            "collections": list(names),
            "limit": count,
            "candidateLimit": count,
            "rerank": False,
        }
        result = self._call(
            "tools/call", {"name": "query", "arguments": arguments}, within, stop
        )
        structured = result.get("structuredContent")
        results = cast("dict[str, Any]", structured or {}).get("results")
        documents = None if result.get("isError") else documents_of(results)
        if documents is None:
            raise DaemonFailed("it answered with something else than documents")
        return documents

    def close(self) -> None:
        """Stop it; the next question starts it again."""
        with self._turn:
            self._end()

    def _call(
        self,
        method: str,
        parameters: object,
        within: float,
        stop: threading.Event | None,
    ) -> dict[str, Any]:
        until = time.monotonic() + within
        if not self._turn.acquire(timeout=max(0.0, within)):
            raise DaemonLate("others are asking it")
        try:
            if self.pid is None:
                self._start(until, stop)
            result = self._ask(method, parameters, until, stop)
        except DaemonLate:
            self._end_if_hung()
            raise
        except OSError as exc:
            self._end()
            raise DaemonFailed(exc.strerror or "it is gone") from exc
        except BaseException:
            self._end()
            raise
        else:
            self._late_since = None
            return result
        finally:
            self._wait_for_more()
            self._turn.release()

    def _start(self, until: float, stop: threading.Event | None) -> None:
        self._end()
        self._process = start(
            self._command,
            environ=self._environ,
            folder=self._folder,
            stdin=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        hello = {
            "protocolVersion": _PROTOCOL,
            "capabilities": {},
            "clientInfo": {"name": "notewell", "version": "1"},
        }
        try:
            self._ask("initialize", hello, until, stop)
        except DaemonLate:
            self._end()
            raise
        self._send({"method": "notifications/initialized"})

    def _ask(
        self,
        method: str,
        parameters: object,
        until: float,
        stop: threading.Event | None,
    ) -> dict[str, Any]:
        self._number += 1
        self._send({"id": self._number, "method": method, "params": parameters})
        while True:
            message = self._message(until, stop)
            if message.get("id") == self._number and "method" not in message:
                break
        result = message.get("result")
        if not isinstance(result, dict):
            raise DaemonFailed("it refused the question")
        return cast("dict[str, Any]", result)

    def _send(self, message: dict[str, object]) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(_line({"jsonrpc": "2.0", **message}))

    def _message(self, until: float, stop: threading.Event | None) -> dict[str, Any]:
        """Return the next JSON object that it prints; other lines are noise."""
        while True:
            line, found, rest = self._rest.partition(b"\n")
            if found:
                self._rest = rest
                with suppress(ValueError, RecursionError):
                    message = json.loads(line)
                    if isinstance(message, dict):
                        return cast("dict[str, Any]", message)
                continue
            self._rest += self._more(until, stop)
            if len(self._rest) > MOST_OUTPUT:
                raise DaemonFailed("it prints without end")

    def _more(self, until: float, stop: threading.Event | None) -> bytes:
        assert self._process is not None
        assert self._process.stdout is not None
        pipe = self._process.stdout
        with selectors.DefaultSelector() as selector:
            selector.register(pipe, selectors.EVENT_READ)
            while not selector.select(max(0.0, min(_TICK, until - time.monotonic()))):
                if stop is not None and stop.is_set():
                    raise DaemonLate("it was called off")
                if time.monotonic() >= until:
                    raise DaemonLate("its time is up")
        piece = os.read(pipe.fileno(), 1 << 16)
        if not piece:
            raise DaemonFailed("it ended")
        return piece

    def _end_if_hung(self) -> None:
        """Give it time for its answer, which nobody will take for another's."""
        now = time.monotonic()
        if self._late_since is None:
            self._late_since = now
        elif now - self._late_since > _HUNG_SECONDS:
            self._end()

    def _end(self) -> None:
        self._late_since = None
        process, self._process, self._rest = self._process, None, b""
        if self._idle:
            self._idle.cancel()
        if process is None:
            return
        if process.stdin:
            with suppress(OSError):
                process.stdin.close()
        end(process)

    def _wait_for_more(self) -> None:
        """Stop it when it is not asked anything for long."""
        if self._idle:
            self._idle.cancel()
        if self._process is not None:
            self._idle = threading.Timer(IDLE_SECONDS, self.close)
            self._idle.daemon = True
            self._idle.start()


def _line(message: object) -> bytes:
    return (
        json.dumps(message, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"
    )
