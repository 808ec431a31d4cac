"""From the file, the environment and the flags to Settings."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from notewell.config.agents import read_agents, without_provider
from notewell.config.blocks import (
    NOBODY_ASKED,
    GivenValue,
    build_block,
    read_block,
    warn_of,
)
from notewell.config.file import find_file, profile_name, read_file, state_folder
from notewell.config.layers import (
    DEFAULTS,
    ConfigLayer,
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
    """Resolve every setting: flag, environment, file, default.

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
    raw = read_file(file) if file else {}
    base = file.parent if file else home
    context = ReadContext(environ=environ, home=home, base=base, state=state)
    context.warnings.extend([warning] if warning else [])
    sources = _Sources(
        file=read_layer(raw, context, "file"),
        environment=read_environment(environ),
        flags=read_flags(
            overrides, replace(context, base=_here(home), strict=True, warnings=[])
        ),
    )
    given = _gathered(raw, sources, context, profile)
    default_agent = _default_agent(given.agents, context)
    return Settings(
        file=file,
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
        memory_off=given.memory_slot == "none",
        user_timezone=_user_timezone(raw, context),
        warnings=tuple(dict.fromkeys(context.warnings)),
        unused=tuple(context.unused),
        given=given,
    )


def _here(home: Path) -> Path:
    """Return what a relative path on a command line starts at."""
    try:
        return Path.cwd()
    except FileNotFoundError:  # the folder we are in was removed
        return home


class _Sources(msgspec.Struct, frozen=True, kw_only=True):
    file: ConfigLayer
    environment: Mapping[str, GivenValue]
    flags: ConfigLayer

    def memory(self) -> dict[str, GivenValue]:
        return {**self.file.memory, **self.environment, **self.flags.memory}

    def compaction(self) -> dict[str, GivenValue]:
        return {**self.file.compaction, **self.flags.compaction}


def _gathered(
    raw: Mapping[str, object],
    sources: _Sources,
    context: ReadContext,
    profile: str | None,
) -> GivenSettings:
    defaults, agents = read_agents(
        object_at(raw, "agents", "agents"),
        file=sources.file,
        flags=sources.flags,
        context=context,
        profile=profile,
    )
    providers, wrong = _read_providers(raw, agents, context)
    return GivenSettings(
        memory=sources.memory(),
        compaction=sources.compaction(),
        providers=providers,
        defaults=_without_wrong_providers(defaults, wrong),
        agents=tuple(_without_wrong_providers(agent, wrong) for agent in agents),
        memory_slot=_memory_slot(raw),
    )


def _default_agent(agents: tuple[AgentConfig, ...], context: ReadContext) -> str:
    chosen = [agent.settings.id for agent in agents if agent.chosen]
    if len(chosen) > 1:
        context.warnings.append(
            f"agents.list: {', '.join(chosen)} are all the default; {chosen[0]} is used"
        )
    return chosen[0] if chosen else agents[0].settings.id


def _read_providers(
    raw: Mapping[str, object], agents: Iterable[AgentConfig], context: ReadContext
) -> tuple[dict[str, dict[str, GivenValue]], dict[str, str]]:
    """Read `models.providers`. Most of it serves chats: what embeddings have no use
    for may look as it likes, and its missing keys are nobody's concern here.

    Returns:
        What is given for each provider, and of those that are wrong the key.
    """
    quiet = replace(context, strict=True, warnings=[])
    found: dict[str, dict[str, GivenValue]] = {}
    wrong: dict[str, str] = {}
    wanted = set(_EMBEDDING)
    for agent in agents:
        wanted |= {agent.settings.search.provider or "", agent.settings.search.fallback}
    try:
        models = object_at(raw, "models", "models")
        items = object_at(models, "providers", "models.providers").items()
    except ConfigError as error:
        warn_of(error, context, NOBODY_ASKED)
        return found, dict.fromkeys(wanted, error.key)
    for name, item in items:
        at = f"models.providers.{name}"
        strict = replace(context, strict=True) if name in wanted else quiet
        try:
            found[name] = read_block(ProviderSettings, item, at=at, context=strict)
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
    name = zone.strip() if isinstance(zone, str) else describe_value(zone)
    if isinstance(zone, str) and (problem := zone_problem(name)) is None:
        return name
    problem = problem if isinstance(zone, str) else f"{name} is no name of a zone"
    context.warnings.append(
        f"{DEFAULTS}.userTimezone: {problem}; this machine's zone is used"
    )
    return None
