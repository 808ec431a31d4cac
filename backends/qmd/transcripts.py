"""The agent's transcripts: their copies, which QMD reads, and the passages shown of them.

Copies are Markdown, in a folder of their own. They are brought up to date with the
index, by its one writer, and never in a search. What is shown of a transcript is read
from itself. A conversation that may see some of them only is answered from those, all of
which are read; QMD, which would have chosen among all, is not asked about them then.
"""

import os
import re
import time
from collections.abc import Container, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from notewell.backends.base import Query, Site
from notewell.backends.qmd.answer import QmdHit
from notewell.backends.qmd.home import QmdHome
from notewell.backends.qmd.paths import Collection, free_name, handle_of
from notewell.backends.qmd.program import BACKEND
from notewell.backends.text.analysis import forms_of
from notewell.backends.text.chunking import cut_chunks
from notewell.backends.text.passages import Passage, with_silent_transcripts
from notewell.config import ChunkingSettings
from notewell.errors import BackendFailed, NoteNotWritten
from notewell.files import create_folder, replace_file
from notewell.sessions import (
    ExportReport,
    Position,
    Transcript,
    TranscriptText,
    export_name,
    export_transcripts,
    has_news,
    read_transcript,
    retained_transcripts,
    text_parts,
    transcript_text,
)
from notewell.types import Skipped, Source
from notewell.workspace.extra import resolve_extra_paths
from notewell.workspace.metadata import day_of_file
from notewell.workspace.scan import IGNORE_FILE

_KEY: Final = "memory.qmd.sessions.exportDir"
_IGNORED: Final = b"*\n"
"""Whoever has the folder among notes of theirs does not want copies there. It also says
that the folder is ours."""

_MOST_TRANSCRIPTS: Final = 40
_MOST_PARTS: Final = 2_000
"""What is kept for the next question; a part is as long as a note."""

_PART: Final = re.compile(r"-part-(\d{4,})\.md\Z")


class CopyState(msgspec.Struct, frozen=True, kw_only=True):
    """A transcript as it was when it was last looked into.

    Attributes:
        size: In bytes.
        mtime_ns: Its last change then.
        read: Up to where it was read; None when it could not be.
        silent: Nothing in it is worth a copy.
    """

    size: int
    mtime_ns: int
    read: Position | None
    silent: bool


class _StoredCopies(msgspec.Struct, frozen=True, kw_only=True):
    """What we know of the copies, and the folder where they are."""

    folder: str = ""
    copies: dict[str, CopyState] = {}


class TranscriptDrift(NamedTuple):
    """The transcripts on disk against their copies.

    Attributes:
        found: Those that are to have a copy.
        settled: Paths of those whose copy is right.
        pending: Transcripts whose copy is not, or that are gone.
        skipped: What is no transcript of ours.
        problem: Why there are no copies, though they are wanted.
    """

    found: Sequence[Transcript] = ()
    settled: frozenset[str] = frozenset()
    pending: int = 0
    skipped: tuple[Skipped, ...] = ()
    problem: str | None = None


