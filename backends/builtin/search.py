"""Answering a query from the live generation of an index."""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from notewell.backends.base import Findings, Query, Site
from notewell.backends.builtin.lexical import (
    PassageFilter,
    keyword_candidates,
    read_passages,
)
from notewell.backends.builtin.store import Snapshot, Store
from notewell.backends.builtin.vectors.outcome import KEYWORDS_ONLY, QueryVector
from notewell.backends.text.languages import LANGUAGE_MARK
from notewell.backends.text.passages import COLUMNS, Passage, ScoredPassage
from notewell.backends.text.query import QueryTerm, parse_query
from notewell.backends.text.scoring import ExactMatch, quoted
from notewell.backends.weighing.answer import answer_from, without_words
from notewell.backends.weighing.candidates import IndexSearch
from notewell.backends.weighing.verify import Verifier
from notewell.types import Freshness

if TYPE_CHECKING:  # loaded where there is a filter, or a vector
    from notewell.backends.builtin.vectors.leg import IndexedVectors
    from notewell.backends.text.filtering import PhraseTest

_WRITTEN: Final = "{body context} : "
"""What FTS5 is told where stems do not count."""


class IndexAnswer(NamedTuple):
    """What an index gives to a query.

    Attributes:
        findings: The answer; it does not say yet what could not be read.
        unread: Notes of which passages were found and which cannot be read now: why, by
            path.
    """

    findings: Findings
    unread: Mapping[str, str]


def search_index(
    site: Site,
    store: Store,
    query: Query,
    *,
    vector: QueryVector = KEYWORDS_ONLY,
    outdated: str | None = None,
) -> IndexAnswer:
    """Answer from the live generation of an index.

    Args:
        vector: The question's vector, if there is one.
        outdated: Why the index has to be built anew, if it has to.
    """
    asked = parse_query(query.text)
    if not asked.terms:
        return IndexAnswer(without_words(vector), {})
    index = _live(store)
    verifier = Verifier(site.workspace, _citations_of(site, index))
    search = IndexSearch(site=site, query=query, asked=asked, vector=vector)
    findings = answer_from(
        BuiltinIndex(index, query, vector), search, verifier, outdated
    )
    return _dated(findings, store, verifier, outdated)


def list_from_index(
    site: Site, store: Store, query: Query, outdated: str | None
) -> IndexAnswer:
    """Answer with the newest passages that the filter of a question lets pass.

    Args:
        outdated: Why the index has to be built anew, if it has to.
    """
    from notewell.backends.weighing import newest  # rare

    index = _live(store)
    verifier = Verifier(site.workspace, _citations_of(site, index))
    passages = NewestPassages(index, query)
    findings = newest.list_newest(passages, query, verifier, outdated)
    return _dated(findings, store, verifier, outdated)


def _live(store: Store) -> Snapshot:
    tables = store.live()
    assert tables is not None, "the caller has seen that the index is built"
    return Snapshot(store, tables)


def _dated(
    findings: Findings, store: Store, verifier: Verifier, outdated: str | None
) -> IndexAnswer:
    """Add how fresh the answer is."""
    stale = True if outdated or verifier.stale else None  # nothing is known of others
    fresh = Freshness(indexed_at=store.indexed_at(), stale=stale)
    return IndexAnswer(replace(findings, freshness=fresh), verifier.unread)


class BuiltinIndex:
    """The live generation, as one question meets it. See `PassageIndex`.

    Attributes:
        passages: How many there are.
        mean_length: Their mean length in body terms.
        languages: Those beside English that notes are in.
        vectors: Compares passages by meaning, if that can be done.
        visible: Whether passages of a note or a transcript may be shown.
        lacking: How many texts wait for a vector.
    """

    def __init__(
        self, index: Snapshot, query: Query, vector: QueryVector = KEYWORDS_ONLY
    ) -> None:
        self._index = index
        self._store, self._tables = index.store, index.tables
        self._filter = PassageFilter(index, query)
        self.visible = self._filter
        self.languages = _languages_of(index)
        self.passages: int = index.store.get("passages") or 0
        self.mean_length: float = index.store.get("mean_length") or 1
        self.lacking = 0
        self.vectors = self._leg(query.text, vector)

    def warnings(self) -> tuple[str, ...]:
        """Say which part of the filter left nothing."""
        return self._filter.warnings()

    def frequencies(self, terms: Iterable[str]) -> dict[str, int]:
        """Return in how many passages each term stands; absent ones give 0."""
        store, tables = self._store, self._tables
        common = f"select passages from {tables.common} where term = ?"
        counted = f"select doc from {tables.vocabulary} where term = ?"
        return {
            term: store.one(common, term) or store.one(counted, term) or 0
            for term in sorted(terms)
        }

    def held(self, terms: Collection[str]) -> dict[str, int]:
        """Return of a great many terms those that stand somewhere, counted."""
        return self._counted(
            "term in (select value from json_each(?))", json.dumps(sorted(terms))
        )

    def between(
        self, first: str, end: str, lengths: tuple[int, int] = (0, 1_000)
    ) -> dict[str, int]:
        """Return the terms from one up to another, and how many passages hold each."""
        return self._counted(
            "term >= ? and term < ? and length(term) between ? and ?",
            first,
            end,
            *lengths,
        )

    def with_inside(self, part: str) -> dict[str, int]:
        """Return the terms with a string inside, and how many passages hold each."""
        return self._counted("instr(term, ?)", part)

    def _counted(self, condition: str, *values: object) -> dict[str, int]:
        rows = self._store.rows(
            f"select term, doc from {self._tables.vocabulary} where {condition}",
            *values,
        )
        return dict(rows)

    def stands(self, term: str, *, written: bool = False) -> bool:
        """Say whether a term is one of a passage that may be seen."""
        tables = self._tables
        sql = (
            f"select distinct f.path from {tables.fts} as t"
            f" join {tables.chunks} as c on c.id = t.rowid"
            f" join {tables.files} as f on f.id = c.file_id"
            f" where {tables.fts} match ?"
        )
        asked = f"{_WRITTEN if written else ''}{quoted(term)}"
        first = self._store.one(f"{sql} limit 1", asked)
        if first is None or self._filter(first):
            return first is not None
        return any(self._filter(path) for (path,) in self._store.rows(sql, asked))

    def matching(
        self,
        query_terms: Sequence[QueryTerm],
        frequencies: Mapping[str, int],
        literal: ExactMatch,
        limit: int,
    ) -> list[Passage]:
        """Return the passages that match best by BM25, at most `limit` and one more."""
        return keyword_candidates(
            self._index,
            query_terms,
            frequencies,
            literal,
            visible=self._filter,
            limit=limit,
        )

    def _leg(self, text: str, vector: QueryVector) -> "IndexedVectors | None":
        if vector.vector is None:
            return None
        from notewell.backends.builtin.vectors.leg import vector_leg

        leg = vector_leg(self._index, text, vector, self._filter)
        self.lacking = leg.lacking if leg else 0
        return leg


