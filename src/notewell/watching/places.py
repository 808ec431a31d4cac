"""Which folders are watched, and which of the things that happen in them matter.

Folders and not files, and only those that notes are read from: a tree of packages
costs nothing. Each folder above is watched as well, so that one that is replaced, or
comes only later, is noticed.
"""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from notewell.workspace import Workspace, scan
from notewell.workspace.extra import resolve_extra_paths
from notewell.workspace.ignore import IGNORE_FILE
from notewell.workspace.layout import (
    HEAVY_MARKERS,
    is_hidden_or_heavy,
    is_markdown,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """What is watched at one moment.

    Attributes:
        folders: The folders of notes.
        spoken: The folders of transcripts.
        tops: What was asked for: whether it is there or not, and whatever it is.
        above: Folders that are watched only for what becomes of those below.
    """

    folders: frozenset[str]
    spoken: frozenset[str]
    tops: frozenset[str]
    above: frozenset[str]

    @property
    def watched(self) -> frozenset[str]:
        """Every folder to be watched."""
        return self.folders | self.spoken | self.above

    def moves(self, path: str) -> bool:
        """Whether something happened to a folder, so that others are to be watched."""
        if path in self.watched or self._leads_to_top(path):
            return True
        folder, name = os.path.split(path)
        if folder not in self.folders:
            return False
        if name == IGNORE_FILE or name in HEAVY_MARKERS:
            return True
        return not is_hidden_or_heavy(name) and os.path.isdir(path)

    def matters(self, path: str) -> bool:
        """Whether what is indexed may have changed."""
        folder, name = os.path.split(path)
        if folder in self.spoken and ".jsonl" in name:
            return True
        noted = folder in self.folders and is_markdown(name) and name[0] != "."
        return noted or path in self.tops or self.moves(path)

    def _leads_to_top(self, path: str) -> bool:
        below = os.path.join(path, "")
        return any(top == path or top.startswith(below) for top in self.tops)


def places_of(workspace: Workspace, transcripts: Iterable[Path] = ()) -> Places:
    """Look which folders there are to watch now.

    Args:
        workspace: The notes.
        transcripts: Folders of transcripts; they need not exist.
    """
    spoken = frozenset(os.path.realpath(folder) for folder in transcripts)
    notes = [os.path.realpath(workspace.root)]
    notes += [extra.top for extra in resolve_extra_paths(workspace)]
    tops = frozenset((*notes, *spoken))
    folders = frozenset(filter(os.path.isdir, scan(workspace).folders))
    return Places(
        folders=folders,
        spoken=frozenset(filter(os.path.isdir, spoken)),
        tops=tops,
        above=frozenset(_nearest_above(tops)) - folders,
    )


def _nearest_above(tops: Iterable[str]) -> Iterator[str]:
    """Yield for each path the nearest folder above it that is there."""
    for top in tops:
        folder = os.path.dirname(top)
        while not os.path.isdir(folder) and folder != os.path.dirname(folder):
            folder = os.path.dirname(folder)
        yield folder
