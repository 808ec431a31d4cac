"""Vectors that cost next to nothing: made on the way, answering in others' place."""

from typing import TYPE_CHECKING

import pytest

from notewell.backends.base import Run
from notewell.backends.builtin.locking import writer_lock
from notewell.backends.builtin.vectors import engine, passage_embedder
from notewell.errors import EmbeddingError

if TYPE_CHECKING:
    from tests.backends.builtin.vectors.conftest import Concepts, Meant

NOTES = {
    "memory/automobile.md": "An automobile.\n",
    "memory/soup.md": "Lunch was soup.\n",
}
MANY = {f"memory/{number}.md": f"Note {number}.\n" for number in range(30)}


@pytest.fixture
def instant(concepts: "Concepts") -> "Concepts":
    """Another embedder, which comes with the install."""
    return type(concepts)("instant", dimension=48)


@pytest.fixture
def slow(meant: "Meant", concepts: "Concepts", instant: "Concepts") -> "Meant":
    """A notebook with a provider, and with the one that stands behind it."""
    meant.has(concepts.provider(), last=instant.provider(instant=True))
    return meant


def at_once(meant: "Meant") -> None:
    """Refresh as a command does on the way to an answer."""
    meant.notebook.engine.refresh(Run(within=2.0, vectors="instant"))


def test_it_answers_while_the_chosen_one_has_no_vectors(
    slow: "Meant", concepts: "Concepts"
) -> None:
    slow.notebook.write(NOTES)
    at_once(slow)

    found = slow.notebook.ask("vehicle")

    assert concepts.texts == concepts.queries == []
    assert [hit.path for hit in found.hits] == ["memory/automobile.md"]
    assert (found.mode, found.provider, found.degraded) == ("hybrid", "instant", True)
    [step] = found.fallbacks
    assert (step.kind, step.from_, step.to) == ("embedding", "concepts", "instant")
    assert (step.reason, found.local_to_remote) == ("not-ready", False)


def test_it_answers_when_the_chosen_one_fails(
    slow: "Meant", concepts: "Concepts"
) -> None:
    slow.notebook.write(NOTES)
    slow.index()
    concepts.fails = EmbeddingError(
        "concepts", "it failed", reason="timeout", remedy="mend it"
    )

    found = slow.notebook.ask("vehicle")

    assert (found.mode, found.provider, found.degraded) == ("hybrid", "instant", True)
    assert [step.reason for step in found.fallbacks] == ["timeout"]


def test_it_answers_last_of_all(
    meant: "Meant", concepts: "Concepts", instant: "Concepts"
) -> None:
    second = type(concepts)("second", dimension=32)
    meant.has(concepts.provider(), second.provider(), instant.provider(instant=True))
    meant.notebook.write(NOTES)
    at_once(meant)

    found = meant.notebook.ask("vehicle")

    assert found.provider == "instant"
    steps = [(step.from_, step.to) for step in found.fallbacks]
    assert steps == [("concepts", "second"), ("second", "instant")]


@pytest.mark.parametrize(("lacking", "answers"), [(10, "concepts"), (11, "instant")])
def test_it_answers_while_the_chosen_one_lacks_many(
    slow: "Meant", lacking: int, answers: str
) -> None:
    slow.notebook.write(MANY)
    slow.index()
    slow.notebook.write({f"memory/new{n}.md": f"New {n}.\n" for n in range(lacking)})
    at_once(slow)

    found = slow.notebook.ask("new")

    assert (found.provider, found.degraded) == (answers, True)


