"""In the database, by blocks in the process, and plainly there: one answer, and honest."""

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import pytest
from tests.backends.builtin.vectors.conftest import Concepts

from notewell.backends.builtin.store import Store
from notewell.backends.builtin.vectors import (
    code_tables,
    nearest,
    passage_embedder,
    sqlite_vec,
)
from notewell.backends.builtin.vectors.code_tables import drop_codes
from notewell.backends.builtin.vectors.nearest import NearestNeighbours
from notewell.backends.builtin.vectors.sets import VectorSet
from notewell.backends.builtin.vectors.sqlite_vec import codes_table
from notewell.config import VectorSettings

if TYPE_CHECKING:
    from tests.backends.builtin.vectors.conftest import Meant

    from notewell.backends.base import Findings

NOTES = {f"memory/n{n:02}.md": f"# Note {n}\n\nword{n} text\n" for n in range(40)}
CAR = {"memory/car.md": "my automobile\n"}
WITHOUT = {"store.vector.extensionPath": "/nowhere/vec0.so"}
OFF = {"store.vector.enabled": False}
KEPT = VectorSet(1, 64)


@pytest.fixture(params=["sqlite-vec", "blocks", "plain"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """How vectors are searched."""
    if request.param != "plain":
        monkeypatch.setattr(nearest, "ONE_BY_ONE", 0)
    return str(request.param)


@pytest.fixture
def by_way(meant: "Meant", way: str) -> "Meant":
    """A notebook whose vectors are searched so."""
    meant.has(settings={} if way == "sqlite-vec" else OFF)
    return meant


@pytest.fixture
def coded(meant: "Meant", monkeypatch: pytest.MonkeyPatch) -> "Meant":
    """A notebook with codes in a table of sqlite-vec."""
    monkeypatch.setattr(nearest, "ONE_BY_ONE", 0)
    meant.notebook.write({**NOTES, **CAR})
    meant.index()
    return meant


def steps(found: "Findings") -> list[tuple[str, str, str, str]]:
    """Return the steps down of an answer."""
    return [(one.kind, one.from_, one.to, one.reason) for one in found.fallbacks]


def stepped_down(reason: str) -> list[tuple[str, str, str, str]]:
    """Return the step from the database into the process."""
    return [("vector-index", "sqlite-vec", "in-process", reason)]


def leave(*given: object, anew: bool) -> None:
    """Do nothing."""


def opened(meant: "Meant") -> Store:
    """Open the index for writing, with sqlite-vec."""
    store = Store.writer(meant.notebook.index)
    assert sqlite_vec.load_extension(store, VectorSettings()).version
    return store


def test_notes_that_come_change_and_go_are_followed(by_way: "Meant") -> None:
    by_way.notebook.write({**NOTES, **CAR})
    by_way.index()
    came = by_way.notebook.ask("vehicle", limit=1)
    by_way.notebook.write({"memory/car.md": "a surgeon\n", "memory/b.md": "dwelling\n"})
    by_way.index()
    changed = by_way.notebook.paths("physician", limit=1)
    (by_way.notebook.root / "memory/b.md").unlink()
    by_way.index()
    gone = by_way.notebook.ask("house", limit=1)

    assert [hit.path for hit in came.hits] == ["memory/car.md"]
    assert came.fallbacks == ()
    assert changed == ["memory/car.md"]
    assert [hit.path for hit in gone.hits] != ["memory/b.md"]


def test_a_note_that_came_since_is_found_before_its_code_is_written(
    by_way: "Meant", monkeypatch: pytest.MonkeyPatch
) -> None:
    by_way.notebook.write(NOTES)
    by_way.index()
    monkeypatch.setattr(passage_embedder, "settle", leave)
    monkeypatch.setattr(nearest, "ONE_BY_ONE", 5)
    by_way.notebook.write(CAR)
    by_way.index()

    found = by_way.notebook.ask("vehicle", limit=1)

    assert [hit.path for hit in found.hits] == ["memory/car.md"]


def test_more_passages_than_the_table_gives_at_once_are_all_compared(
    by_way: "Meant", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nearest, "MOST", 8)
    by_way.notebook.write({**NOTES, **CAR})
    by_way.index()

    found = by_way.notebook.ask("vehicle", limit=6)

    assert found.hits[0].path == "memory/car.md"
    assert found.fallbacks == ()


def test_notes_that_are_closed_cost_no_places(by_way: "Meant") -> None:
    closed = {f"memory/c{n:03}.md": f"automobile {n}\n" for n in range(60)}
    by_way.notebook.write({**closed, **CAR})
    by_way.index()

    found = by_way.notebook.ask("vehicle", limit=5, hidden=list(closed))

    assert [hit.path for hit in found.hits] == ["memory/car.md"]


@pytest.mark.parametrize("dimension", [8, 1_536, 3_072, 9_000])
def test_vectors_of_any_length_are_searched(
    by_way: "Meant", concepts: Concepts, dimension: int
) -> None:
    concepts.dimension = dimension
    by_way.notebook.write({**NOTES, **CAR})
    by_way.index()

    found = by_way.notebook.ask("vehicle", limit=1, min_score=0.0)

    assert [hit.path for hit in found.hits] == ["memory/car.md"]
    assert found.fallbacks == ()


def test_an_extension_that_is_not_there_is_told_with_its_path(meant: "Meant") -> None:
    meant.notebook.write({**NOTES, **CAR})
    meant.index()
    with_it = meant.notebook.ask("vehicle")

    meant.has(settings=WITHOUT)
    without = meant.notebook.ask("vehicle")
    status = meant.notebook.engine.status()

    assert with_it.fallbacks == ()
    assert steps(without) == stepped_down("missing")
    assert "no sqlite-vec at /nowhere/vec0.so;" in without.fallbacks[0].message
    assert without.degraded
    assert without.hits == with_it.hits
    assert [one.search for one in status.vectors] == ["in-process"]
    assert "/nowhere/vec0.so" in status.details["vector search"]


def test_a_path_that_no_file_can_have_is_an_extension_that_is_not_there(
    meant: "Meant",
) -> None:
    meant.notebook.write({**NOTES, **CAR})
    meant.index()
    meant.has(settings={"store.vector.extensionPath": "/" + 5_000 * "x"})

    found = meant.notebook.ask("vehicle")

    assert steps(found) == stepped_down("missing")
    assert found.hits[0].path == "memory/car.md"


def test_a_file_that_is_no_extension_is_told_and_the_loader_logged_once(
    meant: "Meant", tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "notewell")
    wrong = tmp_path / "vec0.so"
    wrong.write_text("no library", encoding="utf-8")
    meant.has(settings={"store.vector.extensionPath": str(wrong)})
    meant.notebook.write({**NOTES, **CAR})
    meant.index()

    found = [meant.notebook.ask("vehicle") for _ in range(3)]
    meant.has()

    assert [steps(one) for one in found] == [stepped_down("missing")] * 3
    assert str(wrong) in found[0].fallbacks[0].message
    assert len([one for one in caplog.records if str(wrong) in one.getMessage()]) == 1


def test_an_installed_extension_may_be_named_by_its_path(meant: "Meant") -> None:
    with closing(Store.writer(meant.notebook.state / "any.sqlite")) as store:
        path = sqlite_vec.load_extension(store, VectorSettings()).path
    meant.has(settings={"store.vector.extensionPath": path.removesuffix(".so")})
    meant.notebook.write({**NOTES, **CAR})
    meant.index()

    assert meant.notebook.ask("vehicle").fallbacks == ()
    assert (
        path.removesuffix(".so")
        in meant.notebook.engine.status().details["vector search"]
    )


def test_a_version_that_is_not_understood_is_told(
    meant: "Meant", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_vec, "_OLDEST", (0, 1, 99))
    meant.notebook.write({**NOTES, **CAR})
    meant.index()

    found = meant.notebook.ask("vehicle")

    assert steps(found) == stepped_down("version")
    assert found.hits[0].path == "memory/car.md"


def test_without_the_package_vectors_are_compared_in_the_process(
    meant: "Meant", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sqlite_vec", None)
    meant.notebook.write({**NOTES, **CAR})
    meant.index()

    found = meant.notebook.ask("vehicle")

    assert steps(found) == stepped_down("missing")
    assert " install sqlite-vec" in found.fallbacks[0].message
    assert found.hits[0].path == "memory/car.md"


def test_what_is_switched_off_is_no_step_down(meant: "Meant") -> None:
    meant.has(settings=OFF)
    meant.notebook.write({**NOTES, **CAR})
    meant.index()

    found = meant.notebook.ask("vehicle")
    status = meant.notebook.engine.status()

    assert (found.fallbacks, found.degraded) == ((), False)
    assert [one.search for one in status.vectors] == ["in-process"]
    assert "switched off" in status.details["vector search"]


def test_status_tells_the_version_and_where_it_is(meant: "Meant") -> None:
    meant.notebook.write({**NOTES, **CAR})
    meant.index()

    status = meant.notebook.engine.status()

    assert [one.search for one in status.vectors] == ["sqlite-vec"]
    assert status.details["vector search"].startswith("sqlite-vec 0.1.")
    assert "sqlite_vec" in status.details["vector search"]


def test_codes_that_were_not_made_yet_are_told(
    meant: "Meant", monkeypatch: pytest.MonkeyPatch
) -> None:
    meant.has(settings=OFF)
    meant.notebook.write({**NOTES, **CAR})
    meant.index()
    monkeypatch.setattr(nearest, "ONE_BY_ONE", 0)

    meant.has(settings={"store.vector.enabled": True})
    early = meant.notebook.ask("vehicle")
    waiting = meant.notebook.engine.status().vectors[0].search
    meant.index()
    late = meant.notebook.ask("vehicle")

    assert steps(early) == stepped_down("not-ready")
    assert waiting == "in-process"
    assert late.fallbacks == ()
    assert early.hits == late.hits


@pytest.mark.parametrize(
    "damage",
    [
        "update {}_vector_chunks00 set vectors = x'000102'",
        "update {}_vector_chunks00 set vectors = zeroblob(length(vectors))",
        "delete from {}_vector_chunks00",
        "delete from {}_chunks",
        "drop table {}_chunks",
        "update {}_chunks set validity = zeroblob(128)",
        "update {}_chunks set validity = x'00'",
        "update {}_chunks set rowids = x'00'",
    ],
)
def test_damaged_codes_cost_this_answer_nothing_and_are_written_anew_by_the_next_run(
    coded: "Meant", damage: str
) -> None:
    whole = coded.notebook.ask("vehicle")
    with closing(apsw.Connection(str(coded.notebook.index))) as index:
        index.execute(damage.format("nw_codes_1_1"))

    broken = coded.notebook.ask("vehicle")
    coded.index()
    mended = coded.notebook.ask("vehicle")

    assert whole.fallbacks == ()
    assert steps(broken) == stepped_down("corrupt")
    assert broken.degraded
    assert broken.hits == whole.hits
    assert mended.fallbacks == ()
    assert mended.hits == whole.hits


@pytest.mark.parametrize(
    "damage",
    [
        "update nw_blocks_1 set codes = x'000102'",
        "update nw_blocks_1 set ids = x'000102'",
        "update nw_blocks_1 set codes = zeroblob(length(codes))",
        "drop table nw_blocks_1",
    ],
)
def test_damaged_blocks_are_told_and_written_anew_by_the_next_run(
    meant: "Meant", monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    monkeypatch.setattr(nearest, "ONE_BY_ONE", 0)
    meant.has(settings=OFF)
    meant.notebook.write({**NOTES, **CAR})
    meant.index()
    whole = meant.notebook.ask("vehicle")
    with closing(apsw.Connection(str(meant.notebook.index))) as index:
        index.execute(damage)
    meant.has(settings=OFF)  # which holds no block yet

    broken = meant.notebook.ask("automobile")
    meant.index()
    mended = meant.notebook.ask("vehicle")

    assert broken.degraded
    assert broken.hits[0].path == "memory/car.md"
    assert mended.fallbacks == ()
    assert mended.hits == whole.hits


def test_codes_that_are_not_those_of_their_vectors_are_written_anew(
    coded: "Meant",
) -> None:
    with closing(opened(coded)) as store:
        table = codes_table(store, KEPT)
        keys = [row[0] for row in store.rows(f"select rowid from {table}")]
        other = store.one(f"select code from {table} where rowid = ?", keys[0])
        with store.connection:
            for key in keys[1:]:
                store.connection.execute(f"delete from {table} where rowid = ?", (key,))
                store.connection.execute(
                    f"insert into {table}(rowid, code) values (?, vec_bit(?))",
                    (key, other),
                )

    coded.index()

    with closing(opened(coded)) as store:
        assert codes_table(store, KEPT) != table


def test_an_index_goes_on_where_the_extension_is_lost_and_where_it_is_back(
    coded: "Meant", concepts: Concepts
) -> None:
    before = coded.notebook.ask("vehicle")
    coded.has(settings=WITHOUT)
    lost = coded.notebook.ask("vehicle")
    coded.notebook.write({"memory/home.md": "a dwelling\n"})
    (coded.notebook.root / "memory/n03.md").unlink()
    coded.index()
    found = coded.notebook.paths("house", limit=1)
    coded.index(force=True)
    embedded = list(concepts.texts)

    coded.has(settings={"store.vector.extensionPath": None})
    back = coded.notebook.ask("house", limit=1)
    coded.index()
    settled = coded.notebook.ask("house", limit=1)

    assert steps(lost) == stepped_down("missing")
    assert lost.hits == before.hits
    assert found == ["memory/home.md"]
    assert [hit.path for hit in back.hits] == ["memory/home.md"]
    assert settled.fallbacks == ()
    assert settled.hits == back.hits
    assert concepts.texts == embedded


def test_a_table_that_cannot_be_dropped_is_left_aside(coded: "Meant") -> None:
    with closing(Store.writer(coded.notebook.index)) as store:
        drop_codes(store, KEPT)  # the extension is not loaded
        assert store.get(KEPT.codes) is None

    early = coded.notebook.ask("vehicle", limit=1)
    coded.index()
    late = coded.notebook.ask("vehicle", limit=1)

    assert steps(early) == stepped_down("not-ready")
    assert late.fallbacks == ()
    assert early.hits == late.hits


def test_an_index_is_begun_anew_without_the_extension(coded: "Meant") -> None:
    coded.has(settings=WITHOUT)
    with closing(apsw.Connection(str(coded.notebook.index))) as index:
        index.execute("update nw_meta set value = 'x' where key like 'identity_%'")
    coded.notebook.ask("vehicle")

    report = coded.index()

    assert report.embedded == len(NOTES) + len(CAR)
    assert coded.notebook.paths("vehicle", limit=1) == ["memory/car.md"]


def test_a_table_of_many_holes_is_written_anew(
    meant: "Meant", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nearest, "ONE_BY_ONE", 0)
    monkeypatch.setattr(code_tables, "_SLOTS", 8)
    notes = {f"memory/n{n:03}.md": f"word{n} text\n" for n in range(120)}
    meant.notebook.write({**notes, **CAR})
    meant.index()
    with closing(opened(meant)) as store:
        before = codes_table(store, KEPT)

    for path in [path for number, path in enumerate(notes) if number % 8]:
        (meant.notebook.root / path).unlink()
    meant.index()

    with closing(opened(meant)) as store:
        after = codes_table(store, KEPT)
        chunks = store.one(f"select count(*) from {after}_chunks")
    assert before != after
    assert chunks <= 3
    assert meant.notebook.paths("vehicle", limit=1) == ["memory/car.md"]


def test_one_more_note_writes_few_pages(coded: "Meant") -> None:
    coded.notebook.write({"memory/home.md": "a dwelling\n"})
    coded.notebook.refresh()
    with closing(Store.writer(coded.notebook.index)) as store:
        store.connection.execute("pragma wal_checkpoint(truncate)")

    with closing(Store.reader(coded.notebook.index)):  # the log stays
        coded.index()
        written = Path(f"{coded.notebook.index}-wal").stat().st_size

    assert written < 40 * 4_120


def test_a_program_that_stays_holds_many_codes_and_follows_changes(
    coded: "Meant", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_vec, "HELD_FROM", 0)
    held, read = (
        NearestNeighbours(VectorSettings(), stays=True),
        NearestNeighbours(VectorSettings()),
    )
    question = Concepts().embed(["vehicle"], "query").tobytes()

    def nearest_by(ways: NearestNeighbours) -> list[nearest.Neighbour]:
        with closing(Store.reader(coded.notebook.index)) as store:
            tables = store.live()
            assert tables is not None
            search = ways.search(store, tables, KEPT, question)
            found = search.nearest(5, lambda path: True)
            assert search.fallbacks == ()
        return found

    before = [nearest_by(ways) for ways in (held, held, read)]
    (coded.notebook.root / "memory/car.md").unlink()
    coded.notebook.write({"memory/other.md": "this automobile\n"})
    coded.index()
    after = [nearest_by(ways) for ways in (held, held, read)]

    assert before[0] == before[1] == before[2]
    assert after[0] == after[1] == after[2]
    assert before[0] != after[0]


def test_damage_is_met_where_codes_are_held_too(
    coded: "Meant", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_vec, "HELD_FROM", 0)
    with closing(apsw.Connection(str(coded.notebook.index))) as index:
        index.execute(
            "update nw_codes_1_1_vector_chunks00 set vectors = zeroblob(length(vectors))"
        )
    ways = NearestNeighbours(VectorSettings(), stays=True)

    with closing(Store.reader(coded.notebook.index)) as store:
        tables = store.live()
        assert tables is not None
        question = Concepts().embed(["vehicle"], "query").tobytes()
        search = ways.search(store, tables, KEPT, question)
        near = search.nearest(1, lambda path: True)

    assert [step.reason for step in search.fallbacks] == ["corrupt"]
    assert near[0].cosine > 0.5


def test_few_vectors_have_no_table(meant: "Meant") -> None:
    meant.notebook.write({**NOTES, **CAR})
    meant.index()

    with closing(opened(meant)) as store:
        assert store.get(KEPT.codes) is None
        assert (
            store.rows("select name from sqlite_schema where name like '%codes%'") == []
        )


@pytest.fixture
def watched() -> Iterator[list[str]]:
    """The statements that connections of this test run."""
    said: list[str] = []

    def watch(connection: apsw.Connection) -> None:
        connection.exec_trace = lambda cursor, sql, values: not said.append(sql)

    apsw.connection_hooks.append(watch)
    yield said
    apsw.connection_hooks.remove(watch)


def test_codes_are_searched_by_the_table(coded: "Meant", watched: list[str]) -> None:
    coded.has()
    coded.notebook.ask("vehicle")

    assert any("code match vec_bit" in sql for sql in watched)


def test_a_search_by_words_loads_no_extension(
    new_meant: "Callable[[], Meant]", watched: list[str]
) -> None:
    meant = new_meant()
    meant.notebook.write(NOTES)
    meant.notebook.reopen()
    meant.notebook.refresh()
    meant.notebook.ask("word7")

    assert watched
    assert not any("vec_version" in sql for sql in watched)
