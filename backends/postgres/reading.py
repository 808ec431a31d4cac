"""Reading a space: one snapshot, a few statements, each by an index."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from psycopg import Connection

from notewell.backends.postgres.failures import failed
from notewell.backends.postgres.schema import VERSION, statement_of
from notewell.backends.postgres.terms import TermKeys, path_of
from notewell.backends.remote.store import (
    ANYWHERE,
    Among,
    FoundPassage,
    Holding,
    NoteRecord,
    Owner,
    TermClause,
)

Rows = list[tuple[Any, ...]]

_K1: Final = 1.2
_B: Final = 0.75
_LEAST_IDF: Final = 1e-6
"""As FTS5 has them."""

_FIFTHS: Final = 5.0
"""Weights are stored in fifths."""

_MOST_BEGUN: Final = 64
"""Terms that one beginning stands for at most."""

_HOLDINGS: Final = """
select h.member, h.agent, h.live, h.building, h.indexed_at, l.identity, b.identity,
    l.files, l.passages, l.lengths, l.row_lengths, s.version
from {schema}.spaces s
left join {schema}.holdings h on h.space = s.space
left join {schema}.generations l on l.space = h.space and l.generation = h.live
left join {schema}.generations b on b.space = h.space and b.generation = h.building
where s.space = %(space)s
order by h.member, h.agent"""

NOTE_COLUMNS: Final = (
    "path, size, mtime_ns, ctime_ns, digest, problem, remark, day, dated, properties,"
    " note, generation"
)

_PASSAGES: Final = """
select p.passage, p.generation, p.note, n.path, n.size, n.mtime_ns, n.ctime_ns, n.day,
    p.start_line, p.end_line, p.piece, p.heading, p.length, p.text
