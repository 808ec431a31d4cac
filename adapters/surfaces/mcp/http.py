"""The server over streamable HTTP, on this machine only and for those with the token.

The token is a secret in a file that only its owner can read.
"""

import asyncio
import errno
import os
import secrets
import socket
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Final

from notewell.adapters.surfaces.mcp import Offer
from notewell.adapters.surfaces.mcp.startup import loading_quickly
from notewell.errors import UsageError
from notewell.files import create_folder, replace_file
from notewell.memory import Memory

_HOST: Final = "127.0.0.1"
_PATH: Final = "/mcp"


def serve_http(
    memory: Memory, offer: Offer, *, port: int, token: str, ready: Callable[[str], None]
) -> int:
    """Serve every client that has the token, until a signal ends it.

    Args:
        memory: Not open yet.
        offer: What clients get.
        port: Where to listen on 127.0.0.1; 0 takes a free one.
        token: What clients send as `Authorization: Bearer`.
        ready: Told the address once connections are accepted.

    Returns:
        The exit code: 128 and the number of the signal.

    Raises:
        UsageError: the port cannot be had.
    """
    with closing(_listening(port)) as listener:
        ready(f"http://{_HOST}:{listener.getsockname()[1]}{_PATH}")  # the socket queues
        with loading_quickly():
            from notewell.adapters.surfaces.mcp.web import answer_requests

        answering = answer_requests(memory, offer, listener, path=_PATH, token=token)
        return asyncio.run(answering)


def _listening(port: int) -> socket.socket:
    try:
        return socket.create_server((_HOST, port))
    except OSError as problem:
        raise UsageError(
            f"port {port} on {_HOST} cannot be had: {problem.strerror}",
            remedy="choose another; --http 0 takes a free one",
        ) from problem


def read_token(file: Path, *, with_folder: bool) -> str:
    """Return the token in a file, which is made if it is not there.

    Args:
        file: Where it is.
        with_folder: So is its folder: it is our own.

    Raises:
        UsageError: others can read the file, it is no token, or it cannot be used.
    """
    try:
        if not os.path.lexists(file):
            if with_folder:
                create_folder(file.parent)
            replace_file(file, f"{secrets.token_urlsafe(32)}\n".encode())
        return _secret_in(file)
    except (OSError, UnicodeDecodeError) as problem:
        why = getattr(problem, "strerror", None) or "it is no text"
        raise UsageError(
            f"the token file {file} cannot be used: {why}",
            remedy="name another with --token-file",
        ) from problem


def _secret_in(file: Path) -> str:
    # Neither a link, nor a pipe that would wait for a writer.
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
    with open(os.open(file, flags), encoding="ascii") as opened:
        mode = os.fstat(opened.fileno()).st_mode
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "it is no file")
        token = opened.read(4096).strip()
    if stat.S_IMODE(mode) & 0o077:
        raise UsageError(
            f"others may read the token file {file}", remedy=f"chmod 600 {file}"
        )
    if len(token) < 16:
        raise UsageError(
            f"the token in {file} is shorter than 16 characters",
            remedy="delete the file, and a new one is made",
        )
    return token
