"""From the file, the environment and the flags to Settings."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from notewell.config.agents import AgentsOfFile, read_agents, without_provider
from notewell.config.blocks import (
    NOBODY_ASKED,
    GivenValue,
    build_block,
    read_block,
    warn_of,
)
from notewell.config.file import (
    OWN_NAME,
    find_file,
    find_own_file,
    profile_name,
    read_file,
    state_folder,
)
from notewell.config.layers import (
    DEFAULTS,
    ConfigLayer,
    laid_over,
    object_at,
    read_environment,
    read_flags,
    read_layer,
)
from notewell.config.memory_schema import MemorySettings
from notewell.config.schema import CompactionSettings, ProviderSettings
from notewell.config.settings import AgentConfig, GivenSettings, Settings
from notewell.config.values import ReadContext, describe_value
from notewell.errors import ConfigError
from notewell.zones import zone_problem

# Providers whose entries embeddings may use without being told to.
_EMBEDDING: Final = frozenset(
    {"openai", "google", "gemini", "voyage", "mistral", "ollama"}
)


def load_settings(
    *,
    config_file: Path | None = None,
    environ: Mapping[str, str],
    home: Path,
    overrides: Mapping[str, object] = {},
) -> Settings:
    """Resolve every setting: flag, environment, our own file, OpenClaw's, default.

    Args:
        config_file: The file that a flag names; it must exist.
        environ: The environment variables.
        home: What `~` stands for.
        overrides: What other flags set, by the key in the file.

    Raises:
        ConfigError: the file cannot be read, or a value is wrong without which nobody
            knows what may be answered.
    """
    state, profile = state_folder(environ, home), profile_name(environ)
    file, warning = find_file(config_file, environ, home, state)
    base = file.parent if file else home
    context = ReadContext(environ=environ, home=home, base=base, state=state)
    context.warnings.extend([warning] if warning else [])
    sources = _read_sources(file, context, overrides)
    given = _gathered(sources, profile)
    default_agent = _default_agent(given.agents, context)
    off, switch = _switched(sources, given.memory_slot)
    own = sources.own
    return Settings(
        file=file,
        own_file=own.path,
        state_dir=state,
        profile=profile,
        memory=build_block(MemorySettings, given.memory),
        agents=tuple(agent.settings for agent in given.agents),
        default_agent=default_agent,
        compaction=build_block(CompactionSettings, given.compaction),
        providers={
            name: build_block(ProviderSettings, of)
            for name, of in given.providers.items()
        },
        memory_off=off,
        switch=switch,
        user_timezone=_user_timezone(own.raw, own.context)
        or _user_timezone(sources.host.raw, context),
        warnings=tuple(dict.fromkeys(sources.warnings())),
        unused=(*context.unused, *own.context.unused),
        given=given,
    )


def _read_sources(
    file: Path | None, context: ReadContext, overrides: Mapping[str, object]
) -> "_Sources":
    """Read both files, the environment and the flags."""
    host = _ReadFile.of(file, context)
    own = _ReadFile.of(
        find_own_file(context.state),
        replace(context, base=context.state, warnings=[], unused=[]),
        OWN_NAME,
    )
    if _says_on(host.layer):
        context.warnings.append(
            f"memory.enabled: true counts in {OWN_NAME} alone, beside this file"
        )
    flags = replace(context, base=_here(context.home), strict=True, warnings=[])
    return _Sources(
        host=host,
        own=own,
        environment=read_environment(context.environ),
        flags=read_flags(overrides, flags),
    )


def _here(home: Path) -> Path:
    """Return what a relative path on a command line starts at."""
    try:
        return Path.cwd()
    except FileNotFoundError:  # the folder we are in was removed
        return home


class _ReadFile(msgspec.Struct, frozen=True, kw_only=True):
    raw: Mapping[str, object]
    context: ReadContext
    layer: ConfigLayer
    origin: str
    path: Path | None

    @property
    def name(self) -> str:
        return self.path.name if self.path else ""

    @classmethod
    def of(
        cls, path: Path | None, context: ReadContext, origin: str = "file"
    ) -> "_ReadFile":
        raw = read_file(path) if path else {}
        layer = read_layer(raw, context, origin)
        return cls(raw=raw, context=context, layer=layer, origin=origin, path=path)

    def agents(self) -> AgentsOfFile:
        raw = object_at(self.raw, "agents", "agents")
        return AgentsOfFile(raw=raw, context=self.context, origin=self.origin)


class _Sources(msgspec.Struct, frozen=True, kw_only=True):
    host: _ReadFile
    own: _ReadFile
    environment: Mapping[str, GivenValue]
    flags: ConfigLayer

    def warnings(self) -> list[str]:
        own = [f"{OWN_NAME}: {warning}" for warning in self.own.context.warnings]
        return [*self.host.context.warnings, *own]


def _gathered(sources: _Sources, profile: str | None) -> GivenSettings:
    host, own, context = sources.host, sources.own, sources.host.context
    layers = host.layer, own.layer
    file, flags = laid_over(*layers), sources.flags
    defaults, agents = read_agents(
        (host.agents(), own.agents()),
        file=file,
        flags=flags,
        context=context,
        profile=profile,
    )
    providers, wrong = _read_providers(host, agents)
    over, also_wrong = _read_providers(own, agents)
    for name, given in over.items():
        providers[name] = {**providers.get(name, {}), **given}
    wrong |= also_wrong
    return GivenSettings(
        memory={
            **file.memory,
            **sources.environment,
            **flags.memory,
            **_enabled(*layers, flags),
        },
        compaction={**file.compaction, **flags.compaction},
        providers=providers,
        defaults=_without_wrong_providers(defaults, wrong),
        agents=tuple(_without_wrong_providers(agent, wrong) for agent in agents),
        memory_slot=_slot(host, own),
    )


def _enabled(*layers: ConfigLayer) -> dict[str, GivenValue]:
    """Return the `memory.enabled` that counts: a false one wherever it stands."""
    found = [layer.memory["enabled"] for layer in layers if "enabled" in layer.memory]
    wins = next((given for given in found if given.value is False), None)
    return {"enabled": wins or found[-1]} if found else {}


def _says_on(layer: ConfigLayer) -> bool:
    given = layer.memory.get("enabled")
    return given is not None and given.value is True


def _slot(host: _ReadFile, own: _ReadFile) -> str | None:
    """Return `plugins.slots.memory`; our own file may close it, and not open it."""
    slots = [_memory_slot(own.raw), _memory_slot(host.raw)]
    return "none" if "none" in slots else slots[0] or slots[1]


def _switched(sources: _Sources, slot: str | None) -> tuple[bool, str]:
    """Say whether memory is off for every agent, and what decided it."""
    host, own, flags = sources.host, sources.own, sources.flags
    said = [
        (each.memory["enabled"].value, where)
        for each, where in (
            (host.layer, f"in {host.name}"),
            (own.layer, f"in {own.name}"),
            (flags, "by a flag"),
        )
        if "enabled" in each.memory
    ]
    off = next((where for value, where in said if value is False), None)
    if off is not None:
        return True, f"memory.enabled is false {off}"
    if slot != "none":
        return False, ""
    closed = 'plugins.slots.memory is "none"'
    on = [where for value, where in said if value and where != f"in {host.name}"]
    if on:
        return False, f"{closed}, but memory.enabled is true {on[-1]}"
    return True, closed


def _default_agent(agents: tuple[AgentConfig, ...], context: ReadContext) -> str:
    chosen = [agent.settings.id for agent in agents if agent.chosen]
    if len(chosen) > 1:
        context.warnings.append(
            f"agents.list: {', '.join(chosen)} are all the default; {chosen[0]} is used"
        )
    return chosen[0] if chosen else agents[0].settings.id


def _read_providers(
    file: _ReadFile, agents: Iterable[AgentConfig]
) -> tuple[dict[str, dict[str, GivenValue]], dict[str, str]]:
    """Read `models.providers`. Most of it serves chats: what embeddings have no use
    for may look as it likes, and its missing keys are nobody's concern here.

    Returns:
        What is given for each provider, and of those that are wrong the key.
    """
    context = file.context
    quiet = replace(context, strict=True, warnings=[])
    found: dict[str, dict[str, GivenValue]] = {}
    wrong: dict[str, str] = {}
    wanted = set(_EMBEDDING)
    for agent in agents:
        wanted |= {agent.settings.search.provider or "", agent.settings.search.fallback}
    try:
        models = object_at(file.raw, "models", "models")
        items = object_at(models, "providers", "models.providers").items()
    except ConfigError as error:
        warn_of(error, context, NOBODY_ASKED)
        return found, dict.fromkeys(wanted, error.key)
    for name, item in items:
        at = f"models.providers.{name}"
        strict = replace(context, strict=True) if name in wanted else quiet
        try:
            found[name] = read_block(
                ProviderSettings, item, at=at, context=strict, origin=file.origin
            )
        except ConfigError as error:
            if name in wanted:
                warn_of(error, context, NOBODY_ASKED)
                wrong[_spelled(name)] = error.key
    return found, wrong


def _without_wrong_providers(
    agent: AgentConfig, wrong: Mapping[str, str]
) -> AgentConfig:
    """Let an agent ask no provider whose entry is wrong, nor another one for it."""
    search = agent.settings.search
    usual = _EMBEDDING - {"ollama"}  # which is never taken without being named
    chosen = usual if search.provider is None else {search.provider}
    for name in (*chosen, search.fallback):
        if (key := wrong.get(_spelled(name))) is not None:
            return without_provider(agent, key)
    return agent


def _spelled(name: str) -> str:
    return "google" if name == "gemini" else name


def _memory_slot(raw: Mapping[str, object]) -> str | None:
    plugins = object_at(raw, "plugins", "plugins")
    slot = object_at(plugins, "slots", "plugins.slots").get("memory")
    if slot is None or isinstance(slot, str):
        return slot
    accepted = 'the name of a plugin, or "none"'
    raise ConfigError(
        "plugins.slots.memory", f"is {describe_value(slot)}", accepted=accepted
    )


def _user_timezone(raw: Mapping[str, object], context: ReadContext) -> str | None:
    """Read OpenClaw's name of the user's zone; one that is wrong is told, and not used."""
    defaults = object_at(object_at(raw, "agents", "agents"), "defaults", DEFAULTS)
    zone = defaults.get("userTimezone")
    if zone is None or (isinstance(zone, str) and not zone.strip()):
        return None
    if isinstance(zone, str):
        problem = zone_problem(zone.strip())
        if problem is None:
            return zone.strip()
    else:
        problem = f"{describe_value(zone)} is no name of a zone"
    context.warnings.append(
        f"{DEFAULTS}.userTimezone: {problem}; this machine's zone is used"
    )
    return None
