"""Having a command done by a program that stays, `watch` or `mcp`, with its open engine.

It is asked before anything of the command is loaded. Whenever it does not answer, and for
whatever reason, the command is done here as ever: nothing was written until then.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Final

from notewell.private_socket import (
    MOST_ANSWERED,
    MOST_ASKED,
    TAKEN,
    connected,
    read_frame,
    received,
    send_frame,
    sockets,
)

COMMANDS: Final = frozenset({"search", "recent", "get"})
"""Those that are served: they read, and write nothing."""

_AGREES_SECONDS: Final = 0.5
"""For reading the settings, and comparing them."""

_ANSWER_SECONDS: Final = 60.0
"""A model may have to be loaded, which would take no less here."""

_HERE: Final = ("--verbose", "-h", "--help", "--version")
_PATHS: Final = ("OPENCLAW_CONFIG_PATH", "OPENCLAW_STATE_DIR")
_READER_LEFT: Final = 141

Segments = Sequence[tuple[int, bytes]]
"""What goes to which descriptor, in this order."""


def served_elsewhere(words: Sequence[str]) -> int | None:
    """Have a command done by a server; return its exit code, or None if nobody did it.

    Raises:
        OSError: stdout did not take the answer.
    """
    environ = os.environ
    if not _may_ask(words, environ):
        return None
    for path in reversed(sockets(environ)):
        answer = _asked(path, words, environ)
        if answer is not None:
            code, segments = answer
            return _written(segments) or code
    return None


def _may_ask(words: Sequence[str], environ: Mapping[str, str]) -> bool:
    if COMMANDS.isdisjoint(words) or not set(words).isdisjoint(_HERE):
        return False
    if "_NOTEWELL_COMPLETE" in environ or sys.getfilesystemencoding() != "utf-8":
        return False
    if any(environ.get(name, "/")[:1] not in ("/", "~") for name in _PATHS):
        return False  # it depends on the folder that somebody is in
    try:
        return all(os.fstat(descriptor) for descriptor in range(3))
    except OSError:  # one is closed
        return False


def _asked(
    path: str, words: Sequence[str], environ: Mapping[str, str]
) -> tuple[int, Segments] | None:
    connection = connected(path)
    if connection is None:
        return None
    try:
        question = _question(words, environ)
        if len(question) > MOST_ASKED:
            return None
        connection.settimeout(_AGREES_SECONDS)
        send_frame(connection, question)
        if received(connection, 1) != TAKEN:
            return None
        connection.settimeout(_ANSWER_SECONDS)
        return unpack_answer(read_frame(connection, most=MOST_ANSWERED))
    except (OSError, ValueError):
        return None
    finally:
        connection.close()


def _question(words: Sequence[str], environ: Mapping[str, str]) -> bytes:
    """Return the folder, the terminal's width, the words and the environment."""
    terminal = os.isatty(1)
    columns = os.get_terminal_size(1).columns if terminal else 0
    named = [f"{name}={value}" for name, value in environ.items()]
    parts = [os.getcwd(), str(int(terminal)), str(columns), str(len(words))]
    return os.fsencode("\0".join([*parts, *words, *named]))


def pack_answer(code: int, segments: Segments) -> bytes:
    """Return an exit code and what was written as bytes."""
    parts = [bytes([code])]
    for descriptor, content in segments:
        parts += [bytes([descriptor]), len(content).to_bytes(4, "big"), content]
    return b"".join(parts)


def unpack_answer(answer: bytes) -> tuple[int, Segments]:
    """Read what `pack_answer` has returned.

    Raises:
        ValueError: it is something else.
    """
    place, segments = 1, list[tuple[int, bytes]]()
    while place < len(answer):
        descriptor = answer[place]
        end = place + 5 + int.from_bytes(answer[place + 1 : place + 5], "big")
        if descriptor not in (1, 2) or end > len(answer):
            raise ValueError
        segments.append((descriptor, answer[place + 5 : end]))
        place = end
    if not answer:
        raise ValueError
    return answer[0], segments


def _written(segments: Segments) -> int:
    """Write an answer; return the exit code where its reader has gone, else 0.

    Raises:
        OSError: stdout did not take it.
    """
    for descriptor, content in segments:
        try:
            _write_all(descriptor, content)
        except OSError as problem:
            if descriptor != 1:
                continue  # nobody listens there; the answer matters more
            if isinstance(problem, BrokenPipeError):
                return _READER_LEFT
            raise
    return 0


def _write_all(descriptor: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        try:
            rest = rest[os.write(descriptor, rest) :]
        except BlockingIOError:
            import select  # rare

            select.select([], [descriptor], [])
