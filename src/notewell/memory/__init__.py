"""The facade: one object for search, get, refresh and status, async and sync."""

from notewell.memory.entry import open_memory
from notewell.memory.facade import Memory
from notewell.memory.sync import SyncMemory, open_memory_sync

__all__ = ["Memory", "SyncMemory", "open_memory", "open_memory_sync"]
