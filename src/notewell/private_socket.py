"""Sockets by which commands ask an engine of the same user that is open already.

Both sides look at who the other is. Names are short, frames bounded, and both know at
once whether they are the same notewell. What is imported here is loaded by every command.
"""

import os
import sys
import zlib
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Final

from notewell._version import __version__

if TYPE_CHECKING:
    from _socket import socket

MOST_ASKED: Final = 1 << 20
"""Bytes of a question, with the environment that it was asked in."""

MOST_ANSWERED: Final = 64 << 20

STATUS: Final = b"status"
"""A question of its own: what the server has done, as JSON."""

TAKEN: Final = b"Y"
"""Said before an answer is made, which may take its time."""

_LONGEST_PATH: Final = 100  # the system's own limit is 104 or 108
_MOST_SOCKETS: Final = 8
_HELLO_SECONDS: Final = 0.1
_STATUS_SECONDS: Final = 0.5
_LINUX_CREDENTIALS: Final = 17
_MAC_CREDENTIALS: Final = 1

HELLO: Final = (
    f"notewell 1 {__version__} {sys.version_info[:3]} {zlib.crc32(__file__.encode()):x}\n"
).encode()
"""What a server says first: the protocol, and which notewell and Python it is."""

_socket = import_module("_socket")  # `socket` itself takes longer to load than to use


def socket_folder(environ: Mapping[str, str]) -> str | None:
    """Return the folder of this user's sockets; None if it is not there, or not ours."""
    folder = _folder(environ)
    try:
        found = os.lstat(folder)
    except OSError:
        return None
    ours = found.st_uid == os.getuid() and found.st_mode & 0o7777 == 0o700
    return folder if ours and found.st_mode & 0o170000 == 0o040000 else None


def create_socket_folder(environ: Mapping[str, str]) -> str | None:
    """Make the folder if it is missing, and return it as `socket_folder` does."""
    with suppress(OSError):  # it is there, or cannot be
        os.mkdir(_folder(environ), 0o700)
    return socket_folder(environ)


def _folder(environ: Mapping[str, str]) -> str:
    if runtime := environ.get("XDG_RUNTIME_DIR"):
        return os.path.join(runtime, "notewell")
    temporary = environ.get("TMPDIR") or "/tmp"
    return os.path.join(temporary, f"notewell-{os.getuid()}")


def socket_name(environ: Mapping[str, str], process: int) -> str:
    """Return the name of a server's socket: whose settings it has read, and its process."""
    return f"{_family(environ)}-{process}.sock"


def _family(environ: Mapping[str, str]) -> str:
    read = [environ.get(name, "") for name in ("HOME", "OPENCLAW_STATE_DIR")]
    return f"{zlib.crc32(os.fsencode(chr(0).join(read))):08x}"


def sockets(environ: Mapping[str, str]) -> list[str]:
    """Return the sockets of servers that may have the same settings, the newest last."""
    folder = socket_folder(environ)
    if folder is None:
        return []
    begin = f"{_family(environ)}-"
    try:
        names = sorted(name for name in os.listdir(folder) if name.startswith(begin))
    except OSError:
        return []
    paths = [os.path.join(folder, name) for name in names if name.endswith(".sock")]
    return [path for path in paths if fits(path)][:_MOST_SOCKETS]


def fits(path: str) -> bool:
    """Whether a path is short enough for a socket on every system."""
    return len(os.fsencode(path)) < _LONGEST_PATH


def connected(path: str) -> "socket | None":
    """Return a connection to a server of our own version and user, or None at once."""
    connection: socket = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connection.settimeout(_HELLO_SECONDS)
        connection.connect(path)
        ours = peer_user(connection) == os.getuid()
        if ours and received(connection, len(HELLO)) == HELLO:
            return connection
    except OSError:  # a server that ended, or hangs
        pass
    connection.close()
    return None


def server_status(path: str) -> dict[str, object] | None:
    """Ask a server for whom it works and what it has done; None if it does not say."""
    import json  # not for a command that is served

    connection = connected(path)
    if connection is None:
        return None
    try:
        connection.settimeout(_STATUS_SECONDS)
        send_frame(connection, STATUS)
        return dict(json.loads(read_frame(connection, most=MOST_ASKED)))
    except (OSError, ValueError):
        return None
    finally:
        connection.close()


def peer_user(connection: "socket") -> int | None:
    """Return the user at the other end; None where the system does not say."""
    if sys.platform.startswith("linux"):
        credentials = connection.getsockopt(_socket.SOL_SOCKET, _LINUX_CREDENTIALS, 12)
    elif sys.platform == "darwin":
        credentials = connection.getsockopt(0, _MAC_CREDENTIALS, 76)
    else:
        return None
    return int.from_bytes(
        credentials[4:8], sys.byteorder
    )  # after a process, or a version


def received(connection: "socket", size: int) -> bytes:
    """Return so many bytes.

    Raises:
        OSError: the other side has ended, or takes too long.
    """
    parts: list[bytes] = []
    while size:
        part = connection.recv(min(size, 1 << 16))
        if not part:
            raise ConnectionResetError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def send_frame(connection: "socket", content: bytes) -> None:
    """Send a length of four bytes, and so many.

    Raises:
        OSError: the other side has ended, or takes too long.
    """
    connection.sendall(len(content).to_bytes(4, "big") + content)


def read_frame(connection: "socket", *, most: int) -> bytes:
    """Return what `send_frame` has sent.

    Raises:
        OSError: the other side has ended, takes too long, or sends too much.
    """
    size = int.from_bytes(received(connection, 4), "big")
    if size > most:
        raise ConnectionAbortedError
    return received(connection, size)
