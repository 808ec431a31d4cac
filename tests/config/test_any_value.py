"""Whatever stands in the file: settings or a ConfigError, nothing else."""

import json
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from notewell.backends.registry import policy_of
from notewell.config import (
    Settings,
    load_settings,
    unused_settings,
)
from notewell.config.blocks import leaf_keys
from notewell.config.listing import list_settings
from notewell.config.memory_schema import MemorySettings
from notewell.config.schema import CompactionSettings, ProviderSettings, SearchSettings
from notewell.errors import ConfigError

KEYS = [
    *(f"memory.{key}" for key, _ in leaf_keys(MemorySettings)),
    *(f"memory.search.{key}" for key, _ in leaf_keys(SearchSettings)),
    *(f"agents.defaults.memorySearch.{key}" for key, _ in leaf_keys(SearchSettings)),
    *(f"agents.defaults.compaction.{key}" for key, _ in leaf_keys(CompactionSettings)),
    *(f"models.providers.openai.{key}" for key, _ in leaf_keys(ProviderSettings)),
    "agents.defaults.workspace",
    "agents.list",
    "agents.entries",
    "plugins.slots.memory",
]
CONTAINERS = sorted(
    {
        key.rpartition(".")[0]
        for key in KEYS
        if key.count(".") > 1 and not key.startswith(("models", "plugins"))
    }
)
CLOSED = {
    "memory.postgres.dsn": "[redacted]",  # it leads nowhere
    "memory.offline": True,
    "memory.fallback": "none",
    "memory.search.provider": "none",
    "agents.defaults.memorySearch.provider": "none",
    "agents.defaults.memorySearch.remote.batch.enabled": False,
    "agents.defaults.compaction.memoryFlush.enabled": False,
    "agents.defaults.memorySearch.cache.enabled": False,
    "agents.defaults.memorySearch.cache.maxEntries": 0,
    "memory.qmd.command": [],
    "memory.qmd.includeDefaultMemory": False,
    "memory.qmd.sessions.retentionDays": 0,
    "memory.qmd.scope.rules": [{"action": "deny"}],
}
"""What counts in the place of a wrong value, where that is not the default."""

REFUSED = re.compile(
    r"memory\.(backend|enabled)|agents\.defaults(\.workspace)?"
    r"|(memory\.search|agents\.defaults\.memorySearch)(\.enabled)?"
)
"""Keys without which nobody knows what may be answered."""

WORDS = [
    "~",
    "~x",
    "auto",
    "env:A",
    "${A}",
    "${B}",
    "5m",
    "2mb",
    "http://[",
    "http://a:b",
    "\0",
]

PIECES = [
    *"{}[]:,'\"\\/*+-.01eEx_ \t\n\r\0\u2028\x85é😀",
    *("a", "ui", "memory", "null", "tru", "NaN", "Infinity", "//", "/*", "*/", "{a:"),
    *("\\u", "\\x", "\\U", "d83d", "\\ude00", "ffffffff", "0x", "9" * 5000),
]

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(WORDS)
)
anything = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["id", "path", "action", "match", "rules", "enabled", "x"])
            | st.text(max_size=5),
            inner,
            max_size=3,
        )
    ),
    max_leaves=6,
)


def loaded(file: Path) -> Settings | ConfigError:
    try:
        return load_settings(config_file=file, environ={"A": "/a"}, home=Path("/h"))
    except ConfigError as exc:
        return exc


DEFAULTS = load_settings(environ={}, home=Path("/h"))


@st.composite
def files(draw: st.DrawFn) -> dict[str, object]:
    """A file with a few of our keys, or containers on the way, set to anything."""
    root: dict[str, object] = {}
    for key in draw(st.lists(st.sampled_from(KEYS), min_size=1, max_size=3)):
        way = key.split(".")[: draw(st.integers(1, 9))]
        inner = root
        for name in way[:-1]:
            below = inner.setdefault(name, {})
            inner = cast("dict[str, object]", below if isinstance(below, dict) else {})
        inner[way[-1]] = draw(anything)
    return root


