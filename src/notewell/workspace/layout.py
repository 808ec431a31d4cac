"""What a folder of notes looks like, and what a note is: names, values, lines.

A folder that holds `MEMORY.md` or a folder `memory` has the workspace layout:
only those, and `USER.md`, are memory. Any other folder of Markdown is read whole.
Nothing here alters a note.
"""

import os
import unicodedata
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import field
from pathlib import Path
from typing import Final, NamedTuple

from notewell.files import MAX_FILE_BYTES, read_regular, short_digest
from notewell.types import ExtraPath, NarrowedPath, Skipped
from notewell.values import dataclass
from notewell.workspace.decoding import decode

MAX_NOTE_BYTES: Final = MAX_FILE_BYTES
"""A larger file is an export or a log: it would cost more than it can answer."""

LONG_TERM_NOTE: Final = "MEMORY.md"
LONG_TERM_NAMES: Final = (LONG_TERM_NOTE, "memory.md", "Memory.md")
"""What the long-term note may be called, the first that is listed before the others."""

USER_NOTE: Final = "USER.md"
MEMORY_FOLDER: Final = "memory"
FOLDER_NAMES: Final = (MEMORY_FOLDER, "Memory", "MEMORY")
"""What that folder may be called; the first that is listed is the one."""

READABLE_AT_ROOT: Final = frozenset({*LONG_TERM_NAMES, USER_NOTE, "DREAMS.md"})

# Folders that are never notes, whatever lies in them. `build`, `dist` and `env`
# are not here: people do keep notes in folders of these names.
HEAVY_NAMES: Final = frozenset(
    {
        "__pycache__",
        "bower_components",
        "lost+found",
        "node_modules",
        "site-packages",
        "$RECYCLE.BIN",
        "System Volume Information",
    }
)

HEAVY_MARKERS: Final = frozenset({"pyvenv.cfg", "CACHEDIR.TAG"})
"""A folder with one of these is a virtual environment or a cache."""

MARKDOWN_SUFFIXES: Final = frozenset({".md", ".MD", ".Md", ".mD"})
_LONG_SUFFIX: Final = ".markdown"
_TRIES: Final = 5
_FARTHEST: Final = 2**63 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """A folder of notes, and what else is read with it.

    Attributes:
        root: The folder, absolute and resolved.
        extra_paths: Further files and folders as configured, `~` expanded:
            absolute, or relative to `root`; with a pattern where that is narrower.
        daily_notes: How daily notes are named here, if somebody has said so; see
            `notewell.workspace.daily_format`.
    """

    root: Path
    extra_paths: tuple[str | NarrowedPath, ...] = ()
    daily_notes: str | None = None


def nanoseconds(stamp: int) -> int:
    """Return a file's time as it is kept: years after 2262 become the last moment."""
    if -_FARTHEST <= stamp <= _FARTHEST:
        return stamp  # without a call: this is asked twice for every note
    return _FARTHEST if stamp > 0 else -_FARTHEST


class Note(NamedTuple):
    """A Markdown file that belongs to the memory, as the disk describes it.

    Attributes:
        path: POSIX, relative to the workspace; `../team/x.md` in an extra path.
        file: The absolute path to open.
        size: In bytes.
        mtime_ns: Last change of the content.
        ctime_ns: Last change of content, name or permissions.
    """

    path: str
    file: str
    size: int
    mtime_ns: int
    ctime_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceScan:
    """What one walk over a workspace found.

    Attributes:
        notes: Sorted by path, each file once.
        skipped: What a person would expect in `notes` but is not, sorted by path.
        extra_paths: In the order of the configuration.
        bytes: The size of all notes.
        folders: Every folder that was looked into, absolute.
        unread: Paths of notes and folders that are there, or should be, and cannot be
            read now, each with the reason for a person.
        ignored: What an ignore file leaves out, fit for printing; folders end in `/`.
    """

    notes: tuple[Note, ...]
    skipped: tuple[Skipped, ...]
    extra_paths: tuple[ExtraPath, ...]
    bytes: int
    folders: tuple[str, ...] = ()
    unread: Mapping[str, str] = field(default_factory=dict[str, str])
    ignored: tuple[str, ...] = ()

    def why_unread(self, path: str) -> str | None:
        """Return why a note cannot be read now, by itself or for a folder above it."""
        while self.unread and path:
            if path in self.unread:
                return self.unread[path]
            path = path.rpartition("/")[0]
        return None


def is_markdown(name: str) -> bool:
    """Whether a file of this name is a note: `.md` or `.markdown`, in any case."""
    return name[-3:] in MARKDOWN_SUFFIXES or name[-9:].lower() == _LONG_SUFFIX


