"""The last resort: reading the notes themselves, when there is no index to read.

Slow and thorough: the same chunks, terms and scores as with an index, made anew
for every query, in bounded time.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from threading import Event
from typing import TYPE_CHECKING

from notewell.backends.base import Findings, Query, Site
from notewell.backends.builtin.errors import BACKEND, IndexUnreadable
from notewell.backends.builtin.vectors.outcome import KEYWORDS_ONLY, QueryVector
from notewell.backends.loops import WorkCancelled
from notewell.backends.text.analysis import terms_of
from notewell.backends.text.chunking import cut_passages
from notewell.backends.text.passages import Passage
from notewell.backends.text.query import (
    ParsedQuery,
    QueryTerm,
    filter_test_of,
    parse_query,
    wants_newest,
)
from notewell.backends.text.scoring import ExactMatch, Scorer
from notewell.backends.weighing.answer import (
    HitSelector,
    empty_reason,
    query_warnings,
    unread_warnings,
)
from notewell.backends.weighing.verify import Verifier
from notewell.config import ChunkingSettings
from notewell.types import Fallback, Freshness, Hit
from notewell.workspace import Note, Workspace, read_note, scan, split_lines

if TYPE_CHECKING:
    from notewell.backends.text.filtering import FilterTest

_SECONDS = 8.0
"""Notes that cannot be read in this time are left out, and the answer says so."""


_WITHOUT_TRANSCRIPTS = (
    "Transcripts are found by the index alone, so they were left out."
)


def search_files(
    site: Site,
    query: Query,
    unreadable: IndexUnreadable,
    *,
    vector: QueryVector = KEYWORDS_ONLY,
    stop: Event | None = None,
) -> Findings:
    """Answer by reading the notes themselves, since the index cannot be read.

    Args:
        unreadable: Why it cannot.
        vector: What was done for the question's vector before that came out.
        stop: No further note is read once it is set.

    Raises:
        WorkCancelled: `stop` was set.
    """
    asked, newest = parse_query(query.text), wants_newest(query)
    if not asked.terms and not newest:
        return Findings(hits=(), mode="scan", reason="empty-query")
    found = scan_notes(
        site.workspace,
        asked.terms,
        site.agent.search.chunking,
        hides=lambda path: "memory" not in query.sources or query.hides(path),
        test=filter_test_of(query),
        stop=stop,
    )
    hits = _newest(query, found) if newest else _hits(site, query, asked, found)
    stepped_down = Fallback(
        kind="lexical-index",
        from_=BACKEND,
        to="scan",
        reason=unreadable.reason,
        message=unreadable.why,
    )
    return Findings(
        hits=hits,
        mode="scan",
        fallbacks=(*vector.fallbacks, stepped_down),
        local_to_remote=vector.local_to_remote,
        degraded=True,
        reason=None if hits else empty_reason(found.total or found.notes),
        freshness=Freshness(pending=found.notes),
        warnings=(
            *query_warnings(asked),
            *_missed(query, found),
            *(() if hits else _left_nothing(site, query)),
        ),
    )


def _hits(
    site: Site, query: Query, asked: ParsedQuery, found: "ScanResult"
) -> list[Hit]:
    scorer = Scorer(
        asked.terms,
        found.frequencies,
        passages=found.total,
        mean_length=found.mean_length,
    )
    literal = ExactMatch(asked.terms, found.frequencies)
    selector = HitSelector(site, query, literal, Verifier(site.workspace))
    return selector.select([scorer.score(each) for each in found.passages], scorer)


def _newest(query: Query, found: "ScanResult") -> list[Hit]:
    from notewell.backends.text.listing import list_hits  # rare

    return list_hits(found.passages, query)


def _left_nothing(site: Site, query: Query) -> tuple[str, ...]:
    """Say which part of the filter left nothing."""
    if query.filter is None:
        return ()
    from notewell.backends.text.filtering import ReadNote, any_passes, filter_warnings

    notes = [each for each in scan(site.workspace).notes if not query.hides(each.path)]
    until = time.monotonic() + _SECONDS

    def read() -> Iterator[ReadNote]:
        for note in notes:
            if time.monotonic() > until:
                return
            with suppress(OSError):
                lines = split_lines(read_note(note.file).text)
                yield ReadNote(note.path, lines, note.mtime_ns)

    said = filter_warnings(query.filter, lambda part: any_passes(part, read()))
    return said if time.monotonic() <= until else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanResult:
    """What reading the notes gave.

    Attributes:
        passages: Those that hold something of what was asked for.
        frequencies: In how many passages each term stands.
        total: Passages that were looked at.
        mean_length: Their mean length in body terms.
        read: Notes that were read.
        notes: Notes that there are.
        unread: What cannot be read now, with the reason.
    """

    passages: Sequence[Passage]
    frequencies: Counter[str]
    total: int
    mean_length: float
    read: int
    notes: int
    unread: Mapping[str, str]


def scan_notes(
    workspace: Workspace,
    query_terms: Sequence[QueryTerm],
    chunking: ChunkingSettings,
    *,
    hides: Callable[[str], bool],
    test: "FilterTest | None" = None,
    stop: Event | None = None,
) -> ScanResult:
    """Read the notes of a workspace and keep what a query may be answered with.

    Args:
        query_terms: What is asked for; without any, every passage is kept.
        hides: Says of a path whether it may not be seen.
        test: What a filter lets pass; None: everything.

    Raises:
        WorkCancelled: `stop` was set.
    """
    scanned = scan(workspace)
    unread = {path: why for path, why in scanned.unread.items() if not hides(path)}
    notes = [note for note in scanned.notes if not hides(note.path)]
    tally = _Tally(query_terms)
    read = 0
    until = time.monotonic() + _SECONDS
    for note in notes:
        if stop and stop.is_set():
            raise WorkCancelled
        read += 1
        if test is not None and not test.path(note.path):
            continue
        for passage in _passages(note, chunking, tally.total, unread, test):
            tally.add(passage)
        if time.monotonic() > until:
            break
    return ScanResult(
        passages=tally.found,
        frequencies=tally.frequencies,
        total=tally.total,
        mean_length=max(1.0, tally.words / tally.total) if tally.total else 1.0,
        read=read,
        notes=len(notes),
        unread=unread,
    )


class _Tally:
    """Counts passages, and keeps those that hold something of what is wanted."""

    def __init__(self, query_terms: Sequence[QueryTerm]) -> None:
        self._terms = {
            term for query_term in query_terms for term in query_term.terms()
        }
        self._heads = tuple(
            query_term.exact[0] for query_term in query_terms if query_term.prefix
        )
        self.found: list[Passage] = []
        self.frequencies: Counter[str] = Counter()
        self.total = self.words = 0

    def add(self, passage: Passage) -> None:
        self.total += 1
        self.words += passage.length
        here = terms_of(f"{passage.beside} {passage.text}")
        self.frequencies.update(here & self._terms)
        is_asked = not here.isdisjoint(self._terms) or self._any_begins(here)
        if is_asked or not self._terms:
            self.found.append(passage)

    def _any_begins(self, terms: set[str]) -> bool:
        heads = self._heads
        return bool(heads) and any(term.startswith(heads) for term in terms)


def _passages(
    note: Note,
    chunking: ChunkingSettings,
    before: int,
    unread: dict[str, str],
    test: "FilterTest | None",
) -> Iterator[Passage]:
    try:
        lines = split_lines(read_note(note.file).text)
    except FileNotFoundError:
        return
    except OSError as error:
        unread[note.path] = error.strerror or "unreadable"
        return
    if test is not None and not test.note(note.path, lines, note.mtime_ns):
        return
    signature = (note.size, note.mtime_ns, note.ctime_ns)
    passages = cut_passages(lines, note.path, signature, chunking, first_id=before)
    yield from (one for one in passages if test is None or test.text(one.text))


def _missed(query: Query, found: "ScanResult") -> Iterator[str]:
    """Say what was not read on the way through the notes."""
    yield from unread_warnings(found.unread)
    if found.read < found.notes:
        yield f"Only {found.read} of {found.notes} notes could be read in time."
    if "sessions" in query.sources:
        yield _WITHOUT_TRANSCRIPTS
