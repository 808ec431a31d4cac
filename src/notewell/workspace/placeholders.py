"""Files of a cloud drive that are listed here and whose content is elsewhere.

Reading one fetches it: it takes long, costs traffic, and fills the disk that was to be
spared. So a walk never opens them; they are named as not downloaded. Each platform tells
them by what a listing gives.
"""

import os
import sys
from typing import Final

from notewell.workspace.layout import is_markdown

NOT_DOWNLOADED: Final = "not-downloaded"
"""The reason for which such a file is left out."""

WHY: Final = "in the cloud and not on this disk; open it once to have it read"

_DATALESS: Final = 0x40000000
"""`SF_DATALESS` of macOS: iCloud, Dropbox, OneDrive and Google Drive alike set it."""

_RECALLED: Final = 0x00400000 | 0x00040000 | 0x00001000
"""Attributes of Windows: recall on data access, recall on open, offline."""

PLATFORM_TELLS: Final = sys.platform in ("darwin", "win32")
"""A listing says on this platform whether the content of a file is here."""

_SMALL: Final = 1024
"""Bytes that some file systems keep with the name, without a block for them."""

_SUFFIXES: Final = (".nextcloud", ".owncloud")


def is_placeholder(found: os.stat_result) -> bool:
    """Whether the system says that the content of a file is not here.

    Args:
        found: As `os.lstat` returns it.
    """
    if sys.platform == "darwin":
        return bool(found.st_flags & _DATALESS)
    if sys.platform == "win32":
        return bool(found.st_file_attributes & _RECALLED)
    return False


def is_fetched_by_reading(file: str) -> bool:
    """Whether a file is a placeholder now; not if it is gone."""
    try:
        return is_placeholder(os.lstat(file))
    except (OSError, ValueError):
        return False


def is_hollow(found: os.stat_result) -> bool:
    """Whether a file has a size and no block on the disk.

    Elsewhere nothing is documented, and this is how drives and archives leave a file. Some
    file systems count no blocks at all, so it means something only beside files that have some.
    """
    return found.st_size > _SMALL and found.st_blocks == 0


def placeholder_of(note: str) -> str:
    """Return the name under which iCloud lists a note that it has taken off this disk.

    >>> placeholder_of("plan.md")
    '.plan.md.icloud'
    """
    return f".{note}.icloud"


def placeheld_name(name: str) -> str | None:
    """Return the note that a file stands for, if its name says that it is only one that does.

    >>> placeheld_name(".plan.md.icloud"), placeheld_name("plan.md.nextcloud")
    ('plan.md', 'plan.md')
    >>> placeheld_name(".plan.md") is placeheld_name("cloud.md") is None
    True
    """
    note = None
    if name.startswith(".") and name.endswith(".icloud"):
        note = name[1 : -len(".icloud")]
    elif name.endswith(_SUFFIXES):
        note = name.rpartition(".")[0]
    return note if note and is_markdown(note) else None
