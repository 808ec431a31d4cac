"""What happens to vectors when an index breaks, or goes, or has no room."""

import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import pytest

import notewell
from notewell.backends.builtin.index_file import remove_index
from notewell.backends.builtin.locking import writer_lock
from notewell.backends.builtin.salvage import begin_anew
from notewell.backends.builtin.vectors import nearest
from notewell.backends.weighing import answer
from notewell.errors import BackendFailed, EmbeddingError

if TYPE_CHECKING:
    from tests.backends.builtin.vectors.conftest import Concepts, Meant

NOTES = {f"memory/n{n:02}.md": f"# Note {n}\n\nword{n} text\n" for n in range(30)}


def test_an_index_that_is_removed_meanwhile_is_an_error_of_ours(
    meant: "Meant", concepts: "Concepts"
) -> None:
    meant.notebook.write(NOTES)

    def remove(texts: Sequence[str]) -> None:
        concepts.before = lambda texts: None
        remove_index(meant.notebook.index)

    concepts.before = remove
    with pytest.raises(BackendFailed, match="removed") as failed:
        meant.index()
    report = meant.index()

    assert failed.value.reason == "not-ready"
    assert (report.embedded, report.warnings) == (30, ())


def test_damage_that_is_met_on_the_way_is_mended_by_the_same_run(
    meant: "Meant", concepts: "Concepts"
) -> None:
    meant.notebook.write(NOTES)

    def spoil(texts: Sequence[str]) -> None:
        concepts.before = lambda texts: None
        with closing(apsw.Connection(str(meant.notebook.index))) as index:
            index.execute("update nw_meta set value = 'x' where key like 'identity_%'")

    concepts.before = spoil
    report = meant.index()

    assert (report.embedded, report.pending) == (30, 0)
    assert meant.notebook.paths("word7") == ["memory/n07.md"]


@pytest.mark.parametrize(
    ("damage", "embedded"),
    [
        ("update nw_vectors_1 set vector = x'00' where id = 3 << 8", 1),
        ("update nw_codes_1_1_chunks set validity = zeroblob(128)", 0),
    ],
    ids=["a vector", "codes"],
)
def test_forcing_an_index_mends_what_is_damaged(
    meant: "Meant",
    concepts: "Concepts",
    monkeypatch: pytest.MonkeyPatch,
    damage: str,
    embedded: int,
) -> None:
    monkeypatch.setattr(nearest, "ONE_BY_ONE", 0)
    meant.notebook.write(NOTES)
    meant.index()
    concepts.texts.clear()
    with closing(apsw.Connection(str(meant.notebook.index))) as index:
        index.execute(damage)

    broken = meant.notebook.ask("word7")
    meant.has()
    meant.index(force=True)
    mended = meant.notebook.ask("word7")

    assert [step.reason for step in broken.fallbacks] == ["corrupt"]
    assert (mended.mode, mended.degraded) == ("hybrid", False)
    assert len(concepts.texts) == embedded


