"""What there is to index: the notes, and the transcripts where they are wanted."""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from notewell.backends.base import Site
from notewell.types import Skipped
from notewell.workspace import WorkspaceScan, scan
from notewell.workspace.layout import show_name

if TYPE_CHECKING:  # most agents have notes alone
    from notewell.sessions import Transcripts

_NAMED: Final = 5
"""Notes and folders that a sentence names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OnDisk:
    """Notes and transcripts as they were found.

    Attributes:
        notes: The notes.
        transcripts: The agent's transcripts; None when they are no source.
    """

    notes: WorkspaceScan
    transcripts: "Transcripts | None" = None

    def __len__(self) -> int:
        spoken = self.transcripts.found if self.transcripts else ()
        return len(self.notes.notes) + len(spoken)

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """What is left out."""
        spoken = self.transcripts.skipped if self.transcripts else ()
        return (*self.notes.skipped, *spoken)

    def unreadable(self) -> Iterator[Skipped]:
        """Yield why the folder of notes itself cannot be read."""
        for skipped in self.notes.skipped:
            if skipped.path == "." and skipped.reason in ("unreadable", "missing"):
                yield skipped

    def unread(self) -> dict[str, str]:
        """Return what is there, or should be, and cannot be read now: why, by path."""
        unread = {path: why for path, why in self.notes.unread.items() if path != "."}
        if self.transcripts and self.transcripts.closed:
            unread["sessions"] = "the folder cannot be read"
        return unread

    @property
    def is_bare(self) -> bool:
        """Whether the folder of notes is there and holds nothing at all."""
        if self.notes.notes or len(self.notes.folders) != 1:
            return False
        with suppress(OSError):
            return not os.listdir(self.notes.folders[0])
        return False


def unread_warnings(unread: Mapping[str, str]) -> tuple[str, ...]:
    """Say what cannot be read now, by path and reason; nothing if that is nothing.

    >>> unread_warnings({"memory": "Permission denied"})
    ('Cannot be read now, and is left out until it can: memory (Permission denied).',)
    """
    if not unread:
        return ()
    named = [f"{show_name(path)} ({why})" for path, why in sorted(unread.items())]
    more = f" and {len(named) - _NAMED:,} more" if len(named) > _NAMED else ""
    said = ", ".join(named[:_NAMED])
    return (f"Cannot be read now, and is left out until it can: {said}{more}.",)


def look_at(site: Site, *, spoken: bool = True) -> OnDisk:
    """Find everything that belongs into the index of a site, or only its notes."""
    if not (site.transcripts and spoken):
        return OnDisk(notes=scan(site.workspace))
    from notewell.sessions import list_transcripts

    return OnDisk(
        notes=scan(site.workspace),
        transcripts=list_transcripts(site.state_dir, site.agent.id),
    )
