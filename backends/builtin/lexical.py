"""Keyword search, first stage: which passages may answer, by FTS5 and BM25.

What a query costs here is what its terms' lists are long, so the rare terms are
asked for first, and more common ones only while the lists stay short. The second
stage (`weighing`) weighs everything that was asked for, common words too.

FTS5 keeps no document frequencies: it counts a term's list whenever it is asked, which
takes as long as the list. So those of terms that stand in a large share of the passages
are recorded when the index has grown (`sync`), and only short lists are counted here.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import apsw

from notewell.backends.base import Query
from notewell.backends.builtin.schema import Generation
from notewell.backends.builtin.store import Snapshot, Store
from notewell.backends.text.passages import COLUMNS, Passage, passage_of
from notewell.backends.text.query import QueryTerm, asked_by_name, words_asked
from notewell.backends.text.scoring import ExactMatch, quoted
from notewell.backends.weighing.plans import MatchPlan, choose_plans
from notewell.types import source_of

if TYPE_CHECKING:  # loaded where there is a filter
    from notewell.backends.builtin.filtering import ChosenPassages

_LONGEST_LISTS = 20_000
"""Entries of term lists that a query may read, the rarest term's excepted."""

_WEIGHTS = "1.0, 0.6, 0.8"
"""BM25 weights of body, extra and context."""


class PassageFilter:
    """Says of paths, and to SQLite, what may be seen, and what is wanted.

    Attributes:
        condition: Further terms of a `where` over the full-text index; may be empty.
        values: What the condition's parameters stand for.
        chosen: What the filter of the question lets pass; None: it has none.
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
        self.chosen = _chosen(index, query, spoken=spoken)

    def __call__(self, path: str) -> bool:
        """Whether passages of a note or a transcript may be shown."""
        return source_of(path) in self._query.sources and not self._query.hides(path)

    def warnings(self) -> tuple[str, ...]:
        """Say which part of the filter left nothing, of an answer without hits."""
        return self.chosen.warnings(self) if self.chosen else ()

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


def _chosen(index: Snapshot, query: Query, *, spoken: bool) -> "ChosenPassages | None":
    if query.filter is None or not query.filter.narrows:
        return None
    from notewell.backends.builtin import filtering  # most questions have no filter

    return filtering.ChosenPassages(index, query.filter, spoken=spoken)


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
    if visible.chosen and len(found) < limit:
        # Which words are rare the whole index says, and not what the filter leaves.
        everything = _expression(query_terms, frequencies, most=None)
        known = {passage.id for passage in found}
        more = _matching(index, everything, visible, limit)
        found += [each for each in more if each.id not in known]
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
    chosen = visible.chosen
    if chosen is None:
        return _best(index, expression, visible, limit)
    expression = chosen.with_words(expression)
    if not chosen.narrow:
        most = chosen.enough(limit)
        found = _best(
            index, expression, visible, most, chosen=f"where {chosen.condition}"
        )
        if len(found) >= limit or not _has_more(index, expression, visible, most):
            return found[:limit]
    return _best(index, expression, visible, limit, put_first=chosen.put_first)


def _best(
    index: Snapshot,
    expression: str,
    visible: PassageFilter,
    limit: int,
    *,
    put_first: str = "",
    chosen: str = "",
) -> list[Passage]:
    """Return the best passages by BM25.

    Args:
        put_first: What has to hold of one to be weighed.
        chosen: What is looked for among the best.
    """
    tables = index.tables
    return read_passages(
        index.store,
        f"select {COLUMNS} from ("
        f"  select rowid as id, bm25({tables.fts}, {_WEIGHTS}) as strength"
        f"  from {tables.fts} where {tables.fts} match ?{visible.condition}{put_first}"
        f"  order by strength, id limit ?"
        f") as found join {tables.chunks} as c on c.id = found.id"
        f" join {tables.files} as f on f.id = c.file_id {chosen}"
        " order by strength, found.id",
        expression,
        *visible.values,
        limit,
    )


def _has_more(
    index: Snapshot, expression: str, visible: PassageFilter, most: int
) -> bool:
    """Say whether there are more passages than so many."""
    fts = index.tables.fts
    counted: int = index.store.one(
        f"select count(*) from (select 1 from {fts}"
        f" where {fts} match ?{visible.condition} limit ?)",
        expression,
        *visible.values,
        most + 1,
    )
    return counted > most


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


def _expression(
    query_terms: Sequence[QueryTerm],
    frequencies: Mapping[str, int],
    *,
    most: int | None = _LONGEST_LISTS,
) -> str:
    """Return an FTS5 query: any of the terms, the rarest first, every one quoted."""
    plans = choose_plans(query_terms, frequencies, most=most)
    return " OR ".join(map(_written, plans))


def _written(plan: MatchPlan) -> str:
    """Return a plan in the syntax of FTS5."""
    text = quoted(" ".join(plan.terms))
    return f"{text} *" if plan.beginning else text