from {found} p join {schema}.notes n
    on n.space = %(space)s and n.generation = p.generation and n.note = p.note"""


class Reader:
    """A space in one transaction. See `notewell.backends.remote.store.SpaceSnapshot`."""

    def __init__(
        self, connection: Connection[Any], schema: str, space: str, keys: TermKeys
    ) -> None:
        """Take a connection in a transaction, and read which generations are live.

        Raises:
            BackendFailed: the rows are of another version.
        """
        self._connection = connection
        self._schema = schema
        self._space = space
        self._keys = keys
        self._live: list[int] = []
        rows = self._rows(_HOLDINGS)
        require_version(rows[0][-1] if rows else None)
        self._known: dict[str, int] = {}
        self._by_key: dict[int, int] = {}
        self._holdings = [_holding(row) for row in rows if row[0] is not None]
        live = [row for row in rows if row[2] is not None]
        self._live = [row[2] for row in live]
        self._passages = sum(row[8] for row in live)
        self._row_length = sum(row[10] for row in live) / max(1, self._passages) or 1.0

    def holdings(self) -> Sequence[Holding]:
        """Return every member's holding, by owner."""
        return self._holdings

    def frequencies(self, terms: Collection[str]) -> dict[str, int]:
        """Return in how many live passages each term stands; counted if not recorded."""
        wanted = set(terms) - self._known.keys()
        if wanted:
            self._known |= dict.fromkeys(wanted, 0) | self._counted(wanted)
            self._by_key |= {self._keys[term]: self._known[term] for term in wanted}
        return {term: self._known[term] for term in terms if self._known[term]}

    def _counted(self, terms: Collection[str]) -> dict[str, int]:
        rows = self._rows(
            "select term, sum(common), bool_and(common is not null) from {schema}.words"
            " where space = %(space)s and generation = any(%(live)s)"
            " and term = any(%(terms)s) group by term",
            terms=list(terms),
        )
        found = {term: int(common) for term, common, known in rows if known}
        uncounted = [term for term, _, known in rows if not known]
        if uncounted:
            counts = self._rows(
                "select k.n, (select count(*) from {schema}.passages"
                "   where space = %(space)s and generation = any(%(live)s)"
                "   and terms @> array[k.key])"
                " from unnest(%(keys)s::integer[]) with ordinality as k(key, n)",
                keys=[self._keys[term] for term in uncounted],
            )
            found |= {uncounted[n - 1]: count for n, count in counts if count}
        return found

    def vocabulary(self, first: str, end: str) -> Collection[str]:
        """Return the terms from `first` up to `end`, which is not one of them."""
        rows = self._rows(
            "select distinct term from {schema}.words where space = %(space)s"
            " and generation = any(%(live)s) and term >= %(first)s and term < %(end)s",
            first=first,
            end=end,
        )
        return {term for (term,) in rows}

    def vocabulary_with(self, part: str) -> Collection[str]:
        """Return the terms with a string inside."""
        rows = self._rows(
            "select distinct term from {schema}.words where space = %(space)s"
            " and generation = any(%(live)s) and strpos(term, %(part)s) > 0",
            part=part,
        )
        return {term for (term,) in rows}

    def written(self, term: str) -> bool:
        """Say whether a term was ever written in a text, a path or a heading."""
        return bool(
            self._rows(
                "select 1 from {schema}.words where space = %(space)s"
                " and generation = any(%(live)s) and term = %(term)s and written limit 1",
                term=term,
            )
        )

    def notes_with(self, term: str, limit: int) -> Sequence[NoteRecord]:
        """Return notes of which a passage holds a term, at most `limit`."""
        return self._notes(
            f"select {NOTE_COLUMNS} from {{schema}}.notes where space = %(space)s"
            " and generation = any(%(live)s) and note in (select note from"
            "  {schema}.passages where space = %(space)s and generation = any(%(live)s)"
            "  and terms @> array[%(key)s::integer]) order by note limit %(limit)s",
            key=self._keys[term],
            limit=limit,
        )

    def candidates(
        self, wanted: Sequence[TermClause], limit: int, among: Among = ANYWHERE
    ) -> Sequence[FoundPassage]:
        """Return the passages that match any clause, the best first."""
        if not wanted or not self._live:
            return []
        clauses = self._key_clauses(wanted)
        if not clauses:
            return []
        found = _best(clauses, among)
        columns = "passage, generation, note, start_line, end_line, piece, heading,"
        chosen = (
            f"(select {columns} length, text, q.strength from ({found}) q"
            " join {schema}.passages using (space, generation, passage)"
            " where space = %(space)s)"
        )
        return self._found(
            _PASSAGES.replace("{found}", chosen)
            + " order by p.strength desc, p.passage",
            limit=limit,
            only=None if among.only is None else sorted(among.only),
            never=sorted(among.never),
            base=_K1 * (1 - _B),
            slope=_K1 * _B / self._row_length,
            **_parameters(clauses),
        )

    def passages_of(
        self, notes: Collection[int], limit: int | None = None
    ) -> Sequence[FoundPassage]:
        """Return the passages of notes, by note in the given order, then by line."""
        return self._found(
            _PASSAGES.replace("{found}", "{schema}.passages")
            + " where p.space = %(space)s and p.generation = any(%(live)s)"
            " and p.note = any(%(notes)s::bigint[])"
            " order by array_position(%(notes)s::bigint[], p.note), p.passage"
            " limit %(limit)s",
            notes=list(notes),
            limit=limit,
        )

    def notes(self) -> Sequence[NoteRecord]:
        """Return every note of the live generations."""
        return self._notes(
            f"select {NOTE_COLUMNS} from {{schema}}.notes"
            " where space = %(space)s and generation = any(%(live)s) order by note"
        )

    def notes_of(self, owner: Owner, generation: int) -> Sequence[NoteRecord]:
        """Return every note of a generation, live or not."""
        return self._notes(
            f"select {NOTE_COLUMNS} from {{schema}}.notes"
            " where space = %(space)s and generation = %(generation)s order by note",
            generation=generation,
        )

    def _key_clauses(self, wanted: Sequence[TermClause]) -> "list[_KeyClause]":
        """Return the clauses that match anything, by keys, with their BM25 weights."""
        keyed: list[tuple[list[int], bool]] = []
        for each in wanted:
            if each.beginning:
                begun = self.vocabulary(each.terms[0], f"{each.terms[0]}\U0010ffff")
                terms = sorted(begun)[:_MOST_BEGUN]
                keyed.append(([self._keys[term] for term in terms], False))
            else:
                keyed.append(([self._keys[term] for term in each.terms], True))
        counts = [self._matches(*each) for each in keyed]
        total = max(self._passages, *counts)
        return [
            _KeyClause(keys, every, _idf(count, total))
            for (keys, every), count in zip(keyed, counts, strict=True)
            if keys and count
        ]

    def _matches(self, keys: list[int], every: bool) -> int:
        """Return in how many passages all or any of some keys stand."""
        if len(keys) == 1 and keys[0] in self._by_key:
            return self._by_key[keys[0]]
        how = "@>" if every else "&&"
        [(count,)] = self._rows(
            "select count(*) from {schema}.passages where space = %(space)s and"
            f" generation = any(%(live)s) and terms {how} %(keys)s::integer[]",
            keys=keys,
        )
        return int(count)

    def _notes(self, statement: str, **named: Any) -> list[NoteRecord]:
        return [note_of(row) for row in self._rows(statement, **named)]

    def _found(self, statement: str, **named: Any) -> list[FoundPassage]:
        return [
            FoundPassage(
                id=row[0],
                generation=row[1],
                note=row[2],
                path=path_of(row[3]),
                signature=(row[4], row[5], row[6]),
                day=row[7],
                start_line=row[8],
                end_line=row[9],
                piece=row[10],
                heading=row[11],
                length=row[12],
                text=row[13],
            )
            for row in self._rows(statement, **named)
        ]

    def _rows(self, statement: str, **named: Any) -> Rows:
        text = statement_of(statement, schema=self._schema)
        named |= {"space": self._space, "live": self._live}
        return self._connection.execute(text, named).fetchall()


