"""Running commands of other processes with an engine that is open already.

`watch` and `mcp` do so. A command is run as in its own process, but for what it writes,
the memory it opens, and whether its terminal has colours. What is not surely the same is
declined, and the other process does it itself.
"""

import os
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn, Self

from notewell.adapters.surfaces.cli.output import CommandOutput
from notewell.adapters.surfaces.plain_text import encode_utf8, visible
from notewell.adapters.surfaces.warm import COMMANDS, pack_answer
from notewell.errors import NotewellError
from notewell.memory.setup import Setup, set_up
from notewell.private_socket import (
    HELLO,
    MOST_ANSWERED,
    MOST_ASKED,
    STATUS,
    TAKEN,
    create_socket_folder,
    fits,
    peer_user,
    read_frame,
    send_frame,
    socket_name,
)

if TYPE_CHECKING:
    import socket

    from notewell.adapters.surfaces.cli.call import CommandCall
    from notewell.memory import SyncMemory

_PATIENCE: Final = 1.0
"""Seconds in which a question has to be there, and an answer to be taken."""


class CommandServer:
    """Listens for commands in a thread, and runs one at a time.

    Attributes:
        path: Its socket; None where there can be none.
        served: How many commands got their answers.
    """

    def __init__(self, setup: Setup) -> None:
        """Take what an engine is opened with when the first command comes."""
        self.path: str | None = None
        self.served = 0
        self._setup = setup
        self._memory: SyncMemory | None = None
        self._listener: socket.socket | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        with suppress(OSError):  # commands do without
            self._listener = self._listening()
        if self._listener is not None:
            serve = self._serve
            self._thread = threading.Thread(target=serve, name="commands", daemon=True)
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        import socket

        if self._listener is None or self._thread is None:
            return
        if self.path is not None:
            with suppress(OSError):
                os.unlink(self.path)
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join(_PATIENCE)
        self._listener.close()

    def _listening(self) -> "socket.socket | None":
        import socket

        folder = create_socket_folder(self._setup.environ)
        if folder is None or not hasattr(socket, "AF_UNIX"):
            return None
        path = os.path.join(folder, socket_name(self._setup.environ, os.getpid()))
        if not fits(path):
            return None
        for left in os.listdir(folder):
            if left == os.path.basename(path) or not _runs(left):
                with suppress(OSError):
                    os.unlink(os.path.join(folder, left))
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            listener.bind(path)  # into a folder that is closed to others
            os.chmod(path, 0o600)
            listener.listen()
        except OSError:
            listener.close()
            raise
        self.path = path
        return listener

    def _serve(self) -> None:
        assert self._listener is not None
        try:
            while True:
                connection, _ = self._listener.accept()
                with connection, suppress(Exception):
                    connection.settimeout(_PATIENCE)
                    self._answer(connection)
        except OSError:  # we are closed
            pass
        finally:
            self._forget()

    def _answer(self, connection: "socket.socket") -> None:
        if peer_user(connection) != os.getuid():
            return
        connection.sendall(HELLO)
        question = read_frame(connection, most=MOST_ASKED)
        if question == STATUS:
            send_frame(connection, self._status())
            return
        caller = _Caller(question, self._setup, connection, self._opened)
        try:
            answer = caller.run()
        except BaseException:
            self._forget()  # so that the next one finds nothing that is broken
            raise
        if answer is not None and len(answer) <= MOST_ANSWERED:
            send_frame(connection, answer)
            self.served += 1

    def _status(self) -> bytes:
        import orjson

        said = {
            "workspace": str(self._setup.workspace.root),
            "agent": self._setup.agent.id,
            "served": self.served,
        }
        return orjson.dumps(said)

    def _opened(self) -> "SyncMemory":
        if self._memory is None:
            from notewell.memory.memory import Memory
            from notewell.memory.sync import SyncMemory

            # As the command itself opens it, so that the answers are the same.
            memory = Memory(self._setup, session_key=None, server=False)
            self._memory = SyncMemory(memory)
        return self._memory

    def _forget(self) -> None:
        if self._memory is not None:
            memory, self._memory = self._memory, None
            memory.close()


class _Declined(Exception):
    """The other process is to do it itself."""


class _Incomplete(Exception):
    """An answer is weaker than another engine might give."""


class _Caller:
    """The process that asks; also the host of the command that it wants.

    Attributes:
        environ: Its environment.
        columns: How wide its terminal is; None: it has none.
    """

    def __init__(
        self, question: bytes, setup: Setup, connection: "socket.socket", opened: Any
    ) -> None:
        parts = os.fsdecode(question).split("\0")
        folder, terminal, wide, count = parts[:4]
        self._words = parts[4 : 4 + int(count)]
        pairs = (each.partition("=") for each in parts[4 + int(count) :])
        self.environ: Mapping[str, str] = {name: value for name, _, value in pairs}
        self.columns = int(wide) if terminal == "1" else None
        self._folder = Path(folder)
        self._setup = setup
        self._connection = connection
        self._opened = opened
        self._output = _KeptOutput(self._words, self)

    def run(self) -> bytes | None:
        """Run the command; return what it wrote, or None if it is declined."""
        import click

        from notewell.adapters.surfaces.cli.root import invoke

        try:
            code = invoke(self._words, self._output)
        except (_Declined, NotewellError, click.ClickException, click.exceptions.Exit):
            return None
        return pack_answer(code, self._output.segments)

    def accept(self, name: str) -> None:
        """Go on with a command if it is one that is served."""
        if name not in COMMANDS:
            _decline()

    def require_complete(self, complete: bool) -> None:
        """Go on with a complete answer; else what is open here may be at fault.

        Raises:
            _Incomplete: it is not.
        """
        if not complete:
            raise _Incomplete

    @contextmanager
    def memory_of(self, call: "CommandCall") -> Generator["SyncMemory"]:
        """Lend the memory that the options of a call name, if it is the open one."""
        setup = set_up(
            workspace=self._path(call.workspace),
            agent=call.agent,
            config=self._path(call.config),
            backend=call.backend,
            server=False,
            environ=self.environ,
            overrides={},
            folder=self._folder,
        )
        if not setup.enabled or not setup.agrees(self._setup):
            _decline()
        memory: SyncMemory = self._opened()
        self._connection.sendall(TAKEN)
        for notice in setup.notices:
            call.output.note(notice)
        yield memory.seen_from(call.session_key)

    def _path(self, given: str | None) -> Path | None:
        return None if given is None else self._folder / given


class _KeptOutput(CommandOutput):
    """Keeps what a command writes, for another process to write."""

    def __init__(self, words: list[str], host: _Caller) -> None:
        from notewell.adapters.surfaces.cli.entry import asks_for_json

        super().__init__(json=asks_for_json(words))
        self.host = host
        self.segments: list[tuple[int, bytes]] = []

    def note(self, text: str) -> None:
        """Keep what is told on stderr."""
        self.segments.append((2, encode_utf8(visible(text) + "\n")))

    def finish(self) -> None:
        """Nothing is held."""

    def _write(self, encoded: bytes) -> None:
        self.answered = True
        self.segments.append((1, encoded))


def _decline() -> NoReturn:
    raise _Declined


def _runs(name: str) -> bool:
    """Whether the process of a socket is there, also when it is busy."""
    process = name.rpartition("-")[2].removesuffix(".sock")
    try:
        os.kill(int(process), 0)
    except (ValueError, ProcessLookupError):
        return False
    except OSError:
        return True
    return True
