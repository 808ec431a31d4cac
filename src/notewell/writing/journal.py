"""What is being appended to a note, written down before it is: a kill loses nothing.

The journal lies with our state, one for a folder of notes. It is there while a text is
being appended, so who finds one holds the lock after somebody who was killed.
"""

import base64
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import orjson

from notewell.errors import NoteNotWritten
from notewell.files import create_folder, replace_file
from notewell.writing.locks import READ_ONLY

_SEED: Final = 16
"""Bytes of a text by which the place is looked for where it may begin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalEntry:
    """One text on its way into a note.

    Attributes:
        path: The note, relative to the workspace.
        text: What is to be remembered.
        offset: How many bytes the note had before.
        raw: What is appended, in the note's encoding.
    """

    path: str
    text: str
    offset: int
    raw: bytes

    def lacking(self, note: bytes) -> bytes | None:
        """Return what a note lacks of the bytes to have all of them in one piece.

        Args:
            note: What stands in it now.

        Returns:
            None when no part of them ends the note, so that nothing can be added to it.
        """
        # An editor may have made the note shorter; then nothing is known of its parts.
        tail = note[self.offset if len(note) >= self.offset else 0 :]
        count = _standing(self.raw, tail)
        return self.raw[count:] if count else None


class NoteJournal:
    """The journal of one folder of notes. Whoever uses it holds the lock."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def exists(self) -> bool:
        """Whether a text was being appended when its writer was ended."""
        return self._file.exists()

    def begin(self, entry: JournalEntry) -> None:
        """Write down what is about to be appended.

        Where our state cannot be written, nothing is: then a kill may leave a part.

        Raises:
            NoteNotWritten: the disk refuses.
        """
        try:
            create_folder(self._file.parent)
            self._drop_drafts()
            replace_file(self._file, _encoded(entry))
        except OSError as exc:
            if exc.errno not in READ_ONLY:
                why = exc.strerror or "the disk refuses"
                raise NoteNotWritten(entry.path, f"{self._file}: {why}") from exc

    def entry(self) -> JournalEntry | None:
        """Return what was being appended; None when the journal cannot be read."""
        try:
            return _decoded(self._file.read_bytes())
        except OSError:
            return None

    def end(self) -> None:
        """Forget it: the text stands in the note, or nothing of it does."""
        with suppress(OSError):
            self._file.unlink()

    def set_aside(self) -> Path:
        """Keep a text that cannot be appended, under the name that is returned."""
        kept = self._file.with_suffix(".unwritten")
        with suppress(OSError):
            self._file.replace(kept)
        return kept

    def _drop_drafts(self) -> None:
        """Remove what a writer has left that was killed before its journal stood."""
        for draft in self._file.parent.glob(f".{self._file.name}.*"):
            draft.unlink(missing_ok=True)


def _encoded(entry: JournalEntry) -> bytes:
    raw = base64.b64encode(entry.raw).decode("ascii")
    return orjson.dumps({**asdict(entry), "raw": raw, "digest": _digest(entry.raw)})


def _decoded(content: bytes) -> JournalEntry | None:
    """Return an entry as it was written; None when it is damaged."""
    try:
        match orjson.loads(content):
            case {
                "path": str() as path,
                "text": str() as text,
                "offset": int() as offset,
                "raw": str() as encoded,
                "digest": digest,
            }:
                raw = base64.b64decode(encoded, validate=True)
                entry = JournalEntry(path=path, text=text, offset=offset, raw=raw)
                return entry if _digest(raw) == digest else None
            case _:
                return None
    except ValueError:
        return None


def _standing(raw: bytes, tail: bytes) -> int:
    """Count the first bytes of a text that stand in a tail: all, or those it ends with.

    Only the beginning of a line counts: another program may have written the same.
    """
    here, there = memoryview(tail), memoryview(raw)
    at = tail.find(raw[:_SEED])
    while at >= 0:
        count = min(len(tail) - at, len(raw))
        same = here[at : at + count] == there[:count]
        if same and _begins_line(raw, tail, at):
            return count
        at = tail.find(raw[:_SEED], at + 1)
    few = range(min(_SEED, len(raw), len(tail)), 0, -1)
    ends = (count for count in few if tail.endswith(raw[:count]))
    return next((n for n in ends if _begins_line(raw, tail, len(tail) - n)), 0)


def _begins_line(raw: bytes, tail: bytes, at: int) -> bool:
    """Whether a text that stands in a tail begins a line there."""
    # The last byte of a line end, in UTF-8 and in wider characters.
    return not at or tail[at - 1] in b"\n\0" or raw.lstrip(b"\0")[:1] in (b"\r", b"\n")


def _digest(raw: bytes) -> str:
    from hashlib import blake2b

    return blake2b(raw, digest_size=16).hexdigest()
