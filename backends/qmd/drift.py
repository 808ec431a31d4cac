"""Notes and transcripts on disk against QMD's index: what changed, and is it whole?

QMD is not asked. That an index is the one that was written is seen by its file; if it
is another, what it holds is counted: a killed update can lose documents from the
full-text index, and a file can be emptied, replaced or damaged by anybody. QMD's own
database is only read, and a version that keeps it otherwise is not audited.
"""

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

import apsw

from notewell.backends.base import Bounds, Site
from notewell.backends.qmd.globs import compile_glob, is_never_read
from notewell.backends.qmd.home import IndexRecord, QmdHome
from notewell.backends.qmd.paths import (
    Collection,
    collection_filter,
    collections_of,
    digest_of,
    handle_of,
)
from notewell.backends.qmd.transcripts import TranscriptCopies, TranscriptDrift
from notewell.files import read_regular
from notewell.types import FallbackReason, Skipped, source_of
from notewell.workspace import Note, WorkspaceScan, scan
from notewell.workspace.layout import USER_NOTE, without_suffix

_PATIENCE_MS: Final = 5_000
_PASSED_OVER: Final = (
    "QMD does not read it: its name, its folder (build, dist, vendor) or its suffix"
)
_NOT_MEANT: Final = (
    "it is no part of the default collection; memory.qmd.paths can name it"
)
_SAME_NAME: Final = (
    "this version of QMD gives it the name of another note, which it keeps instead; "
    "2.8 and newer keep both"
)
_Name: TypeAlias = tuple[str, str]


class QmdDocument(NamedTuple):
    """A document of QMD's index: its collection, its path there, its digest."""

    collection: str
    path: str
    digest: str


class Audit(NamedTuple):
    """What an index of QMD's holds.

    Attributes:
        documents: Everything that it means to hold.
        searchable: How many of them its full-text index has.
    """

    documents: Sequence[QmdDocument]
    searchable: int

    @property
    def whole(self) -> bool:
        """Whether every document can be found."""
        return self.searchable == len(self.documents)

    @property
    def digest(self) -> str:
        """A hash that differs when any document does."""
        rows = "\n".join(sorted("\0".join(document) for document in self.documents))
        return sha256(rows.encode("utf-8", "surrogatepass")).hexdigest()


class DatabaseDamaged(Exception):
    """The file of an index is no database, or a broken one."""


class IndexProblem(NamedTuple):
    """What is wrong with an index.

    Attributes:
        reason: The reason of a fallback.
        said: The same for a person.
    """

    reason: FallbackReason
    said: str


_GONE: Final = IndexProblem("not-ready", "its index is not there any more")
_UNCONFIGURED: Final = IndexProblem(
    "not-ready", "the configuration of its index is gone"
)
_DAMAGED: Final = IndexProblem("corrupt", "its index is damaged")
_OTHER: Final = IndexProblem("corrupt", "its index was emptied or replaced")
_PARTLY: Final = IndexProblem("corrupt", "its full-text index lacks notes")


