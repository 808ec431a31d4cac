"""Appending to a note: only what is new, only at the end, all of it or nothing.

The note is opened for appending and never replaced, so what another program writes at
the same moment stays as well. If the disk is full, what was written of a text is taken
back, and the note is as it was.
"""

import codecs
import errno
import os
import re
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from notewell.errors import NoteNotWritten, PathRefused
from notewell.workspace import Workspace, locate, read_note, split_lines
from notewell.workspace.layout import MAX_NOTE_BYTES
from notewell.workspace.notes import decode_note
from notewell.writing.blocks import Fresh, flat, fresh_part
from notewell.writing.locks import only_writer_of
from notewell.writing.private import create_folder

_FLAGS: Final = (
    os.O_RDWR
    | os.O_APPEND
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_TRIES: Final = 3
_UNWRITABLE: Final = re.compile("[\0\ud800-\udfff]")


class Appended(NamedTuple):
    """What became of a text.

    Attributes:
        path: The note, relative to the workspace.
        start_line: The first line that was written; when nothing was, the first line
            of what stands there already.
        end_line: The last one.
        written: Whether anything was new.
        repeated: How many blocks stood there already and were left out.
    """

    path: str
    start_line: int
    end_line: int
    written: bool
    repeated: int


class _Draft(NamedTuple):
    raw: bytes
    first: int
    last: int


def append_note(
    workspace: Workspace,
    path: str,
    text: str,
    *,
    state_dir: Path,
    title: str | None = None,
    known: Sequence[str] = (),
) -> Appended:
    """Append to a note what it lacks of a text.

    Args:
        workspace: Where the note is, or will be.
        path: The note, relative to the workspace.
        text: Markdown, not empty. Empty lines around it are dropped.
        state_dir: `<state>`, where the lock lies.
        title: The first line of the note if it does not exist yet.
        known: Paths of further notes, whose blocks are not repeated either.

    Raises:
        PathRefused: the note, or a folder on the way, is no place for notes.
        NoteNotWritten: the disk refuses; the note is as it was.
    """
    located = locate(workspace, path, exactly=True)
    root = os.path.realpath(workspace.root)
    file = located.file or os.path.join(root, *path.split("/"))
    others = [_lines_of(workspace, other) for other in known if other != path]
    lines = _trimmed(text)
    with only_writer_of(Path(root), state_dir=state_dir):
        for _ in range(_TRIES):
            appended = _append(file, located.path, lines, title=title, known=others)
            if appended is not None:
                return appended
    raise NoteNotWritten(path, "another program replaces it all the time")


def _append(
    file: str,
    path: str,
    lines: list[str],
    *,
    title: str | None,
    known: list[list[str]],
) -> Appended | None:
    """Append once; None when the note was replaced meanwhile."""
    try:
        descriptor, created = _opened(file, path)
    except OSError as exc:
        raise NoteNotWritten(path, exc.strerror or "it cannot be opened") from exc
    kept = False
    try:
        before = _read(descriptor, path)
        note = split_lines(decode_note(before))
        fresh = fresh_part(lines, note, known=known)
        if not fresh.lines:
            return _standing(path, note, fresh)
        draft = _draft(before, note, fresh, title)
        if len(before) + len(draft.raw) > MAX_NOTE_BYTES:
            raise NoteNotWritten(path, f"it would pass {MAX_NOTE_BYTES:,} bytes")
        _write(descriptor, draft.raw, len(before), path)
        kept = _is_at(descriptor, file)
        return (
            Appended(path, draft.first, draft.last, True, fresh.repeated)
            if kept
            else None
        )
    finally:
        os.close(descriptor)
        if created and not kept:
            _remove_empty(file)


def _opened(file: str, path: str) -> tuple[int, bool]:
    """Open a note for appending, creating it and its folder; say if it is new."""
    folder = os.path.dirname(file)
    create_folder(Path(folder))
    if os.path.realpath(folder) != folder:
        raise PathRefused(path, "symbolic links are not followed")
    try:
        try:
            return os.open(file, _FLAGS), False
        except FileNotFoundError:
            flags = _FLAGS | os.O_CREAT | os.O_EXCL
            return os.open(file, flags, 0o600), True
    except OSError as exc:
        if exc.errno == errno.ELOOP:
            raise PathRefused(path, "symbolic links are not followed") from exc
        raise


def _read(descriptor: int, path: str) -> bytes:
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        raise PathRefused(path, "it is not a regular file")
    parts: list[bytes] = []
    os.lseek(descriptor, 0, os.SEEK_SET)
    while part := os.read(descriptor, 1 << 20):
        parts.append(part)
    return b"".join(parts)


def _draft(before: bytes, note: list[str], fresh: Fresh, title: str | None) -> _Draft:
    """Return the bytes to append, in the note's encoding and with its line ends."""
    ends = "\r\n" if note and note[0].endswith("\r") else "\n"
    codec = _codec(before)
    head: list[str] = []
    tight = fresh.tight or (note and _are_items(note[-1], fresh.lines[0]))
    if note and note[-1].strip() and not tight:
        head = [""]
    elif not note and title is not None and flat(fresh.lines[:1]) != flat([title]):
        head = [title, ""]
    start = ends if note and not before.endswith("\n".encode(codec)) else ""
    text = start + "".join(f"{line}{ends}" for line in (*head, *fresh.lines))
    first = len(note) + len(head) + 1
    return _Draft(text.encode(codec, "replace"), first, first + len(fresh.lines) - 1)


def _write(descriptor: int, raw: bytes, before: int, path: str) -> None:
    done = 0
    try:
        while done < len(raw):
            done += os.write(descriptor, raw[done:])
        os.fsync(descriptor)
    except BaseException as exc:
        # Only what is ours is taken back: another program may have appended, too.
        if os.fstat(descriptor).st_size == before + done:
            os.ftruncate(descriptor, before)
        if isinstance(exc, OSError):
            why = exc.strerror or "the disk refuses"
            raise NoteNotWritten(path, why) from exc
        raise


def _standing(path: str, note: Sequence[str], fresh: Fresh) -> Appended:
    block = flat(fresh.first_repeated)
    at = flat(note).find(block)
    first = flat(note)[: at + 1].count("\n") if at >= 0 else 1
    last = first + block.count("\n") - 2
    return Appended(path, first, max(first, last), False, fresh.repeated)


def _lines_of(workspace: Workspace, path: str) -> list[str]:
    """Return the lines of another note; none when it cannot be read."""
    try:
        located = locate(workspace, path, exactly=True)
        return split_lines(read_note(located.file).text) if located.file else []
    except (PathRefused, OSError):
        return []


def _trimmed(text: str) -> list[str]:
    lines = [
        line.removesuffix("\r") for line in _UNWRITABLE.sub("\ufffd", text).split("\n")
    ]
    full = [at for at, line in enumerate(lines) if line.strip()]
    return lines[full[0] : full[-1] + 1] if full else []


def _codec(raw: bytes) -> str:
    if raw.startswith(codecs.BOM_UTF16_LE):
        return "utf-16-le"
    return "utf-16-be" if raw.startswith(codecs.BOM_UTF16_BE) else "utf-8"


def _are_items(last: str, first: str) -> bool:
    """Whether two lines are items of one list."""
    return last[:2] == first[:2] and last[:2] in ("- ", "* ", "+ ")


def _is_at(descriptor: int, file: str) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.lstat(file))
    except OSError:
        return False


def _remove_empty(file: str) -> None:
    try:
        if os.lstat(file).st_size == 0:
            os.unlink(file)
    except OSError:
        return
