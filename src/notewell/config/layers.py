"""One source of settings: the file, or the flags of a command."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Final, cast

import msgspec

from notewell.config.blocks import (
    ConfigBlock,
    GivenValue,
    Leaf,
    closest_name,
    leaf_keys,
    members,
    read_block,
    read_leaf,
    read_object,
)
from notewell.config.memory_schema import MemorySettings
from notewell.config.schema import CompactionSettings, SearchSettings
from notewell.config.value_types import file_path
from notewell.config.values import IfWrong, KeyPath, ReadContext, describe_value
from notewell.errors import ConfigError

DEFAULTS: Final = "agents.defaults"


class AgentBlock(ConfigBlock, frozen=True, kw_only=True):
    """The keys of an agent that are ours beside `memorySearch`."""

    workspace: Annotated[
        Path | None,
        file_path().or_else(IfWrong.REFUSE),
        "The folder with MEMORY.md and memory/.",
    ] = None


WORKSPACE_KEY: Final = cast("Leaf", members(AgentBlock)["workspace"])


class ConfigLayer(msgspec.Struct, frozen=True, kw_only=True):
    """What one source sets, relative to each block."""

    memory: Mapping[str, GivenValue]
    search: Mapping[str, GivenValue]
    compaction: Mapping[str, GivenValue]
    workspace: GivenValue | None

    def given_values(self) -> Iterable[GivenValue]:
        """Yield everything that this source sets."""
        for group in (self.memory, self.search, self.compaction):
            yield from group.values()
        if self.workspace is not None:
            yield self.workspace


def read_layer(
    raw: Mapping[str, object], context: ReadContext, origin: str
) -> ConfigLayer:
    """Read what a source says for everybody.

    Raises:
        ConfigError: a value of ours has a wrong type or value.
    """
    memory = object_at(raw, "memory", "memory")
    own = {key: value for key, value in memory.items() if key != "search"}
    defaults = object_at(object_at(raw, "agents", "agents"), "defaults", DEFAULTS)
    compaction = defaults.get("compaction", {})
    return ConfigLayer(
        memory=read_block(
            MemorySettings, own, at="memory", context=context, origin=origin
        ),
        search={
            **read_search(memory, "search", "memory", context, origin),
            **read_search(defaults, "memorySearch", DEFAULTS, context, origin),
        },
        compaction=read_block(
            CompactionSettings,
            compaction,
            at=f"{DEFAULTS}.compaction",
            context=context,
            origin=origin,
        ),
        workspace=read_workspace(defaults, DEFAULTS, context, origin),
    )


def laid_over(layer: ConfigLayer, over: ConfigLayer) -> ConfigLayer:
    """Return a layer with another one laid over it, key by key.

    What a `memorySearch.enabled` switches off stays off.
    """
    search = {**layer.search, **over.search}
    below = layer.search.get("enabled")
    if below is not None and below.value is False:
        search["enabled"] = below
    return ConfigLayer(
        memory={**layer.memory, **over.memory},
        search=search,
        compaction={**layer.compaction, **over.compaction},
        workspace=over.workspace or layer.workspace,
    )


def read_search(
    raw: Mapping[str, object],
    name: str,
    at: str,
    context: ReadContext,
    origin: str = "file",
) -> dict[str, GivenValue]:
    """Read the `memorySearch` block that `raw` holds under `name`, if there is one."""
    if name not in raw:
        return {}
    where = f"{at}.{name}"
    return read_block(
        SearchSettings, raw[name], at=where, context=context, origin=origin
    )


def read_workspace(
    raw: Mapping[str, object], at: str, context: ReadContext, origin: str = "file"
) -> GivenValue | None:
    """Read the `workspace` that `raw` names; None when it names none."""
    if raw.get("workspace") is None:
        return None
    key_path = KeyPath(key=f"{at}.workspace", context=context)
    return read_leaf(WORKSPACE_KEY, raw["workspace"], key_path=key_path, origin=origin)


def object_at(parent: Mapping[str, object], key: str, at: str) -> dict[str, object]:
    """Return an object on the way to our keys; empty when it is not there.

    Raises:
        ConfigError: something else stands there.
    """
    return read_object(parent[key], at=at) if key in parent else {}


def read_flags(overrides: Mapping[str, object], context: ReadContext) -> ConfigLayer:
    """Read what the flags of a command set, by dotted key.

    Raises:
        ConfigError: there is no such key, or the value has a wrong type or value.
    """
    layer = read_layer(_nested(overrides), context, "flag")
    known = {given.key for given in layer.given_values()}
    for key in overrides:
        if not any(name == key or name.startswith(f"{key}.") for name in known):
            near = closest_name(key, _settable())
            hint = f"did you mean {near}?" if near else "a key of the reference"
            raise ConfigError(key, "is no setting that a flag can set", accepted=hint)
    return layer


def read_environment(environ: Mapping[str, str]) -> dict[str, GivenValue]:
    """Read what the environment sets under `memory`.

    Raises:
        ConfigError: NOTEWELL_OFFLINE is neither yes nor no.
    """
    name = "NOTEWELL_OFFLINE"
    word = environ.get(name, "").strip().lower()
    if not word:
        return {}
    if word not in (*_YES, *_NO):
        raise ConfigError(name, f"is {describe_value(word)}", accepted="1 or 0")
    return {
        "offline": GivenValue(
            value=word in _YES, key=name, origin=f"environment {name}"
        )
    }


_YES: Final = ("1", "true", "yes", "on")
_NO: Final = ("0", "false", "no", "off")


def _nested(overrides: Mapping[str, object]) -> dict[str, object]:
    root: dict[str, object] = {}
    for dotted, value in overrides.items():
        *way, last = dotted.split(".")
        inner = root
        for key in way:
            inner = read_object(inner.setdefault(key, {}), at=dotted)
        inner[last] = _plain(value)
    return root


def _plain(value: object) -> object:
    """Turn what a command hands over into what a file could say."""
    if isinstance(value, Path):
        return str(value)
    return (
        list(cast("tuple[object, ...]", value)) if isinstance(value, tuple) else value
    )


def _settable() -> list[str]:
    return [
        *(f"memory.{key}" for key, _ in leaf_keys(MemorySettings)),
        f"{DEFAULTS}.workspace",
        *(f"{DEFAULTS}.memorySearch.{key}" for key, _ in leaf_keys(SearchSettings)),
        *(f"{DEFAULTS}.compaction.{key}" for key, _ in leaf_keys(CompactionSettings)),
    ]
