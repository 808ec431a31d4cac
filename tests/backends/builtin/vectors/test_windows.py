"""Several vectors for a passage: the best one counts, and says where it is."""

from contextlib import closing
from typing import TYPE_CHECKING

import apsw
import numpy as np
import pytest

from notewell.backends.builtin.store import Store
from notewell.backends.builtin.vectors.sets import all_sets
from notewell.errors import EmbeddingError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.backends.builtin.vectors.conftest import Concepts, Meant

TOPICS = ("automobile", "surgeon", "dwelling", "ocean")
WHOLE = {"chunking.window.tokens": 0}
ANY = {"query.minScore": 0.0}


def lines_about(topic: str) -> list[str]:
    """Return lines of 360 characters in which one word tells the topic."""
    return [f"{topic} {topic} {topic} {topic} {topic} {topic}." for _ in range(6)]


def long_note() -> str:
    """Return a passage of four topics, each of some lines."""
    return "\n".join(line for topic in TOPICS for line in lines_about(topic)) + "\n"


@pytest.mark.parametrize(
    ("question", "topic"),
    [("vehicle", "automobile"), ("physician", "surgeon"), ("house", "dwelling")],
)
def test_the_best_window_gives_the_score_the_line_and_the_snippet(
    meant: "Meant", question: str, topic: str
) -> None:
    meant.has(settings=ANY)
    meant.notebook.write({"memory/long.md": long_note()})
    meant.index()

    [hit] = meant.notebook.ask(question).hits

    lines = long_note().split("\n")
    assert hit.vector_score is not None
    assert hit.vector_score > 0.6  # half of it were the passage one vector
    assert hit.text_score is None
    assert topic in lines[hit.match_line - 1]
    assert topic in hit.snippet
    assert lines[hit.match_line - 1] in hit.snippet


def test_a_place_in_an_endless_line_is_shown(meant: "Meant") -> None:
    meant.has(settings=ANY)
    line = " ".join(long_note().split("\n"))
    meant.notebook.write({"memory/long.md": f"{line}\n"})
    meant.index()

    [hit] = meant.notebook.ask("house").hits

    assert hit.snippet.count("dwelling") > hit.snippet.count("automobile")


def test_a_word_of_the_question_gives_the_line_as_before(meant: "Meant") -> None:
    meant.has(settings=ANY)
    meant.notebook.write({"memory/long.md": f"{long_note()}the vehicle tax\n"})
    meant.index()

    [hit] = meant.notebook.ask("vehicle").hits

    assert hit.match_line == 25


def test_a_passage_is_one_candidate_however_many_of_its_windows_are_near(
    meant: "Meant",
) -> None:
    meant.has(settings=ANY)
    cars = {
        f"memory/{n}.md": "\n".join([*lines_about("automobile") * 4, n]) for n in "abc"
    }
    meant.notebook.write(cars)
    meant.index()

    hits = meant.notebook.ask("vehicle", limit=3).hits

    assert [hit.path for hit in hits] == sorted(cars)


def test_a_window_without_a_usable_vector_costs_its_passage_nothing_else(
    meant: "Meant",
) -> None:
    meant.has(settings=ANY)
    note = long_note().replace("surgeon", "unembeddable")
    meant.notebook.write({"memory/long.md": note})

    report = meant.index()

    assert report.embedded == 1
    assert report.warnings == ()
    assert meant.notebook.ask("house").hits[0].vector_score is not None


def test_a_passage_is_cut_where_the_provider_is_on_this_machine(
    meant: "Meant", concepts: "Concepts"
) -> None:
    meant.notebook.write({"memory/long.md": long_note()})
    meant.index()
    local = len(concepts.texts)
    remote = type(concepts)("far")
    meant.has(remote.provider(remote=True))
    meant.index()
    asked = type(concepts)("asked")
    meant.has(asked.provider(remote=True), settings={"chunking.window.tokens": 120})
    meant.index()

    assert local == 3
    assert len(remote.texts) == 1
    assert len(asked.texts) == local


def test_the_cost_that_is_told_before_an_upload_counts_what_windows_repeat(
    meant: "Meant", concepts: "Concepts"
) -> None:
    meant.notebook.write({"memory/long.md": long_note()})
    meant.has(concepts.provider(remote=True))
    meant.index()
    meant.has(settings={"chunking.window.tokens": 120})
    meant.index()

    whole, in_windows = (upload.tokens for upload in meant.uploads)
    assert in_windows == round(whole * 1.5)