@pytest.mark.parametrize(
    "damage",
    [
        "update nw_meta set value = x'000102' where key = 'mean_1'",
        "update nw_meta set value = 'nothing' where key = 'mean_1'",
        "update nw_codes_1_1_vector_chunks00 set vectors = x'000102'",
        "update nw_codes_1_1_vector_chunks00 set vectors = zeroblob(length(vectors))",
        "delete from nw_codes_1_1_vector_chunks00",
        "delete from nw_codes_1_1_chunks",
        "drop table nw_codes_1_1_chunks",
        "update nw_codes_1_1_chunks set validity = zeroblob(128)",
        "update nw_codes_1_1_chunks set rowids = x'00'",
        "update nw_vector_sets set identity = 'nothing'",
        "update nw_vector_sets set identity = '[]'",
    ],
)
def test_damage_beside_the_vectors_is_an_error_of_ours(
    meant: "Meant", monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    monkeypatch.setattr(nearest, "ONE_BY_ONE", 0)
    monkeypatch.setattr(nearest, "_CANDIDATES", 2)
    monkeypatch.setattr(answer, "_FEWEST_CANDIDATES", 2)
    meant.notebook.write(NOTES)
    meant.notebook.write({f"memory/d{n}.md": f"distractor{n}\n" for n in range(30)})
    meant.index()
    with closing(apsw.Connection(str(meant.notebook.index))) as index:
        index.execute(damage)

    found = meant.notebook.ask("word7", limit=1)
    status = meant.notebook.engine.status()
    meant.index()

    assert found.hits[0].path == "memory/n07.md"
    assert found.degraded
    assert status.location
    assert meant.notebook.ask("word7").mode == "hybrid"


def test_damage_of_one_set_costs_no_other_its_vectors(
    meant: "Meant", concepts: "Concepts"
) -> None:
    meant.notebook.write(NOTES)
    meant.index()
    other = type(concepts)("second")
    meant.has(other.provider())
    meant.index()
    meant.notebook.engine.close()
    with closing(apsw.Connection(str(meant.notebook.index))) as index:
        index.execute("drop table nw_texts_1")
    other.texts.clear()

    with writer_lock(meant.notebook.index, patient=True):
        begin_anew(meant.notebook.index)
    meant.has(other.provider())
    report = meant.index()

    assert report.embedded == 30
    assert other.texts == []


def test_without_room_for_the_vectors_the_old_index_stays(meant: "Meant") -> None:
    meant.notebook.write(NOTES)
    meant.index()
    meant.notebook.engine.close()
    script = (
        "import resource, signal, sys\n"
        "from pathlib import Path\n"
        "import apsw\n"
        "from notewell.backends.builtin import salvage\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))\n"
        "try:\n"
        "    salvage.begin_anew(Path(sys.argv[1]))\n"
        "except apsw.Error:\n"
        "    print('refused')\n"
    )
    whole = meant.notebook.index.read_bytes()

    done = subprocess.run(
        [sys.executable, "-c", script, str(meant.notebook.index)],
        env={"PYTHONPATH": str(Path(notewell.__file__).parents[1])},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )

    assert done.stdout == "refused\n"
    assert list(meant.notebook.index.parent.glob("*.anew*")) == []
    assert meant.notebook.index.read_bytes() == whole


def test_vectors_that_go_while_a_question_is_embedded_are_missed_aloud(
    meant: "Meant", concepts: "Concepts"
) -> None:
    meant.notebook.write(NOTES)
    meant.index()

    def remove(texts: Sequence[str]) -> None:
        with closing(apsw.Connection(str(meant.notebook.index))) as index:
            index.execute("delete from nw_vector_sets")

    concepts.before = remove
    found = meant.notebook.ask("word7")

    assert (found.mode, found.provider, found.degraded) == ("keyword", None, True)
    assert [step.reason for step in found.fallbacks] == ["not-ready"]


def test_damage_that_only_reading_finds_is_mended_by_force(
    meant: "Meant", concepts: "Concepts"
) -> None:
    meant.notebook.write(NOTES)
    meant.index()
    meant.notebook.engine.close()
    with closing(apsw.Connection(str(meant.notebook.index))) as index:
        page = index.execute(
            "select rootpage from sqlite_schema where name = 'nw_vector_sets'"
        ).get
        index.execute("pragma wal_checkpoint(truncate)")
    content = bytearray(meant.notebook.index.read_bytes())
    content[(page - 1) * 4096 : page * 4096] = b"\xee" * 4096
    meant.notebook.index.write_bytes(content)
    meant.has()

    report = meant.index(force=True)

    assert report.embedded == len(NOTES)


def test_a_question_that_left_before_damage_was_found_is_told(
    meant: "Meant", concepts: "Concepts"
) -> None:
    second = type(concepts)("second")
    concepts.fails = EmbeddingError("concepts", "down", reason="exit", remedy="wait")
    meant.notebook.write(NOTES)
    meant.has(concepts.provider(), second.provider(remote=True))
    meant.index()
    meant.notebook.engine.close()
    whole = meant.notebook.index.read_bytes()
    meant.notebook.index.write_bytes(
        whole.replace(b"# Note 3", b"\xff\xfe\xfd\xfc\xfb!!!")
    )
    meant.has(concepts.provider(), second.provider(remote=True))

    found = meant.notebook.ask("word3 text note")

    assert found.mode == "scan"
    assert second.queries == ["word3 text note"]
    assert found.local_to_remote
    assert [step.kind for step in found.fallbacks] == ["embedding", "lexical-index"]
