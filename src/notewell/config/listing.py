"""Every setting as `notewell config` prints it, and the table of the reference page."""

import json
from collections.abc import Iterator, Mapping
from typing import Final

import msgspec
from msgspec.structs import replace

from notewell.config.blocks import ConfigBlock, GivenValue, Leaf, leaf_keys, value_at
from notewell.config.file import NAME_FORM
from notewell.config.layers import DEFAULTS, WORKSPACE_KEY
from notewell.config.memory_schema import MemorySettings
from notewell.config.schema import CompactionSettings, ProviderSettings, SearchSettings
from notewell.config.settings import AgentConfig, GivenSettings, ResolvedValue, Settings

_BLOCKS: Final[tuple[tuple[str, type[ConfigBlock]], ...]] = (
    ("memory", MemorySettings),
    (f"{DEFAULTS}.memorySearch", SearchSettings),
    (f"{DEFAULTS}.compaction", CompactionSettings),
    ("models.providers.<id>", ProviderSettings),
)

_DEFAULT_MEANS: Final = {
    "provider": 'the first that is set up, else "static"',
    "fallback": '"static" stands behind the provider',
}
"""Below `memorySearch`: what is not the same when somebody writes the default out."""

_OTHER_ROWS: Final = (
    ("agents.list[].id", "`main` without a list", NAME_FORM, "The agent's id."),
    (
        "agents.list[].default",
        "`false`",
        "true or false",
        "The agent that is meant when none is named; else the first.",
    ),
    (
        "agents.list[].workspace",
        "see above",
        WORKSPACE_KEY.value_type.accepted,
        "The agent's own folder of notes.",
    ),
    (
        "agents.list[].memorySearch.…",
        "the defaults",
        "as above",
        "What differs for this agent, key by key.",
    ),
    (
        f"{DEFAULTS}.sandbox.workspaceAccess",
        "unset",
        '"rw", "ro" or "none"',
        (
            "What a sandbox leaves of the workspace, also for one agent: without `rw`"
            ' nothing is flushed. `sandbox.mode` is read as well; "off" means `rw`.'
        ),
    ),
    (
        f"{DEFAULTS}.userTimezone",
        "this machine's",
        "the IANA name of a zone",
        "Which day it is for the user; decides which daily log is today's.",
    ),
    (
        "plugins.slots.memory",
        "unset",
        'a name, or "none"',
        "`none` switches memory off, unless `memory.enabled` outweighs it.",
    ),
)
"""Keys that stand in no block: what the table says of them."""


def list_settings(settings: Settings) -> tuple[ResolvedValue, ...]:
    """Return every setting with where it came from, fit for printing.

    The agents' own ones stand behind the defaults of all. Nothing where settings were
    not loaded.
    """
    return tuple(_listed(settings, settings.given)) if settings.given else ()


def _listed(settings: Settings, given: GivenSettings) -> Iterator[ResolvedValue]:
    yield from _list_block(settings.memory, given.memory, "memory")
    nobody = "environment OPENCLAW_PROFILE" if settings.profile else "default"
    yield from _list_agents(given.defaults, given.agents, nobody)
    yield from _list_block(
        settings.compaction, given.compaction, f"{DEFAULTS}.compaction"
    )
    for name, provider in settings.providers.items():
        at = f"models.providers.{name}"
        yield from _list_block(provider, given.providers[name], at)
    for key, value in (
        (f"{DEFAULTS}.userTimezone", settings.user_timezone),
        ("plugins.slots.memory", given.memory_slot),
    ):
        origin = "default" if value is None else "file"
        yield ResolvedValue(key=key, value=value, origin=origin)


class KeyDescription(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a key, whether somebody set it or not.

    Attributes:
        key: Its full key; `<id>` stands for any.
        default: What counts where nothing is set, as Markdown.
        accepted: What may be written.
        about: What it does.
    """

    key: str
    default: str
    accepted: str
    about: str


def describe_keys() -> tuple[KeyDescription, ...]:
    """Return what is known of every key."""
    return tuple(
        KeyDescription(key=key, default=default, accepted=accepted, about=about)
        for key, default, accepted, about in _rows()
    )


def reference_table() -> str:
    """Return every key with its default, what is accepted, and what it does."""
    lines = ["| key | default | accepted | |", "|---|---|---|---|"]
    for key, default, accepted, about in _rows():
        # Markdown would take <repository> for a tag.
        cells = (f"`{key}`", default, accepted.replace("<", "&lt;"), about)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _list_block(
    block: ConfigBlock, given_values: Mapping[str, GivenValue], at: str
) -> Iterator[ResolvedValue]:
    """Yield every setting of a block, and whether somebody gave it."""
    for key, leaf in leaf_keys(type(block)):
        given = given_values.get(key)
        value = value_at(block, key)
        # What refers to a variable is shown as it is written: it may be a key.
        if given is not None and given.written is not None:
            value = given.written
        yield ResolvedValue(
            key=f"{at}.{key}",
            value=leaf.value_type.show(value),
            origin=given.origin if given is not None else "default",
        )


def _list_agents(
    defaults: AgentConfig, agents: tuple[AgentConfig, ...], nobody: str
) -> Iterator[ResolvedValue]:
    """Yield the defaults whole, and of every entry what is its own."""
    yield _listed_workspace(defaults, nobody)
    yield from _list_search(defaults)
    for agent in agents:
        if agent.settings.at == defaults.settings.at:
            continue
        at = agent.settings.at
        yield ResolvedValue(key=f"{at}.id", value=agent.settings.id, origin="file")
        yield _listed_workspace(agent, "default")
        own = {f"{at}.memorySearch.{key}" for key in (*agent.own, "store.path")}
        yield from (value for value in _list_search(agent) if value.key in own)


def _list_search(agent: AgentConfig) -> Iterator[ResolvedValue]:
    at = f"{agent.settings.at}.memorySearch"
    for listed in _list_block(agent.settings.search, agent.search, at):
        meaning = _DEFAULT_MEANS.get(listed.key.removeprefix(f"{at}."), "")
        is_default = listed.origin == "default"
        yield replace(listed, meaning=meaning) if meaning and is_default else listed


def _listed_workspace(agent: AgentConfig, nobody: str) -> ResolvedValue:
    named = agent.workspace
    written = named.written if named is not None else None
    return ResolvedValue(
        key=f"{agent.settings.at}.workspace",
        value=WORKSPACE_KEY.value_type.show(written or agent.settings.workspace),
        origin=named.origin if named is not None else nobody,
    )


def _rows() -> Iterator[tuple[str, str, str, str]]:
    for at, block in _BLOCKS:
        if block is SearchSettings:
            yield _workspace_row()
        for key, leaf in leaf_keys(block):
            yield f"{at}.{key}", _default(leaf), leaf.value_type.accepted, leaf.about
    yield from _OTHER_ROWS


def _workspace_row() -> tuple[str, str, str, str]:
    accepted = WORKSPACE_KEY.value_type.accepted
    return (
        f"{DEFAULTS}.workspace",
        "`~/.openclaw/workspace`",
        accepted,
        WORKSPACE_KEY.about,
    )


def _default(leaf: Leaf) -> str:
    shown = leaf.value_type.show(leaf.default)
    if shown is None or shown == {}:
        return "unset"
    return f"`{json.dumps(shown)}`"