def without_suffix(name: str) -> str:
    """Return the name of a note without the suffix of Markdown.

    >>> without_suffix("plan.md"), without_suffix("plan.Markdown"), without_suffix("plan.txt")
    ('plan', 'plan', 'plan.txt')
    """
    if name[-3:] in MARKDOWN_SUFFIXES:
        return name[:-3]
    return name[: -len(_LONG_SUFFIX)] if is_markdown(name) else name


def is_hidden_or_heavy(name: str) -> bool:
    """Whether a file or folder of this name is left out, without a report."""
    return name[0] == "." or name in HEAVY_NAMES


def has_workspace_layout(root: str) -> bool:
    """Whether only `MEMORY.md`, `USER.md` and `memory/` of this folder are memory.

    Names are compared as listed, so that a case-insensitive disk gives the same
    answer as any other.
    """
    try:
        return lists_name(root, LONG_TERM_NOTE) or _memory_folder(root) is not None
    except OSError:
        return False


def memory_folder(root: str) -> str:
    """Return the name of the folder `memory` as the disk lists it."""
    try:
        return _memory_folder(root) or MEMORY_FOLDER
    except OSError:
        return MEMORY_FOLDER


def _memory_folder(root: str) -> str | None:
    for name in FOLDER_NAMES:
        if lists_name(root, name) and os.path.isdir(os.path.join(root, name)):
            return name
    return None


def as_listed(root: str, path: str) -> str:
    """Return a path that begins with `memory/` with the name that its folder has here."""
    first, slash, rest = path.partition("/")
    if not slash or first not in FOLDER_NAMES:
        return path
    return f"{memory_folder(root)}/{rest}" if has_workspace_layout(root) else path


def long_term_note(root: str) -> str:
    """Return the name of the long-term note: another one if only that is there."""
    listed = (name for name in LONG_TERM_NAMES if lists_name(root, name))
    return next(listed, LONG_TERM_NOTE)


def lists_name(folder: str, name: str) -> bool:
    """Whether `folder` holds this very name, as it would be listed.

    A disk that ignores case or the form of Unicode also finds a file by other names.
    Only where it may do so are the names listed: that takes long in a large folder.

    Raises:
        OSError: the folder cannot be listed, and has to be.
    """
    if not os.path.lexists(os.path.join(folder, name)):
        return False
    forms = (unicodedata.normalize(form, name) for form in ("NFC", "NFD"))
    others = {name.swapcase(), *forms} - {name}
    if any(os.path.lexists(os.path.join(folder, other)) for other in others):
        return name in os.listdir(folder)
    return True


def show_name(path: str) -> str:
    r"""Make a path printable: bytes that are not UTF-8 are shown as `\xNN`.

    >>> print(show_name("caf\udce9.md"))
    caf\xe9.md
    """
    try:
        raw = path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        # A lone surrogate that stands for no byte: it came from a configuration.
        raw = path.encode("utf-8", "backslashreplace")
    return raw.decode("utf-8", "backslashreplace")


def is_valid_name(name: str) -> bool:
    """Whether the name is text: the disk may hold any bytes, an index may not."""
    if name.isascii():
        return True
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def real_path(path: str | os.PathLike[str]) -> str:
    """Return a path without links.

    Python's own fails when a link becomes a folder while it is looked at.
    """
    for _ in range(_TRIES):
        with suppress(OSError):
            return os.path.realpath(path)
    return os.path.abspath(path)


def relative_to(root: str, path: str) -> str:
    """Write `path` as citations show it: relative to `root`, with `/`."""
    relative = os.path.relpath(os.path.join(root, path), root)
    return relative if os.sep == "/" else relative.replace(os.sep, "/")


class NoteText(NamedTuple):
    """The content of a note.

    Attributes:
        text: Decoded; line ends are as in the file.
        digest: 16 bytes, BLAKE2b of the raw bytes.
        odd: What a person should know about the encoding, or None.
        guess: The name of the encoding where the bytes do not tell it.
    """

    text: str
    digest: bytes
    odd: str | None = None
    guess: str | None = None


def read_note(file: str | os.PathLike[str]) -> NoteText:
    """Read one regular file.

    Raises:
        NotText: what is in it cannot be read as text.
        OSError: it is missing, unreadable, a symbolic link or behind one, not a
            regular file, or larger than MAX_NOTE_BYTES.
    """
    raw = read_regular(file)
    read = decode(raw)
    digest = short_digest(raw, size=16)
    return NoteText(read.text, digest, read.odd, read.guess)


def split_lines(text: str) -> list[str]:
    r"""Split at LF only, so that line numbers agree with every editor and `sed`.

    `str.splitlines` would also split at U+2028, form feeds and others. A final
    newline does not begin a further line.

    >>> split_lines("a\u2028b\r\nc\n")
    ['a\u2028b\r', 'c']
    """
    if not text:
        return []
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines
