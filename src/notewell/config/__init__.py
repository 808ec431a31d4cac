"""OpenClaw's configuration file, read for memory search: typed, checked, explained.

`load_settings` is the one way in. Nobody else looks at the environment.
"""

from notewell.config.later import unused_settings
from notewell.config.memory import (
    CompactionSettings,
    MemoryFlushSettings,
    MemorySettings,
    ProviderSettings,
    QmdPath,
    QmdSettings,
    QmdUpdate,
    ScopeMatch,
    ScopeRule,
    ScopeSettings,
)
from notewell.config.resolve import load_settings
from notewell.config.search import (
    ChunkingSettings,
    HybridSettings,
    LocalSettings,
    QuerySettings,
    RemoteSettings,
    SearchSettings,
    StoreSettings,
    SyncSettings,
    VectorSettings,
    WindowSettings,
)
from notewell.config.secret import Secret
from notewell.config.settings import AgentSettings, ResolvedValue, Settings

__all__ = [
    "AgentSettings",
    "ChunkingSettings",
    "CompactionSettings",
    "HybridSettings",
    "LocalSettings",
    "MemoryFlushSettings",
    "MemorySettings",
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
    "unused_settings",
]
