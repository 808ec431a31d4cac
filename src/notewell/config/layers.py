"""One source of settings: the file, or the flags of a command."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Final, cast

import msgspec

from notewell.config.blocks import (
    Block,
    Leaf,
    Reading,
    leaves,
    members,
    nearest,
    read_block,
    read_leaf,
    read_object,
)
from notewell.config.form import Place, Scene, seen
from notewell.config.memory import CompactionSettings, MemorySettings
from notewell.config.search import SearchSettings
from notewell.config.texts import location
from notewell.errors import ConfigError

DEFAULTS: Final = "agents.defaults"


class AgentBlock(Block, frozen=True, kw_only=True):
    """The keys of an agent that are ours beside `memorySearch`."""

    workspace: Annotated[
        Path | None, location(), "The folder with MEMORY.md and memory/."
    ] = None


WORKSPACE: Final = cast("Leaf", members(AgentBlock)["workspace"])


class Layer(msgspec.Struct, frozen=True, kw_only=True):
    """What one source sets, relative to each block."""

    memory: Mapping[str, Reading]
    search: Mapping[str, Reading]
    compaction: Mapping[str, Reading]
    workspace: Reading | None

    def readings(self) -> Iterable[Reading]:
        """Yield everything that this source sets."""
        for group in (self.memory, self.search, self.compaction):
            yield from group.values()
        if self.workspace is not None:
            yield self.workspace


def read_layer(raw: Mapping[str, object], scene: Scene, origin: str) -> Layer:
    """Read what a source says for everybody.

    Raises:
        ConfigError: a value of ours does not have its form.
    """
    memory = section(raw, "memory", "memory")
    own = {key: value for key, value in memory.items() if key != "search"}
    defaults = section(section(raw, "agents", "agents"), "defaults", DEFAULTS)
    compaction = section(defaults, "compaction", f"{DEFAULTS}.compaction")
    return Layer(
        memory=read_block(MemorySettings, own, at="memory", scene=scene, origin=origin),
        search={
            **read_search(memory, "search", "memory", scene, origin),
            **read_search(defaults, "memorySearch", DEFAULTS, scene, origin),
        },
        compaction=read_block(
            CompactionSettings,
            compaction,
            at=f"{DEFAULTS}.compaction",
            scene=scene,
            origin=origin,
        ),
        workspace=read_workspace(defaults, DEFAULTS, scene, origin),
    )


def read_search(
    raw: Mapping[str, object], name: str, at: str, scene: Scene, origin: str = "file"
) -> dict[str, Reading]:
    """Read the `memorySearch` block that `raw` holds under `name`, if there is one."""
    if name not in raw:
        return {}
    where = f"{at}.{name}"
    return read_block(SearchSettings, raw[name], at=where, scene=scene, origin=origin)


def read_workspace(
    raw: Mapping[str, object], at: str, scene: Scene, origin: str = "file"
) -> Reading | None:
    """Read the `workspace` that `raw` names; None when it names none."""
    if raw.get("workspace") is None:
        return None
    place = Place(key=f"{at}.workspace", scene=scene)
    return read_leaf(WORKSPACE, raw["workspace"], place=place, origin=origin)


def section(parent: Mapping[str, object], key: str, at: str) -> dict[str, object]:
    """Return an object on the way to our keys; empty when it is not there.

    Raises:
        ConfigError: something else stands there.
    """
    return read_object(parent[key], at=at) if key in parent else {}


def read_flags(overrides: Mapping[str, object], scene: Scene) -> Layer:
    """Read what the flags of a command set, by dotted key.

    Raises:
        ConfigError: there is no such key, or the value does not have its form.
    """
    layer = read_layer(_nested(overrides), scene, "flag")
    known = {reading.key for reading in layer.readings()}
    for key in overrides:
        if not any(name == key or name.startswith(f"{key}.") for name in known):
            near = nearest(key, _settable())
            hint = f"did you mean {near}?" if near else "a key of the reference"
            raise ConfigError(key, "is no setting that a flag can set", accepted=hint)
    return layer


def read_environment(environ: Mapping[str, str]) -> dict[str, Reading]:
    """Read what the environment sets under `memory`.

    Raises:
        ConfigError: NOTEWELL_OFFLINE is neither yes nor no.
    """
    name = "NOTEWELL_OFFLINE"
    word = environ.get(name, "").strip().lower()
    if not word:
        return {}
    if word not in (*_YES, *_NO):
        raise ConfigError(name, f"is {seen(word)}", accepted="1 or 0")
    return {
        "offline": Reading(value=word in _YES, key=name, origin=f"environment {name}")
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
        *(f"memory.{key}" for key, _ in leaves(MemorySettings)),
        f"{DEFAULTS}.workspace",
        *(f"{DEFAULTS}.memorySearch.{key}" for key, _ in leaves(SearchSettings)),
        *(f"{DEFAULTS}.compaction.{key}" for key, _ in leaves(CompactionSettings)),
    ]
