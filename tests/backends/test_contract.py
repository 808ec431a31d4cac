"""Engines of ours keep what `notewell.backends.base` promises; QMD's are in `qmd/`."""

from notewell.backends.builtin.engine import BuiltinBackend
from notewell.backends.contract import BackendContract, InMemoryBackend


class TestBuiltin(BackendContract):
    engine = BuiltinBackend


class TestInMemory(BackendContract):
    engine = InMemoryBackend