def test_an_old_set_answers_until_the_new_one_is_whole(
    meant: "Meant", concepts: "Concepts"
) -> None:
    notes = {f"memory/n{n:02}.md": f"{long_note()}word{n}\n" for n in range(20)}
    meant.has(settings={**ANY, **WHOLE})
    meant.notebook.write(notes)
    meant.index()
    whole = meant.notebook.ask("house", limit=1)
    meant.has(settings={**ANY, "chunking.window.tokens": 120})

    early = meant.notebook.ask("house", limit=1)
    seen: list[object] = []

    def in_between(texts: "Sequence[str]") -> None:
        if len(concepts.texts) < 60:
            return
        concepts.before = lambda texts: None
        seen.append(meant.notebook.ask("house", limit=1))
        concepts.before = fail

    def fail(texts: "Sequence[str]") -> None:
        raise EmbeddingError("concepts", "down", reason="exit", remedy="wait")

    concepts.before = in_between
    meant.index()
    concepts.before = lambda texts: None
    halfway = meant.notebook.ask("house", limit=1)
    report = meant.index()
    late = meant.notebook.ask("house", limit=1)

    assert early.hits == whole.hits == halfway.hits
    assert seen
    assert not early.degraded
    assert report.embedded == len(notes)
    assert (late.hits[0].vector_score or 0) > (whole.hits[0].vector_score or 0) + 0.1


def test_the_sets_of_an_older_version_are_carried_over_and_nothing_embedded_again(
    meant: "Meant", concepts: "Concepts"
) -> None:
    notes = {f"memory/n{n:02}.md": f"word{n} text\n" for n in range(12)}
    meant.has(settings=WHOLE)
    meant.notebook.write({**notes, "memory/car.md": "my automobile\n"})
    meant.index()
    before = meant.notebook.ask("vehicle", limit=1)
    as_version_1(meant, concepts)
    concepts.texts.clear()

    report = meant.index()
    after = meant.notebook.ask("vehicle", limit=1)

    assert concepts.texts == []
    assert report.embedded == len(notes) + 1
    assert after.hits == before.hits
    assert after.fallbacks == ()
    with closing(Store.reader(meant.notebook.index)) as store:
        names = {row[0] for row in store.rows("select name from sqlite_schema")}
        assert [kept.cut for _, kept in all_sets(store)] == [""]
    assert not {"nw_sets", "nw_vectors_1", "nw_blocks_1", "nw_refused_1"} & names


def test_an_older_set_answers_until_windows_are_made(
    meant: "Meant", concepts: "Concepts"
) -> None:
    meant.has(settings=WHOLE)
    meant.notebook.write({"memory/long.md": long_note()})
    meant.index()
    as_version_1(meant, concepts)
    concepts.texts.clear()
    concepts.fails = EmbeddingError("concepts", "down", reason="exit", remedy="wait")
    meant.has(settings={"chunking.window.tokens": 120, **ANY})
    meant.index()
    concepts.fails = None

    found = meant.notebook.ask("house")

    assert concepts.texts == []
    assert (found.mode, found.degraded) == ("hybrid", False)


def test_an_older_index_that_is_begun_anew_keeps_its_vectors(
    meant: "Meant", concepts: "Concepts"
) -> None:
    meant.has(settings=WHOLE)
    meant.notebook.write({"memory/car.md": "my automobile\n"})
    meant.index()
    as_version_1(meant, concepts)
    with closing(apsw.Connection(str(meant.notebook.index))) as index:
        index.execute("update nw_meta set value = 2 where key = 'schema'")
    concepts.texts.clear()
    meant.has(settings=WHOLE)

    report = meant.index()

    assert (report.embedded, concepts.texts) == (1, [])


def as_version_1(meant: "Meant", concepts: "Concepts") -> None:
    """Write the only set of an index as version 1 did: float32, a row per passage."""
    with closing(Store.writer(meant.notebook.index)) as store, store.connection:
        [(identity, kept)] = all_sets(store)
        run = store.connection.execute
        rows = store.rows(
            f"select t.digest, v.vector from {kept.texts} as t"
            f" join {kept.vectors} as v on v.id = t.id << 8"
        )
        for table in (kept.texts, kept.vectors, kept.refused, "nw_vector_sets"):
            run(f"drop table {table}")
        run(
            "create table nw_sets(id integer primary key, identity text not null unique,"
            " dimension integer not null) strict"
        )
        run(
            "insert into nw_sets values (1, ?, ?)", (identity.encoded(), kept.dimension)
        )
        run(
            "create table nw_vectors_1(id integer primary key autoincrement,"
            " digest blob not null unique, vector blob not null) strict"
        )
        run(
            "create table nw_refused_1(digest blob primary key, at integer not null)"
            " strict, without rowid"
        )
        for digest, numbers in rows:
            vector = np.frombuffer(numbers, dtype=np.int8).astype("<f4")
            vector /= np.linalg.norm(vector)
            run(
                "insert into nw_vectors_1(digest, vector) values (?, ?)",
                (digest, vector.tobytes()),
            )
        store.put("vectors_version", 1)
        store.put("in_blocks_1", 0)
    concepts.texts.clear()
