"""Holding passages of transcripts against their files, and citing lines of these."""

from pathlib import Path
from typing import NamedTuple

from notewell.backends.builtin.schema import Generation
from notewell.backends.builtin.store import Store
from notewell.backends.text.passages import ScoredPassage
from notewell.sessions.reading import Position, still_holds


class Cited(NamedTuple):
    """The lines of a file that a hit shows: first, last, and the best of them."""

    start: int
    end: int
    match: int


class Sayings:
    """The transcripts of one answer, each looked at once."""

    def __init__(self, store: Store, tables: Generation, folder: Path) -> None:
        """Take the index, and the folder of the agent's transcripts."""
        self._store = store
        self._tables = tables
        self._folder = folder
        self._stands: dict[str, bool] = {}

    def stands(self, path: str) -> bool:
        """Whether what was read of a transcript still stands in it."""
        if path not in self._stands:
            self._stands[path] = self._holds(path)
        return self._stands[path]

    def cited(self, scored: ScoredPassage) -> Cited:
        """Return the lines of the JSONL behind a passage."""
        passage = scored.passage
        [(start, lines)] = self._store.rows(
            f"select c.start_line, o.lines from {self._tables.chunks} as c"
            f" join {self._tables.origins} as o on o.chunk_id = c.id where c.id = ?",
            passage.id,
        )
        origins = [int(line) for line in lines.split()]
        places = (passage.start_line, passage.end_line, scored.match_line)
        return Cited(*(origins[place - start] for place in places))

    def _holds(self, path: str) -> bool:
        rows = self._store.rows(
            f"select t.offset, t.line, t.mark from {self._tables.transcripts} as t"
            f" join {self._tables.files} as f on f.id = t.file_id where f.path = ?",
            path,
        )
        file = self._folder / path.removeprefix("sessions/")
        return any(still_holds(file, Position(*row)) for row in rows)
