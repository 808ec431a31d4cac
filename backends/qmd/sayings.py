"""The transcripts behind their copies: what is shown of them is read from themselves.

A conversation that may see some of them only is answered from those, all of which are
read; QMD, which would have chosen among all, is not asked about transcripts then.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from notewell.backends.base import Query
from notewell.backends.qmd.answer import Document
from notewell.backends.qmd.collections import Collection, handles
from notewell.backends.qmd.copies import Copies
from notewell.backends.text.analysis import forms_of
from notewell.backends.text.chunking import cut_chunks
from notewell.backends.text.passages import Passage
from notewell.config import ChunkingSettings
from notewell.sessions import (
    Transcript,
    TranscriptText,
    export_name,
    read_transcript,
    text_parts,
    transcript_text,
)
from notewell.types import Source

_MOST_TRANSCRIPTS: Final = 40
_MOST_PARTS: Final = 2_000
"""What is kept for the next question; a part is as long as a note."""

_PART: Final = re.compile(r"-part-(\d{4,})\.md\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Saying(Passage):
    """A passage of a transcript. Its lines are those of the cleaned text.

    Attributes:
        origins: The line of the JSONL behind each line of that text.
    """

    origins: Sequence[int]


class Cited(NamedTuple):
    """The lines of a file that a hit shows: first, last, and the best of them."""

    start: int
    end: int
    match: int


def cited(passage: Passage, match_line: int) -> Cited:
    """Return the lines of the file behind a passage."""
    lines = Cited(passage.start_line, passage.end_line, match_line)
    if not isinstance(passage, Saying):
        return lines
    return Cited(*(passage.origins[line - 1] for line in lines))


class Speech:
    """Cuts transcripts into passages, and keeps a few for the next question."""

    def __init__(self, chunking: ChunkingSettings) -> None:
        self._chunking = chunking
        self._said: dict[str, tuple[tuple[int, int], _Said]] = {}
        self._passages: dict[tuple[str, int, int, int], Sequence[Saying]] = {}

    def passages(
        self, transcript: Transcript, part: int | None
    ) -> Sequence[Saying] | None:
        """Return the passages of a part of a transcript, or of all parts.

        None if it cannot be read any more, or has not so many parts.
        """
        try:
            said = self._read(transcript)
        except OSError:
            return None
        ranges = text_parts(said.text)
        if part is not None and not 1 <= part <= len(ranges):
            return None
        wanted = ranges if part is None else [ranges[part - 1]]
        return [
            passage
            for first, end in wanted
            for passage in self._cut(transcript, said, first, end)
        ]

    def _read(self, transcript: Transcript) -> "_Said":
        signature = (transcript.size, transcript.mtime_ns)
        kept = self._said.get(transcript.path)
        if kept and kept[0] == signature:
            return kept[1]
        messages = read_transcript(transcript.file).messages
        days = {each.line: f"{each.at:%Y-%m-%d}" for each in messages if each.at}
        said = _Said(transcript_text(messages), days)
        if len(self._said) >= _MOST_TRANSCRIPTS:
            self._said.clear()
        self._said[transcript.path] = (signature, said)
        return said

    def _cut(
        self, transcript: Transcript, said: "_Said", first: int, end: int
    ) -> Sequence[Saying]:
        key = (transcript.path, transcript.size, transcript.mtime_ns, first)
        kept = self._passages.get(key)
        if kept is not None:
            return kept
        passages = [
            Saying(
                id=0,
                path=transcript.path,
                signature=(transcript.size, transcript.mtime_ns, 0),
                start_line=chunk.start_line + first,
                end_line=chunk.end_line + first,
                heading=said.days.get(
                    said.text.origins[first + chunk.start_line - 1], ""
                ),
                length=sum(len(forms.body) for forms in forms_of(chunk.text)),
                text=chunk.text,
                piece=chunk.piece,
                origins=said.text.origins,
            )
            for chunk in cut_chunks(
                said.text.lines[first:end],
                tokens=self._chunking.tokens,
                overlap=self._chunking.overlap,
            )
        ]
        if len(self._passages) >= _MOST_PARTS:
            self._passages.clear()
        self._passages[key] = passages
        return passages


class _Said(NamedTuple):
    """The text of a transcript, and on which day each of its lines was said."""

    text: TranscriptText
    days: Mapping[int, str]


class Sayings:
    """The transcripts as one question may see them. None is listed before it has to be."""

    def __init__(
        self,
        copies: Copies,
        speech: Speech,
        query: Query,
        collections: Sequence[Collection],
    ) -> None:
        self._copies = copies
        self._speech = speech
        self._query = query
        self._collections = collections

    @property
    def names(self) -> list[str]:
        """The collections that QMD is asked about."""
        wanted = self._query.sources
        return [
            each.name
            for each in self._collections
            if _source(each) in wanted and not (each.spoken and self._few)
        ]

    def are_in(self, document: Document) -> bool:
        """Whether a document is the copy of a transcript."""
        spoken = {each.name for each in self._collections if each.spoken}
        return document.collection in spoken

    def passages(self, document: Document) -> tuple[Sequence[Passage], bool]:
        """Return the passages behind a copy, and whether its transcript is there."""
        name = handles(document.path)
        place = _PART.search(name)
        whole = name if place is None else f"{name[: place.start()]}.md"
        part = 1 if place is None else int(place[1])
        found = [
            passages
            for transcript in self._copied.get(whole, ())
            if (passages := self._speech.passages(transcript, part)) is not None
        ]
        return [one for passages in found for one in passages], bool(found)

    def own(self) -> list[Passage]:
        """Return all passages that may be seen, when these are of some transcripts only."""
        return [
            passage
            for transcript in (self._listed if self._few else ())
            if not self._query.hides(transcript.path)
            for passage in self._speech.passages(transcript, None) or ()
        ]

    @cached_property
    def _listed(self) -> Sequence[Transcript]:
        spoken = any(each.spoken for each in self._collections)
        if not spoken or "sessions" not in self._query.sources:
            return ()
        return self._copies.retained()[0]

    @cached_property
    def _few(self) -> bool:
        return any(self._query.hides(transcript.path) for transcript in self._listed)

    @cached_property
    def _copied(self) -> dict[str, list[Transcript]]:
        """The transcripts by the names of their copies, as loosely as QMD keeps those."""
        found: dict[str, list[Transcript]] = {}
        for transcript in self._listed:
            found.setdefault(handles(export_name(transcript)), []).append(transcript)
        return found


def _source(collection: Collection) -> Source:
    return "sessions" if collection.spoken else "memory"
