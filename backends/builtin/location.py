"""Which file holds the index of a workspace."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from notewell.backends.base import Site
from notewell.backends.builtin.files import owner_of

_NOT_OURS: Final[Mapping[str, str]] = {
    "somebody-else": "belongs to another program",
    "link": "is a symbolic link, which is not followed",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """Where the index is.

    Attributes:
        path: The index file; it need not exist.
        notice: What a person should know about it, or None.
    """

    path: Path
    notice: str | None = None


def locate_index(site: Site) -> Location:
    """Return where the index of this agent and workspace belongs.

    A workspace other than the agent's own gets a file of its own, and so does an
    agent at whose place somebody else's file or a link lies: those are never touched.
    """
    configured = site.agent.search.store.path
    own = _same_folder(site.workspace.root, site.agent.workspace)
    path = configured if own else _beside(configured, _mark(site.workspace.root))
    why = _NOT_OURS.get(owner_of(path))
    if why is None:
        return Location(path=path)
    return Location(
        path=_beside(path, "notewell"),
        notice=f"{path} {why}; the index lies beside it",
    )


def _same_folder(left: Path, right: Path) -> bool:
    return os.path.realpath(left) == os.path.realpath(right)


def _beside(path: Path, mark: str) -> Path:
    """Return `main.sqlite` as `main.<mark>.sqlite`."""
    # The root folder has no name, whatever it was configured for.
    return path.parent / f"{path.stem or 'main'}.{mark}{path.suffix or '.sqlite'}"


def _mark(root: Path) -> str:
    from hashlib import blake2b  # only for workspaces that are not the agent's own

    return blake2b(os.fsencode(root), digest_size=6).hexdigest()
