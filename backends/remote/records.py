"""What a server is given of a note: its row, and of each passage the terms with weights."""

from collections import Counter
from datetime import date

from notewell.backends.changes import UNSETTLED, IndexedNote, Signature
from notewell.backends.remote.store import (
    BODY_WEIGHT,
    CONTEXT_WEIGHT,
    EXTRA_WEIGHT,
    MOST_WEIGHT,
    FoundPassage,
    NoteRecord,
    PassageRecord,
)
from notewell.backends.text.filtering import Property
from notewell.backends.text.note_analysis import AnalysedNote, AnalysedPassage
from notewell.backends.text.passages import Passage
from notewell.workspace import Note
from notewell.workspace.metadata import day_of_file

_RACY_NS = 2_000_000_000
"""A file younger than this when it was read may change again within the same time stamp."""

_JOINT = "\x1f"
"""Between key and value of a property; it stands in neither."""


def known_note(record: NoteRecord) -> IndexedNote:
    """Return a note of the server as it is compared with the disk."""
    return IndexedNote(
        record.path, *record.signature, record.id, record.digest, record.problem
    )


def note_record(
    note: Note, before: NoteRecord | None, read: AnalysedNote
) -> NoteRecord:
    """Return the row of a note that was read, or could not be.

    Args:
        note: As it was found.
        before: What the server holds of it.
        read: What is in it.
    """
    signature = _signature(note, read)
    changed = day_of_file(note.mtime_ns)
    if before is not None and keeps_passages(read):
        day = before.day if before.dated else _iso(changed)
        return NoteRecord(
            path=note.path,
            signature=signature,
            digest=before.digest,
            problem=read.problem,
            remark=before.remark,
            day=day,
            dated=before.dated,
            properties=before.properties,
            id=before.id,
        )
    return NoteRecord(
        path=note.path,
        signature=signature,
        digest=read.digest,
        problem=read.problem,
        remark=read.guess,
        day=read.day or _iso(changed),
        dated=read.day is not None,
        properties=tuple(_JOINT.join(each) for each in read.properties),
        id=before.id if before else 0,
    )


def keeps_passages(read: AnalysedNote) -> bool:
    """Whether a note's passages stay: it is the same, or cannot be read now."""
    return read.same or (read.problem is not None and not read.textless)


def properties_of(record: NoteRecord) -> list[Property]:
    """Return what a note says of itself."""
    return [Property(*each.split(_JOINT, 1)) for each in record.properties]


def recorded_day(record: NoteRecord) -> date | None:
    """Return the day of a note, if it is known."""
    try:
        return date.fromisoformat(record.day) if record.day else None
    except ValueError:
        return None


def passage_record(passage: AnalysedPassage) -> PassageRecord:
    """Return a passage with its terms counted, each in fifths of an occurrence."""
    body, extra = passage.body.split(), passage.extra.split()
    context = passage.context.split()
    weights: Counter[str] = Counter()
    for terms, weight in (
        (body, BODY_WEIGHT),
        (extra, EXTRA_WEIGHT),
        (context, CONTEXT_WEIGHT),
    ):
        for term in terms:
            weights[term] += weight
    return PassageRecord(
        start_line=passage.start_line,
        end_line=passage.end_line,
        piece=passage.piece,
        heading=passage.heading,
        length=passage.length,
        row_length=len(body) + len(extra) + len(context),
        digest=passage.digest,
        text=passage.text,
        weights={term: min(MOST_WEIGHT, weight) for term, weight in weights.items()},
        unwritten=frozenset(extra).difference(body, context),
    )


def passage_found(found: FoundPassage) -> Passage:
    """Return a passage as the second stage takes it."""
    return Passage(
        id=found.id,
        path=found.path,
        signature=found.signature,
        start_line=found.start_line,
        end_line=found.end_line,
        heading=found.heading,
        length=found.length,
        text=found.text,
        piece=found.piece,
        day=found.day,
    )


def _signature(note: Note, read: AnalysedNote) -> tuple[int, int, int]:
    """Return how a note looked when it was read, unless it may change unseen."""
    times = (note.mtime_ns, note.ctime_ns)
    settled = all(abs(read.read_at - at) > _RACY_NS for at in times)
    failed = read.problem is not None and not read.textless
    mtime = note.mtime_ns if settled and not failed else UNSETTLED
    return Signature(note.size, mtime, note.ctime_ns)


def _iso(day: date | None) -> str | None:
    return None if day is None else day.isoformat()
