"""Lifts the limits that notewell sets to its own work, which a busy machine would pass.

A command offers what it has found within 50 ms, and calls the rest off: right for a
person, and for a test an answer that depends on what else the machine does. A test of
such a limit sets it itself.
"""

import importlib

LIMITS = (
    "notewell.adapters.surfaces.cli.note_paths._SECONDS",
    "notewell.adapters.surfaces.cli.commands.search._REFRESH_SECONDS",
    "notewell.backends.builtin.fallback_scan._SECONDS",
    "notewell.backends.builtin.vectors.passage_embedder._AT_ONCE_SECONDS",
    "notewell.memory.links._SECONDS",
    "notewell.memory.memory._INDEX_SECONDS",
    "notewell.memory.reading._TITLE_SECONDS",
)


def lift_limits() -> None:
    """Let everything in this process, and in forks of it, take its time."""
    for limit in LIMITS:
        place, _, name = limit.rpartition(".")
        module = importlib.import_module(place)
        assert isinstance(getattr(module, name), float), limit
        setattr(module, name, 300.0)
