"""Keyword search, first stage: which passages may answer, by FTS5 and BM25.

What a query costs here is what its terms' lists are long, so the rare terms are
asked for first, and more common ones only while the lists stay short. The second
stage (`text.scoring`) weighs everything that was asked for, common words too.

FTS5 keeps no document frequencies: it counts a term's list whenever it is asked, which
takes as long as the list. So those of terms that stand in a large share of the passages
are recorded when the index has grown (`sync`), and only short lists are counted here.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import apsw

from notewell.backends.base import Query
from notewell.backends.builtin.schema import Generation
from notewell.backends.builtin.store import Snapshot, Store
from notewell.backends.text.passages import COLUMNS, Passage, passage_of
from notewell.backends.text.query import QueryTerm, asked_by_name, words_asked
from notewell.backends.text.scoring import ExactMatch, quoted
from notewell.types import source_of

_LONGEST_LISTS = 20_000
"""Entries of term lists that a query may read, the rarest term's excepted."""

_CHEAP = 2_000
"""Entries up to which a second way to the same thing is worth reading."""

_WEIGHTS = "1.0, 0.6, 0.8"
"""BM25 weights of body, extra and context."""


class PassageFilter:
    """Says of paths, and to SQLite, what may be seen.

    Attributes:
        condition: Further terms of a `where` over the full-text index; may be empty.
        values: What the condition's parameters stand for.
    """

    def __init__(self, index: Snapshot, query: Query) -> None:
        store, tables = index.store, index.tables
        self._query = query
        self.condition = ""
        self.values: tuple[str, ...] = ()
        # Without transcripts in the index, notes are searched as if there were none.
        spoken = bool(store.one(f"select 1 from {tables.transcripts} limit 1"))
        if spoken:
            self._restrict(store, tables)
        if query.hides_many or (spoken and "sessions" in query.sources):
            self._leave_out(store, tables)

    def __call__(self, path: str) -> bool:
        """Whether passages of a note or a transcript may be shown."""
        return source_of(path) in self._query.sources and not self._query.hides(path)

    def _restrict(self, store: Store, tables: Generation) -> None:
        spoken = (
            f"exists (select 1 from {tables.origins} as o"
            f" where o.chunk_id = {tables.fts}.rowid)"
        )
        if "sessions" not in self._query.sources:
            self.condition = f" and not {spoken}"
        elif "memory" not in self._query.sources:
            self.condition = f" and {spoken}"

    def _leave_out(self, store: Store, tables: Generation) -> None:
        """Leave out what the question hides: of the transcripts, or of all files."""
        rows = store.rows(
            f"select f.id, f.path from {tables.files} as f"
            if self._query.hides_many
            else f"select f.id, f.path from {tables.transcripts} as t"
            f" join {tables.files} as f on f.id = t.file_id"
        )
        hidden = [str(key) for key, path in rows if self._query.hides(path)]
        if hidden:
            self.condition += (
                f" and not exists (select 1 from {tables.chunks} as c"
                f" where c.id = {tables.fts}.rowid"
                " and c.file_id in (select value from json_each(?)))"
            )
            self.values = (f"[{','.join(hidden)}]",)


def document_frequencies(
    index: Snapshot, query_terms: Sequence[QueryTerm]
) -> dict[str, int]:
    """Return in how many passages each term of the query stands; absent ones give 0."""
    store, tables = index.store, index.tables
    common = f"select passages from {tables.common} where term = ?"
    counted = f"select doc from {tables.vocabulary} where term = ?"
    return {
        term: store.one(common, term) or store.one(counted, term) or 0
        for term in sorted(
            {term for query_term in query_terms for term in query_term.terms()}
        )
    }


