"""Writing a holding: notes are gathered, and written many at a time.

The row of the space is locked in every transaction. What a statement needs to know of
time is given to it, and every statement names the space.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from psycopg import Connection, sql

from notewell.backends.postgres.reading import (
    NOTE_COLUMNS,
    Reader,
    note_of,
    require_version,
)
from notewell.backends.postgres.schema import VERSION, statement_of
from notewell.backends.postgres.terms import (
    TermKeys,
    array,
    storable,
    stored_path,
    weighed,
)
from notewell.backends.remote.store import Holding, NoteRecord, Owner, PassageRecord

_GATHERED: Final = 500
"""Passages that are written at once."""

_COMMON: Final = 256
"""Passages from which on a term's number is recorded, and no longer counted."""

_GROWTH: Final = 1.25
"""The common terms are counted again when a generation has grown or shrunk so much."""

_NOTE_ROW: Final = (
    "space, generation, note, path, size, mtime_ns, ctime_ns, digest, problem, remark,"
    " day, dated, properties"
)
_PASSAGE_ROW: Final = (
    "space, generation, passage, note, start_line, end_line, piece, length, row_length,"
    " terms, impacts, digest, heading, text"
)


class Writer:
    """The one who writes a holding. See `notewell.backends.remote.store.SpaceWriter`."""

    def __init__(
        self,
        connection: Connection[Any],
        schema: str,
        space: str,
        owner: Owner,
        keys: TermKeys,
        again: Callable[[], None],
    ) -> None:
        """Take a connection in a transaction, lock the space and begin the holding.

        Args:
            again: Begins the next transaction when one was committed.

        Raises:
            BackendFailed: the rows are of another version.
        """
        self._connection = connection
        self._schema = schema
        self._space = space
        self._owner = owner
        self._keys = keys
        self._again = again
        self._notes: list[tuple[int, int, NoteRecord]] = []
        self._passages: list[tuple[int, int, PassageRecord]] = []
        self._gone: dict[int, set[int]] = {}
        self._words: dict[int, dict[str, bool]] = {}
        self._change: dict[int, list[int]] = {}
        self._next_id = 0
        self._used = 0
        self._lock()
        table = sql.Identifier(schema, "passages").as_string(None)
        active = "select row_security_active(%(table)s::text)"
        [(self._has_policies,)] = self._rows(active, table=table)

    def holding(self) -> Holding:
        """Return the holding as it is."""
        self._flush()
        read = Reader(self._connection, self._schema, self._space, self._keys)
        return next(each for each in read.holdings() if each.owner == self._owner)

    def notes_of(self, generation: int) -> Sequence[NoteRecord]:
        """Return every note of a generation, what was put included."""
        self._flush()
        rows = self._rows(
            f"select {NOTE_COLUMNS} from {{schema}}.notes"
            " where space = %(space)s and generation = %(generation)s order by note",
            generation=generation,
        )
        return [note_of(row) for row in rows]

    def begin_generation(self, identity: str) -> int:
        """Begin to fill a new generation; an unfinished one is dropped. Return it."""
        building = self.holding().building
        if building is not None:
            self._drop(building)
        [(number,)] = self._rows(
            "update {schema}.spaces set next_generation = next_generation + 1"
            " where space = %(space)s returning next_generation - 1"
        )
        self._run(
            "insert into {schema}.generations values"
            " (%(space)s, %(generation)s, %(identity)s, 0, 0, 0, 0, 0)",
            generation=number,
            identity=identity,
        )
        self._run(
            "update {schema}.holdings set building = %(generation)s"
            " where space = %(space)s and member = %(member)s and agent = %(agent)s",
            generation=number,
        )
        return int(number)

    def put_note(
        self,
        generation: int,
        note: NoteRecord,
        passages: Sequence[PassageRecord] | None,
    ) -> None:
        """Write a note, in the place of the one with its `id` unless that is 0."""
        if passages is None:
            self._flush()
            self._put_row(generation, note)
            return
        key = note.id or self._new_id()
        if note.id:
            self._gone.setdefault(generation, set()).add(note.id)
        self._notes.append((generation, key, note))
        self._passages += ((generation, key, each) for each in passages)
        if len(self._passages) >= _GATHERED:
            self._flush()

    def copy_note(self, source: int, generation: int, note: NoteRecord) -> None:
        """Write into a generation a note and the passages that it has in another one."""
        self._flush()
        key = self._new_id()
        self._notes.append((generation, key, note))
        self._flush()
        columns = _PASSAGE_ROW.removeprefix("space, generation, passage, note,")
        [(first,)] = self._rows(
            "select next_id from {schema}.spaces where space = %(space)s"
        )
        self._settle_ids()
        rows = self._rows(
            f"insert into {{schema}}.passages({_PASSAGE_ROW}) select %(space)s,"
            f" %(generation)s, %(first)s + row_number() over (order by passage),"
            f" %(note)s, {columns} from {{schema}}.passages where space = %(space)s"
            " and generation = %(source)s and note = %(old)s"
            " returning passage, length, row_length",
            generation=generation,
            source=source,
            first=max(first, self._next_id),
            note=key,
            old=note.id,
        )
        if rows:
            self._next_id = max(row[0] for row in rows) + 1
        self._settle_ids()
        self._add(generation, 0, len(rows), *_sums(rows))
        self._run(
            "insert into {schema}.words select space, %(generation)s, term, key, written,"
            " null from {schema}.words where space = %(space)s"
            " and generation = %(source)s and key in (select unnest(terms)"
            " from {schema}.passages where space = %(space)s"
            " and generation = %(source)s and note = %(old)s) on conflict do nothing",
            generation=generation,
            source=source,
            old=note.id,
        )

    def delete_notes(self, generation: int, notes: Iterable[int]) -> None:
        """Take notes out of a generation, with their passages."""
        self._flush()
        self._gone.setdefault(generation, set()).update(notes)
        self._flush()

    def commit(self) -> None:
        """Keep what was written until now, and go on; the lock is taken again."""
        self.finish()
        self._connection.execute(b"commit")
        self._again()
        self._lock()

    def finish(self) -> None:
        """Write what is gathered, and count it."""
        self._flush()
        for generation, (files, passages, lengths, rows) in self._change.items():
            self._run(
                "update {schema}.generations set files = files + %(files)s,"
                " passages = passages + %(passages)s, lengths = lengths + %(lengths)s,"
                " row_lengths = row_lengths + %(rows)s"
                " where space = %(space)s and generation = %(generation)s",
                generation=generation,
                files=files,
                passages=passages,
                lengths=lengths,
                rows=rows,
            )
        self._change.clear()
        self._settle_ids()

    def publish(self, generation: int, *, indexed_at: int) -> None:
        """Let searches read a generation, and drop the one before it."""
        self.finish()
        self._count_common(generation)
        live = self.holding().live
        self._run(
            "update {schema}.holdings set live = %(generation)s, indexed_at = %(at)s,"
            " building = nullif(building, %(generation)s)"
            " where space = %(space)s and member = %(member)s and agent = %(agent)s",
            generation=generation,
            at=indexed_at,
        )
        if live is not None and live != generation:
            self._drop(live)

    def _lock(self) -> None:
        self._run(
            "insert into {schema}.spaces values (%(space)s, %(version)s, 1, 1)"
            " on conflict do nothing",
            version=VERSION,
        )
        [(self._next_id, version)] = self._rows(
            "select next_id, version from {schema}.spaces"
            " where space = %(space)s for update"
        )
        require_version(version)
        self._used = self._next_id
        self._run(
            "insert into {schema}.holdings(space, member, agent)"
            " values (%(space)s, %(member)s, %(agent)s) on conflict do nothing"
        )

    def _new_id(self) -> int:
        self._next_id += 1
        return self._next_id - 1

    def _settle_ids(self) -> None:
        if self._next_id != self._used:
            self._run(
                "update {schema}.spaces set next_id = %(next)s where space = %(space)s",
                next=self._next_id,
            )
            self._used = self._next_id

    def _put_row(self, generation: int, note: NoteRecord) -> None:
        """Write the row of a note whose passages stay."""
        before = self._rows(
            "select problem from {schema}.notes where space = %(space)s"
            " and generation = %(generation)s and note = %(note)s",
            generation=generation,
            note=note.id,
        )
        values = self._note_row(0, 0, note)
        row: dict[str, Any] = dict(zip(_NOTE_ROW.split(", "), values, strict=True))
        kept = ("space", "generation", "note", "path")
        columns = [name for name in row if name not in kept]
        self._run(
            f"update {{schema}}.notes set {', '.join(f'{n} = %({n})s' for n in columns)}"
            " where space = %(space)s and generation = %(generation)s"
            " and note = %(note)s",
            **{name: row[name] for name in columns},
            generation=generation,
            note=note.id,
        )
        was = sum(problem is None for (problem,) in before)
        self._add(generation, (note.problem is None) - was, 0, 0, 0)

    def _flush(self) -> None:
        for generation, gone in self._gone.items():
            self._remove(generation, gone)
        self._gone.clear()
        notes, self._notes = self._notes, []
        passages, self._passages = self._passages, []
        if notes:
            self._copy("notes", _NOTE_ROW, [self._note_row(*each) for each in notes])
            for generation, _, note in notes:
                self._add(generation, int(note.problem is None), 0, 0, 0)
        if passages:
            rows = [self._passage_row(*each) for each in passages]
            self._copy("passages", _PASSAGE_ROW, rows)
            for generation, _, each in passages:
                self._add(generation, 0, 1, each.length, each.row_length)
            self._add_words(passages)

    def _remove(self, generation: int, notes: Iterable[int]) -> None:
        named = {"generation": generation, "notes": list(notes)}
        where = (
            " where space = %(space)s and generation = %(generation)s"
            " and note = any(%(notes)s::bigint[])"
        )
        rows = self._rows(
            f"delete from {{schema}}.passages{where} returning 0, length, row_length",
            **named,
        )
        gone = self._rows(
            f"delete from {{schema}}.notes{where} returning problem", **named
        )
        files = sum(problem is None for (problem,) in gone)
        lengths, row_lengths = _sums(rows)
        self._add(generation, -files, -len(rows), -lengths, -row_lengths)

    def _add(self, generation: int, *change: int) -> None:
        before = self._change.setdefault(generation, [0, 0, 0, 0])
        self._change[generation] = [a + b for a, b in zip(before, change, strict=True)]

    def _note_row(self, generation: int, key: int, note: NoteRecord) -> tuple[Any, ...]:
        return (
            self._space,
            generation,
            key,
            stored_path(note.path),
            *note.signature,
            note.digest,
            note.problem and storable(note.problem),
            note.remark,
            note.day,
            note.dated,
            [storable(each) for each in note.properties],
        )

    def _passage_row(
        self, generation: int, note: int, each: PassageRecord
    ) -> tuple[Any, ...]:
        terms = weighed(each.weights, self._keys)
        return (
            self._space,
            generation,
            self._new_id(),
            note,
            each.start_line,
            each.end_line,
            each.piece,
            each.length,
            each.row_length,
            array(terms.keys),
            terms.impacts,
            each.digest,
            storable(each.heading),
            storable(each.text),
        )

    def _copy(self, table: str, columns: str, rows: Iterable[tuple[Any, ...]]) -> None:
        named = {"schema": self._schema, "table": table}
        with self._connection.cursor() as cursor:
            if self._has_policies:  # below which PostgreSQL copies nothing in
                places = ", ".join(["%s"] * (columns.count(",") + 1))
                insert = (
                    f"insert into {{schema}}.{{table}}({columns}) values ({places})"
                )
                cursor.executemany(statement_of(insert, **named), rows)
                return
            copy_in = f"copy {{schema}}.{{table}}({columns}) from stdin"
            with cursor.copy(statement_of(copy_in, **named)) as copy:
                for row in rows:
                    copy.write_row(row)

    def _add_words(self, passages: Iterable[tuple[int, int, PassageRecord]]) -> None:
        """Write down terms that are new, and those that are written for the first time."""
        new: dict[int, dict[str, bool]] = {}
        for generation, _, each in passages:
            known = self._words.setdefault(generation, {})
            for term in each.weights:
                written = term not in each.unwritten
                if not known.get(term, False) and (written or term not in known):
                    known[term] = new.setdefault(generation, {})[term] = written
        for generation, terms in new.items():
            fit = {storable(term): written for term, written in sorted(terms.items())}
            self._run(
                "insert into {schema}.words as w(space, generation, term, key, written)"
                " select %(space)s, %(generation)s, term, key, written"
                " from unnest(%(terms)s::text[], %(keys)s::integer[],"
                " %(written)s::boolean[]) as t(term, key, written)"
                " on conflict (space, generation, term) do update set written = true"
                " where excluded.written and not w.written",
                generation=generation,
                terms=list(fit),
                keys=[self._keys[term] for term in fit],
                written=list(fit.values()),
            )

    def _count_common(self, generation: int) -> None:
        """Record how many passages hold each common term, where they may be others."""
        [(total, counted)] = self._rows(
            "select passages, counted_at from {schema}.generations"
            " where space = %(space)s and generation = %(generation)s",
            generation=generation,
        )
        steady = counted / _GROWTH <= total <= counted * _GROWTH
        if total < _COMMON or (counted and steady):
            return
        # Of new tables nothing is known, and a loop over terms would count for each.
        self._run("set local enable_nestloop = off")
        self._run(
            "update {schema}.words w set common = c.passages from"
            " (select key, count(*) as passages from {schema}.passages p,"
            "   unnest(p.terms) as key where p.space = %(space)s"
            "   and p.generation = %(generation)s"
            "   group by key having count(*) >= %(common)s) c"
            " where w.space = %(space)s and w.generation = %(generation)s"
            " and w.key = c.key",
            generation=generation,
            common=_COMMON,
        )
        self._run("set local enable_nestloop = on")
        self._run(
            "update {schema}.generations set counted_at = %(total)s"
            " where space = %(space)s and generation = %(generation)s",
            generation=generation,
            total=total,
        )

    def _drop(self, generation: int) -> None:
        """Delete the rows of a generation."""
        for table in ("passages", "notes", "words", "generations"):
            self._run(
                f"delete from {{schema}}.{table}"
                " where space = %(space)s and generation = %(generation)s",
                generation=generation,
            )

    def _rows(self, statement: str, **named: Any) -> list[tuple[Any, ...]]:
        rows: list[tuple[Any, ...]] = self._run(statement, **named).fetchall()
        return rows

    def _run(self, statement: str, **named: Any) -> Any:
        member, agent = self._owner
        text = statement_of(statement, schema=self._schema)
        named |= {"space": self._space, "member": member, "agent": agent}
        return self._connection.execute(text, named)


def _sums(rows: Iterable[tuple[Any, ...]]) -> tuple[int, int]:
    """Return the sums of the second and the third column."""
    lengths = row_lengths = 0
    for _, length, row_length in rows:
        lengths += length
        row_lengths += row_length
    return lengths, row_lengths
