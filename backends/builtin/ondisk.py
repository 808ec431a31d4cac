"""What there is to index: the notes, and the transcripts where they are wanted."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from notewell.backends.base import Site
from notewell.types import Skipped
from notewell.workspace import Scan, scan

if TYPE_CHECKING:  # most agents have notes alone
    from notewell.sessions import Transcripts


@dataclass(frozen=True, slots=True, kw_only=True)
class OnDisk:
    """Notes and transcripts as they were found.

    Attributes:
        notes: The notes.
        transcripts: The agent's transcripts; None when they are no source.
    """

    notes: Scan
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


def look_at(site: Site, *, spoken: bool = True) -> OnDisk:
    """Find everything that belongs into the index of a site, or only its notes."""
    if not (site.transcripts and spoken):
        return OnDisk(notes=scan(site.workspace))
    from notewell.sessions import list_transcripts

    return OnDisk(
        notes=scan(site.workspace),
        transcripts=list_transcripts(site.state_dir, site.agent.id),
    )
