"""The token of the HTTP server: a secret in a file that only its owner can read."""

import errno
import os
import secrets
import stat
from pathlib import Path

from notewell.errors import UsageError
from notewell.files import create_folder, replace_file


def token_in(file: Path) -> str:
    """Return the token in a file, which is made if it is not there.

    Raises:
        UsageError: others can read the file, it is no token, or it cannot be used.
    """
    try:
        if not os.path.lexists(file):
            create_folder(file.parent)
            replace_file(file, f"{secrets.token_urlsafe(32)}\n".encode())
        return _read(file)
    except (OSError, UnicodeDecodeError) as problem:
        why = getattr(problem, "strerror", None) or "it is no text"
        raise UsageError(
            f"the token file {file} cannot be used: {why}",
            remedy="name another with --token-file",
        ) from problem


def _read(file: Path) -> str:
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
