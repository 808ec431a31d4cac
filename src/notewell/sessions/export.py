"""Transcripts as Markdown, for engines that read nothing else.

Each transcript becomes a file or, when it is long, several of about the size of a
note. Their first line says that they are ours; files without that line are left alone,
whatever they are called.
"""

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from notewell.errors import NoteNotWritten
from notewell.files import create_folder, replace_file
from notewell.sessions.files import Transcript
from notewell.sessions.passages import TranscriptText, text_parts, transcript_text
from notewell.sessions.reading import Position, TranscriptMessage, read_transcript
from notewell.types import Skipped

_OURS: Final = "<!-- notewell: a copy of a transcript, derived from"
_DAY_NS: Final = 86_400 * 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportReport:
    """What an export left behind.

    Attributes:
        written: Transcripts whose copy is new or has changed.
        kept: Transcripts whose copy was right already.
        removed: Copies that were removed: too old, or without their transcript.
        empty: Transcripts that hold messages of which nothing is left to export.
        skipped: Transcripts that could not be read.
        read: How far each transcript that was looked into was read, by its path.
    """

    written: int = 0
    kept: int = 0
    removed: int = 0
    empty: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    read: Mapping[str, Position] = field(default_factory=dict[str, Position])


def export_transcripts(
    transcripts: Iterable[Transcript],
    folder: Path,
    *,
    now_ns: int,
    retention_days: float | None = None,
    settled: Collection[str] = (),
) -> ExportReport:
    """Make a folder hold a copy of each transcript, and no other copies.

    Args:
        transcripts: Those of one agent.
        folder: Where the copies go; it is created if need be.
        now_ns: Nanoseconds since 1970.
        retention_days: Transcripts that have not changed for longer get no copy; None
            or 0 keeps all.
        settled: Paths of transcripts that are not looked into: what copy there is of
            them is right.

    Raises:
        NoteNotWritten: the folder cannot be written.
    """
    try:
        create_folder(folder)
        export = _Export(folder)
        for transcript in retained_transcripts(
            transcripts, retention_days, now_ns=now_ns
        ):
            if transcript.path in settled:
                export.keep(transcript)
            else:
                export.copy(transcript)
        export.remove_others()
    except OSError as exc:
        raise NoteNotWritten(str(folder), exc.strerror or "the disk refuses") from exc
    return export.report()


def retained_transcripts(
    transcripts: Iterable[Transcript], days: float | None, *, now_ns: int
) -> list[Transcript]:
    """Return the transcripts that have changed within so many days; None or 0 is all."""
    oldest = now_ns - int(days * _DAY_NS) if days else -1
    return [each for each in transcripts if each.mtime_ns >= oldest]


def export_name(transcript: Transcript, part: int = 1) -> str:
    """Return the name of a part of a transcript's copy.

    Set aside, a session keeps its name and gets a date, so no two share a copy.
    """
    below = transcript.path.removeprefix("sessions/").replace(".jsonl", "", 1)
    name = below.replace("/", "--")
    return f"{name}.md" if part == 1 else f"{name}.part-{part:04}.md"


def export_text(
    transcript: Transcript, messages: Iterable[TranscriptMessage]
) -> TranscriptText:
    """Return a copy: its lines, and the line of the transcript behind each.

    What a transcript gains later only adds lines at the end, so a line that an engine
    cites from an older copy still stands for the same line of the transcript.
    """
    return _headed(transcript, transcript_text(messages))


def _headed(transcript: Transcript, said: TranscriptText) -> TranscriptText:
    first = said.origins[0] if said.origins else 1
    head = (
        f"{_OURS} {transcript.path} -->",
        "",
        f"# Session {transcript.session_id}",
        "",
    )
    return TranscriptText((*head, *said.lines), (*([first] * len(head)), *said.origins))


class _Export:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._names: set[str] = set()
        self._written = self._kept = self._removed = 0
        self._empty: list[str] = []
        self._skipped: list[Skipped] = []
        self._read: dict[str, Position] = {}

    def keep(self, transcript: Transcript) -> None:
        """Leave the copy of a transcript as it is."""
        self._leave(transcript)
        self._kept += 1

    def _leave(self, transcript: Transcript) -> None:
        part = 1
        while (self._folder / (name := export_name(transcript, part))).exists():
            self._names.add(name)
            part += 1

    def copy(self, transcript: Transcript) -> None:
        """Write the copy of a transcript, unless it is right already."""
        try:
            read = read_transcript(transcript.file)
        except FileNotFoundError:
            return
        except OSError as exc:
            detail = exc.strerror or "it cannot be read"
            self._skipped.append(
                Skipped(path=transcript.path, reason="unreadable", detail=detail)
            )
            self._leave(transcript)  # its copy is better than nothing
            return
        self._read[transcript.path] = read.next
        if not read.messages:
            if read.silent_lines:
                self._empty.append(transcript.path)
            return
        said = transcript_text(read.messages)
        written = 0
        for part, (first, end) in enumerate(text_parts(said), start=1):
            lines = TranscriptText(said.lines[first:end], said.origins[first:end])
            name = export_name(transcript, part)
            self._names.add(name)
            text = _headed(transcript, lines).text.encode("utf-8")
            written += self._write(self._folder / name, text)
        self._written += bool(written)
        self._kept += not written

    def remove_others(self) -> None:
        """Remove the copies that this export has not looked after."""
        for file in self._folder.glob("*.md"):
            if file.name not in self._names and _is_ours(file):
                file.unlink(missing_ok=True)
                self._removed += 1

    def report(self) -> ExportReport:
        """Return what was done."""
        return ExportReport(
            written=self._written,
            kept=self._kept,
            removed=self._removed,
            empty=tuple(self._empty),
            skipped=tuple(self._skipped),
            read=self._read,
        )

    def _write(self, file: Path, text: bytes) -> bool:
        """Write a file of ours, and say whether it is new or has changed."""
        if file.exists() and not _is_ours(file):
            detail = f"{file.name} is there and not ours"
            self._skipped.append(
                Skipped(path=file.name, reason="duplicate", detail=detail)
            )
            return False
        with suppress(OSError):
            if file.read_bytes() == text:
                return False
        replace_file(file, text)
        return True


def _is_ours(file: Path) -> bool:
    try:
        if not file.is_file():  # a pipe would be waited for
            return False
        with file.open("rb") as opened:
            return opened.read(len(_OURS)) == _OURS.encode()
    except OSError:
        return False
