"""The builtin engine keeps what `notewell.backends.base` promises."""

from notewell.backends.builtin.backend import BuiltinBackend
from notewell.backends.contract import BackendContract


class TestBuiltin(BackendContract):
    engine = BuiltinBackend
