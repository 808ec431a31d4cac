"""Who takes part: `NAME[:MODE][@KEY=VALUE...]`, read and checked, and where it works.

builtin                       as it is configured
builtin:keyword               words alone; also `hybrid` and `vector`
qmd:vsearch                   a mode of QMD's; also `search` and `query`
builtin@mmr.enabled=true      with another setting, named by the end of its key

A contender has the user's settings, a copy of the notes and a state folder of its own.
Keys and models are found where they always are; what an engine derives from the notes
goes to that folder, so the user's index is neither met nor changed.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import msgspec
import orjson

from notewell.backends.registry import policy_class, targets
from notewell.config.listing import list_settings
from notewell.errors import UsageError
from notewell.memory.memory import Memory
from notewell.memory.setup import Setup, set_up
from notewell.memory.sync import SyncMemory
from notewell.workspace import Workspace

_SEARCH: Final = "agents.defaults.memorySearch"
_BY_MEANING: Final = ("hybrid", "vector")
_SETTING: Final = re.compile(r"@(?=[A-Za-z][\w.]*=)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrant:
    """A contender before the race.

    Attributes:
        label: How it is called.
        backend: The engine.
        overrides: Settings that beat the user's, by their full key.
        settings: The same as they may be shown.
        unavailable: Why it cannot take part, or None.
    """

    label: str
    backend: str
    overrides: Mapping[str, object]
    settings: Mapping[str, object] = field(default_factory=dict[str, object])
    unavailable: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UserSettings:
    """Whose settings contenders begin with; see `open_memory`."""

    environ: Mapping[str, str]
    workspace: Path | None = None
    config: str | None = None
    agent: str | None = None

    def prepared(self, overrides: Mapping[str, object]) -> Setup:
        """Resolve the settings with some of them replaced.

        Raises:
            ConfigError: a setting makes no sense.
            UsageError: there is no such agent.
        """
        return set_up(
            workspace=self.workspace,
            agent=self.agent,
            config=self.config,
            backend=None,
            server=False,
            environ=self.environ,
            overrides=overrides,
        )


def read_entrants(specs: Sequence[str], user: UserSettings) -> tuple[Entrant, ...]:
    """Read who takes part.

    Raises:
        UsageError: an engine, a mode or a key is not known, or two are the same.
        ConfigError: a value makes no sense.
    """
    known = [each.key for each in list_settings(user.prepared({}).settings)]
    found = tuple(_entrant(spec, user, known) for spec in specs)
    labels = [each.label for each in found]
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if twice is not None:
        raise UsageError(f"{twice} takes part twice", remedy="name each contender once")
    return found


def contender_names() -> Iterator[str]:
    """Yield every engine, alone and with each of its modes."""
    for backend in targets():
        yield backend
        yield from _with_modes(backend)


def _entrant(spec: str, user: UserSettings, known: Sequence[str]) -> Entrant:
    name, *settings = _SETTING.split(spec)
    backend, _, mode = name.partition(":")
    given = dict(_setting(each, known) for each in settings)
    own = {**_mode(backend, mode), **given}
    overrides = {**own, "memory.backend": backend, "memory.fallback": "none"}
    setup = user.prepared(overrides)
    shown = {
        each.key: each.value
        for each in list_settings(setup.settings)
        if each.key in own
    }
    lacking = None if setup.enabled else "memory is switched off in the settings"
    embeds = setup.policy.embeds and mode in _BY_MEANING
    if embeds and setup.embedding.first is None:
        lacking = (
            "no embedding provider is configured: set memorySearch.provider, or add"
            " @provider=NAME"
        )
    return Entrant(
        label=_label(name, {key: shown[key] for key in given if key in shown}),
        backend=backend,
        overrides=overrides,
        settings=shown,
        unavailable=lacking,
    )


def _label(name: str, shown: Mapping[str, object]) -> str:
    """Call a contender by what was asked for: keys redacted, paths by their last part."""
    parts = [name]
    for key, value in shown.items():
        end = key.rpartition(".")[2]
        said = value if isinstance(value, str) else orjson.dumps(value).decode()
        parts.append(f"{end}={said.rstrip('/').rpartition('/')[2] or said}")
    return "@".join(parts)


def _with_modes(backend: str) -> list[str]:
    return [f"{backend}:{mode}" for mode in policy_class(backend).modes]


def _mode(backend: str, mode: str) -> Mapping[str, object]:
    """Return the settings of a mode.

    Raises:
        UsageError: there is no such engine, or it has no such mode.
    """
    engines = targets()
    if backend not in engines:
        raise UsageError(
            f"there is no engine {backend!r}",
            remedy=f"use one of: {', '.join(engines)}",
        )
    modes = policy_class(backend).modes
    if mode and mode not in modes:
        accepted = ", ".join(_with_modes(backend)) or backend
        raise UsageError(
            f"{backend} has no mode {mode!r}", remedy=f"use one of: {accepted}"
        )
    return modes[mode] if mode else {}


def _setting(text: str, known: Sequence[str]) -> tuple[str, object]:
    """Read KEY=VALUE; the end of a key will do where it is the end of one only.

    Raises:
        UsageError: no setting has that key, or several end with it.
    """
    end, _, value = text.partition("=")
    settable = [key for key in known if key.startswith(("memory.", f"{_SEARCH}."))]
    keys = [key for key in settable if key == end or key.endswith(f".{end}")]
    keys = [end] if end in keys else keys
    if len(keys) != 1:
        problem = (
            f"several settings end with {end!r}" if keys else f"no setting {end!r}"
        )
        near = keys or [key for key in settable if end.rpartition(".")[2] in key][:5]
        remedy = f"write one of: {', '.join(near)}" if near else "see `notewell config`"
        raise UsageError(problem, remedy=remedy)
    try:
        return keys[0], orjson.loads(value)
    except orjson.JSONDecodeError:
        return keys[0], value


class Workplace(msgspec.Struct, frozen=True, kw_only=True):
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


def open_workplace(workplace: Workplace, environ: Mapping[str, str]) -> SyncMemory:
    """Open the memory of a contender, to be closed by the caller.

    Raises:
        ConfigError: a setting makes no sense.
        UsageError: there is no such agent or workspace.
    """
    setup = set_up(
        workspace=workplace.workspace,
        agent=workplace.agent,
        config=workplace.config,
        backend=None,
        server=False,
        environ=environ,
        overrides=workplace.overrides,
    )
    return SyncMemory(
        Memory(_moved_to(setup, workplace), session_key=None, server=False)
    )


def _moved_to(setup: Setup, workplace: Workplace) -> Setup:
    """Return the same settings with another workspace and another state folder.

    It is nobody's own workspace there: extra paths and transcripts are left out.
    """
    state, root = Path(workplace.state), Path(workplace.notes)
    search = setup.agent.search
    index = state / "memory" / f"{setup.agent.id}.sqlite"
    search = msgspec.structs.replace(
        search, store=msgspec.structs.replace(search.store, path=index)
    )
    agent = msgspec.structs.replace(setup.agent, workspace=root, search=search)
    settings = msgspec.structs.replace(
        setup.settings,
        state_dir=state,
        agents=tuple(
            agent if each.id == agent.id else each for each in setup.settings.agents
        ),
    )
    return replace(
        setup,
        settings=settings,
        agent=agent,
        policy=type(setup.policy)(settings, agent),
        workspace=Workspace(root=root),
        own=False,
        notices=(),
    )
