"""A model that belongs on this disk: what it is called, where it is, its terms."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOnDisk:
    """A model of a provider that runs on this machine.

    Attributes:
        model: Its name.
        path: Its file or folder; need not be there yet.
        licence: The page that says under which terms it may be used; None for a
            file that the person has named.
    """

    model: str
    path: Path
    licence: str | None

    @property
    def size(self) -> int:
        """Bytes on this disk; 0 if it is not there."""
        if self.path.is_dir():
            return sum(p.stat().st_size for p in self.path.rglob("*") if p.is_file())
        return self.path.stat().st_size if self.path.is_file() else 0
