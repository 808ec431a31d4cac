"""What SQLite and the system say about an index file, in our words."""

from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

import apsw

from notewell.backends.builtin.schema import NEVER_NULL, SETTINGS
from notewell.errors import BackendFailed, BackendUnavailable
from notewell.types import FallbackReason
from notewell.workspace.layout import show_name

BACKEND: Final = "builtin"

NONSENSE: Final = (
    apsw.Error,
    ArithmeticError,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
)
"""What comes of reading values that make no sense."""

_FORCE: Final = "run `notewell index --force`; no note was touched"

_SPOILT: Final = (apsw.CorruptError, apsw.NotADBError, apsw.FormatError)
_SPOILT_PAGES: Final = (
    apsw.SQLITE_IOERR_DATA,  # a checksum is wrong
    apsw.SQLITE_IOERR_SHORT_READ,
    apsw.SQLITE_IOERR_CORRUPTFS,
)
_SPOILT_TABLES: Final = (
    "no such table: nw_",
    "no such fts5 table",
    "no such column",
    "has no column",
    "vtable constructor failed",
    "invalid fts5 file format",
)
_NOT_HERE: Final = (apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError)

_KINDS: Final = {"integer": int, "text": str, "blob": bytes, "real": float}


def is_damage(error: Exception) -> bool:
    """Say whether an error means that the file is damaged."""
    if isinstance(error, apsw.IOError):
        # The stubs of apsw do not know this one.
        return getattr(error, "extendedresult", None) in _SPOILT_PAGES
    if isinstance(error, apsw.SQLError):
        # Without its settings it was never built; any other table should be there.
        said = str(error).removesuffix("no such table: nw_meta")
        return any(words in said for words in _SPOILT_TABLES)
    return isinstance(error, (*_SPOILT, UnicodeDecodeError))


def _what_is_wrong(error: Exception) -> str:
    """Say of damage what it is, with no text of a note."""
    if isinstance(error, UnicodeDecodeError):
        return "its text"
    if getattr(error, "extendedresult", None) == apsw.SQLITE_IOERR_DATA:
        return (
            "a page does not have the checksum it was written with: the disk changed it,"
            " or another program wrote into the file"
        )
    return str(error)


class IndexUnreadable(Exception):
    """The index cannot answer; carries why, in one word and in a sentence."""

    def __init__(self, reason: FallbackReason, why: str) -> None:
        super().__init__(why)
        self.reason: FallbackReason = reason
        self.why = why


def require_declared(
    columns: Iterable[tuple[str, str | None]], rows: Sequence[tuple[Any, ...]]
) -> None:
    """Hold what was read against the types that the tables declare.

    SQLite checks them when it writes; a turned bit may make another type of a value.

    Args:
        columns: Name and declared type of each; what is computed has no type.
        rows: What was read.

    Raises:
        apsw.CorruptError: a value is of another type.
    """
    for at, (name, declared) in enumerate(columns):
        kind = _KINDS.get(declared.lower()) if declared else None
        if kind is None:
            continue
        others = set(map(type, map(itemgetter(at), rows))) - {kind}
        if others and (name in NEVER_NULL or others != {type(None)}):
            raise apsw.CorruptError(f"a value of {name!r} is not {declared}")


def require_setting(key: str, value: Any) -> None:
    """Hold a value of `nw_meta` against the type that it is written with.

    Raises:
        apsw.CorruptError: it is of another type.
    """
    kind = SETTINGS.get(key.rstrip("0123456789").rstrip("_"))
    if value is not None and kind is not None and type(value) is not kind:
        raise apsw.CorruptError(f"its setting {key!r} is damaged")


def index_unreadable(error: apsw.Error | UnicodeDecodeError) -> IndexUnreadable:
    """Say in our words why SQLite could not read an index."""
    if is_damage(error):
        why = f"the index is damaged ({_what_is_wrong(error)}); {_FORCE}"
        return IndexUnreadable("corrupt", why)
    if isinstance(error, apsw.BusyError | apsw.LockedError):
        return IndexUnreadable("busy", "the index is held by another program")
    if "no such module: fts5" in str(error):
        return IndexUnreadable("missing", "this SQLite has no full-text index (FTS5)")
    return IndexUnreadable("missing", f"the index cannot be read: {error}")


@contextmanager
def backend_errors(path: Path) -> Generator[None]:
    """Turn what SQLite and the system say about a write into a BackendError."""
    try:
        yield
    except (apsw.Error, OSError, UnicodeError) as error:
        raise _in_our_words(show_name(str(path)), _begun_by(error)) from error


def _begun_by(error: Exception) -> Exception:
    """Return what came first: SQLite may have rolled back before we could."""
    before = error.__context__
    while isinstance(before, apsw.Error):
        error, before = before, before.__context__
    return error


def _in_our_words(name: str, error: Exception) -> BackendFailed | BackendUnavailable:
    if is_damage(error):
        return BackendFailed(
            BACKEND,
            f"the index {name} is damaged: {_what_is_wrong(error)}",
            reason="corrupt",
            remedy=_FORCE,
        )
    if isinstance(error, apsw.FullError | apsw.IOError):
        return BackendFailed(
            BACKEND,
            f"the index {name} cannot be written: {error}",
            reason="exit",
            remedy="free some disk space and run `notewell index`; no note was touched",
        )
    if isinstance(error, apsw.BusyError | apsw.LockedError):
        return BackendFailed(
            BACKEND,
            f"another program holds the index {name}",
            reason="busy",
            remedy="wait for it, or end it",
        )
    if isinstance(error, (OSError, UnicodeEncodeError, *_NOT_HERE)):
        return BackendUnavailable(
            BACKEND,
            f"no index can be kept at {name}: {show_name(str(error))}",
            remedy="make the folder writable, or set memorySearch.store.path",
        )
    return BackendFailed(
        BACKEND,
        f"the index {name} cannot be written: {error}",
        reason="exit",
        remedy=_FORCE,
    )
