"""A note that is open for appending: never replaced, never cut."""

import errno
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from notewell.errors import NoteNotWritten, PathRefused
from notewell.files import LINK_REFUSED, create_folder, without_links

_FLAGS: Final = (
    os.O_RDWR
    | os.O_APPEND
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_FOLDER: Final = (
    os.O_RDONLY
    | getattr(os, "O_DIRECTORY", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
)


@dataclass(slots=True)
class NoteFile:
    """An open note. What another program appends at the same moment stays, too.

    Attributes:
        path: As people know it.
        file: Where it is.
        written: Something was appended to it.
    """

    path: str
    file: str
    written: bool = False
    _descriptor: int = -1

    def read(self) -> bytes:
        """Return all that stands in it.

        Raises:
            PathRefused: it is not a regular file.
        """
        if not stat.S_ISREG(os.fstat(self._descriptor).st_mode):
            raise PathRefused(self.path, "it is not a regular file")
        parts: list[bytes] = []
        os.lseek(self._descriptor, 0, os.SEEK_SET)
        while part := os.read(self._descriptor, 1 << 20):
            parts.append(part)
        return b"".join(parts)

    def append(self, raw: bytes) -> None:
        """Append bytes, and wait until the disk has them.

        Raises:
            NoteNotWritten: the disk refuses; a part of them may stand at the end.
        """
        self.written = True
        rest = memoryview(raw)
        try:
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
            os.fsync(self._descriptor)
        except OSError as exc:
            why = exc.strerror or "the disk refuses"
            if len(rest) < len(raw):
                why += ", and a part of the text stands at its end"
            raise NoteNotWritten(self.path, why) from exc

    def check_room(self, size: int) -> None:
        """Make sure, before anything is written, that so many bytes can be appended.

        Raises:
            NoteNotWritten: the disk is full, or this process may not write so much.
        """
        import resource

        free = os.fstatvfs(self._descriptor)
        most, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
        after = os.fstat(self._descriptor).st_size + size
        if most != resource.RLIM_INFINITY and after > most:
            raise NoteNotWritten(self.path, os.strerror(errno.EFBIG))
        blocks = free.f_bavail if os.geteuid() else free.f_bfree
        # Some file systems do not say what is free.
        if free.f_blocks and size > blocks * free.f_frsize:
            raise NoteNotWritten(self.path, os.strerror(errno.ENOSPC))

    def stands(self) -> bool:
        """Whether it is still the file at its place."""
        try:
            found = os.lstat(self.file)
        except OSError:
            return False
        return os.path.samestat(os.fstat(self._descriptor), found)


@contextmanager
def open_for_append(file: str, path: str) -> Generator[NoteFile]:
    """Open a note for appending, creating it and its folder.

    A note that was made for this and got nothing is taken away again.

    Args:
        file: Where it is, resolved but for itself.
        path: As people know it.

    Raises:
        PathRefused: a symbolic link is on the way.
        NoteNotWritten: it cannot be opened.
    """
    try:
        descriptor, created = _opened(file, path)
    except OSError as exc:
        raise NoteNotWritten(path, exc.strerror or "it cannot be opened") from exc
    note = NoteFile(path, file, _descriptor=descriptor)
    try:
        yield note
    finally:
        os.close(descriptor)
        if created and not note.written:
            _remove_empty(file)


def _opened(file: str, path: str) -> tuple[int, bool]:
    """Open a note, creating it and its folder; say if it is new."""
    folder, name = os.path.split(file)
    create_folder(Path(folder))
    try:
        # The note is opened in the folder that is open, whatever takes its place.
        above = os.open(folder, _FOLDER)
        try:
            if without_links(above, folder) != folder:
                raise PathRefused(path, LINK_REFUSED)
            return _opened_in(above, name)
        finally:
            os.close(above)
    except OSError as exc:
        if exc.errno in (errno.ELOOP, errno.ENOTDIR):
            raise PathRefused(path, LINK_REFUSED) from exc
        raise


def _opened_in(folder: int, name: str) -> tuple[int, bool]:
    try:
        return os.open(name, _FLAGS, dir_fd=folder), False
    except FileNotFoundError:
        flags = _FLAGS | os.O_CREAT | os.O_EXCL
        return os.open(name, flags, 0o600, dir_fd=folder), True


def _remove_empty(file: str) -> None:
    try:
        if os.lstat(file).st_size == 0:
            os.unlink(file)
    except OSError:
        return
