"""Memory search for AI agents over plain Markdown files.

>>> from notewell import open_memory_sync
>>> with open_memory_sync(workspace="notes") as memory:  # doctest: +SKIP
...     answer = memory.search("what did we decide about backups?")

Names are loaded when they are used, so that `import notewell` costs next to nothing.
"""

from typing import TYPE_CHECKING

from notewell._version import __version__

if TYPE_CHECKING:
    from notewell.adapters.surfaces.retrievers.langchain import (
        LangChainRetriever as LangChainRetriever,
    )
    from notewell.adapters.surfaces.retrievers.llama_index import (
        LlamaIndexRetriever as LlamaIndexRetriever,
    )
    from notewell.adapters.surfaces.tools import MemoryTools, ToolResult
    from notewell.errors import (
        BackendError,
        BackendFailed,
        BackendTimeout,
        BackendUnavailable,
        BackendUnknown,
        ConfigError,
        NoteNotWritten,
        NotewellError,
        PathRefused,
        UsageError,
    )
    from notewell.filters import Filter, read_filter
    from notewell.flush import FlushOutcome
    from notewell.memory import Memory, SyncMemory, open_memory, open_memory_sync
    from notewell.memory.context import SessionContext
    from notewell.memory.flush import FlushPlan
    from notewell.memory.remember import Remembered
    from notewell.note_links import NoteLink, NoteLinks
    from notewell.types import (
        Document,
        Fallback,
        Freshness,
        Hit,
        IndexReport,
        IndexStatus,
        SearchAnswer,
        StatusReport,
    )

_HOMES = {
    # Not in `__all__`, of which every name can be had: these need an extra.
    "notewell.adapters.surfaces.retrievers.langchain": ("LangChainRetriever",),
    "notewell.adapters.surfaces.retrievers.llama_index": ("LlamaIndexRetriever",),
    "notewell.memory": ("Memory", "SyncMemory", "open_memory", "open_memory_sync"),
    "notewell.adapters.surfaces.tools": ("MemoryTools", "ToolResult"),
    "notewell.flush": ("FlushOutcome",),
    "notewell.memory.context": ("SessionContext",),
    "notewell.memory.flush": ("FlushPlan",),
    "notewell.memory.remember": ("Remembered",),
    "notewell.note_links": ("NoteLink", "NoteLinks"),
    "notewell.types": (
        "Document",
        "Fallback",
        "Freshness",
        "Hit",
        "IndexReport",
        "IndexStatus",
        "SearchAnswer",
        "StatusReport",
    ),
    "notewell.filters": ("Filter", "read_filter"),
    "notewell.errors": (
        "BackendError",
        "BackendFailed",
        "BackendTimeout",
        "BackendUnavailable",
        "BackendUnknown",
        "ConfigError",
        "NoteNotWritten",
        "NotewellError",
        "PathRefused",
        "UsageError",
    ),
}

__all__ = [
    "BackendError",
    "BackendFailed",
    "BackendTimeout",
    "BackendUnavailable",
    "BackendUnknown",
    "ConfigError",
    "Document",
    "Fallback",
    "Filter",
    "FlushOutcome",
    "FlushPlan",
    "Freshness",
    "Hit",
    "IndexReport",
    "IndexStatus",
    "Memory",
    "MemoryTools",
    "NoteLink",
    "NoteLinks",
    "NoteNotWritten",
    "NotewellError",
    "PathRefused",
    "Remembered",
    "SearchAnswer",
    "SessionContext",
    "StatusReport",
    "SyncMemory",
    "ToolResult",
    "UsageError",
    "__version__",
    "open_memory",
    "open_memory_sync",
    "read_filter",
]


def __getattr__(name: str) -> object:
    from importlib import import_module

    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module 'notewell' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
