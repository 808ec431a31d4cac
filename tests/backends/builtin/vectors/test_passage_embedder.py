"""Making vectors: nothing twice, nothing lost, nothing unusable kept."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import apsw
import pytest

from notewell.adapters.embeddings.base import FetchProgress, ProviderChoice
from notewell.backends.base import Run, Upload
from notewell.backends.builtin import schema
from notewell.backends.builtin.engine import Engine
from notewell.backends.builtin.vectors import nearest
from notewell.errors import EmbeddingError
from notewell.types import IndexReport, VectorStatus

if TYPE_CHECKING:
    from tests.backends.builtin.vectors.conftest import Concepts, Meant

NOTES = {f"memory/n{n:02}.md": f"# Note {n}\n\nword{n} text\n" for n in range(30)}


def vectors_of(meant: "Meant") -> VectorStatus:
    """Return the state of the newest set."""
    return meant.notebook.engine.status().vectors[-1]


def test_every_passage_gets_a_vector_and_progress_is_told(
    meant: "Meant", concepts: "Concepts"
) -> None:
    meant.notebook.write(NOTES)

    report = meant.index()

    assert (report.embedded, report.pending, report.warnings) == (30, 0, ())
    assert len(concepts.texts) == 30
    assert meant.progress[0] == (0, 30)
    assert meant.progress[-1] == (30, 30)
    assert (vectors_of(meant).passages, vectors_of(meant).lacking) == (30, 0)


def test_nothing_that_stays_the_same_is_embedded_twice(
    meant: "Meant", concepts: "Concepts", monkeypatch: pytest.MonkeyPatch
) -> None:
    meant.notebook.write(NOTES)
    meant.index()
    concepts.texts.clear()

    meant.index()
    meant.index(force=True)
    (meant.notebook.root / "memory/n00.md").rename(meant.notebook.root / "memory/m.md")
    meant.notebook.write({"memory/copy.md": NOTES["memory/n01.md"]})
    meant.index()
    monkeypatch.setattr(schema, "TERMS_VERSION", "another tokenizer")
    meant.has()
    meant.index()

    assert concepts.texts == []
    assert vectors_of(meant).passages == 31


def test_a_text_that_comes_back_is_taken_from_the_cache(
    meant: "Meant", concepts: "Concepts"
) -> None:
    meant.notebook.write({"memory/a.md": "first wording\n"})
    meant.index()

    meant.notebook.write({"memory/a.md": "second wording\n"})
    meant.index()
    meant.notebook.write({"memory/a.md": "first wording\n"})
    meant.index()

    assert concepts.texts == ["first wording", "second wording"]
    assert meant.notebook.paths("first wording") == ["memory/a.md"]


@pytest.mark.parametrize(("most", "kept"), [(5, 6), (0, 1)])
def test_the_cache_keeps_so_many_vectors_that_no_text_uses(
    meant: "Meant", most: int, kept: int
) -> None:
    meant.has(settings={"cache.maxEntries": most})

    for edit in range(10):
        meant.notebook.write({"memory/a.md": f"wording number {edit}\n"})
        meant.index()

    with closing(apsw.Connection(str(meant.notebook.index))) as index:
        assert index.execute("select count(*) from nw_vectors_1").get == kept


def test_what_was_made_before_an_interruption_is_kept(
    meant: "Meant", concepts: "Concepts"
) -> None:
    meant.notebook.write(NOTES)

    def interrupt(texts: Sequence[str]) -> None:
        if len(concepts.texts) == 16:
            raise KeyboardInterrupt

    concepts.before = interrupt
    with pytest.raises(KeyboardInterrupt):
        meant.index()
    concepts.before = lambda texts: None
    halfway = meant.notebook.ask("word20")
    meant.index()

    assert len(concepts.texts) == len(set(concepts.texts)) == 30
    assert halfway.degraded
    assert "14 of 30" in halfway.warnings[0]
    assert not meant.notebook.ask("word20").warnings


def test_a_text_without_a_usable_vector_is_found_by_words_and_tried_again_later(
    meant: "Meant", concepts: "Concepts"
) -> None:
    meant.notebook.write({**NOTES, "memory/bad.md": "unembeddable heron\n"})

    report = meant.index()
    meant.index()
    once = len(concepts.texts)
    meant.index(force=True)

    assert (report.embedded, report.pending) == (30, 0)
    assert "no usable vector for, found by words alone: 1;" in report.warnings[0]
    assert meant.notebook.paths("heron")[0] == "memory/bad.md"
    assert (once, len(concepts.texts)) == (31, 32)


def test_a_note_that_is_deleted_while_it_is_embedded_is_not_written_back(
    meant: "Meant", concepts: "Concepts"
) -> None:
    meant.notebook.write({"memory/x.md": "mango\n", "memory/y.md": "papaya\n"})

    def delete(texts: Sequence[str]) -> None:
        (meant.notebook.root / "memory/x.md").unlink(missing_ok=True)
        meant.notebook.refresh()

    concepts.before = delete
    meant.index()

    assert meant.notebook.ask("mango").reason == "no-match"
    assert vectors_of(meant).passages == 1


def test_an_index_that_is_built_anew_meanwhile_is_embedded_whole(
    meant: "Meant", concepts: "Concepts"
) -> None:
    meant.notebook.write(NOTES)

    def rebuild(texts: Sequence[str]) -> None:
        concepts.before = lambda texts: None
        meant.notebook.refresh(force=True)

    concepts.before = rebuild
    report = meant.index()

    assert (report.embedded, report.pending) == (30, 0)
    assert len(concepts.texts) == len(set(concepts.texts)) == 30


def test_an_outage_destroys_no_vector_and_is_told(
    meant: "Meant", concepts: "Concepts"
) -> None:
    meant.notebook.write(NOTES)
    meant.index()
    concepts.fails = EmbeddingError(
        "concepts", "it does not answer", reason="network", remedy="start it"
    )

    meant.notebook.write({"memory/new.md": "brand new text\n"})
    report = meant.index()

    assert (report.embedded, report.pending) == (30, 0)
    assert report.warnings[0] == "concepts: it does not answer; start it"
    assert "found by words alone: 1;" in report.warnings[1]
    assert meant.notebook.paths("brand new") == ["memory/new.md"]


def test_another_dimension_is_another_set_and_the_first_one_stays(
    meant: "Meant", concepts: "Concepts"
) -> None:
    meant.notebook.write(NOTES)
    meant.index()
    concepts.texts.clear()

    concepts.dimension = 32
    meant.has()
    before = meant.notebook.ask("word7")
    meant.index()
    after = meant.notebook.ask("word7")
    concepts.dimension = 64
    meant.has()
    back = meant.notebook.ask("word7")

    assert before.hits[0].path == "memory/n07.md"
    assert (before.mode, before.degraded) == ("keyword", True)
    [step] = before.fallbacks
    assert (step.from_, step.to, step.reason) == ("concepts", "none", "not-ready")
    assert "notewell index" in step.message
    assert (after.mode, after.fallbacks, back.mode) == ("hybrid", (), "hybrid")
    assert len(concepts.texts) == 30
    assert [kept.dimension for kept in meant.notebook.engine.status().vectors] == [
        64,
        32,
    ]


def test_vectors_survive_the_damage_of_the_text_index(
    meant: "Meant", concepts: "Concepts"
) -> None:
    meant.notebook.write(NOTES)
    meant.index()
    meant.notebook.engine.close()
    index = meant.notebook.index
    index.write_bytes(
        index.read_bytes().replace(b"# Note 3", b"\xff\xfe\xfd\xfc\xfb!!!")
    )
    meant.has()

    found = meant.notebook.ask("word7 text note")
    concepts.texts.clear()
    report = meant.index()

    assert found.hits
    assert report.embedded == 30
    assert concepts.texts == []


def test_the_old_index_answers_until_the_new_one_has_its_vectors(
    meant: "Meant", concepts: "Concepts"
) -> None:
    meant.notebook.write(
        {"memory/long.md": "\n".join(f"automobile {n}" for n in range(200))}
    )
    meant.index()
    seen: list[tuple[str, bool | None]] = []

    def ask(texts: Sequence[str]) -> None:
        concepts.before = lambda texts: None
        found = meant.notebook.ask("vehicle")
        seen.append((found.mode, found.freshness.stale))

    meant.has(settings={"chunking.tokens": 100, "chunking.overlap": 0})
    concepts.before = ask
    meant.index()
    after = meant.notebook.ask("vehicle")

    assert seen == [("hybrid", True)]
    assert (after.mode, after.freshness.stale) == ("hybrid", None)
    assert vectors_of(meant).lacking == 0


def test_what_goes_where_is_said_before_text_is_sent_away(
    meant: "Meant", concepts: "Concepts"
) -> None:
    meant.has(concepts.provider(remote=True))
    meant.notebook.write(NOTES)
    concepts.before = lambda texts: seen.append(list(meant.uploads))
    seen: list[list[Upload]] = []

    meant.index()
    meant.index()

    size = sum(len(text) for text in NOTES.values()) // 4
    assert all(len(said) == 1 for said in seen)
    [said] = meant.uploads
    assert (said.provider, said.host, said.passages) == (
        "concepts",
        "concepts.example",
        30,
    )
    assert said.tokens == pytest.approx(size, rel=0.1)


def test_a_local_provider_sends_nothing_and_says_nothing(meant: "Meant") -> None:
    meant.notebook.write(NOTES)

    meant.index()

    assert meant.uploads == []


def test_a_missing_model_is_fetched_by_index_and_never_by_a_search(
    meant: "Meant", concepts: "Concepts"
) -> None:
    here: list[bool] = []

    def opened() -> "Concepts":
        if not here:
            raise EmbeddingError(
                "concepts", "no model", reason="model-missing", remedy="pull it"
            )
        return concepts

    def fetched(told: FetchProgress) -> None:
        here.append(True)

    meant.has(replace(concepts.provider(), open=opened, fetch=fetched))
    meant.notebook.write(NOTES)
    meant.notebook.refresh()

    before = meant.notebook.ask("word3")
    meant.index()
    after = meant.notebook.ask("word3")

    assert [step.reason for step in before.fallbacks] == ["model-missing"]
    assert (before.mode, after.mode, here) == ("keyword", "hybrid", [True])


def test_pruning_for_one_provider_leaves_the_vectors_of_another_searchable(
    meant: "Meant",
    concepts: "Concepts",
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(nearest, "ONE_BY_ONE", 0)
    uncached = {"cache.enabled": False}
    meant.has(settings=uncached)
    meant.notebook.write({**NOTES, "memory/z.md": "automobile\n"})
    meant.index()

    other = type(concepts)("second").provider()
    meant.has(other, settings=uncached)
    meant.notebook.write({"memory/z.md": "physician\n"})
    meant.index()
    meant.has(concepts.provider(), settings=uncached)
    before = meant.notebook.ask("word7")
    meant.index()

    assert (before.mode, before.hits[0].path) == ("hybrid", "memory/n07.md")
    assert meant.notebook.ask("surgeon").hits[0].path == "memory/z.md"


def test_an_answer_knows_of_texts_that_came_without_vectors(meant: "Meant") -> None:
    meant.notebook.write(NOTES)
    meant.index()
    whole = meant.notebook.ask("word7")

    meant.notebook.write({"memory/new.md": "brand new physician\n"})
    meant.notebook.refresh()
    found = meant.notebook.ask("word7")
    (meant.notebook.root / "memory/new.md").unlink()
    meant.notebook.refresh()
    again = meant.notebook.ask("word7")

    assert (whole.degraded, found.degraded, again.degraded) == (False, True, False)
    assert "found by words alone: 1 of 31" in found.warnings[0]


def test_an_interrupted_rebuild_says_nothing_false_of_the_index_that_answers(
    meant: "Meant", concepts: "Concepts"
) -> None:
    meant.notebook.write(
        {"memory/long.md": "\n".join(f"automobile {n}" for n in range(200))}
    )
    meant.index()

    def interrupt(texts: Sequence[str]) -> None:
        raise KeyboardInterrupt

    meant.has(settings={"chunking.tokens": 100, "chunking.overlap": 0})
    concepts.before = interrupt
    with pytest.raises(KeyboardInterrupt):
        meant.index()
    concepts.before = lambda texts: None
    found = meant.notebook.ask("vehicle")

    assert (found.mode, found.freshness.stale) == ("hybrid", True)
    assert not any("without a vector" in told for told in found.warnings)


def test_two_programs_do_not_make_the_same_vectors(
    meant: "Meant", concepts: "Concepts"
) -> None:
    meant.notebook.write(NOTES)
    other = type(concepts)()
    choice = ProviderChoice(first=other.provider())
    beside = Engine(replace(meant.notebook.site(), embedding=choice))
    told: list[IndexReport] = []

    def also(texts: Sequence[str]) -> None:
        concepts.before = lambda texts: None
        told.append(beside.refresh(Run(vectors="all")))

    concepts.before = also
    report = meant.index()
    beside.close()

    assert report.embedded == 30
    assert other.texts == []
    assert "Another process is making vectors" in told[0].warnings[0]
    assert "found by words alone: 30;" in told[0].warnings[1]