class _KeyClause:
    """A clause of a question: its keys, whether all are needed, and its inverse frequency."""

    def __init__(self, keys: list[int], every: bool, idf: float) -> None:
        self.keys = keys
        self.every = every
        self.idf = idf


def require_version(version: int | None) -> None:
    """See that rows can be read here; None: there are none yet.

    Raises:
        BackendFailed: another version wrote them.
    """
    if version in (None, VERSION):
        return
    raise failed(
        "version",
        f"the rows of this space are of version {version}, and this notewell has"
        f" {VERSION}",
        "use one version of notewell for a space, or another space",
    )


def note_of(row: Sequence[Any]) -> NoteRecord:
    """Return the note in a row of NOTE_COLUMNS."""
    path, size, mtime_ns, ctime_ns, digest, *rest = row
    problem, remark, day, dated, properties, note, generation = rest
    return NoteRecord(
        path=path_of(path),
        signature=(size, mtime_ns, ctime_ns),
        digest=bytes(digest),
        problem=problem,
        remark=remark,
        day=day,
        dated=dated,
        properties=tuple(properties),
        id=note,
        generation=generation,
    )


def _holding(row: Sequence[Any]) -> Holding:
    member, agent, live, building, indexed_at, identity, next_, files, count, *rest = (
        row
    )
    return Holding(
        owner=Owner(member, agent),
        live=live,
        building=building,
        identity=identity,
        building_identity=next_,
        files=files or 0,
        passages=count or 0,
        mean_length=max(1, round((rest[0] or 0) / (count or 1))),
        indexed_at=indexed_at,
    )


def _idf(count: int, total: int) -> float:
    return max(_LEAST_IDF, math.log((total - count + 0.5) / (count + 0.5)))


def _best(clauses: "Sequence[_KeyClause]", among: Among) -> str:
    """Return the SQL that weighs what matches, and keeps the best.

    `width_bucket` is the binary search in a sorted array that PostgreSQL has.
    """
    places: list[str] = []
    strengths: list[str] = []
    matches: list[str] = []
    number = 0
    for one, each in enumerate(clauses):
        counts: list[str] = []
        for _ in each.keys:
            places.append(f"width_bucket(%(k{number})s::integer, terms) as i{number}")
            counts.append(
                f"case when terms[i{number}] = %(k{number})s::integer"
                f" then get_byte(impacts, i{number} - 1) else 0 end"
            )
            number += 1
        count = f"least({', '.join(counts)})" if each.every else " + ".join(counts)
        strengths.append(
            f"%(w{one})s::float8 * ({count}) / (({count}) + {_FIFTHS} * saturation)"
        )
        how = "@>" if each.every and len(each.keys) > 1 else "&&"
        matches.append(f"terms {how} %(m{one})s::integer[]")
    conditions = [f"({' or '.join(matches)})"]
    if among.only is not None:
        conditions.append("note = any(%(only)s::bigint[])")
    if among.never:
        conditions.append("note <> all(%(never)s::bigint[])")
    return (
        f"select space, generation, passage, {' + '.join(strengths)} as strength from ("
        f"select space, generation, passage, terms, impacts,"
        f" %(base)s::float8 + %(slope)s::float8 * row_length as saturation,"
        f" {', '.join(places)} from {{schema}}.passages where space = %(space)s"
        f" and generation = any(%(live)s) and {' and '.join(conditions)} offset 0) m"
        " order by strength desc, passage limit %(limit)s"
    )


def _parameters(clauses: "Iterable[_KeyClause]") -> Mapping[str, Any]:
    named: dict[str, Any] = {}
    number = 0
    for one, each in enumerate(clauses):
        named[f"w{one}"] = each.idf
        named[f"m{one}"] = each.keys
        for key in each.keys:
            named[f"k{number}"] = key
            number += 1
    return named
