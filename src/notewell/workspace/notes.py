"""Reading a note: bytes to text, text to lines. Nothing is ever altered."""

import codecs
import errno
import os
import stat
from typing import Final, NamedTuple

from notewell.workspace.layout import MAX_NOTE_BYTES

# Without O_NONBLOCK a pipe that takes the place of a note would block us for ever.
_OPEN_FLAGS: Final = (
    os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
)
_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)
_FOLDER: Final = (
    _NO_LINK | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_PATH", os.O_RDONLY)
)
_LINK: Final = "symbolic links are not followed"

_MARKS: Final = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_MARKED: Final = {mark[:1] for mark, _ in _MARKS}


class NoteText(NamedTuple):
    """The content of a note.

    Attributes:
        text: Decoded; line ends are as in the file.
        digest: 16 bytes, BLAKE2b of the raw bytes.
        odd: What a person should know about the encoding, or None.
    """

    text: str
    digest: bytes
    odd: str | None = None


def read_note(file: str | os.PathLike[str]) -> NoteText:
    """Read one regular file.

    Raises:
        OSError: it is missing, unreadable, a symbolic link or behind one, not a
            regular file, or larger than MAX_NOTE_BYTES.
    """
    # Imported here: it loads OpenSSL, and a search reads no note.
    from hashlib import blake2b

    raw = read_regular(file)
    text, odd = _decode(raw)
    return NoteText(text, blake2b(raw, digest_size=16).digest(), odd)


def read_regular(
    file: str | os.PathLike[str],
    *,
    follow_link: bool = False,
    below_links: bool = False,
) -> bytes:
    """Return the bytes of a regular file, without ever waiting for a writer.

    Args:
        file: The file, by an absolute and resolved path.
        follow_link: It may be a link.
        below_links: Folders on the way may be links: it is no note.

    Raises:
        OSError: as in `read_note`.
    """
    flags = _OPEN_FLAGS if follow_link else _OPEN_FLAGS | _NO_LINK
    with open(os.open(file, flags), "rb") as opened:
        if not (follow_link or below_links):
            # A folder on the way may have become a link after it was looked at; what is
            # open cannot change any more, so it is asked where it is.
            try:
                there = os.readlink(f"/proc/self/fd/{opened.fileno()}")
            except OSError:  # no Linux, or no /proc
                there = without_links(opened.fileno(), file)
            if there != os.fspath(file):
                raise OSError(errno.ELOOP, _LINK, os.fspath(file))
        # What was looked at before may have been replaced since; this cannot be.
        found = os.fstat(opened.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", os.fspath(file))
        # Python makes room for as much as it is asked for, so first for what is there.
        raw = opened.read(min(found.st_size, MAX_NOTE_BYTES) + 1)
        if len(raw) > found.st_size:  # it grows, or is of a kind that tells no size
            raw += opened.read(MAX_NOTE_BYTES + 1 - len(raw))
    if len(raw) > MAX_NOTE_BYTES:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), os.fspath(file))
    return raw


def without_links(opened: int, file: str | os.PathLike[str]) -> str:
    """Return the path of a file or folder that is open, empty if a link led to it.

    Each folder is opened from the one above, which follows nothing.
    """
    folder = os.open(os.sep, _FOLDER)
    try:
        *above, name = os.fspath(file).strip(os.sep).split(os.sep)
        for part in above:
            below = os.open(part, _FOLDER, dir_fd=folder)
            os.close(folder)
            folder = below
        here = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return ""
    finally:
        os.close(folder)
    return os.fspath(file) if os.path.samestat(here, os.fstat(opened)) else ""


def decode_note(raw: bytes) -> str:
    r"""Decode a note: UTF-8, or UTF-16 or UTF-32 as `encoding_of` finds it.

    A byte order mark is dropped; what cannot be decoded becomes U+FFFD.

    >>> decode_note(b"\xef\xbb\xbfa\r\nb")
    'a\r\nb'
    """
    return _decode(raw)[0]


def encoding_of(raw: bytes) -> str:
    """Return the codec of a note, which its byte order mark tells.

    >>> encoding_of(codecs.BOM_UTF32_LE + "né".encode("utf-32-le"))
    'utf-32-le'
    """
    for mark, codec in _MARKS:
        # The mark of UTF-16 begins that of UTF-32 as well.
        if raw.startswith(mark) and (len(mark) < 4 or len(raw) % 4 == 0):
            return codec
    return "utf-8"


def _decode(raw: bytes) -> tuple[str, str | None]:
    if raw[:1] in _MARKED and (codec := encoding_of(raw)) != "utf-8":
        text = raw.decode(codec, "replace").removeprefix("\ufeff")
        return text, f"read as {codec[:6].upper()}"
    raw = raw.removeprefix(codecs.BOM_UTF8)
    try:
        return raw.decode("utf-8"), None
    except UnicodeDecodeError:
        odd = "not valid UTF-8; the bytes in question are read as U+FFFD"
        return raw.decode("utf-8", "replace"), odd


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
