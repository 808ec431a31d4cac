"""A small engine: all notes in one JSON file, and every question reads all of them.

It keeps the promises of `notewell.backends.base`, and nothing else: ten notes or a
thousand, not a hundred thousand.
"""

import asyncio
import json
import math
import os
import re
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Self

from notewell.backends.base import (
    PLAIN_RUN,
    Backend,
    Findings,
    Query,
    Run,
    Site,
)
from notewell.backends.policy import Policy
from notewell.backends.text.filtering import PhraseTest, ReadNote
from notewell.backends.text.whole_notes import find_in_notes
from notewell.config import ScopeSettings
from notewell.types import Hit, IndexReport, IndexStatus
from notewell.workspace import Note, read_note, scan, split_lines
from notewell.workspace.metadata import day_of_note

WIDEST = 700
"""Characters of a snippet."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A note as it was read, and how it can be told that it has changed since."""

    stamp: list[int]
    text: str


class ShelfPolicy(Policy):
    """Ten results are enough of a shelf, and it is nobody's business in a group."""

    denied = "The shelf is for direct conversations."

    @property
    def max_results(self) -> int:
        """As configured, but no more than ten."""
        return min(super().max_results, 10)

    @property
    def scope(self) -> ScopeSettings:
        """As it is where nothing is configured: direct conversations alone."""
        return ScopeSettings()


class Shelf:
    """See `notewell.backends.base.Backend`."""

    policy = ShelfPolicy

    def __init__(self, site: Site) -> None:
        self._site = site
        self._file = site.state_dir / f"shelf-{site.agent.id}.json"

    @classmethod
    async def open(cls, site: Site) -> Self:
        """Attach to the notes of `site`."""
        return cls(site)

    async def built(self) -> bool:
        """Whether there is an index."""
        return self._file.exists()

    async def refresh(self, run: Run = PLAIN_RUN) -> IndexReport:
        """Read what has changed; there are no vectors to make, and nobody to wait for."""
        return await asyncio.to_thread(self._refresh, run)

    async def search(self, query: Query) -> Findings:
        """Return at most `query.limit` hits."""
        return await asyncio.to_thread(self._search, query)

    async def status(self) -> IndexStatus:
        """Count what the index holds and what it lacks."""
        return await asyncio.to_thread(self._status)

    async def close(self) -> None:
        """Release nothing: every call opens and closes the file."""

    def _refresh(self, run: Run) -> IndexReport:
        until = math.inf if run.within is None else time.monotonic() + run.within
        known = {} if run.force else self._load()
        notes = scan(self._site.workspace).notes
        kept: dict[str, Kept] = {}
        pending = 0
        for done, note in enumerate(notes, start=1):
            old = known.get(note.path)
            if old is not None and old.stamp == _stamp(note):
                kept[note.path] = old
            elif time.monotonic() > until:
                pending += 1
                kept.update({note.path: old} if old else {})
            else:
                kept[note.path] = Kept(_stamp(note), read_note(note.file).text)
            run.listener.indexing(done, len(notes))
        self._save(kept)
        changed = sum(kept.get(path) != known.get(path) for path in {*kept, *known})
        return IndexReport(
            files=len(kept), chunks=len(kept), pending=pending, changed=changed
        )

    def _search(self, query: Query) -> Findings:
        words = query.text.casefold().split()
        notes = (
            ReadNote(path, split_lines(note.text), mtime_ns=note.stamp[1])
            for path, note in self._load().items()
        )
        return find_in_notes(
            query, notes, lambda note, phrases: _hit(note, phrases, words)
        )

    def _status(self) -> IndexStatus:
        kept = self._load()
        notes = {note.path: _stamp(note) for note in scan(self._site.workspace).notes}
        stamps = {path: note.stamp for path, note in kept.items()}
        pending = sum(
            notes.get(path) != stamps.get(path) for path in notes.keys() | stamps.keys()
        )
        info = self._file.stat() if self._file.exists() else None
        return IndexStatus(
            location=str(self._file),
            bytes=info.st_size if info else 0,
            files=len(kept),
            chunks=len(kept),
            pending=pending,
            indexed_at=datetime.fromtimestamp(info.st_mtime, UTC) if info else None,
        )

    def _load(self) -> dict[str, Kept]:
        try:
            raw = json.loads(self._file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        return {path: Kept(stamp, text) for path, (stamp, text) in raw.items()}

    def _save(self, kept: dict[str, Kept]) -> None:
        """Put the new index in the place of the old one, which is read until then."""
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = self._file.with_suffix(f".{os.getpid()}")
        raw = {path: (note.stamp, note.text) for path, note in kept.items()}
        with open(
            os.open(draft, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="utf-8"
        ) as opened:
            json.dump(raw, opened, ensure_ascii=True)
        draft.replace(self._file)


def _stamp(note: Note) -> list[int]:
    return [note.size, note.mtime_ns, note.ctime_ns]


def _hit(note: ReadNote, phrases: PhraseTest, words: list[str]) -> Hit | None:
    """Return the line of a note that fits the words best, if one has any of them."""
    folded = [line.casefold() if phrases(line) else "" for line in note.lines]
    scores = [_score(line, words) for line in folded]
    best = max(scores, default=0.0)
    if not best:
        return None
    match = scores.index(best)
    first = min(folded[match].find(word) for word in words if word in folded[match])
    start = max(0, first - WIDEST // 2)
    return Hit(
        path=note.path,
        start_line=match + 1,
        end_line=match + 1,
        match_line=match + 1,
        snippet=note.lines[match][start : start + WIDEST],
        snippet_line=match + 1,
        score=best,
        date=day_of_note(*note),
    )


def _score(line: str, words: list[str]) -> float:
    """Return how well a line fits, in [0, 1): a whole word beats any number of parts."""
    whole = sum(len(re.findall(rf"\b{re.escape(word)}\b", line)) for word in words)
    parts = sum(line.count(word) for word in words)
    return (1 + whole / (whole + 1)) / 2 if whole else parts / (parts + 1) / 2


_: type[Backend] = Shelf  # the type checker holds it against the Protocol
