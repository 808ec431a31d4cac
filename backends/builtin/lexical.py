"""The keyword leg, first stage: which passages may answer, by FTS5 and BM25.

What a query costs here is what its terms' lists are long, so the rare terms are
asked for first, and more common ones only while the lists stay short. The second
stage (`scoring`) weighs everything that was asked for, common words too.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import apsw

from notewell.backends.builtin.schema import Generation
from notewell.backends.builtin.store import Store
from notewell.backends.builtin.transcripts.visible import Visible
from notewell.backends.builtin.vocabulary import passages_with
from notewell.backends.text.passages import COLUMNS, Passage, passage_of
from notewell.backends.text.query import QueryTerm
from notewell.backends.text.scoring import ExactMatch, quoted

_LONGEST_LISTS = 20_000
"""Entries of term lists that a query may read, the rarest term's excepted."""

_CHEAP = 2_000
"""Entries up to which a second way to the same thing is worth reading."""

_WEIGHTS = "1.0, 0.6, 0.8"
"""BM25 weights of body, extra and context."""


def spread_of(
    store: Store, tables: Generation, wants: Sequence[QueryTerm]
) -> dict[str, int]:
    """Return in how many passages each term of the wants stands."""
    terms = {term for want in wants for term in want.terms()}
    return passages_with(store, tables, sorted(terms))


def candidates(
    store: Store,
    tables: Generation,
    wants: Sequence[QueryTerm],
    spread: Mapping[str, int],
    literal: ExactMatch,
    *,
    visible: Visible,
    limit: int,
) -> list[Passage]:
    """Return the passages that match best by BM25, at most `limit`.

    When words of the query stand in some passages as they are written, at least one
    of these is among the candidates.
    """
    found = _matching(store, tables, _expression(wants, spread), visible, limit)
    if any(literal.is_in(passage.text) for passage in found):
        return found
    return [*found, *_matching(store, tables, literal.expression(), visible, 1)]


def _matching(
    store: Store, tables: Generation, expression: str, visible: Visible, limit: int
) -> list[Passage]:
    if not expression:
        return []
    return read_passages(
        store,
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


class _Way(NamedTuple):
    """One way to ask FTS5 for a want.

    Attributes:
        written: In FTS5's syntax.
        cost: Entries of term lists that it reads.
        second: The want may be found without it: a stem, a phrase, a part.
    """

    written: str
    cost: int
    second: bool


def _expression(wants: Sequence[QueryTerm], spread: Mapping[str, int]) -> str:
    """Return an FTS5 query: any of the terms, the rarest first, every one quoted."""
    content = [want for want in wants if not want.stop_word and _is_here(want, spread)]
    ways = {way for want in content or wants for way in _ways(want, spread) if way.cost}
    chosen: dict[str, None] = {}
    spent = 0
    for way in sorted(ways, key=lambda way: (way.cost, way.written, way.second)):
        if chosen and (way.second and way.cost > _CHEAP):
            continue
        if chosen and spent + way.cost > _LONGEST_LISTS:
            break
        chosen[way.written] = None
        spent += way.cost
    return " OR ".join(chosen)


def _is_here(want: QueryTerm, spread: Mapping[str, int]) -> bool:
    return want.prefix or any(way.cost for way in _ways(want, spread))


def _ways(want: QueryTerm, spread: Mapping[str, int]) -> list[_Way]:
    ways = [_Way(quoted(t), spread.get(t, 0), want.part) for t in want.exact]
    if want.prefix:
        return [_Way(f"{quoted(want.exact[0])} *", 1, want.part), *ways[1:]]
    found = want.part or any(way.cost for way in ways)
    if want.loose:
        ways.append(_Way(quoted(want.loose), spread.get(want.loose, 0), found))
    if want.phrase and all(spread.get(part) for part in want.phrase):
        cost = sum(spread[part] for part in want.phrase)
        ways.append(_Way(quoted(" ".join(want.phrase)), cost, found))
    return ways
