"""Loading sqlite-vec into a connection."""

import apsw

from notewell.backends.builtin.store import Store
from notewell.config import StoreSettings
from notewell.types import FallbackReason
from notewell.workspace.layout import show_name


class NoExtension(Exception):
    """sqlite-vec cannot be used; carries why, in one word and in a sentence."""

    def __init__(self, reason: FallbackReason, why: str) -> None:
        super().__init__(why)
        self.reason: FallbackReason = reason
        self.why = why


def load(store: Store, settings: StoreSettings) -> None:
    """Load the extension, once per connection.

    Raises:
        NoExtension: it is missing, or this SQLite cannot load it.
    """
    if store.has_vec0:
        return
    path = _path(settings)
    try:
        store.connection.enable_load_extension(True)
        try:
            store.connection.load_extension(path)
        finally:
            store.connection.enable_load_extension(False)
        store.one("select vec_version()")
    except apsw.Error as error:
        raise NoExtension(
            "missing",
            f"sqlite-vec cannot be loaded from {show_name(path)}; vectors are compared "
            "one by one, which is slower",
        ) from error
    store.has_vec0 = True


def _path(settings: StoreSettings) -> str:
    if settings.vector.extension_path is not None:
        return str(settings.vector.extension_path)
    try:
        import sqlite_vec
    except ImportError as error:
        raise NoExtension(
            "missing",
            "the package sqlite-vec is not installed; vectors are compared one by one,"
            " which is slower",
        ) from error
    path: str = sqlite_vec.loadable_path()
    return path
