"""Notes and transcripts on disk against what the index knows; QMD is not asked."""

from dataclasses import dataclass
from functools import cache
from typing import Final, NamedTuple

from notewell.backends.base import Bounds, Site
from notewell.backends.qmd.audit import Audit, Damaged, audit, file_state
from notewell.backends.qmd.collections import Collection, collections_of, held_by
from notewell.backends.qmd.copies import Copies, Due
from notewell.backends.qmd.home import Home, Record
from notewell.types import FallbackReason, Skipped, source_of
from notewell.workspace import Note, WorkspaceScan, scan


class Problem(NamedTuple):
    """What is wrong with an index.

    Attributes:
        reason: The reason of a fallback.
        said: The same for a person.
    """

    reason: FallbackReason
    said: str


_GONE: Final = Problem("not-ready", "its index is not there any more")
_UNCONFIGURED: Final = Problem("not-ready", "the configuration of its index is gone")
_DAMAGED: Final = Problem("corrupt", "its index is damaged")
_OTHER: Final = Problem("corrupt", "its index was emptied or replaced")
_PARTLY: Final = Problem("corrupt", "its full-text index lacks notes")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """The notes and what the index knows of them.

    Attributes:
        scanned: The notes on disk.
        collections: What QMD should read.
        record: What we know of the index.
        pending: Notes and transcripts that changed since, came or went.
        current: The index reads what it should, and nothing is doubtful about it.
        due: The transcripts, and what is to be copied of them.
        problem: What is wrong with the index, or None.
    """

    scanned: WorkspaceScan
    collections: tuple[Collection, ...]
    record: Record
    pending: int
    current: bool
    due: Due
    problem: Problem | None = None

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a person should know of the index and the transcripts."""
        problem = self.problem and (
            f"QMD is not asked: {self.problem.said}; run `notewell index`, "
            "which builds it anew."
        )
        return tuple(said for said in (problem, self.due.problem) if said)


def outlook(
    site: Site,
    home: Home,
    copies: Copies,
    *,
    spoken: bool = True,
    thorough: bool = True,
) -> Outlook:
    """Compare what is on disk with what an index knows; the program is not asked.

    Args:
        spoken: Look at the transcripts, too.
        thorough: Read the whole of an index that is not as it was last written.
    """
    scanned = scan(site.workspace)
    collections = notes_of(site)
    due = copies.look() if spoken else Due(problem=copies.problem())
    if copies.wanted and not due.problem:
        taken = [each.name for each in collections]
        collections = (*collections, copies.collection(taken))
    record = home.record()
    problem = problem_of(home, record, pages=thorough)
    if problem is None and home.is_doubtful(record.generation):
        problem = _DAMAGED
    current = (
        record.generation > 0
        and not record.unfinished
        and record.collections == collections
        and problem is None
    )
    known = home.notes() if record.generation else {}
    now = {note.path: signature(note) for note in scanned.notes}
    changed = sum(1 for path, state in now.items() if known.get(path) != state)
    gone = len(known.keys() - now.keys())
    pending = changed + gone + due.pending
    if record.generation and not current:
        pending = max(pending, 1, len(now) + len(due.found))
    return Outlook(
        scanned=scanned,
        collections=collections,
        record=record,
        pending=pending,
        current=current,
        due=due,
        problem=problem,
    )


def problem_of(home: Home, record: Record, *, pages: bool = False) -> Problem | None:
    """Say what is wrong with the index that answers; None as far as one can see.

    That it is the file which was last written costs no more than to look at it. If it is
    not, it is counted, and with `pages` every page of it is read.
    """
    if not record.generation:
        return None
    database = home.database(record.generation)
    state = file_state(database)
    if not state:
        return _GONE
    if not home.configuration(record.generation).exists():
        return _UNCONFIGURED
    if state == record.file:
        return None
    try:
        counted = audit(database, pages=pages)
    except Damaged:
        return _DAMAGED
    if counted is None:  # of a version that cannot be counted the size is all we know
        emptied = bool(record.file and record.file[1]) and not state[1]
        return _OTHER if record.digest or emptied else None
    return _difference(counted, record)


def _difference(counted: Audit, record: Record) -> Problem | None:
    if record.unfinished:  # it may be written to at this moment
        return None if counted.documents else _OTHER
    if record.digest and counted.digest != record.digest:
        return _OTHER
    return None if counted.whole else _PARTLY


def notes_of(site: Site) -> tuple[Collection, ...]:
    """Return the collections of notes that are configured."""
    qmd = site.memory.qmd
    return collections_of(
        site.workspace, qmd.paths, default_memory=qmd.include_default_memory
    )


def bounds(site: Site) -> Bounds:
    """Return what may be read and shown, whoever answers."""
    held = held_by(site.workspace, notes_of(site))
    copies = Copies(site, Home(site))

    @cache
    def spoken() -> frozenset[str]:
        if not copies.wanted or copies.problem():
            return frozenset()
        return frozenset(each.path for each in copies.retained()[0])

    return Bounds(
        holds=lambda path: (
            path in spoken() if source_of(path) == "sessions" else held(path)
        ),
        snippet_chars=site.memory.qmd.limits.max_snippet_chars,
    )


def not_read(record: Record) -> tuple[Skipped, ...]:
    """Return the notes and transcripts that QMD leaves out."""
    return tuple(
        Skipped(path=path, reason="ignored", detail=why)
        for path, why in sorted(record.not_read.items())
    )


def held(now: Outlook) -> int:
    """Return how many files the index knows, those without text included."""
    files = len(now.scanned.notes) + len(now.due.found)
    return files - min(now.pending, files) if now.record.generation else 0


def signature(note: Note) -> tuple[int, int, int]:
    """Return what changes when a note does."""
    return (note.size, note.mtime_ns, note.ctime_ns)