class NewestPassages:
    """The live generation, as a question without a word meets it. See `FilteredIndex`.

    Attributes:
        passages: How many there are.
        phrases: Says whether the phrases of the filter let a text pass.
    """

    def __init__(self, index: Snapshot, query: Query) -> None:
        self._index = index
        self._filter = PassageFilter(index, query)
        chosen = self._filter.chosen
        assert chosen is not None, "the caller has seen that there is a filter"
        self._chosen = chosen
        self.passages: int = index.store.get("passages") or 0
        self.phrases: PhraseTest = chosen.text

    def visible(self, path: str) -> bool:
        """Whether passages of a note or a transcript may be shown."""
        return self._filter(path)

    def warnings(self) -> tuple[str, ...]:
        """Say which part of the filter left nothing."""
        return self._filter.warnings()

    def newest(self, limit: int) -> list[Passage]:
        """Return the newest passages that pass, at most `limit`."""
        tables = self._index.tables
        return read_passages(
            self._index.store,
            f"select {COLUMNS} from json_each(?) as n"
            f" cross join {tables.chunks} as c on c.id = n.value"
            f" join {tables.files} as f on f.id = c.file_id",
            json.dumps(self._chosen.newest(limit)),
        )


def _languages_of(index: Snapshot) -> list[str]:
    """Return the languages beside English that notes are in."""
    rows = index.store.rows(
        f"select term from {index.tables.vocabulary} where term > ? and term < ?",
        LANGUAGE_MARK,
        f"{LANGUAGE_MARK}\U0010ffff",
    )
    return [term.removeprefix(LANGUAGE_MARK) for (term,) in rows]


def _citations_of(site: Site, index: Snapshot) -> "TranscriptCitations | None":
    """Return what cites transcripts, where they are a source."""
    if not site.transcripts:
        return None
    return TranscriptCitations(index, site.transcript_file)


class CitedLines(NamedTuple):
    """The lines of a file that a hit shows: first, last, and the best of them."""

    start: int
    end: int
    match: int


class TranscriptCitations:
    """The transcripts of one answer, each looked at once."""

    def __init__(self, index: Snapshot, file_of: Callable[[str], Path]) -> None:
        """Take the index, and what says in which file a transcript is."""
        self._store = index.store
        self._tables = index.tables
        self._file_of = file_of
        self._stands: dict[str, bool] = {}

    def stands(self, path: str) -> bool:
        """Whether what was read of a transcript still stands in it."""
        if path not in self._stands:
            self._stands[path] = self._holds(path)
        return self._stands[path]

    def cited(self, scored: ScoredPassage) -> CitedLines:
        """Return the lines of the JSONL behind a passage."""
        passage = scored.passage
        [(start, lines)] = self._store.rows(
            f"select c.start_line, o.lines from {self._tables.chunks} as c"
            f" join {self._tables.origins} as o on o.chunk_id = c.id where c.id = ?",
            passage.id,
        )
        origins = [int(line) for line in lines.split()]
        places = (passage.start_line, passage.end_line, scored.match_line)
        return CitedLines(*(origins[place - start] for place in places))

    def _holds(self, path: str) -> bool:
        from notewell.sessions.reading import Position, still_holds

        rows = self._store.rows(
            f"select t.offset, t.line, t.mark from {self._tables.transcripts} as t"
            f" join {self._tables.files} as f on f.id = t.file_id where f.path = ?",
            path,
        )
        file = self._file_of(path)
        return any(still_holds(file, Position(*row)) for row in rows)
