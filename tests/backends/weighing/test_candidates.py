"""Joining the legs: who is heard, in formulas worked by hand and in laws."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from notewell.backends.text.passages import Passage, ScoredPassage
from notewell.backends.weighing.candidates import fuse, vector_share
from notewell.config import HybridSettings

USUAL = HybridSettings()
SHARES = st.floats(0, 1)
WEIGHTS = st.tuples(SHARES, SHARES).filter(lambda pair: sum(pair) > 0)


def scored(number: int, text: float, vector: float | None) -> ScoredPassage:
    passage = Passage(
        id=number,
        path=f"{number:02}.md",
        signature=(0, 0, 0),
        start_line=1,
        end_line=1,
        heading="",
        length=1,
        text="x",
    )
    return ScoredPassage(
        passage=passage, score=text, match_line=1, exact=False, text=text, vector=vector
    )


def weighted(vector: float, text: float) -> HybridSettings:
    return HybridSettings(vector_weight=vector, text_weight=text)


@pytest.mark.parametrize(
    ("best", "gate", "share"),
    [
        (0.0, 0.0, 1.0),  # no word to be outvoted
        (0.05, 1.0, 0.95),
        (0.125, 1.0, 0.625),  # halfway from 0.95 to 0.3
        (0.2, 1.0, 0.3),
        (0.9, 1.0, 0.3),
        (0.05, 0.5, 0.95),
        (0.0875, 0.5, 0.55),  # halfway from 0.95 to 0.15, on half the way
        (0.2, 0.5, 0.15),
        (0.06, 0.0, 0.0),
    ],
)
def test_the_share_of_the_vectors_falls_as_words_grow_strong(
    best: float, gate: float, share: float
) -> None:
    assert vector_share(best, USUAL, gate=gate) == pytest.approx(share)


@pytest.mark.parametrize(
    ("vector", "text", "share"),
    [
        (0.7, 0.3, 0.3),
        (0.0, 1.0, 0.0),
        (1.0, 0.0, 1.0),
        (0.5, 0.5, 9 / 58),  # odds of 3 to 7 times (1 / (7 / 3)): 9 to 49
    ],
)
def test_other_weights_scale_the_odds(vector: float, text: float, share: float) -> None:
    found = vector_share(0.5, weighted(vector, text), gate=1.0)

    assert found == pytest.approx(share)


def test_meaning_decides_where_words_are_weak_and_words_where_they_are_strong() -> None:
    weak = [scored(1, 0.05, 0.1), scored(2, 0.01, 0.6), scored(3, 0.02, 0.2)]
    strong = [scored(1, 0.6, 0.1), scored(2, 0.12, 0.6), scored(3, 0.2, 0.2)]

    assert best_of(fuse(weak, 0.1, USUAL)) == 2
    assert best_of(fuse(strong, 0.1, USUAL)) == 1


def best_of(found: list[ScoredPassage]) -> int:
    return min(found, key=lambda one: one.order).passage.id


CANDIDATES = st.lists(
    st.tuples(SHARES, st.none() | st.floats(-1, 1)), min_size=1, max_size=12
)


def test_a_note_asked_for_by_its_name_is_first_however_far_its_vector_is() -> None:
    named = replace(scored(1, 0.999, 0.0), named=True)
    others = [scored(2, 0.99, 0.9), scored(3, 0.5, 0.8)]

    assert best_of(fuse([named, *others], 0.1, USUAL)) == 1


@given(rows=CANDIDATES, weights=WEIGHTS, gate=SHARES, background=st.floats(-1, 1))
@settings(max_examples=200, deadline=None)
def test_scores_lie_in_bounds_and_do_not_depend_on_the_order_of_the_candidates(
    rows: list[tuple[float, float | None]],
    weights: tuple[float, float],
    gate: float,
    background: float,
) -> None:
    able = [scored(number, *row) for number, row in enumerate(rows)]
    given_ = weighted(*weights)

    found = fuse(able, background, given_, gate=gate)
    turned = fuse(able[::-1], background, given_, gate=gate)

    assert found == turned[::-1]
    assert all(0 <= one.score <= 1 for one in found)


@given(rows=CANDIDATES, gate=SHARES)
@settings(max_examples=200, deadline=None)
def test_a_weight_of_nothing_leaves_the_other_leg_alone(
    rows: list[tuple[float, float | None]], gate: float
) -> None:
    able = [scored(number, *row) for number, row in enumerate(rows)]

    words = fuse(able, 0.0, weighted(0.0, 1.0), gate=gate)
    meaning = fuse(able, 0.0, weighted(1.0, 0.0), gate=gate)

    for left, right in pairwise(words):
        assert (left.score <= right.score) or left.text >= right.text
    for left, right in pairwise(meaning):
        assert (left.score <= right.score) or (left.vector or 0) >= (right.vector or 0)


@given(best=SHARES, gate=SHARES, weights=WEIGHTS)
@settings(max_examples=300, deadline=None)
def test_stronger_words_and_a_poorer_model_never_raise_the_share(
    best: float, gate: float, weights: tuple[float, float]
) -> None:
    given_ = weighted(*weights)
    share = vector_share(best, given_, gate=gate)

    assert 0 <= share <= 1
    assert vector_share(min(1.0, best + 0.05), given_, gate=gate) <= share + 1e-9
    assert vector_share(best, given_, gate=gate * 0.9) <= share + 1e-9


def test_the_last_one_found_has_a_score_too() -> None:
    best, last = fuse([scored(1, 0.8, 0.9), scored(2, 0.1, 0.1)], 0.1, USUAL)

    assert best.score > last.score > 0