class TranscriptCopies:
    """The copies of one agent's transcripts.

    Attributes:
        folder: Where they are.
        wanted: Transcripts are a source.
    """

    def __init__(self, site: Site, home: QmdHome) -> None:
        self._site = site
        self._settings = site.memory.qmd.sessions
        self._file = home.folder / "transcripts.json"
        chosen = self._settings.export_dir
        # Agents may share a folder, and none sees what another one has heard.
        self.folder = chosen / site.agent.id if chosen else home.folder / "transcripts"
        self.wanted = site.transcripts

    def collection(self, taken: Sequence[str]) -> Collection:
        """Return the collection of the copies."""
        return Collection(
            name=free_name("sessions", taken),
            folder=os.path.realpath(self.folder),
            pattern="*.md",
            spoken=True,
        )

    def retained(self) -> tuple[Sequence[Transcript], tuple[Skipped, ...]]:
        """Return the transcripts that may be searched, and what is left out."""
        found, skipped = self._site.list_transcripts()
        days = self._settings.retention_days
        return retained_transcripts(found, days, now_ns=time.time_ns()), skipped

    def drift(self) -> TranscriptDrift:
        """Compare the transcripts with their copies. Writes none."""
        known = self._known()
        if not self.wanted:
            return TranscriptDrift(pending=max(len(known.copies), bool(known.folder)))
        problem = self.problem()
        if problem:
            return TranscriptDrift(problem=problem)
        copies = known.copies if known.folder == str(self.folder) else {}
        here = self._here()
        found, skipped = self.retained()
        settled = {t.path for t in found if self._is_settled(t, copies, here)}
        in_vain = {t.path for t in found if _is_unreadable_still(t, copies)}
        unreadable = (
            Skipped(path=path, reason="unreadable", detail="it could not be read")
            for path in sorted(in_vain)
        )
        gone = known.copies.keys() - {transcript.path for transcript in found}
        return TranscriptDrift(
            found=found,
            settled=frozenset(settled),
            pending=len(found) - len(settled | in_vain) + len(gone),
            skipped=(*skipped, *unreadable),
        )

    def write(self, drift: TranscriptDrift, *, force: bool = False) -> ExportReport:
        """Bring the copies up to date; those that are not wanted any more are removed.

        They count as missing until `remember` is called: QMD may never read them.

        Raises:
            BackendFailed: the disk refuses.
        """
        self._leave(self._known().folder)
        if not self.wanted or drift.problem:
            return ExportReport()
        try:
            create_folder(self.folder)
            replace_file(self.folder / IGNORE_FILE, _IGNORED)
            self._keep_folder()
            return export_transcripts(
                drift.found,
                self.folder,
                now_ns=time.time_ns(),
                settled=() if force else drift.settled,
            )
        except NoteNotWritten as exc:
            raise self._refused(exc.message) from exc
        except OSError as exc:
            raise self._refused(exc.strerror or "the disk refuses") from exc

    def remember(self, drift: TranscriptDrift, report: ExportReport) -> None:
        """Write down that QMD has read what was written."""
        if not self.wanted or drift.problem:
            return
        old = self._known().copies
        here = self._here()
        copies = {
            transcript.path: old[transcript.path]
            if transcript.path in drift.settled and transcript.path not in report.read
            else CopyState(
                size=transcript.size,
                mtime_ns=transcript.mtime_ns,
                read=report.read.get(transcript.path),
                silent=export_name(transcript) not in here,
            )
            for transcript in drift.found
        }
        kept = _StoredCopies(folder=str(self.folder), copies=copies)
        replace_file(self._file, msgspec.json.encode(kept))

    def said(self) -> str:
        """Say for a person how many copies there are."""
        copies = self._known().copies
        silent = sorted(
            path for path, each in copies.items() if each.silent and each.read
        )
        counted = f"{len(copies) - len(silent):,} of {len(copies):,} in {self.folder}"
        return with_silent_transcripts(counted, silent)

    def _is_settled(
        self, transcript: Transcript, copies: dict[str, CopyState], here: Container[str]
    ) -> bool:
        copied = copies.get(transcript.path)
        if copied is None or copied.read is None:
            return False
        if not copied.silent and export_name(transcript) not in here:
            return False
        if _is_same(transcript, copied):
            return True
        settings = self._site.agent.search.sync.sessions
        return not has_news(transcript, copied.size, copied.read, settings)

    def problem(self) -> str | None:
        """Say in a sentence why nothing is copied though it is wanted; None if it is."""
        if not self.wanted:
            return None
        real = os.path.join(os.path.realpath(self.folder), "")
        tops = [extra.top for extra in resolve_extra_paths(self._site.workspace)]
        for notes in (os.path.realpath(self._site.workspace.root), *tops):
            if real.startswith(os.path.join(notes, "")):
                return _not_searched(f"{self.folder} lies among notes")
        parents = (self.folder, *self.folder.parents)
        there = next(folder for folder in parents if os.path.lexists(folder))
        if not there.is_dir() or not os.access(there, os.R_OK | os.W_OK | os.X_OK):
            return _not_searched(f"{self.folder} cannot be written")
        if not _is_free(self.folder):
            return _not_searched(f"{self.folder} holds something else")
        return None

    def _keep_folder(self) -> None:
        """Record the folder before anything is written to it, so that it is cleaned up."""
        known = self._known()
        if known.folder != str(self.folder):
            kept = _StoredCopies(folder=str(self.folder))
            replace_file(self._file, msgspec.json.encode(kept))

    def _here(self) -> frozenset[str]:
        with suppress(OSError):
            return frozenset(os.listdir(self.folder))
        return frozenset()

    def _refused(self, why: str) -> BackendFailed:
        return BackendFailed(
            BACKEND,
            f"transcripts cannot be exported: {why}",
            reason="exit",
            remedy=f"make room in {self.folder}, or choose another {_KEY}",
        )

    def _known(self) -> _StoredCopies:
        try:
            return msgspec.json.decode(self._file.read_bytes(), type=_StoredCopies)
        except (OSError, msgspec.MsgspecError):
            return _StoredCopies()

    def _leave(self, folder: str) -> None:
        """Remove the copies from a folder that is no longer the one for them."""
        if folder and (folder != str(self.folder) or not self.wanted):
            with suppress(NoteNotWritten, OSError):
                if os.path.isdir(folder):
                    export_transcripts((), Path(folder), now_ns=0)
                    _give_back(Path(folder))
            self._file.unlink(missing_ok=True)


def _not_searched(why: str) -> str:
    return f"Transcripts are not searched: {why}; choose another {_KEY}."


def _is_free(folder: Path) -> bool:
    """Whether a folder is ours, is empty, or is not there."""
    with suppress(OSError):
        return (folder / IGNORE_FILE).read_bytes() == _IGNORED
    return not folder.is_dir() or not os.listdir(folder)


