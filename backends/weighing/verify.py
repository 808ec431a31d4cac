"""Holding an answer against the files: they may have changed since they were indexed."""

import os
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from notewell.backends.text.passages import ScoredPassage
from notewell.backends.text.pictures import without_pictures
from notewell.backends.weighing.index import CitedTranscripts
from notewell.errors import PathRefused
from notewell.types import source_of
from notewell.workspace import Workspace, locate, nanoseconds, read_note, split_lines
from notewell.workspace.placeholders import WHY, is_fetched_by_reading


class Verifier:
    """Looks at the notes of one answer, each at most once.

    Attributes:
        stale: Set when a note turned out to have changed or to be gone.
        lost: Set when a passage turned out to be gone.
        unread: Notes of which passages were found and which cannot be read now, with
            the reason.
    """

    def __init__(
        self, workspace: Workspace, transcripts: CitedTranscripts | None = None
    ) -> None:
        """Take the notes, and the transcripts where they are searched, too."""
        self._workspace = workspace
        self._transcripts = transcripts
        self._lines: dict[str, Sequence[str] | None] = {}
        self.stale = False
        self.lost = False
        self.unread: dict[str, str] = {}

    def verify(self, scored: ScoredPassage) -> ScoredPassage | None:
        """Return the passage with the lines that it has now, None if it is gone."""
        passage = scored.passage
        if source_of(passage.path) == "sessions":
            return self._verify_transcript(scored)
        file = self._file(passage.path)
        if file and _is_unchanged(file, passage.signature):
            return scored
        if file and is_fetched_by_reading(file):
            self.unread[passage.path] = WHY  # it would be fetched
            file = None
        lines = self._read(file, passage.path) if file else None
        found = None if lines is None else _find(scored, lines)
        self.stale = self.stale or found != scored
        self.lost = self.lost or found is None
        return found

    def cited(self, scored: ScoredPassage) -> tuple[int, int, int]:
        """Return the first, the last and the best line that a hit cites."""
        passage = scored.passage
        if self._transcripts and source_of(passage.path) == "sessions":
            return self._transcripts.cited(scored)
        return passage.start_line, passage.end_line, scored.match_line

    def _verify_transcript(self, scored: ScoredPassage) -> ScoredPassage | None:
        """Return a passage of a transcript if its file still holds what was read."""
        if self._transcripts and self._transcripts.stands(scored.passage.path):
            return scored
        self.stale = self.lost = True
        return None

    def _file(self, path: str) -> str | None:
        """Return the file, if `get` would read it: what it refuses is not cited."""
        try:
            found = locate(self._workspace, path, exactly=True).file
        except PathRefused as refused:
            if isinstance(refused.__cause__, OSError) or "larger than" in refused.why:
                self.unread[path] = refused.why
            return None
        return None if found is None else os.fspath(found)

    def _read(self, file: str, path: str) -> Sequence[str] | None:
        if file not in self._lines:
            try:
                lines = split_lines(read_note(file).text)
                self._lines[file] = without_pictures(lines)
            except FileNotFoundError:
                self._lines[file] = None
            except (OSError, ValueError) as error:
                self._lines[file] = None
                self.unread[path] = getattr(error, "strerror", None) or "unreadable"
        return self._lines[file]


def _is_unchanged(file: str, signature: tuple[int, int, int]) -> bool:
    size, mtime_ns, ctime_ns = signature
    try:
        now = os.lstat(file)
    except (OSError, ValueError):  # ValueError: a name that this locale cannot write
        return False
    times = nanoseconds(now.st_mtime_ns), nanoseconds(now.st_ctime_ns)
    return (now.st_size, *times) == (size, mtime_ns, ctime_ns)


def _find(scored: ScoredPassage, lines: Sequence[str]) -> ScoredPassage | None:
    """Look for the passage, then for its best line alone, nearest to where it was."""
    passage = scored.passage
    wanted = passage.text.split("\n")
    start = _place(wanted, lines, passage.start_line, part=passage.piece)
    if start is not None:
        moved = start - passage.start_line
        return replace(
            scored,
            match_line=scored.match_line + moved,
            passage=replace(
                passage, start_line=start, end_line=passage.end_line + moved
            ),
        )
    best = wanted[scored.match_line - passage.start_line]
    line = _place([best], lines, scored.match_line, part=passage.piece)
    if line is None or not best.strip():
        return None
    return replace(
        scored,
        match_line=line,
        passage=replace(passage, start_line=line, end_line=line, text=best),
    )


def _place(
    wanted: list[str], lines: Sequence[str], near: int, *, part: bool
) -> int | None:
    """Return the line (from 1) at which `wanted` stands, nearest to `near`.

    Whole lines have to be the same; a piece of an endless line is a `part` of one.
    """
    for start in _outward(near - 1, len(lines) - len(wanted) + 1):
        if part:
            if wanted[0] in lines[start]:
                return start + 1
        elif (
            lines[start] == wanted[0]
            and list(lines[start : start + len(wanted)]) == wanted
        ):
            return start + 1
    return None


def _outward(middle: int, end: int) -> Iterator[int]:
    """Yield the numbers from 0 to `end`, those nearest to `middle` first.

    >>> list(_outward(1, 4))
    [1, 0, 2, 3]
    """
    middle = max(0, min(middle, end - 1))
    for distance in range(max(middle + 1, end - middle)):
        if distance <= middle < end + distance:
            yield middle - distance
        if distance and middle + distance < end:
            yield middle + distance