class Drift(NamedTuple):
    """The notes and what the index knows of them.

    Attributes:
        scanned: The notes on disk.
        collections: What QMD should read.
        record: What we know of the index.
        pending: Notes and transcripts that changed since, came or went.
        current: The index reads what it should, and nothing is doubtful about it.
        transcripts: The same of the transcripts and their copies.
        problem: What is wrong with the index, or None.
        gone: Those of the pending notes that are gone.
    """

    scanned: WorkspaceScan
    collections: tuple[Collection, ...]
    record: IndexRecord
    pending: int
    current: bool
    transcripts: TranscriptDrift
    problem: IndexProblem | None = None
    gone: int = 0

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a person should know of the index and the transcripts."""
        problem = self.problem and (
            f"QMD is not asked: {self.problem.said}; run `notewell index`, "
            "which builds it anew."
        )
        return tuple(said for said in (problem, self.transcripts.problem) if said)


def measure_drift(
    site: Site,
    home: QmdHome,
    copies: TranscriptCopies,
    *,
    spoken: bool = True,
    thorough: bool = True,
) -> Drift:
    """Compare what is on disk with what an index knows; the program is not asked.

    Args:
        spoken: Look at the transcripts, too.
        thorough: Read the whole of an index that is not as it was last written.
    """
    scanned = scan(site.workspace)
    collections = note_collections(site)
    transcripts = TranscriptDrift(problem=copies.problem())
    if spoken:
        transcripts = copies.drift()
    if copies.wanted and not transcripts.problem:
        taken = [each.name for each in collections]
        collections = (*collections, copies.collection(taken))
    record = home.record()
    problem = index_problem(home, record, pages=thorough)
    if problem is None and home.is_doubtful(record.generation):
        problem = _DAMAGED
    current = (
        record.generation > 0
        and not record.unfinished
        and record.collections == collections
        and problem is None
    )
    changed, gone = _changed(home, record, scanned)
    pending = changed + gone + transcripts.pending
    if record.generation and not current:
        files = len(scanned.notes) + len(transcripts.found)
        pending = max(pending, 1, files)
    return Drift(
        scanned=scanned,
        collections=collections,
        record=record,
        pending=pending,
        current=current,
        transcripts=transcripts,
        problem=problem,
        gone=gone,
    )


def _changed(
    home: QmdHome, record: IndexRecord, scanned: WorkspaceScan
) -> tuple[int, int]:
    """Count the notes that changed since they were indexed, or came, and those that went."""
    known = home.notes() if record.generation else {}
    now = {note.path: signature_of(note) for note in scanned.notes}
    changed = sum(1 for path, state in now.items() if known.get(path) != state)
    return changed, len(known.keys() - now.keys())


def index_problem(
    home: QmdHome, record: IndexRecord, *, pages: bool = False
) -> IndexProblem | None:
    """Say what is wrong with the index that answers; None as far as one can see.

    That it is the file which was last written costs no more than to look at it. If it is
    not, it is counted, and with `pages` every page of it is read.
    """
    if not record.generation:
        return None
    database = home.database(record.generation)
    state = database_state(database)
    if not state:
        return _GONE
    if not home.configuration(record.generation).exists():
        return _UNCONFIGURED
    if state == record.file:
        return None
    try:
        counted = audit_database(database, pages=pages)
    except DatabaseDamaged:
        return _DAMAGED
    if counted is None:  # of a version that cannot be counted the size is all we know
        emptied = bool(record.file and record.file[1]) and not state[1]
        return _OTHER if record.digest or emptied else None
    return _difference(counted, record)


def _difference(counted: Audit, record: IndexRecord) -> IndexProblem | None:
    if record.unfinished:  # it may be written to at this moment
        return None if counted.documents else _OTHER
    if record.digest and counted.digest != record.digest:
        return _OTHER
    return None if counted.whole else _PARTLY


def audit_database(database: Path, *, pages: bool = False) -> Audit | None:
    """Count what the index holds; None if this version keeps it otherwise.

    Args:
        pages: Look at every page of the file, too.

    Raises:
        Damaged: it is no database, or a broken one.
    """
    try:
        with closing(
            apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY)
        ) as connection:
            connection.set_busy_timeout(_PATIENCE_MS)
            rows = connection.execute(
                "select collection, path, hash from documents where active = 1"
            )
            documents = [QmdDocument(*map(str, row)) for row in rows]
            counted = connection.execute("select count(*) from documents_fts").get
            if pages and connection.execute("pragma quick_check(1)").get != "ok":
                raise DatabaseDamaged
    except (apsw.NotADBError, apsw.CorruptError) as exc:
        raise DatabaseDamaged from exc
    except apsw.Error:
        return None
    return Audit(documents, counted if isinstance(counted, int) else -1)


def database_state(database: Path) -> tuple[int, ...]:
    """Return numbers that differ after any write to an index; none if it is gone.

    What was written last may still be beside the file, in its log.
    """
    try:
        file = os.stat(database)
    except OSError:
        return ()
    try:
        log = os.stat(f"{database}-wal").st_size
    except OSError:
        log = 0
    return (file.st_ino, file.st_size, file.st_mtime_ns, log)


def note_collections(site: Site) -> tuple[Collection, ...]:
    """Return the collections of notes that are configured."""
    qmd = site.memory.qmd
    return collections_of(
        site.workspace, qmd.paths, default_memory=qmd.include_default_memory
    )


def search_bounds(site: Site) -> Bounds:
    """Return what may be read and shown, whoever answers."""
    is_held = collection_filter(site.workspace, note_collections(site))
    copies = TranscriptCopies(site, QmdHome(site))

    @cache
    def spoken() -> frozenset[str]:
        if not copies.wanted or copies.problem():
            return frozenset()
        return frozenset(each.path for each in copies.retained()[0])

    return Bounds(
        holds=lambda path: (
            path in spoken() if source_of(path) == "sessions" else is_held(path)
        ),
        snippet_chars=site.memory.qmd.limits.max_snippet_chars,
    )


def skipped_notes(record: IndexRecord) -> tuple[Skipped, ...]:
    """Return the notes and transcripts that QMD leaves out."""
    return tuple(
        Skipped(path=path, reason="ignored", detail=why)
        for path, why in sorted(record.not_read.items())
    )


def count_indexed(now: Drift) -> int:
    """Return how many files the index knows, those without text included."""
    files = len(now.scanned.notes) + len(now.transcripts.found)
    return files - min(now.pending, files) if now.record.generation else 0


def signature_of(note: Note) -> tuple[int, int, int]:
    """Return numbers that differ after any change of a note."""
    return (note.size, note.mtime_ns, note.ctime_ns)


def missing_notes(
    notes: Sequence[Note],
    collections: Sequence[Collection],
    counted: Audit,
    *,
    literal: bool,
) -> dict[str, str]:
    """Return the notes that QMD does not have, though they lie where it looks.

    Args:
        literal: It keeps names as they are; else they are compared loosely, and of
            several notes that come to the same name it has kept one.
    """
    held: dict[_Name, set[str]] = defaultdict(set)
    for document in counted.documents:
        path = document.path if literal else handle_of(document.path)
        held[document.collection, path].add(document.digest)
    names_of = _namer(collections, literal=literal)
    names = {note: names_of(note) for note in notes if note.size}
    shared = Counter(name for each in names.values() for name in each)
    missing: dict[str, str] = {}
    for note, named in names.items():
        kept = [name for name in named if name in held]
        if not named and note.path == USER_NOTE:
            missing[note.path] = _NOT_MEANT
        elif named and not kept:
            missing[note.path] = _PASSED_OVER
        elif kept and not any(
            shared[name] <= len(held[name]) or _digest(note) in held[name]
            for name in kept
        ):
            missing[note.path] = _SAME_NAME
    return missing


def _digest(note: Note) -> str:
    try:
        return digest_of(read_regular(note.file))
    except (OSError, ValueError):
        return ""


def _namer(
    collections: Sequence[Collection], *, literal: bool
) -> Callable[[Note], set[_Name]]:
    """Return a function from a note to the names that it would have in QMD."""
    areas = [
        (each.name, os.path.join(each.folder, ""), compile_glob(each.pattern))
        for each in collections
    ]

    def names(note: Note) -> set[_Name]:
        found: set[_Name] = set()
        for name, folder, means in areas:
            inner = note.file.removeprefix(folder)
            if inner != note.file and _is_meant(inner, means):
                found.add((name, inner if literal else handle_of(inner)))
        return found

    return names


def _is_meant(inner: str, means: Callable[[str], bool]) -> bool:
    """Whether a pattern means a note, or QMD passes over its folder."""
    stem = without_suffix(inner)
    return is_never_read(inner) or means(stem + inner[len(stem) :].lower())
