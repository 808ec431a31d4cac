"""What the whole program gets: every setting, resolved."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from notewell.config.blocks import GivenValue, closest_name
from notewell.config.memory_schema import MemorySettings
from notewell.config.schema import (
    CompactionSettings,
    ProviderSettings,
    SandboxSettings,
    SearchSettings,
)
from notewell.errors import UsageError


class ResolvedValue(msgspec.Struct, frozen=True, kw_only=True):
    """One setting as it may be printed.

    Attributes:
        key: Its full key in the file.
        value: In the file's spelling, fit for JSON; keys are redacted.
        origin: `default`, `file`, `flag` or `environment NAME`.
        meaning: What the default stands for, where its value does not say it.
    """

    key: str
    value: object
    origin: str
    meaning: str = ""


class AgentSettings(msgspec.Struct, frozen=True, kw_only=True):
    """One agent: the defaults with its own settings laid over them.

    Attributes:
        id: Its id, fit for a file name.
        workspace: Its folder of notes, absolute; need not exist.
        workspace_origin: Who named it; `default` means nobody.
        workspace_key: The key that names it, or that would.
        search: Its `memorySearch`; `store.path` is absolute and filled in.
        at: Where it stands in the file; `agents.defaults` without a list.
        sandbox: What OpenClaw leaves it of the workspace.
        given: The keys below `memorySearch` that somebody set for it.
    """

    id: str
    workspace: Path
    workspace_origin: str = "default"
    workspace_key: str = "agents.defaults.workspace"
    search: SearchSettings = SearchSettings()
    sandbox: SandboxSettings = SandboxSettings()
    at: str = "agents.defaults"
    given: frozenset[str] = frozenset()


class AgentConfig(msgspec.Struct, frozen=True, kw_only=True):
    """An agent, and what somebody gave for it.

    Attributes:
        settings: What the program gets.
        search: What is given below its `memorySearch`, the most telling last.
        own: The keys below `memorySearch` that its own entry gives.
        workspace: Who named its workspace, if anybody.
        chosen: Its entry says `default: true`.
    """

    settings: AgentSettings
    search: Mapping[str, GivenValue]
    own: frozenset[str] = frozenset()
    workspace: GivenValue | None = None
    chosen: bool = False


class GivenSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody gave, by key below each block.

    Attributes:
        memory: Below `memory`.
        compaction: Below `agents.defaults.compaction`.
        providers: Below `models.providers.<id>`, by id.
        defaults: What counts for agents without an entry.
        agents: The agents, as in the settings.
        memory_slot: `plugins.slots.memory`.
    """

    memory: Mapping[str, GivenValue]
    compaction: Mapping[str, GivenValue]
    providers: Mapping[str, Mapping[str, GivenValue]]
    defaults: AgentConfig
    agents: tuple[AgentConfig, ...]
    memory_slot: str | None


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Every setting, resolved.

    Attributes:
        file: The configuration file that was read, if there is one.
        own_file: Our own file that is laid over it, if there is one.
        state_dir: `<state>`.
        profile: OPENCLAW_PROFILE, unless it is `default`.
        memory: The settings under `memory`.
        agents: At least one, in the order of the file.
        default_agent: The id that is meant when none is named.
        compaction: What we use of `agents.defaults.compaction`.
        providers: What we use of `models.providers`, by id.
        memory_off: Memory is switched off for every agent.
        switch: What decided over that, in words; empty where nothing was said.
        user_timezone: The IANA name of the user's zone, one that this machine knows;
            None is this machine's own.
        warnings: What a person should know about the file.
        unused: Keys in the file that OpenClaw has and notewell does not use.
        given: What somebody gave; None where settings were not loaded.
    """

    state_dir: Path
    agents: tuple[AgentSettings, ...]
    default_agent: str
    file: Path | None = None
    own_file: Path | None = None
    profile: str | None = None
    memory: MemorySettings = MemorySettings()
    compaction: CompactionSettings = CompactionSettings()
    providers: Mapping[str, ProviderSettings] = {}
    memory_off: bool = False
    switch: str = ""
    user_timezone: str | None = None
    warnings: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    given: GivenSettings | None = None

    def agent(self, agent_id: str | None) -> AgentSettings:
        """Return an agent; the default one for None.

        Raises:
            UsageError: no agent has that id.
        """
        wanted = self.default_agent if agent_id is None else agent_id
        for agent in self.agents:
            if agent.id == wanted:
                return agent
        known = [agent.id for agent in self.agents]
        near = closest_name(wanted, known)
        hint = f"did you mean {near!r}? " if near else ""
        raise UsageError(
            f"there is no agent {wanted!r}",
            remedy=f"{hint}configured: {', '.join(known)}",
        )


def memory_switch(settings: Settings, agent: AgentSettings) -> str:
    """Say which switch decided whether an agent has a memory; empty: none was set."""
    if settings.memory_off or agent.search.enabled:
        return settings.switch
    return f"{agent.at}.memorySearch.enabled is false"


def unused_settings(settings: Settings, agent: AgentSettings) -> tuple[str, ...]:
    """Return a sentence for each of OpenClaw's keys that notewell has no use for.

    They concern whoever looks after the file, so answers go without them.
    """
    shared = ("memory.", "agents.defaults.", f"{agent.at}.")
    return tuple(
        f"{key} is a setting of OpenClaw that notewell does not use."
        for key in settings.unused
        if key.startswith(shared)
    )