def test_one_that_lacks_many_answers_if_nobody_else_can(
    slow: "Meant", monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (engine, passage_embedder):
        monkeypatch.setattr(module, "AT_ONCE", 1)
    slow.notebook.write(MANY)
    slow.index()
    slow.notebook.write({f"memory/new{n}.md": f"New {n}.\n" for n in range(20)})
    slow.notebook.refresh()

    found = slow.notebook.ask("new")

    assert (found.provider, found.fallbacks) == ("concepts", ())
    assert "found by words alone: 20 of 50" in found.warnings[0]


def test_an_indexing_run_makes_its_vectors_before_the_others(
    slow: "Meant", concepts: "Concepts", instant: "Concepts"
) -> None:
    made: list[str] = []
    concepts.before = lambda texts: made.append("concepts")
    instant.before = lambda texts: made.append("instant")
    slow.notebook.write(NOTES)

    report = slow.index()

    assert list(dict.fromkeys(made)) == ["instant", "concepts"]
    assert (report.embedded, report.warnings) == (2, ())


def test_a_run_in_which_the_chosen_one_fails_says_who_answers(
    slow: "Meant", concepts: "Concepts"
) -> None:
    concepts.fails = EmbeddingError(
        "concepts", "it failed", reason="timeout", remedy="mend it"
    )
    slow.notebook.write(NOTES)

    report = slow.index()

    assert report.warnings == (
        "concepts: it failed; mend it",
        "Until then the vectors that come with the install answer.",
    )


def test_the_first_search_of_a_small_folder_makes_its_vectors(
    meant: "Meant", instant: "Concepts"
) -> None:
    meant.has(instant.provider(instant=True))
    meant.notebook.write(NOTES)
    meant.notebook.refresh()

    found = meant.notebook.ask("vehicle")
    again = meant.notebook.ask("vehicle")

    assert [hit.path for hit in found.hits] == ["memory/automobile.md"]
    assert (found.mode, found.degraded, found.fallbacks) == ("hybrid", False, ())
    assert again.hits == found.hits
    assert len(instant.texts) == 2


def test_a_search_of_a_small_folder_makes_what_is_lacking(
    meant: "Meant", instant: "Concepts"
) -> None:
    meant.has(instant.provider(instant=True))
    meant.notebook.write(NOTES)
    at_once(meant)
    meant.notebook.write({"memory/house.md": "A dwelling.\n"})
    meant.notebook.refresh()

    found = meant.notebook.ask("home")

    assert [hit.path for hit in found.hits] == ["memory/house.md"]
    assert (found.mode, found.degraded) == ("hybrid", False)


def test_a_search_does_not_wait_for_who_writes_the_index(
    meant: "Meant", instant: "Concepts"
) -> None:
    meant.has(instant.provider(instant=True))
    meant.notebook.write(NOTES)
    meant.notebook.refresh()

    with writer_lock(meant.notebook.index, patient=False) as mine:
        found = meant.notebook.ask("soup")

    assert (mine, instant.texts) == (True, [])
    assert [hit.path for hit in found.hits] == ["memory/soup.md"]
    assert (found.mode, found.degraded) == ("keyword", True)


def test_that_of_a_large_one_says_how_to_get_them(
    meant: "Meant", instant: "Concepts", monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (engine, passage_embedder):
        monkeypatch.setattr(module, "AT_ONCE", 1)
    meant.has(instant.provider(instant=True))
    meant.notebook.write(NOTES)
    at_once(meant)

    found = meant.notebook.ask("soup")

    assert instant.texts == []
    assert (found.mode, found.degraded) == ("keyword", True)
    [step] = found.fallbacks
    assert step.message == "there are no vectors of instant yet; run `notewell index`"


def test_a_provider_that_loads_a_model_is_never_asked_on_the_way(
    meant: "Meant", concepts: "Concepts"
) -> None:
    meant.notebook.write(NOTES)
    at_once(meant)

    found = meant.notebook.ask("soup")

    assert concepts.texts == []
    assert found.mode == "keyword"


def test_a_note_that_has_changed_gets_its_vector_with_its_words(
    meant: "Meant", instant: "Concepts"
) -> None:
    meant.has(instant.provider(instant=True))
    meant.notebook.write(NOTES)
    at_once(meant)
    meant.notebook.write({"memory/house.md": "A dwelling.\n"})
    at_once(meant)
    at_once(meant)

    found = meant.notebook.ask("home")

    assert [hit.path for hit in found.hits] == ["memory/house.md"]
    assert (found.mode, found.degraded) == ("hybrid", False)
    assert len(instant.texts) == 3
