"""OpenClaw's configuration file, read for memory search: typed, checked, explained.

`load_settings` is the one way in. Nobody else looks at the environment.
"""

from notewell.config.load import load_settings
from notewell.config.memory_schema import (
    MemorySettings,
    PostgresSettings,
    QmdPath,
    QmdSettings,
    QmdUpdate,
    ScopeMatch,
    ScopeRule,
    ScopeSettings,
)
from notewell.config.schema import (
    ChunkingSettings,
    CompactionSettings,
    HybridSettings,
    LocalSettings,
    MemoryFlushSettings,
    ProviderSettings,
    QuerySettings,
    RemoteSettings,
    SearchSettings,
    StoreSettings,
    SyncSettings,
    VectorSettings,
    WindowSettings,
)
from notewell.config.settings import (
    AgentSettings,
    ResolvedValue,
    Settings,
    memory_switch,
    unused_settings,
)
from notewell.config.values import Secret

__all__ = [
    "AgentSettings",
    "ChunkingSettings",
    "CompactionSettings",
    "HybridSettings",
    "LocalSettings",
    "MemoryFlushSettings",
    "MemorySettings",
    "PostgresSettings",
    "ProviderSettings",
    "QmdPath",
    "QmdSettings",
    "QmdUpdate",
    "QuerySettings",
    "RemoteSettings",
    "ResolvedValue",
    "ScopeMatch",
    "ScopeRule",
    "ScopeSettings",
    "SearchSettings",
    "Secret",
    "Settings",
    "StoreSettings",
    "SyncSettings",
    "VectorSettings",
    "WindowSettings",
    "load_settings",
    "memory_switch",
    "unused_settings",
]