def keyword_candidates(
    index: Snapshot,
    query_terms: Sequence[QueryTerm],
    frequencies: Mapping[str, int],
    literal: ExactMatch,
    *,
    visible: PassageFilter,
    limit: int,
) -> list[Passage]:
    """Return the passages that match best by BM25, at most `limit`.

    When words of the query stand in some passages as they are written, at least one
    of these is among the candidates.
    """
    expression = _expression(query_terms, frequencies)
    if expression:
        named = quoted(asked_by_name(words_asked(query_terms)))
        expression = f"{expression} OR {named}"
    found = _matching(index, expression, visible, limit)
    if any(literal.is_in(passage.text) for passage in found):
        return found
    return [*found, *_matching(index, literal.expression(), visible, 1)]


def _matching(
    index: Snapshot,
    expression: str,
    visible: PassageFilter,
    limit: int,
) -> list[Passage]:
    if not expression:
        return []
    tables = index.tables
    return read_passages(
        index.store,
        f"select {COLUMNS} from ("
        f"  select rowid as id, bm25({tables.fts}, {_WEIGHTS}) as strength"
        f"  from {tables.fts} where {tables.fts} match ?{visible.condition}"
        f"  order by strength, id limit ?"
        f") as found join {tables.chunks} as c on c.id = found.id"
        f" join {tables.files} as f on f.id = c.file_id order by strength, found.id",
        expression,
        *visible.values,
        limit,
    )


def read_passages(store: Store, sql: str, *values: object) -> list[Passage]:
    """Return the passages that a statement over COLUMNS finds.

    Raises:
        apsw.CorruptError: one of them has other lines than it says.
    """
    found = [passage_of(row) for row in store.rows(sql, *values)]
    for passage in found:
        lines = passage.end_line - passage.start_line
        if passage.start_line < 1 or lines != passage.text.count("\n"):
            raise apsw.CorruptError("the lines of a passage are damaged")
    return found


class _MatchPlan(NamedTuple):
    """One way to ask FTS5 for a query term.

    Attributes:
        written: In FTS5's syntax.
        cost: Entries of term lists that it reads.
        second: The query term may be found without it: a stem, a phrase, a part.
    """

    written: str
    cost: int
    second: bool


def _expression(
    query_terms: Sequence[QueryTerm], frequencies: Mapping[str, int]
) -> str:
    """Return an FTS5 query: any of the terms, the rarest first, every one quoted."""
    content = [
        query_term
        for query_term in query_terms
        if not query_term.stop_word and _is_here(query_term, frequencies)
    ]
    plans = {
        plan
        for query_term in content or query_terms
        for plan in _plans(query_term, frequencies)
        if plan.cost
    }
    chosen: dict[str, None] = {}
    spent = 0
    for plan in sorted(plans, key=lambda each: (each.cost, each.written, each.second)):
        if chosen and (plan.second and plan.cost > _CHEAP):
            continue
        if chosen and spent + plan.cost > _LONGEST_LISTS:
            break
        chosen[plan.written] = None
        spent += plan.cost
    return " OR ".join(chosen)


def _is_here(query_term: QueryTerm, frequencies: Mapping[str, int]) -> bool:
    return query_term.prefix or any(
        plan.cost for plan in _plans(query_term, frequencies)
    )


def _plans(query_term: QueryTerm, frequencies: Mapping[str, int]) -> list[_MatchPlan]:
    plans = [
        _MatchPlan(quoted(t), frequencies.get(t, 0), query_term.part)
        for t in query_term.exact
    ]
    if query_term.prefix:
        begun = f"{quoted(query_term.exact[0])} *"
        plans[0] = _MatchPlan(begun, 1, query_term.part)
    found = query_term.part or any(plan.cost for plan in plans)
    plans += [
        _MatchPlan(quoted(term), frequencies.get(term, 0), found)
        for term in query_term.loose
    ]
    if query_term.phrase and all(frequencies.get(part) for part in query_term.phrase):
        cost = sum(frequencies[part] for part in query_term.phrase)
        plans.append(_MatchPlan(quoted(" ".join(query_term.phrase)), cost, found))
    return plans
