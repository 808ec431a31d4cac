"""What a model's vectors are worth among these notes: measured when they are made."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from notewell.backends.builtin.vectors.calibration import (
    UNKNOWN,
    Calibration,
    ScriptMeasurement,
    script_of,
)
from notewell.errors import EmbeddingError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.backends.builtin.vectors.conftest import Concepts, Meant

    from notewell.adapters.embeddings.base import Matrix, Role

TOPICS = (
    "otter",
    "heron",
    "pool",
    "port",
    "gate",
    "wheat",
    "copper",
    "violin",
    "marsh",
)
NOTES = {
    f"memory/{number:02}.md": " ".join(
        f"{topic}{number} of the {topic} by {topic}s" for _ in range(4)
    )
    + "\n"
    for number, topic in enumerate(TOPICS)
}


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("Who holds the key?", "latin"),
        ("Où est la clé?", "latin"),
        ("ключ от гаража", "cyrillic"),
        ("钥匙在哪里", "cjk"),
        ("カギは gateway の中", "cjk"),
        ("열쇠는 어디에 있나요", "hangul"),
        ("4711 -- !", "latin"),
    ],
)
def test_a_text_has_the_script_of_most_of_its_letters(text: str, script: str) -> None:
    assert script_of(text) == script


def known(
    apart: float, *, passages: int = 1_000_000, script: str = "latin"
) -> Calibration:
    one = ScriptMeasurement(apart=apart, mean=0.2, deviation=0.1, passages=passages)
    return Calibration(scripts={script: one})


@pytest.mark.parametrize(
    ("apart", "gate"), [(0.5, 0.0), (1.0, 0.0), (1.6, 0.5), (2.2, 1.0), (5.0, 1.0)]
)
def test_a_model_is_heard_as_far_as_it_tells_the_notes_apart(
    apart: float, gate: float
) -> None:
    assert known(apart).gate("latin") == pytest.approx(gate, abs=1e-4)


def test_what_was_measured_on_few_notes_counts_little() -> None:
    # 8 passages weigh as much as the usual 3.0: (1.0 + 3.0) / 2 = 2.0.
    assert known(1.0, passages=8).apart("latin") == pytest.approx(2.0)
    assert UNKNOWN.gate("latin") == 1.0


def test_a_script_without_spaces_has_to_stand_out_farther() -> None:
    assert known(2.75, script="cjk").apart("cjk") == pytest.approx(1.25, abs=1e-3)
    assert known(2.75, script="cjk").gate("latin") == 1.0


def test_what_is_near_a_question_in_words_is_nearer_than_to_unrelated_ones() -> None:
    measured = replace(known(3.0), nearest=0.17, strange=0.4)

    assert measured.floor("latin", 0.1) == 0.17
    assert UNKNOWN.floor("latin", 0.1) is None


def test_what_is_not_spelled_like_words_has_to_stand_out() -> None:
    # Two deviations of .1 above .15, which is halfway between .1 and the mean of .2.
    assert known(3.0).floor("latin", 0.1, words=False) == pytest.approx(0.35)
    assert known(3.0).floor("greek", 0.1) == pytest.approx(0.35)
    measured = replace(known(3.0), strange=0.4)
    assert measured.floor("latin", 0.1, words=False) == 0.4


def test_notes_that_are_all_about_one_thing_are_found_by_it() -> None:
    alike = ScriptMeasurement(apart=3.0, mean=0.4, deviation=0.2, passages=100)
    large = ScriptMeasurement(apart=3.0, mean=0.8, deviation=0.02, passages=100)
    notes_alike = Calibration(scripts={"latin": alike}, unrelated=0.1)
    all_large = Calibration(scripts={"latin": large}, unrelated=0.8)

    assert notes_alike.floor("latin", 0.5, words=False) == 0.5
    assert all_large.floor("latin", 0.8, words=False) == pytest.approx(0.84)


class Constant:
    """Adds one number to every vector: a model whose cosines are all large."""

    def __init__(self, inner: "Concepts", *, common: float) -> None:
        self._inner = inner
        self._embed = inner.embed
        self._common = common

    def __call__(self, texts: "Sequence[str]", role: "Role") -> "Matrix":
        rows = self._embed(texts, role).copy()
        rows[:, -1] += self._common
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@pytest.mark.parametrize("common", [0.0, 2.0])
def test_one_concept_is_found_and_nonsense_is_not_whatever_the_cosines_are(
    meant: "Meant",
    concepts: "Concepts",
    monkeypatch: pytest.MonkeyPatch,
    common: float,
) -> None:
    monkeypatch.setattr(concepts, "embed", Constant(concepts, common=common))
    meant.notebook.write({**NOTES, "memory/car.md": "The automobile is red.\n"})
    meant.index()

    assert meant.notebook.paths("vehicle")[0] == "memory/car.md"
    assert meant.notebook.ask("zxqv bloopty").reason == "no-match"


def test_a_hash_that_stands_nowhere_is_like_nothing(
    meant: "Meant", concepts: "Concepts"
) -> None:
    meant.notebook.write({**NOTES, "memory/id.md": "ae9bb849edfac72a\n"})
    meant.index()

    assert meant.notebook.ask("deadbeefcafe1234").reason == "no-match"
    assert meant.notebook.paths("ae9bb849edfac72a") == ["memory/id.md"]


def test_a_configured_threshold_is_the_documented_formula(meant: "Meant") -> None:
    far = {"memory/far.md": "automobile " + "other words here " * 10}
    meant.notebook.write({**NOTES, **far})
    meant.index()
    meant.has(settings={"query.minScore": 0.35})

    assert meant.notebook.ask("vehicle").reason == "no-match"
    assert meant.notebook.paths("vehicle", min_score=0.0)[0] == "memory/far.md"


def test_a_set_is_measured_once_and_anew_when_the_notes_have_grown(
    meant: "Meant", concepts: "Concepts"
) -> None:
    meant.notebook.write(NOTES)
    meant.index()
    once = list(concepts.queries)

    meant.index()
    again = list(concepts.queries)
    meant.notebook.write(
        {f"memory/n{n}.md": NOTES["memory/00.md"] + str(n) for n in range(3)}
    )
    meant.index()

    assert len(once) == len(NOTES)
    assert all(len(cut.split()) == 10 for cut in once)
    assert again == once
    assert len(concepts.queries) > len(once)


def test_a_search_measures_nothing(meant: "Meant", concepts: "Concepts") -> None:
    meant.notebook.write(NOTES)
    meant.index()
    concepts.queries.clear()

    meant.notebook.ask("vehicle")

    assert concepts.queries == ["vehicle"]


def test_vectors_answer_also_when_nothing_could_be_measured(
    meant: "Meant", concepts: "Concepts", monkeypatch: pytest.MonkeyPatch
) -> None:
    embed = concepts.embed

    def documents_alone(texts: "Sequence[str]", role: "Role") -> "Matrix":
        if role == "query" and len(texts) > 1:
            raise EmbeddingError(
                "concepts", "tired", reason="rate-limit", remedy="wait"
            )
        return embed(texts, role)

    monkeypatch.setattr(concepts, "embed", documents_alone)
    meant.notebook.write({**NOTES, "memory/car.md": "automobile\n"})

    report = meant.index()

    assert report.embedded == report.chunks
    assert any("tired" in warning for warning in report.warnings)
    assert meant.notebook.paths("vehicle")[0] == "memory/car.md"


def test_status_says_in_words_how_well_a_model_tells_the_notes_apart(
    meant: "Meant", concepts: "Concepts"
) -> None:
    meant.notebook.write(NOTES)
    meant.index()

    [kept] = meant.notebook.engine.status().vectors

    assert list(kept.apart) == ["latin"]
    assert kept.apart["latin"].startswith("well (")
