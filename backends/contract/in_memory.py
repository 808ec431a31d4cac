"""An engine for the tests of what is built on notewell: nothing on disk, nothing to wait for."""

import re
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from notewell.backends.base import (
    PLAIN_RUN,
    Backend,
    Findings,
    NoteCatalogue,
    Query,
    Run,
    Site,
)
from notewell.backends.text.filtering import PhraseTest, ReadNote
from notewell.backends.text.whole_notes import find_in_notes
from notewell.errors import BackendFailed
from notewell.front_matter import names_in_front_matter
from notewell.links import read_links
from notewell.types import Hit, IndexReport, IndexStatus
from notewell.workspace import NamedNote, Note, read_note, scan, split_lines
from notewell.workspace.metadata import day_of_note
from notewell.workspace.names import GivenNames, file_key

_WIDEST = 700


@dataclass(slots=True)
class _Index:
    notes: dict[Note, list[str]] = field(default_factory=dict[Note, list[str]])
    at: datetime | None = None


_INDEXES: dict[tuple[Path, str], _Index] = {}
"""By the state folder and the agent: who opens the same site again finds the index again."""


class InMemoryBackend:
    """See `notewell.backends.base.Backend`. A hit is the line of a note that has most of
    the query's words. There are no vectors and no transcripts, and an index lives as long
    as the process."""

    def __init__(self, site: Site) -> None:
        self._workspace = site.workspace
        self._index = _INDEXES.setdefault((site.state_dir, site.agent.id), _Index())

    @classmethod
    async def open(cls, site: Site) -> Self:
        """Attach to the notes of `site`."""
        return cls(site)

    @classmethod
    @contextmanager
    def catalogue(cls, site: Site) -> Generator[NoteCatalogue]:
        """Lend the names and links of the notes as they were at the last `refresh`."""
        index = _INDEXES.get((site.state_dir, site.agent.id))
        if index is None or index.at is None:
            why = "the index was not built yet"
            raise BackendFailed("memory", why, reason="not-ready", remedy="build it")
        yield _Catalogue(index.notes)

    async def built(self) -> bool:
        """Whether `refresh` was ever called."""
        return self._index.at is not None

    async def refresh(self, run: Run = PLAIN_RUN) -> IndexReport:
        """Read every note; a test has few."""
        notes = {each: split_lines(read_note(each.file).text) for each in self._scan()}
        changed = len({note.path for note in notes.keys() ^ self._index.notes.keys()})
        self._index.notes, self._index.at = notes, datetime.now(UTC)
        for done in range(len(notes)):
            run.listener.indexing(done + 1, len(notes))
        return IndexReport(
            files=len(notes), chunks=len(notes), changed=changed, pending=0
        )

    async def search(self, query: Query) -> Findings:
        """Return at most `query.limit` hits."""
        words = query.text.casefold().split()
        notes = [
            ReadNote(note.path, lines, note.mtime_ns)
            for note, lines in self._index.notes.items()
        ]
        return find_in_notes(
            query, notes, lambda note, phrases: _hit(note, phrases, words)
        )

    async def status(self) -> IndexStatus:
        """Count what the index holds and what it lacks."""
        files = len(self._index.notes)
        lacking = {note.path for note in set(self._scan()) ^ self._index.notes.keys()}
        return IndexStatus(
            location="in memory",
            bytes=0,
            files=files,
            chunks=files,
            pending=len(lacking),
            indexed_at=self._index.at,
        )

    async def close(self) -> None:
        """Release nothing."""

    def _scan(self) -> tuple[Note, ...]:
        return tuple(scan(self._workspace).notes)


class _Catalogue(GivenNames):
    def __init__(self, notes: Mapping[Note, Sequence[str]]) -> None:
        files = [NamedNote(note.path) for note in notes]
        titles = (
            NamedNote(note.path, name)
            for note, lines in notes.items()
            for name in names_in_front_matter(lines)
        )
        super().__init__((*files, *titles))
        self._lines = notes

    def linking(self, keys: Iterable[str]) -> set[str]:
        wanted = set(keys)
        return {
            note.path
            for note, lines in self._lines.items()
            if any(file_key(link.target) in wanted for link in read_links(lines))
        }

    def signatures(self) -> Mapping[str, tuple[int, int, int]]:
        return {note.path: note[2:] for note in self._lines}


def _hit(note: ReadNote, phrases: PhraseTest, words: Sequence[str]) -> Hit | None:
    """Return the best line of a note; a whole word counts more than any number of parts."""
    path, lines, _ = note
    folded = [line.casefold() if phrases(line) else "" for line in lines]
    scores = [
        sum(len(re.findall(rf"\b{re.escape(word)}\b", line)) for word in words)
        + any(word in line for word in words) / 2
        for line in folded
    ]
    best = max(scores, default=0)
    if not best:
        return None
    at = scores.index(best)
    first = min(folded[at].find(word) for word in words if word in folded[at])
    start = max(0, first - _WIDEST // 2)
    return Hit(
        path=path,
        start_line=at + 1,
        end_line=at + 1,
        match_line=at + 1,
        snippet=lines[at][start : start + _WIDEST],
        snippet_line=at + 1,
        score=best / (best + 1),
        date=day_of_note(*note),
    )


_: type[Backend] = InMemoryBackend  # the type checker holds it against the Protocol
