"""Watching for changes on disk: in which folders, and by a thread that tells of them.

Folders are watched and not files, and only those that notes are read from: a tree of
packages costs nothing. Each folder above is watched as well, so that one that is
replaced, or comes only later, is noticed.
"""

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from notewell.log import log
from notewell.workspace import Workspace, scan
from notewell.workspace.extra import resolve_extra_paths
from notewell.workspace.layout import (
    HEAVY_MARKERS,
    is_hidden_or_heavy,
    is_markdown,
)
from notewell.workspace.scan import IGNORE_FILE

if TYPE_CHECKING:
    from watchfiles.main import FileChange

__all__ = ["WatchedFolders", "Watcher", "watched_folders"]

OnChange: TypeAlias = Callable[[bool], None]
"""Called when the index may be out of date; True: a file is known to have changed.
It returns at once and never raises."""

POLL_SECONDS: Final = 10.0
"""Seconds between two looks at the disk where nothing can be watched."""

_WAKE_MS: Final = 500
_GATHER_MS: Final = 100

_REST_SECONDS: Final = 0.2
"""Seconds before folders are looked for again that went while they were looked for."""

_NO_WATCHES: Final = (
    "The system cannot watch more files; the notes are looked through"
    " every {seconds:g} seconds instead."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedFolders:
    """What is watched at one moment.

    Attributes:
        folders: The folders of notes.
        transcripts: The folders of transcripts.
        tops: What was asked for: whether it is there or not, and whatever it is.
        above: Folders that are watched only for what becomes of those below.
    """

    folders: frozenset[str]
    transcripts: frozenset[str]
    tops: frozenset[str]
    above: frozenset[str]

    @property
    def watched(self) -> frozenset[str]:
        """Every folder to be watched."""
        return self.folders | self.transcripts | self.above

    def moves(self, path: str) -> bool:
        """Whether something happened to a folder, so that others are to be watched."""
        if path in self.watched or self._leads_to_top(path):
            return True
        folder, name = os.path.split(path)
        if folder in self.transcripts and "." not in name:
            return True  # where a program begins another folder of them
        if folder not in self.folders:
            return False
        if name == IGNORE_FILE or name in HEAVY_MARKERS:
            return True
        return not is_hidden_or_heavy(name) and os.path.isdir(path)

    def matters(self, path: str) -> bool:
        """Whether what is indexed may have changed."""
        folder, name = os.path.split(path)
        if folder in self.transcripts and ".jsonl" in name:
            return True
        noted = folder in self.folders and is_markdown(name) and name[0] != "."
        return noted or path in self.tops or self.moves(path)

    def _leads_to_top(self, path: str) -> bool:
        below = os.path.join(path, "")
        return any(top == path or top.startswith(below) for top in self.tops)


def watched_folders(
    workspace: Workspace, transcripts: Iterable[Path] = ()
) -> WatchedFolders:
    """Look which folders there are to watch now.

    Args:
        workspace: The notes.
        transcripts: Folders of transcripts; they need not exist.
    """
    named = frozenset(os.path.realpath(folder) for folder in transcripts)
    notes = [os.path.realpath(workspace.root)]
    notes += [extra.top for extra in resolve_extra_paths(workspace)]
    tops = frozenset((*notes, *named))
    folders = frozenset(filter(os.path.isdir, scan(workspace).folders))
    return WatchedFolders(
        folders=folders,
        transcripts=frozenset(filter(os.path.isdir, named)),
        tops=tops,
        above=frozenset(_nearest_above(tops)) - folders,
    )


class Watcher:
    """Tells when files have changed that an index is made of.

    Attributes:
        problem: Why the kernel does not watch for us, or None.
        ready: Set once changes are noticed.
    """

    def __init__(
        self,
        find_folders: Callable[[], WatchedFolders],
        on_change: OnChange,
        *,
        warn: Callable[[str], None],
        poll_seconds: float = POLL_SECONDS,
    ) -> None:
        """Take what finds the folders, and who is told.

        Args:
            warn: Told once, if the folders cannot be watched and are polled instead.
        """
        self.problem: str | None = None
        self.ready = threading.Event()
        self._find_folders = find_folders
        self._on_change = on_change
        self._warn = warn
        self._poll_seconds = poll_seconds
        self._stop = threading.Event()
        self._thread = threading.Thread(
            target=self._loop, name="notewell-watch", daemon=True
        )

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def close(self) -> None:
        """End. Calling it twice is harmless."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def _loop(self) -> None:
        while not self._stop.is_set():
            try:
                self._watch(self._find_folders())
            except FileNotFoundError:
                self._stop.wait(_REST_SECONDS)  # a folder went while we looked
            except (OSError, RuntimeError):
                self._poll()

    def _watch(self, folders: WatchedFolders) -> None:
        """Watch until other folders are to be watched."""
        from watchfiles import watch

        armed = False
        for changes in watch(
            *sorted(folders.watched),
            watch_filter=None,
            debounce=_WAKE_MS,
            step=_GATHER_MS,
            rust_timeout=_WAKE_MS,
            yield_on_timeout=True,
            stop_event=self._stop,
            raise_interrupt=False,
            force_polling=False,
            recursive=False,
            ignore_permission_denied=True,
        ):
            if not armed:
                armed = True
                self.ready.set()
                self._on_change(
                    False
                )  # of what changed before we listened nobody told us
            if self._has_moved(folders, changes):
                return

    def _has_moved(self, folders: WatchedFolders, changes: "set[FileChange]") -> bool:
        """Tell what matters of some changes; return whether folders are others now."""
        paths = [path for _, path in changes]
        if any(map(folders.matters, paths)):
            self._on_change(True)
        return any(map(folders.moves, paths))

    def _poll(self) -> None:
        """Have the disk looked at every few seconds, for as long as we run."""
        self.problem = _NO_WATCHES.format(seconds=self._poll_seconds)
        self._warn(self.problem)
        log("watching", "warning", self.problem)
        self.ready.set()
        self._on_change(False)
        while not self._stop.wait(self._poll_seconds):
            self._on_change(False)


def _nearest_above(tops: Iterable[str]) -> Iterator[str]:
    """Yield for each path the nearest folder above it that is there."""
    for top in tops:
        folder = os.path.dirname(top)
        while not os.path.isdir(folder) and folder != os.path.dirname(folder):
            folder = os.path.dirname(folder)
        yield folder
