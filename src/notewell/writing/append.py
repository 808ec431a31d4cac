"""Appending to a note: only what is new, only at the end, and all of it.

The note is opened for appending, never replaced and never cut, so what another program
writes at the same moment stays as well. What is appended stands in a journal until it
stands in the note: whoever writes next finishes what a kill has left.
"""

import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from notewell.errors import NoteNotWritten, PathRefused, UsageError
from notewell.files import read_regular, writable_text
from notewell.workspace import Workspace, locate, read_note, split_lines
from notewell.workspace.decoding import NotText, decode, encoding_name
from notewell.workspace.layout import MAX_NOTE_BYTES
from notewell.writing.blocks import NewText, find_new_text, joined_lines
from notewell.writing.journal import JournalEntry, NoteJournal
from notewell.writing.locks import only_writer_of, state_file
from notewell.writing.notefile import NoteFile, open_for_append

MAX_TEXT_BYTES: Final = 1_000_000
"""More at once is a file, not something to be remembered."""

_TRIES: Final = 3


class AppendResult(NamedTuple):
    """What became of a text.

    Attributes:
        path: The note, relative to the workspace.
        start_line: The first line that was written; when nothing was, the first line
            of what stands there already.
        end_line: The last one.
        written: Whether anything was new.
        repeated: How many blocks stood there already and were left out.
        finished: What was done before about a text that a kill had left unwritten.
    """

    path: str
    start_line: int
    end_line: int
    written: bool
    repeated: int
    finished: tuple[str, ...] = ()


class _Draft(NamedTuple):
    raw: bytes
    first: int
    last: int


def append_note(
    workspace: Workspace,
    path: str,
    text: str,
    *,
    state_dir: Path,
    title: str | None = None,
    known: Sequence[str] = (),
    stop: threading.Event | None = None,
) -> AppendResult:
    """Append to a note what it lacks of a text.

    Args:
        workspace: Where the note is, or will be.
        path: The note, relative to the workspace.
        text: Markdown, not empty. Empty lines around it are dropped.
        state_dir: `<state>`, where the lock lies.
        title: The first line of the note if it does not exist yet.
        known: Paths of further notes, whose blocks are not repeated either.
        stop: Set when other writers are not to be waited for any longer.

    Raises:
        UsageError: the text is larger than MAX_TEXT_BYTES.
        PathRefused: the note, or a folder on the way, is no place for notes.
        NoteNotWritten: the disk refuses, or somebody else is writing for long.
    """
    _check_size(text)
    place = _Place.of(workspace, path)
    others = [_lines_of(workspace, other) for other in known if other != path]
    job = _Job(place, _trimmed(text), title, others)
    job.compare_ahead()
    with only_writer_of(Path(place.root), state_dir=state_dir, stop=stop):
        journal = _journal(workspace, state_dir)
        finished = _finish(workspace, journal)
        for _ in range(_TRIES):
            appended = job.run(journal)
            if appended is not None:
                return appended._replace(finished=finished)
    raise NoteNotWritten(path, "another program replaces it all the time")


def finish_notes(workspace: Workspace, *, state_dir: Path) -> tuple[str, ...]:
    """Append the text of a writer that was killed, if one was; say what was done.

    Who is writing now sees to that as well, and is not waited for.

    Raises:
        NoteNotWritten: the disk refuses; the text is kept for the next writer.
    """
    journal = _journal(workspace, state_dir)
    if not journal.exists():
        return ()
    root = Path(os.path.realpath(workspace.root))
    try:
        with only_writer_of(root, state_dir=state_dir, patience=0):
            return _finish(workspace, journal)
    except NoteNotWritten:
        if journal.exists():
            raise
        return ()


class _Place(NamedTuple):
    """Where a note is, or will be."""

    root: str
    path: str
    file: str

    @classmethod
    def of(cls, workspace: Workspace, path: str) -> "_Place":
        located = locate(workspace, path, exactly=True)
        root = os.path.realpath(workspace.root)
        file = located.file or os.path.join(root, *located.path.split("/"))
        return cls(root, located.path, file)


class _Job:
    """A text that is to be appended to a note."""

    def __init__(
        self,
        place: _Place,
        lines: list[str],
        title: str | None,
        known: Sequence[Sequence[str]] = (),
    ) -> None:
        self._place = place
        self._lines = lines
        self._title = title
        self._known = known
        self._compared: tuple[bytes, NewText] | None = None

    def compare_ahead(self) -> None:
        """Find what the note lacks before anybody has to wait for us."""
        try:
            before = read_regular(self._place.file)
            self._compared = before, self._fresh(before)
        except OSError:
            return

    def run(self, journal: NoteJournal) -> AppendResult | None:
        """Append what the note lacks; None when it was replaced meanwhile."""
        place = self._place
        with open_for_append(place.file, place.path) as note:
            before = note.read()
            try:
                fresh = self._fresh(before)
                if not fresh.lines:
                    return _standing(place.path, _lines(before), fresh)
                return self.write(note, before, fresh, journal)
            except NotText as exc:
                raise NoteNotWritten(place.path, exc.why) from exc
            except UnicodeEncodeError as exc:
                raise NoteNotWritten(place.path, _lacks(exc)) from exc

    def write(
        self, note: NoteFile, before: bytes, fresh: NewText, journal: NoteJournal
    ) -> AppendResult | None:
        """Append these lines; None when the note was replaced meanwhile."""
        draft = _draft(before, fresh, self._title)
        if len(before) + len(draft.raw) > MAX_NOTE_BYTES:
            raise NoteNotWritten(note.path, f"it would pass {MAX_NOTE_BYTES:,} bytes")
        note.check_room(len(draft.raw))
        text = "\n".join(fresh.lines)
        journal.begin(
            JournalEntry(path=note.path, text=text, offset=len(before), raw=draft.raw)
        )
        note.append(draft.raw)
        if not note.stands():
            return None
        journal.end()
        return AppendResult(note.path, draft.first, draft.last, True, fresh.repeated)

    def _fresh(self, before: bytes) -> NewText:
        if self._compared is not None and self._compared[0] == before:
            return self._compared[1]
        return find_new_text(self._lines, _lines(before), known=self._known)


