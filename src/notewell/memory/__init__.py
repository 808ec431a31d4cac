"""The facade: one object for search, get, refresh and status, async and sync."""

from notewell.memory.memory import Memory, open_memory
from notewell.memory.sync import SyncMemory, open_memory_sync

__all__ = ["Memory", "SyncMemory", "open_memory", "open_memory_sync"]
