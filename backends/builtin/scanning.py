"""The last resort: reading the notes themselves, when there is no index to read.

Slow and thorough: the same chunks, terms and scores as with an index, made anew
for every query, in bounded time.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from threading import Event

from notewell.backends.blocking import CalledOff
from notewell.backends.text.analysis import forms_of, terms_of
from notewell.backends.text.chunking import cut_chunks
from notewell.backends.text.passages import Passage
from notewell.backends.text.query import QueryTerm
from notewell.config import ChunkingSettings
from notewell.workspace import Note, Workspace, read_note, scan, split_lines

_SECONDS = 8.0
"""Notes that cannot be read in this time are left out, and the answer says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """What reading the notes gave.

    Attributes:
        passages: Those that hold something of what was asked for.
        spread: In how many passages each term stands.
        total: Passages that were looked at.
        mean_length: Their mean length in body terms.
        read: Notes that were read.
        notes: Notes that there are.
        unread: What cannot be read now, with the reason.
    """

    passages: Sequence[Passage]
    spread: Counter[str]
    total: int
    mean_length: float
    read: int
    notes: int
    unread: Mapping[str, str]


def look_through(
    workspace: Workspace,
    wants: Sequence[QueryTerm],
    chunking: ChunkingSettings,
    *,
    hides: Callable[[str], bool],
    stop: Event | None = None,
) -> Looked:
    """Read the notes of a workspace and keep what a query may be answered with.

    Raises:
        CalledOff: `stop` was set.
    """
    scanned = scan(workspace)
    unread = {path: why for path, why in scanned.unread.items() if not hides(path)}
    notes = [note for note in scanned.notes if not hides(note.path)]
    terms = {term for want in wants for term in want.terms()}
    heads = tuple(want.exact[0] for want in wants if want.prefix)
    found: list[Passage] = []
    spread: Counter[str] = Counter()
    total = words = read = 0
    until = time.monotonic() + _SECONDS
    for note in notes:
        if stop and stop.is_set():
            raise CalledOff
        read += 1
        for passage in _passages(note, chunking, total, unread):
            total += 1
            words += passage.length
            here = _terms(passage)
            spread.update(here & terms)
            if not here.isdisjoint(terms) or _any_begins(here, heads):
                found.append(passage)
        if time.monotonic() > until:
            break
    return Looked(
        passages=found,
        spread=spread,
        total=total,
        mean_length=max(1.0, words / total) if total else 1.0,
        read=read,
        notes=len(notes),
        unread=unread,
    )


def _passages(
    note: Note, chunking: ChunkingSettings, before: int, unread: dict[str, str]
) -> Iterator[Passage]:
    try:
        lines = split_lines(read_note(note.file).text)
    except FileNotFoundError:
        return
    except OSError as error:
        unread[note.path] = error.strerror or "unreadable"
        return
    chunks = cut_chunks(lines, tokens=chunking.tokens, overlap=chunking.overlap)
    for number, chunk in enumerate(chunks, before):
        yield Passage(
            id=number,
            path=note.path,
            signature=(note.size, note.mtime_ns, note.ctime_ns),
            start_line=chunk.start_line,
            end_line=chunk.end_line,
            heading=chunk.heading,
            length=sum(len(forms.body) for forms in forms_of(chunk.text)),
            text=chunk.text,
            piece=chunk.piece,
        )


def _terms(passage: Passage) -> set[str]:
    return terms_of(f"{passage.beside} {passage.text}")


def _any_begins(terms: set[str], heads: tuple[str, ...]) -> bool:
    return bool(heads) and any(term.startswith(heads) for term in terms)
