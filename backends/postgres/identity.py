"""Who we are to others: the member of a state folder, and the space of an agent."""

import os
import re
import secrets
from hashlib import blake2b
from pathlib import Path
from typing import Final, NamedTuple

from notewell.backends.remote.store import Owner
from notewell.errors import BackendUnavailable
from notewell.files import create_folder, read_regular, replace_file

BACKEND: Final = "postgres"

_FILE: Final = "notewell-member"
_RANDOM: Final = 8
"""Bytes of a member's name."""

_IS_NAME: Final = re.compile(r"[0-9a-f]{16}")


class Place(NamedTuple):
    """Where an agent's notes are in a server.

    Attributes:
        space: The space that it writes and reads.
        owner: Whose holding it writes there.
    """

    space: str
    owner: Owner


def place_of(state_dir: Path, agent: str, elsewhere: Path | None = None) -> Place:
    """Return where an agent's notes are: a space that nobody else writes.

    Args:
        state_dir: By which this machine, or this user of it, has its name.
        agent: The agent.
        elsewhere: The workspace, where it is another than the agent's own.

    Raises:
        BackendUnavailable: the random name of this machine cannot be kept.
    """
    try:
        member = member_of(state_dir)
    except OSError as error:
        raise BackendUnavailable(
            BACKEND,
            f"the state folder cannot keep a name for this machine ({error})",
            remedy="make it writable",
        ) from error
    if elsewhere is not None:
        mark = blake2b(os.fsencode(elsewhere), digest_size=6).hexdigest()
        agent = f"{agent}.{mark}"
    return Place(f"{member}:{agent}", Owner(member, agent))


def member_of(state_dir: Path) -> str:
    """Return the random name of a state folder, made when it is first needed.

    Raises:
        OSError: it cannot be kept.
    """
    file = state_dir / _FILE
    kept = _kept(file)
    if kept is None:
        create_folder(state_dir)
        half = file.with_name(f".{_FILE}.{os.getpid()}-{secrets.token_hex(4)}")
        replace_file(half, secrets.token_hex(_RANDOM).encode())
        try:
            os.link(half, file)  # whoever was first has named it
        except FileExistsError:
            pass
        finally:
            half.unlink()
        kept = _kept(file)
    if kept is None:
        raise OSError(f"{file} holds no name; remove it")
    return kept


def _kept(file: Path) -> str | None:
    try:
        found = read_regular(file, below_links=True).decode("ascii", "replace").strip()
    except FileNotFoundError:
        return None
    return found if _IS_NAME.fullmatch(found) else None