def _give_back(folder: Path) -> None:
    """Remove our mark from a folder, and the folder if it is empty then.

    Raises:
        OSError: something else is in it, or it cannot be written.
    """
    ignore = folder / IGNORE_FILE
    if _is_free(folder):
        ignore.unlink(missing_ok=True)
    folder.rmdir()


def _is_same(transcript: Transcript, copied: CopyState) -> bool:
    return (transcript.size, transcript.mtime_ns) == (copied.size, copied.mtime_ns)


def _is_unreadable_still(transcript: Transcript, copies: dict[str, CopyState]) -> bool:
    """Whether a transcript could not be read, and has not changed since."""
    copied = copies.get(transcript.path)
    return copied is not None and copied.read is None and _is_same(transcript, copied)


class TranscriptPassage(Passage, frozen=True, kw_only=True):
    """A passage of a transcript. Its lines are those of the cleaned text.

    Attributes:
        origins: The line of the JSONL behind each line of that text.
    """

    origins: Sequence[int]


def cited_lines(passage: Passage, match_line: int) -> tuple[int, int, int]:
    """Return the lines of the file behind a passage: first, last, and the best."""
    lines = (passage.start_line, passage.end_line, match_line)
    if not isinstance(passage, TranscriptPassage):
        return lines
    start, end, match = (passage.origins[line - 1] for line in lines)
    return start, end, match


class TranscriptCache:
    """Cuts transcripts into passages, and keeps a few for the next question."""

    def __init__(self, chunking: ChunkingSettings) -> None:
        self._chunking = chunking
        self._said: dict[str, tuple[tuple[int, int], _TranscriptText]] = {}
        self._passages: dict[
            tuple[str, int, int, int], Sequence[TranscriptPassage]
        ] = {}

    def passages(
        self, transcript: Transcript, part: int | None
    ) -> Sequence[TranscriptPassage] | None:
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

    def _read(self, transcript: Transcript) -> "_TranscriptText":
        signature = (transcript.size, transcript.mtime_ns)
        kept = self._said.get(transcript.path)
        if kept and kept[0] == signature:
            return kept[1]
        messages = read_transcript(transcript.file).messages
        days = {each.line: f"{each.at:%Y-%m-%d}" for each in messages if each.at}
        said = _TranscriptText(transcript_text(messages), days)
        if len(self._said) >= _MOST_TRANSCRIPTS:
            self._said.clear()
        self._said[transcript.path] = (signature, said)
        return said

    def _cut(
        self, transcript: Transcript, said: "_TranscriptText", first: int, end: int
    ) -> Sequence[TranscriptPassage]:
        key = (transcript.path, transcript.size, transcript.mtime_ns, first)
        kept = self._passages.get(key)
        if kept is not None:
            return kept
        changed = day_of_file(transcript.mtime_ns)
        passages = [
            TranscriptPassage(
                id=0,
                path=transcript.path,
                signature=(transcript.size, transcript.mtime_ns, 0),
                start_line=chunk.start_line + first,
                end_line=chunk.end_line + first,
                heading=day or "",
                day=day or (changed.isoformat() if changed else None),
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
            for day in (said.day(first + chunk.start_line - 1),)
        ]
        if len(self._passages) >= _MOST_PARTS:
            self._passages.clear()
        self._passages[key] = passages
        return passages


class _TranscriptText(NamedTuple):
    """The text of a transcript, and on which day each of its lines was said."""

    text: TranscriptText
    days: Mapping[int, str]

    def day(self, line: int) -> str | None:
        """Return the day of a line of the text, counted from 0."""
        return self.days.get(self.text.origins[line])


class TranscriptPassages:
    """The transcripts as one question may see them. None is listed before it has to be."""

    def __init__(
        self,
        copies: TranscriptCopies,
        cache: TranscriptCache,
        query: Query,
        collections: Sequence[Collection],
    ) -> None:
        self._copies = copies
        self._cache = cache
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

    def are_in(self, document: QmdHit) -> bool:
        """Whether a document is the copy of a transcript."""
        spoken = {each.name for each in self._collections if each.spoken}
        return document.collection in spoken

    def passages(self, document: QmdHit) -> tuple[Sequence[Passage], bool]:
        """Return the passages behind a copy, and whether its transcript is there."""
        name = handle_of(document.path)
        place = _PART.search(name)
        whole = name if place is None else f"{name[: place.start()]}.md"
        part = 1 if place is None else int(place[1])
        found = [
            passages
            for transcript in self._copied.get(whole, ())
            if (passages := self._cache.passages(transcript, part)) is not None
        ]
        return [one for passages in found for one in passages], bool(found)

    def every(self) -> list[Passage]:
        """Return all passages that may be seen."""
        return [
            passage
            for transcript in self._listed
            if not self._query.hides(transcript.path)
            for passage in self._cache.passages(transcript, None) or ()
        ]

    def own(self) -> list[Passage]:
        """Return all passages that may be seen, when these are of some transcripts only."""
        return self.every() if self._few else []

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
            found.setdefault(handle_of(export_name(transcript)), []).append(transcript)
        return found


def _source(collection: Collection) -> Source:
    return "sessions" if collection.spoken else "memory"
