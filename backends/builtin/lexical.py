"""Keyword search, first stage: which passages may answer, by FTS5 and BM25.

What a query costs here is what its terms' lists are long, so the rare terms are
asked for first, and more common ones only while the lists stay short. The second
stage (`text.scoring`) weighs everything that was asked for, common words too.

FTS5 keeps no document frequencies: it counts a term's list whenever it is asked, which
takes as long as the list. So those of terms that stand in a large share of the passages
are recorded when the index has grown (`sync`), and only short lists are counted here.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import apsw

from notewell.backends.base import Query
from notewell.backends.builtin.schema import Generation
from notewell.backends.builtin.store import Snapshot, Store
from notewell.backends.text.folding import NUMBER_KEY
from notewell.backends.text.languages import LANGUAGE_MARK
from notewell.backends.text.passages import COLUMNS, Passage, passage_of
from notewell.backends.text.query import QueryTerm, asked_by_name, words_asked
from notewell.backends.text.scoring import ExactMatch, quoted
from notewell.backends.text.variants import ways_to_look_for, with_ways
from notewell.types import source_of

if TYPE_CHECKING:  # loaded where there is a filter
    from notewell.backends.builtin.filtering import ChosenPassages

_LONGEST_LISTS = 20_000
"""Entries of term lists that a query may read, the rarest term's excepted."""

_GROUP = 0.35
"""Weight of the digits of a number beside the whole."""

_CHEAP = 2_000
"""Entries up to which a second way to the same thing is worth reading."""

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


def languages_of(index: Snapshot) -> list[str]:
    """Return the languages beside English that notes are in."""
    rows = index.store.rows(
        f"select term from {index.tables.vocabulary} where term > ? and term < ?",
        LANGUAGE_MARK,
        f"{LANGUAGE_MARK}\U0010ffff",
    )
    return [term.removeprefix(LANGUAGE_MARK) for (term,) in rows]


def known_numbers(
    query_terms: Sequence[QueryTerm], frequencies: Mapping[str, int]
) -> tuple[QueryTerm, ...]:
    """Leave out long numbers as a whole that no note holds.

    Where one is held, its groups of digits are but parts of it.
    """
    numbers = {term for term in query_terms if term.exact[0].startswith(NUMBER_KEY)}
    if not numbers:
        return tuple(query_terms)
    unknown = {term for term in numbers if not frequencies.get(term.exact[0])}
    share = 1.0 if unknown == numbers else _GROUP
    return tuple(
        replace(term, weight=term.weight * share)
        if term.exact[0].isdecimal() and not term.part
        else term
        for term in query_terms
        if term not in unknown
    )


def in_other_ways(
    index: Snapshot,
    query_terms: Sequence[QueryTerm],
    text: str,
    frequencies: dict[str, int],
    languages: Collection[str],
) -> tuple[QueryTerm, ...]:
    """Return the terms of a query with other ways to write them that stand somewhere.

    Args:
        index: Where.
        query_terms: What was parsed.
        text: The query.
        frequencies: In how many passages each term stands; those found are added.
        languages: Those that notes are in, beside English.
    """
    ways = ways_to_look_for(query_terms, text, frequencies, languages)
    if not ways:
        return tuple(query_terms)
    found = dict(
        index.store.rows(
            f"select term, doc from {index.tables.vocabulary}"
            " where term in (select value from json_each(?))",
            json.dumps(sorted(set(chain.from_iterable(ways.values())))),
        )
    )
    frequencies.update(found)
    return with_ways(query_terms, ways, found)


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
    query_terms: Sequence[QueryTerm],
    frequencies: Mapping[str, int],
    *,
    most: int | None = _LONGEST_LISTS,
) -> str:
    """Return an FTS5 query: any of the terms, the rarest first, every one quoted.

    Args:
        most: How many entries of lists are read, the rarest term's excepted.
    """
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
        if chosen and most is not None and spent + plan.cost > most:
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