def _lacks(error: UnicodeEncodeError) -> str:
    sign = error.object[error.start]
    name = encoding_name(error.encoding)
    return f"it is written in {name}, which has no {sign!r}; save it as UTF-8"


def _finish(workspace: Workspace, journal: NoteJournal) -> tuple[str, ...]:
    """Append what the journal holds, and forget it; say what was done.

    Raises:
        NoteNotWritten: the disk refuses; the journal is kept.
    """
    if not journal.exists():
        return ()
    entry = journal.entry()
    if entry is None:
        kept = journal.set_aside()
        return (f"a text that was being written cannot be read any more: {kept}",)
    try:
        place = _Place.of(workspace, entry.path)
        with open_for_append(place.file, place.path) as note:
            said = _finish_note(note, entry, place, journal)
    except PathRefused as refused:
        kept = journal.set_aside()
        return (f"{refused.message}; a text that was to stand there is kept in {kept}",)
    journal.end()
    return (f"{entry.path}: {said}",) if said else ()


def _finish_note(
    note: NoteFile, entry: JournalEntry, place: _Place, journal: NoteJournal
) -> str | None:
    """Append what a note lacks of a text; say what was done, if anything was."""
    before = note.read()
    lacking = entry.lacking(before)
    if lacking is not None:
        if not lacking:
            return None
        note.check_room(len(lacking))
        note.append(lacking)
        return "the rest of a text was appended, whose writer had been ended"
    lines = entry.text.split("\n")
    if not find_new_text(lines, _lines(before)).lines:
        return None
    job = _Job(place, lines, None)
    job.write(note, before, NewText(tuple(lines)), journal)
    return "a text was appended, whose writer had been ended before it stood there"


def _journal(workspace: Workspace, state_dir: Path) -> NoteJournal:
    root = Path(os.path.realpath(workspace.root))
    return NoteJournal(state_file(root, state_dir, "journal"))


def _check_size(text: str) -> None:
    if len(text) > MAX_TEXT_BYTES // 4:
        size = len(text.encode("utf-8", "replace"))
        if size > MAX_TEXT_BYTES:
            raise UsageError(
                f"the text has {size:,} bytes, more than {MAX_TEXT_BYTES:,}",
                remedy="put it into a file below memory/, or write it in parts",
            )


def _draft(before: bytes, fresh: NewText, title: str | None) -> _Draft:
    """Return the bytes to append, in the note's encoding and with its line ends."""
    note = _lines(before)
    ends = "\r\n" if note and note[0].endswith("\r") else "\n"
    codec = decode(before).codec
    head: list[str] = []
    tight = fresh.tight or (note and _are_items(note[-1], fresh.lines[0]))
    if note and note[-1].strip() and not tight:
        head = [""]
    elif (
        not note
        and title is not None
        and joined_lines(fresh.lines[:1]) != joined_lines([title])
    ):
        head = [title, ""]
    start = ends if note and not before.endswith("\n".encode(codec)) else ""
    text = start + "".join(f"{line}{ends}" for line in (*head, *fresh.lines))
    first = len(note) + len(head) + 1
    return _Draft(_encoded(text, codec), first, first + len(fresh.lines) - 1)


def _encoded(text: str, codec: str) -> bytes:
    """Encode a text as its note is; nothing is written that would have to be altered.

    Raises:
        UnicodeEncodeError: an older encoding lacks a character.
    """
    return text.encode(codec, "replace" if codec.startswith("utf") else "strict")


def _standing(path: str, note: Sequence[str], fresh: NewText) -> AppendResult:
    block = joined_lines(fresh.first_repeated)
    at = joined_lines(note).find(block)
    first = joined_lines(note)[: at + 1].count("\n") if at >= 0 else 1
    last = first + block.count("\n") - 2
    return AppendResult(path, first, max(first, last), False, fresh.repeated)


def _lines_of(workspace: Workspace, path: str) -> list[str]:
    """Return the lines of another note; none when it cannot be read."""
    try:
        located = locate(workspace, path, exactly=True)
        return split_lines(read_note(located.file).text) if located.file else []
    except (PathRefused, OSError):
        return []


def _lines(note: bytes) -> list[str]:
    return split_lines(decode(note).text)


def _trimmed(text: str) -> list[str]:
    lines = [line.removesuffix("\r") for line in writable_text(text).split("\n")]
    full = [at for at, line in enumerate(lines) if line.strip()]
    return lines[full[0] : full[-1] + 1] if full else []


def _are_items(last: str, first: str) -> bool:
    """Whether two lines are items of one list."""
    return last[:2] == first[:2] and last[:2] in ("- ", "* ", "+ ")
