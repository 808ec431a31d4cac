"""Where a contender works: the user's settings, a copy of the notes, a state of its own.

Keys and models are found where they always are; what an engine derives from the notes
goes to a folder of the benchmark's, so the user's index is neither met nor changed.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import msgspec

from notewell.memory.facade import Memory
from notewell.memory.opening import Opening, prepare
from notewell.memory.sync import SyncMemory
from notewell.workspace import Workspace


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """All that a process of the benchmark is told. It may hold keys, so it is sent
    by a pipe and never an argument.

    Attributes:
        notes: The copy of the notes.
        state: The contender's own state folder.
        workspace: The user's folder, by which settings are chosen.
        config: The configuration file that was named.
        agent: The agent that was named.
        overrides: Settings that beat the file, by their full key.
        limit: Results that are asked for.
    """

    notes: str
    state: str
    workspace: str
    config: str | None = None
    agent: str | None = None
    overrides: dict[str, object] = {}
    limit: int = 20


def open_at(place: Place, environ: Mapping[str, str]) -> SyncMemory:
    """Open the memory of a contender, to be closed by the caller.

    Raises:
        ConfigError: a setting makes no sense.
        UsageError: there is no such agent or workspace.
    """
    opening = prepare(
        workspace=place.workspace,
        agent=place.agent,
        config=place.config,
        backend=None,
        server=False,
        environ=environ,
        overrides=place.overrides,
    )
    return SyncMemory(Memory(_moved(opening, place), session_key=None, server=False))


def _moved(opening: Opening, place: Place) -> Opening:
    """Return the same settings with another workspace and another state folder.

    It is nobody's own workspace there: extra paths and transcripts are left out.
    """
    state, root = Path(place.state), Path(place.notes)
    search = opening.agent.search
    index = state / "memory" / f"{opening.agent.id}.sqlite"
    search = msgspec.structs.replace(
        search, store=msgspec.structs.replace(search.store, path=index)
    )
    agent = msgspec.structs.replace(opening.agent, workspace=root, search=search)
    settings = msgspec.structs.replace(
        opening.settings,
        state_dir=state,
        agents=tuple(
            agent if each.id == agent.id else each for each in opening.settings.agents
        ),
    )
    return replace(
        opening,
        settings=settings,
        agent=agent,
        workspace=Workspace(root=root),
        own=False,
        notices=(),
    )