@settings(max_examples=400, deadline=None)
@given(files())
def test_any_value_at_any_key_gives_settings_or_a_config_error(
    content: dict[str, object],
) -> None:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "openclaw.json"
        file.write_bytes(json.dumps(content).encode("utf-8", "surrogatepass"))

        found = loaded(file)

    if isinstance(found, ConfigError):
        assert found.key
        assert found.accepted
        return
    for agent in found.agents:
        assert agent.workspace.is_absolute()
        assert agent.search.store.path.is_absolute()
        assert len(policy_of(found, agent).remarks) <= 1
        unused_settings(found, agent)
    json.dumps([[v.key, v.value, v.origin] for v in list_settings(found)])


@settings(max_examples=600, deadline=None)
@given(st.sampled_from([*KEYS, *CONTAINERS]), anything)
def test_a_wrong_value_costs_its_key_with_a_warning_and_nothing_falls_open(
    key: str, value: object
) -> None:
    """What a flag may not say is wrong in a file as well: flags are strict."""
    content: object = value
    for name in reversed(key.split(".")):
        content = {name: content}
    with TemporaryDirectory() as folder:
        file = Path(folder) / "openclaw.json"
        file.write_bytes(json.dumps(content).encode("utf-8", "surrogatepass"))
        found = loaded(file)
        problem = problem_of_flag(key, value)

    if problem is None:
        return
    if isinstance(found, ConfigError):
        assert REFUSED.fullmatch(found.key)
        return
    said = [each for each in found.warnings if each.startswith(problem.key)]
    assert said
    assert all("; accepted: " in each for each in said)
    now = {each.key: each.value for each in list_settings(found)}
    usual = {each.key: each.value for each in list_settings(DEFAULTS)}
    if key in usual and not said[0].startswith(f"{key}["):  # an item, left out alone
        closed = "none" if "no provider" in said[0] else usual[key]
        assert now[key] in (CLOSED.get(key, usual[key]), closed)
    if "no provider is asked" in said[0]:
        assert now["agents.defaults.memorySearch.provider"] == "none"


def problem_of_flag(key: str, value: object) -> ConfigError | None:
    try:
        load_settings(environ={"A": "/a"}, home=Path("/h"), overrides={key: value})
    except ConfigError as exc:
        return exc if "no setting that a flag" not in exc.message else None
    return None


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(KEYS), anything)
def test_any_flag_gives_settings_or_a_config_error(key: str, value: object) -> None:
    try:
        found = load_settings(environ={}, home=Path("/h"), overrides={key: value})
    except ConfigError:
        return

    assert any(v.origin == "flag" for v in list_settings(found))


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=60))
def test_any_bytes_give_settings_or_a_config_error(content: bytes) -> None:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "openclaw.json"
        file.write_bytes(content)

        found = loaded(file)

    if isinstance(found, ConfigError):
        assert str(file) in str(found)


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(["", "{a:", "{a:'"]), st.lists(st.sampled_from(PIECES)))
def test_any_text_gives_settings_or_words_about_a_place_in_it(
    start: str, pieces: list[str]
) -> None:
    text = start + "".join(pieces)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "openclaw.json"
        file.write_bytes(text.encode())

        found = loaded(file)

    if isinstance(found, ConfigError) and found.accepted == "JSON5":
        assert not re.search(r"U\+|b'\w\w|near \d", found.message)
        if found.key != str(file):
            line, column = map(int, found.key.split(":")[-2:])
            assert 0 < column <= len(text.split("\n")[line - 1]) + 1


@pytest.mark.parametrize("path", ["a\0b", "x" * 5000])
def test_an_impossible_file_name_is_a_config_error(path: str) -> None:
    with pytest.raises(ConfigError):
        load_settings(config_file=Path(path), environ={}, home=Path("/h"))
