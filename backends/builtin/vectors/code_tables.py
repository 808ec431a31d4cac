"""Writing codes: into a table of sqlite-vec, or into blocks where it does not load.

The table is written by adding and deleting alone: in 0.1.9 a column of bits cannot be
updated, rows cannot be replaced, and renaming breaks the table. Deleted rows leave holes
that are not filled again, so a table of many holes is written anew. `sqlite_vec` searches
the table, `in_process` the blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import apsw

from notewell.backends.builtin.store import Store
from notewell.backends.builtin.vectors.in_process import block_mark, in_words
from notewell.backends.builtin.vectors.quantisation import (
    code_bits,
    dequantise,
    encode_rows,
    quantised_matrix,
)
from notewell.backends.builtin.vectors.sets import WINDOW_BITS, VectorSet, id_list
from notewell.backends.builtin.vectors.sqlite_vec import codes_table

_SLOTS: Final = 1024
"""Codes in a chunk of the table."""

_AT_ONCE: Final = 2_000
"""Vectors that are coded at once."""

_SPAN: Final = 2048
"""Texts in a block: about 2 MB of codes where each has four windows."""


def write_codes(
    store: Store, kept: VectorSet, live: Sequence[int], *, anew: bool = False
) -> None:
    """Make the table hold the codes of these texts; the caller has a transaction.

    It is written anew where it is damaged, as far as a few codes of each chunk tell,
    where less than half of it is in use, or where that is asked for.
    """
    try:
        table = codes_table(store, kept)
        if not anew and _is_sound(store, kept, table):
            _write_differences(store, kept, table, live)
            if not _is_sparse(store, table):
                _record(store, kept, table)
                return
    except (apsw.SQLError, apsw.CorruptError):
        pass  # damaged, or not there
    drop_codes(store, kept)
    number = 1 + (store.get("last_codes") or 0)
    store.put("last_codes", number)
    store.put(kept.codes, number)
    table = codes_table(store, kept)
    store.connection.execute(
        f"create virtual table {table} using vec0(code bit[{code_bits(kept.dimension)}],"
        f" chunk_size={_SLOTS})"
    )
    _write_differences(store, kept, table, live)
    _record(store, kept, table)


def drop_codes(store: Store, kept: VectorSet) -> None:
    """Drop the table, or leave it aside where sqlite-vec cannot do so."""
    number = store.get(kept.codes)
    if number is None:
        return
    for key in (kept.codes, kept.coded, kept.coded_to):
        store.forget(key)
    run = store.connection.execute
    run("savepoint drop_codes")
    try:
        run(f"drop table if exists nw_codes_{kept.id}_{number}")
    except apsw.Error:
        run("rollback to drop_codes")
    run("release drop_codes")


def _write_differences(
    store: Store, kept: VectorSet, table: str, live: Sequence[int]
) -> None:
    held = {
        text
        for (text,) in store.rows(f"select rowid >> {WINDOW_BITS} from {table}_rowids")
    }
    gone = held.difference(live)
    store.connection.executemany(
        f"delete from {table} where rowid = ?",
        _windows(store, f"{table}_rowids", "rowid", sorted(gone)),
    )
    came = [text for text in live if text not in held]
    keys = [row[0] for row in _windows(store, kept.vectors, "id", came)]
    for at in range(0, len(keys), _AT_ONCE):
        some = keys[at : at + _AT_ONCE]
        store.connection.executemany(
            f"insert into {table}(rowid, code) values (?, vec_bit(?))",
            zip(some, _encoded(store, kept, some), strict=True),
        )


def _windows(
    store: Store, table: str, key: str, texts: Sequence[int]
) -> list[tuple[int]]:
    """Return the ids of the windows that a table has of some texts."""
    rows: list[tuple[int]] = store.rows(
        f"select w.{key} from json_each(?) as t cross join {table} as w"
        f" on w.{key} between t.value << {WINDOW_BITS}"
        f" and (t.value << {WINDOW_BITS}) + {(1 << WINDOW_BITS) - 1}",
        id_list(texts),
    )
    return rows


def _record(store: Store, kept: VectorSet, table: str) -> None:
    store.put(kept.coded, store.one(f"select count(*) from {table}_rowids"))
    store.put(kept.coded_to, store.one(f"select max(id) from {kept.texts}") or 0)


def _encoded(store: Store, kept: VectorSet, keys: Sequence[int]) -> list[bytes]:
    """Return the codes of vectors by their ids.

    Raises:
        apsw.CorruptError: one of them has another length, or has gone.
    """
    found = dict(
        store.rows(
            f"select id, vector from {kept.vectors}"
            " where id in (select value from json_each(?))",
            id_list(keys),
        )
    )
    vectors = quantised_matrix([found.get(key, b"") for key in keys], kept.dimension)
    return [code.tobytes() for code in encode_rows(dequantise(vectors))]


def _is_sparse(store: Store, table: str) -> bool:
    slots = _SLOTS * store.one(f"select count(*) from {table}_chunks")
    used = store.one(f"select count(*) from {table}_rowids")
    return bool(slots > 2 * used + 2 * _SLOTS)


def _is_sound(store: Store, kept: VectorSet, table: str) -> bool:
    """Say whether all codes are there, and two of each chunk those of their vectors."""
    size = code_bits(kept.dimension) // 8
    held, codes = 0, dict[int, bytes]()
    for chunk, validity in store.rows(f"select chunk_id, validity from {table}_chunks"):
        slots = int.from_bytes(validity, "little")
        held += slots.bit_count()
        for slot in {(slots & -slots).bit_length() - 1, slots.bit_length() - 1} - {-1}:
            rowid = _part(store, f"{table}_chunks", "rowids", chunk, slot * 8, 8)
            codes[int.from_bytes(rowid, "little")] = _part(
                store, f"{table}_vector_chunks00", "vectors", chunk, slot * size, size
            )
    rows = store.one(f"select count(*) from {table}_rowids")
    if not held == rows == store.get(kept.coded):
        return False
    # What has gone from the vectors meanwhile is dropped, whatever its code is.
    there = {
        key
        for (key,) in store.rows(
            f"select id from {kept.vectors}"
            " where id in (select value from json_each(?))",
            id_list(codes),
        )
    }
    known = [key for key in codes if key in there]
    listed = store.one(
        f"select count(*) from {table}_rowids"
        " where rowid in (select value from json_each(?))",
        id_list(codes),
    )
    right = _encoded(store, kept, known) == [codes[key] for key in known]
    return bool(right and listed == len(codes))


def _part(
    store: Store, table: str, column: str, row: int, start: int, size: int
) -> bytes:
    blob = store.connection.blob_open("main", table, column, row, writeable=False)
    part = b""
    with blob:
        if blob.length() >= start + size:
            blob.seek(start)
            part = blob.read(size)
    if len(part) != size:
        raise apsw.CorruptError("a chunk of codes is cut off")
    return part


def write_blocks(store: Store, kept: VectorSet, live: Sequence[int]) -> None:
    """Make the blocks hold the codes of these texts; the caller has a transaction.

    Only blocks whose texts are not the same any more are written.
    """
    store.connection.execute(
        f"create table if not exists {kept.blocks}("
        "number integer primary key, mark blob not null, ids blob not null,"
        " codes blob not null) strict"
    )
    held = dict(store.rows(f"select number, ids from {kept.blocks}"))
    texts: dict[int, list[int]] = {}
    for key in live:
        texts.setdefault(key // _SPAN, []).append(key)
    for number, part in texts.items():
        before = held.pop(number, b"")
        if _texts_in(before) != part:
            _write_block(store, kept, number, part)
    store.connection.executemany(
        f"delete from {kept.blocks} where number = ?", [(one,) for one in held]
    )
    store.put(kept.blocked_to, store.one(f"select max(id) from {kept.texts}") or 0)


def drop_blocks(store: Store, kept: VectorSet) -> None:
    """Drop the blocks of a set, if there are any."""
    store.connection.execute(f"drop table if exists {kept.blocks}")
    store.forget(kept.blocked_to)


def _texts_in(ids: bytes) -> list[int]:
    """Return the texts of a block; none where it is damaged, so it is written anew."""
    import numpy as np

    if len(ids) % 8:
        return []
    texts: list[int] = np.unique(np.frombuffer(ids, "<i8") >> WINDOW_BITS).tolist()
    return texts


def _write_block(store: Store, kept: VectorSet, number: int, texts: list[int]) -> None:
    import numpy as np

    rows = store.rows(
        f"select id, vector from {kept.vectors} where id between ? and ?"
        f" and id >> {WINDOW_BITS} in (select value from json_each(?)) order by id",
        texts[0] << WINDOW_BITS,
        (texts[-1] + 1) << WINDOW_BITS,
        id_list(texts),
    )
    vectors = quantised_matrix([vector for _, vector in rows], kept.dimension)
    ids = np.array([key for key, _ in rows], dtype="<i8").tobytes()
    codes = in_words(encode_rows(dequantise(vectors))).tobytes()
    store.connection.execute(
        f"insert or replace into {kept.blocks} values (?, ?, ?, ?)",
        (number, block_mark(ids, codes), ids, codes),
    )
