"""From the file, the environment and the flags to Settings."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from notewell.config.agents import Agent, read_agents
from notewell.config.blocks import Reading, build, read_block
from notewell.config.form import Scene, seen
from notewell.config.layers import (
    DEFAULTS,
    Layer,
    read_environment,
    read_flags,
    read_layer,
    section,
)
from notewell.config.loading import find_file, profile_name, read_file, state_folder
from notewell.config.memory import (
    CompactionSettings,
    MemorySettings,
    ProviderSettings,
)
from notewell.config.origins import printed, printed_agents
from notewell.config.settings import ResolvedValue, Settings
from notewell.errors import ConfigError

# Providers whose entries embeddings may use without being told to.
_EMBEDDING: Final = {"openai", "google", "gemini", "voyage", "mistral", "ollama"}


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
        ConfigError: the file cannot be read, or a value of ours makes no sense.
    """
    state, profile = state_folder(environ, home), profile_name(environ)
    file, warning = find_file(config_file, environ, home, state)
    raw = read_file(file) if file else {}
    base = file.parent if file else home
    scene = Scene(environ=environ, home=home, base=base, state=state)
    scene.warnings.extend([warning] if warning else [])
    sources = _Sources(
        file=read_layer(raw, scene, "file"),
        environment=read_environment(environ),
        flags=read_flags(overrides, replace(scene, base=_here(home), warnings=[])),
    )
    return _resolved(raw, sources, scene, file=file, profile=profile)


def _here(home: Path) -> Path:
    """Return what a relative path on a command line starts at."""
    try:
        return Path.cwd()
    except FileNotFoundError:  # the folder we are in was removed
        return home


class _Sources(msgspec.Struct, frozen=True, kw_only=True):
    file: Layer
    environment: Mapping[str, Reading]
    flags: Layer

    def memory(self) -> dict[str, Reading]:
        return {**self.file.memory, **self.environment, **self.flags.memory}

    def compaction(self) -> dict[str, Reading]:
        return {**self.file.compaction, **self.flags.compaction}


def _resolved(
    raw: Mapping[str, object],
    sources: _Sources,
    scene: Scene,
    *,
    file: Path | None,
    profile: str | None,
) -> Settings:
    defaults, agents = read_agents(
        section(raw, "agents", "agents"),
        file=sources.file,
        flags=sources.flags,
        scene=scene,
        profile=profile,
    )
    providers = _read_providers(raw, agents, scene)
    settings = Settings(
        file=file,
        state_dir=scene.state,
        profile=profile,
        memory=build(MemorySettings, sources.memory()),
        agents=tuple(agent.settings for agent in agents),
        default_agent=_default_agent(agents, scene),
        compaction=build(CompactionSettings, sources.compaction()),
        providers={name: build(ProviderSettings, of) for name, of in providers.items()},
        memory_off=_memory_slot(raw) == "none",
        user_timezone=_user_timezone(raw),
        warnings=tuple(dict.fromkeys(scene.warnings)),
        unused=tuple(scene.unused),
    )
    listed = (
        *printed(settings.memory, sources.memory(), "memory"),
        *printed_agents(defaults, agents, profile),
        *printed(settings.compaction, sources.compaction(), f"{DEFAULTS}.compaction"),
        *_printed_rest(raw, settings, providers),
    )
    return replace(settings, resolved=listed)


def _default_agent(agents: tuple[Agent, ...], scene: Scene) -> str:
    chosen = [agent.settings.id for agent in agents if agent.chosen]
    if len(chosen) > 1:
        scene.warnings.append(
            f"agents.list: {', '.join(chosen)} are all the default; {chosen[0]} is used"
        )
    return chosen[0] if chosen else agents[0].settings.id


def _read_providers(
    raw: Mapping[str, object], agents: tuple[Agent, ...], scene: Scene
) -> dict[str, dict[str, Reading]]:
    """Read `models.providers`. Most of it serves chats: what embeddings have no use
    for may look as it likes, and its missing keys are nobody's concern here."""
    models = section(raw, "models", "models")
    quiet = replace(scene, warnings=[])
    wanted = set(_EMBEDDING)
    for agent in agents:
        wanted |= {agent.settings.search.provider or "", agent.settings.search.fallback}
    found: dict[str, dict[str, Reading]] = {}
    for name, item in section(models, "providers", "models.providers").items():
        at = f"models.providers.{name}"
        if name in wanted:
            found[name] = read_block(ProviderSettings, item, at=at, scene=scene)
            continue
        with suppress(ConfigError):
            found[name] = read_block(ProviderSettings, item, at=at, scene=quiet)
    return found


def _memory_slot(raw: Mapping[str, object]) -> str | None:
    plugins = section(raw, "plugins", "plugins")
    slot = section(plugins, "slots", "plugins.slots").get("memory")
    if slot is None or isinstance(slot, str):
        return slot
    accepted = 'the name of a plugin, or "none"'
    raise ConfigError("plugins.slots.memory", f"is {seen(slot)}", accepted=accepted)


def _user_timezone(raw: Mapping[str, object]) -> str | None:
    """Read OpenClaw's name of the user's zone. It is not ours to complain about."""
    defaults = section(section(raw, "agents", "agents"), "defaults", DEFAULTS)
    zone = defaults.get("userTimezone")
    return zone.strip() or None if isinstance(zone, str) else None


def _printed_rest(
    raw: Mapping[str, object],
    settings: Settings,
    providers: Mapping[str, Mapping[str, Reading]],
) -> Iterator[ResolvedValue]:
    for name, provider in settings.providers.items():
        yield from printed(provider, providers[name], f"models.providers.{name}")
    for key, value in (
        (f"{DEFAULTS}.userTimezone", settings.user_timezone),
        ("plugins.slots.memory", _memory_slot(raw)),
    ):
        origin = "default" if value is None else "file"
        yield ResolvedValue(key=key, value=value, origin=origin)
