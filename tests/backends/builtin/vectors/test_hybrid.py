"""Words and meaning together: what is found, in which order, and what is left out."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from notewell.backends.base import Query
from notewell.backends.builtin.vectors import nearest
from notewell.backends.text.query import MOST_READ
from notewell.backends.weighing import answer
from notewell.filters import Filter

if TYPE_CHECKING:
    from tests.backends.builtin.vectors.conftest import Concepts, Meant

NOTES = {
    "memory/automobile.md": "An automobile.\n",
    "memory/surgeon.md": "Our surgeon lives near the harbour.\n",
    "memory/soup.md": "Lunch was soup with leeks.\n",
}
DISTRACTORS = {
    f"memory/d{n:03}.md": f"Entry {n} about topic{n} and matter{n}.\n"
    for n in range(60)
}


def test_a_note_is_found_by_its_meaning_where_no_word_of_the_question_stands(
    meant: "Meant",
) -> None:
    meant.notebook.write({**NOTES, **DISTRACTORS})
    meant.index()

    found = meant.notebook.ask("vehicle")

    assert found.hits[0].path == "memory/automobile.md"
    assert (found.mode, found.provider, found.model) == (
        "hybrid",
        "concepts",
        "concepts-model",
    )
    assert found.hits[0].text_score is None
    assert found.hits[0].vector_score is not None
    assert not found.degraded


def test_no_more_of_a_question_is_embedded_than_is_read_for_its_words(
    meant: "Meant", concepts: "Concepts"
) -> None:
    meant.notebook.write({**NOTES, **DISTRACTORS})
    meant.index()

    found = meant.notebook.ask("vehicle " * 200_000)

    assert [len(asked) for asked in concepts.queries] == [MOST_READ]
    assert found.hits[0].path == "memory/automobile.md"
    assert any("long" in said for said in found.warnings)


def test_each_leg_contributes_when_they_find_different_notes(meant: "Meant") -> None:
    meant.notebook.write(
        {**DISTRACTORS, "memory/a.md": "automobile\n", "memory/b.md": "vehicle tax 9\n"}
    )
    meant.index()

    found = meant.notebook.ask("vehicle tax")

    assert {"memory/a.md", "memory/b.md"} <= {hit.path for hit in found.hits}


def test_an_exact_identifier_is_found_whatever_the_vectors_say(meant: "Meant") -> None:
    meant.notebook.write({**DISTRACTORS, "memory/t.md": "ticket ZX-4417 closed\n"})
    meant.index()

    found = meant.notebook.ask("ZX-4417", min_score=0.99)

    assert found.hits[0].path == "memory/t.md"


def test_a_weak_exact_word_takes_no_place_of_good_meaning_but_the_last(
    meant: "Meant",
) -> None:
    meant.has(settings={"query.hybrid.textWeight": 0.0})
    near = {f"memory/n{n}.md": f"physician surgeon {n}\n" for n in range(3)}
    weak = {"memory/w.md": "doctor " + "unrelated words of all kinds " * 40}
    meant.notebook.write({**DISTRACTORS, **near, **weak})
    meant.index()

    three = meant.notebook.ask("doctor", limit=3).hits
    four = meant.notebook.ask("doctor", limit=4).hits

    assert [hit.path for hit in three] == [
        "memory/n0.md",
        "memory/n1.md",
        "memory/w.md",
    ]
    assert four[-1].path == "memory/w.md"


def test_an_old_dated_note_with_the_exact_word_is_never_lost(meant: "Meant") -> None:
    meant.has(settings={"query.hybrid.temporalDecay.enabled": True})
    meant.notebook.write(
        {**DISTRACTORS, "memory/1999-01-01.md": "the passphrase rule\n"}
    )
    meant.index()

    found = meant.notebook.ask("passphrase", min_score=0.5)

    assert [hit.path for hit in found.hits] == ["memory/1999-01-01.md"]


def test_a_passage_that_only_resembles_must_reach_the_threshold(meant: "Meant") -> None:
    meant.notebook.write(
        {**DISTRACTORS, "memory/far.md": "automobile " + "other words here " * 10}
    )
    meant.index()

    strict = meant.notebook.ask("vehicle")
    meant.has(settings={"query.minScore": 0.0})
    lenient = meant.notebook.ask("vehicle")

    asked = meant.notebook.ask("vehicle", min_score=0.0)

    assert strict.reason == "no-match"
    assert asked.hits[0].path == "memory/far.md"
    assert lenient.hits[0].path == "memory/far.md"


def test_what_is_meant_stays_before_passages_that_hold_only_a_common_word(
    meant: "Meant",
) -> None:
    far = {"memory/far.md": "automobile " + "other words here " * 5}
    common = {
        f"memory/c{n}.md": "The " + " ".join(f"heron{n * m}" for m in range(1, 25))
        for n in range(30)
    }
    meant.notebook.write({**DISTRACTORS, **far, **common})
    meant.index()

    assert meant.notebook.ask("vehicle car").reason == "no-match"
    assert "memory/far.md" in meant.notebook.paths("the vehicle car", limit=40)


def test_nothing_resembles_an_unknown_hash_beside_a_common_word_either(
    meant: "Meant",
) -> None:
    common = "The " + " ".join(f"heron{number}" for number in range(25))
    meant.notebook.write({**DISTRACTORS, "memory/the.md": common})
    meant.index()

    assert meant.notebook.paths("the deadbeefcafe1234") == ["memory/the.md"]


def test_without_hybrid_meaning_decides_and_exact_words_fill_free_places(
    meant: "Meant",
) -> None:
    meant.has(settings={"query.hybrid.enabled": False})
    meant.notebook.write(
        {
            **DISTRACTORS,
            "memory/near.md": "automobile\n",
            "memory/word.md": "vehicle " + "and quite other things " * 30,
        }
    )
    meant.index()

    found = meant.notebook.ask("vehicle")

    assert [hit.path for hit in found.hits] == ["memory/near.md", "memory/word.md"]
    assert found.mode == "vector"


def test_notes_that_are_closed_take_no_places(meant: "Meant") -> None:
    closed = {f"memory/c{n}.md": f"automobile {n}\n" for n in range(80)}
    meant.notebook.write({**closed, "memory/open.md": "my automobile\n"})
    meant.index()

    found = meant.notebook.ask("vehicle", limit=5, hidden=list(closed))

    assert [hit.path for hit in found.hits] == ["memory/open.md"]


@pytest.mark.parametrize("text", ["vehicle", "sea automobile", "entry 7 about topic7"])
def test_every_way_of_comparing_gives_one_answer(
    meant: "Meant", monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    meant.notebook.write({**NOTES, **DISTRACTORS})
    found: list[tuple[object, ...]] = []

    for one_by_one in (2_000, 0):
        monkeypatch.setattr(nearest, "ONE_BY_ONE", one_by_one)
        for enabled in (True, False):
            meant.has(settings={"store.vector.enabled": enabled})
            meant.index()
            one = meant.notebook.ask(text)
            found.append((one.hits, one.mode, one.fallbacks, one.degraded))

    assert found[0][1:] == ("hybrid", (), False)
    assert [one == found[0] for one in found] == [True] * 4


def test_few_candidates_by_their_codes_hold_the_nearest(
    meant: "Meant", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nearest, "ONE_BY_ONE", 0)
    monkeypatch.setattr(nearest, "_CANDIDATES", 2)
    monkeypatch.setattr(answer, "_FEWEST_CANDIDATES", 2)
    meant.notebook.write({**NOTES, **DISTRACTORS})
    meant.index()

    found = meant.notebook.ask("vehicle", limit=1)

    assert [hit.path for hit in found.hits] == ["memory/automobile.md"]


@pytest.fixture(scope="module")
def lasting(new_meant: Callable[[], "Meant"]) -> "Meant":
    """Notes that are indexed once."""
    meant = new_meant()
    meant.notebook.write({**NOTES, **DISTRACTORS})
    meant.index()
    return meant


@given(
    vector=st.floats(0, 1),
    text=st.floats(0, 1),
    least=st.floats(0, 1),
    hybrid=st.booleans(),
    decay=st.booleans(),
)
@settings(max_examples=15, deadline=None)
def test_an_exact_word_is_found_whatever_the_settings(
    lasting: "Meant",
    vector: float,
    text: float,
    least: float,
    hybrid: bool,
    decay: bool,
) -> None:
    lasting.has(
        settings={
            "query.hybrid.vectorWeight": vector,
            "query.hybrid.textWeight": text,
            "query.minScore": least,
            "query.hybrid.enabled": hybrid,
            "query.hybrid.temporalDecay.enabled": decay,
        },
    )

    for word in ("soup", "harbour", "topic17"):
        found = lasting.notebook.ask(word, limit=1, min_score=least)

        assert any(word in hit.snippet for hit in found.hits)
        assert lasting.notebook.ask(word, limit=1, min_score=least) == found


@pytest.mark.parametrize("notes", [1, 2])
def test_the_best_hit_has_a_score_however_few_there_are(
    meant: "Meant", notes: int
) -> None:
    meant.notebook.write(
        {f"memory/{n}.md": f"the heron flies {n}\n" for n in range(notes)}
    )
    meant.index()

    hits = meant.notebook.ask("heron").hits
    strict = meant.notebook.ask("herons", min_score=0.1).hits

    assert [hit.score > 0.4 for hit in hits] == [True] * notes
    assert len(strict) == notes


def test_vectors_are_narrowed_before_the_nearest_are_taken(meant: "Meant") -> None:
    near = {f"memory/{n}.md": f"automobile {n}\n" for n in range(90)}
    far = {"memory/kept/soup.md": "Lunch was soup, by automobile.\n"}
    meant.notebook.write({**near, **far})
    meant.index()

    found = meant.notebook.engine.search(
        Query(text="vehicle", limit=2, filter=Filter(paths=("kept",)))
    )

    assert found.mode == "hybrid"
    assert [hit.path for hit in found.hits] == ["memory/kept/soup.md"]
