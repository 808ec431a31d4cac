"""Loading sqlite-vec into a connection: from where, which version, or why not.

It takes a fraction of a millisecond, and happens only where vectors are searched or
written. Its Python package is never imported, for that would load another SQLite.
"""

import sys
from dataclasses import dataclass
from importlib.util import find_spec
from os.path import isfile
from pathlib import Path
from typing import Final, Literal
from weakref import WeakKeyDictionary

import apsw

from notewell.backends.builtin.store import Store
from notewell.config import VectorSettings
from notewell.log import log
from notewell.types import Fallback
from notewell.workspace.layout import show_name

NAME: Final = "sqlite-vec"
IN_PROCESS: Final = "in-process"

_OLDEST: Final = (0, 1, 9)
"""Bounds on a distance, and rows that go when they are deleted."""

_TOO_NEW: Final = (0, 2)

_SUFFIXES: Final = ("", ".so", ".dylib", ".dll")
"""What SQLite itself tries behind a name."""

_INSTALL: Final = (
    "install sqlite-vec 0.1.9, or set memorySearch.store.vector.extensionPath"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Extension:
    """How a connection stands to sqlite-vec.

    Attributes:
        version: The version that is loaded; None: it is not.
        path: Where it was loaded from, or should have been.
        reason: Why it is not loaded; None where it is, or is switched off.
        why: The same in a sentence.
    """

    version: str | None = None
    path: str = ""
    reason: Literal["missing", "version"] | None = None
    why: str = ""

    @property
    def step_down(self) -> Fallback | None:
        """The entry of an answer that does without it; none where it is switched off."""
        if self.reason is None:
            return None
        return step_down(self.reason, self.why)


_loaded: WeakKeyDictionary[Store, tuple[VectorSettings, Extension]] = (
    WeakKeyDictionary()
)
_told: set[str] = set()


def step_down(
    reason: Literal["missing", "version", "not-ready", "corrupt"], why: str
) -> Fallback:
    """Return the entry of an answer whose vectors were compared in the process."""
    return Fallback(
        kind="vector-index", from_=NAME, to=IN_PROCESS, reason=reason, message=why
    )


def load(store: Store, settings: VectorSettings) -> Extension:
    """Load sqlite-vec into a connection, once."""
    before = _loaded.get(store)
    if before is None or before[0] != settings:
        before = _loaded[store] = settings, _load(store, settings)
    return before[1]


def _load(store: Store, settings: VectorSettings) -> Extension:
    if not settings.enabled:
        return Extension(why="switched off by memorySearch.store.vector.enabled")
    given = settings.extension_path
    path = given if given is not None else _installed()
    if path is None:
        return _absent("", f"sqlite-vec is not installed; {_INSTALL}")
    shown = show_name(str(path))
    if not any(isfile(f"{path}{suffix}") for suffix in _SUFFIXES):
        return _absent(shown, f"there is no sqlite-vec at {shown}; {_INSTALL}")
    try:
        store.connection.enable_load_extension(True)
        try:
            store.connection.load_extension(str(path))
        finally:
            store.connection.enable_load_extension(False)
        version = str(store.one("select vec_version()"))
    except (apsw.Error, AttributeError) as error:
        _log_once(f"sqlite-vec at {shown}: {show_name(str(error))}")
        return _absent(shown, f"sqlite-vec at {shown} cannot be loaded; {_INSTALL}")
    if not _OLDEST <= _numbers(version) < _TOO_NEW:
        why = (
            f"sqlite-vec {version} at {shown} is not one that is understood; {_INSTALL}"
        )
        return Extension(path=shown, reason="version", why=why)
    return Extension(version=version.removeprefix("v"), path=shown)


def _installed() -> Path | None:
    """Return the file of the package that is installed here, without importing it."""
    try:
        found = find_spec("sqlite_vec")
    except (ImportError, ValueError):
        return None
    if found is None or found.origin is None:
        return None
    suffix = {"darwin": ".dylib", "win32": ".dll"}.get(sys.platform, ".so")
    return Path(found.origin).with_name(f"vec0{suffix}")


def _absent(path: str, why: str) -> Extension:
    return Extension(path=path, reason="missing", why=why)


def _numbers(version: str) -> tuple[int, ...]:
    """Return a version as numbers; what follows a hyphen does not count.

    >>> _numbers("v0.1.10-alpha.4"), _numbers("nonsense")
    ((0, 1, 10), ())
    """
    parts = version.removeprefix("v").partition("-")[0].split(".")
    return tuple(map(int, parts)) if all(part.isdecimal() for part in parts) else ()


def _log_once(said: str) -> None:
    if said not in _told:
        _told.add(said)
        log("vectors", "warning", "%s", said)
