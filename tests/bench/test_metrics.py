"""Scores of one answer: worked by hand, and laws."""

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notewell.bench.metrics import BUDGET, METRICS, Lengths, LineRange, scores

A5, A30, B1 = (
    LineRange("a.md", 5, 5),
    LineRange("a.md", 30, 31),
    LineRange("b.md", 1, 1),
)


def lines(path: str) -> Sequence[str]:
    """Notes of 40 lines with 100 characters each."""
    return ["x" * 100] * 40 if path in ("a.md", "b.md") else []


def scored(
    results: Sequence[LineRange],
    right: Sequence[LineRange],
    ignored: Sequence[LineRange] = (),
) -> dict[str, float]:
    found = scores(results, right, ignored=ignored, lengths=Lengths(lines))
    return {str(metric): value for metric, value in found.items()}


def test_recall_is_the_share_of_places_hit_in_the_first_results() -> None:
    results = [
        LineRange("z.md", 1, 9),
        LineRange("a.md", 1, 5),
        LineRange("a.md", 31, 40),
    ]

    found = scored(results, [A5, A30, B1])

    assert found["recall@1"] == 0
    assert found["recall@6"] == found["recall@10"] == pytest.approx(2 / 3)


def test_the_first_hit_decides_the_reciprocal_rank() -> None:
    results = [
        LineRange("z.md", 1, 9),
        LineRange("a.md", 1, 5),
        LineRange("b.md", 1, 1),
    ]

    assert scored(results, [A5, B1])["mrr@10"] == 0.5


def test_gain_is_discounted_by_rank_and_held_against_the_best_order() -> None:
    results = [
        LineRange("z.md", 1, 9),
        LineRange("a.md", 1, 5),
        LineRange("z.md", 9, 9),
        A30,
    ]

    found = scored(results, [A5, A30, B1])

    best = 1 + 1 / math.log2(3) + 1 / 2
    assert found["ndcg@10"] == pytest.approx(
        (1 / math.log2(3) + 1 / math.log2(5)) / best
    )


def test_a_better_grade_gains_more() -> None:
    good, fair = LineRange("a.md", 1, 3, 4.0), LineRange("b.md", 1, 3, 1.0)

    found = scored([LineRange("b.md", 1, 1), LineRange("a.md", 3, 3)], [good, fair])

    best = 4 + 1 / math.log2(3)
    assert found["ndcg@10"] == pytest.approx((1 + 4 / math.log2(3)) / best)


def test_one_passage_that_hits_two_places_gains_both_but_no_more_than_all() -> None:
    found = scored([LineRange("a.md", 1, 40), B1], [A5, A30, B1])

    assert found["recall@1"] == pytest.approx(2 / 3)
    assert found["ndcg@10"] == 1.0


def test_a_place_is_credited_once() -> None:
    repeated = scored([A5, A5, A5], [A5, B1])

    assert repeated["recall@10"] == 0.5
    assert repeated == scored([A5], [A5, B1])


def test_lines_that_only_touch_are_no_hit() -> None:
    near = [
        LineRange("a.md", 6, 29),
        LineRange("a.md", 32, 40),
        LineRange("A.md", 5, 5),
    ]

    assert set(scored(near, [A5, A30]).values()) == {0.0}


def test_success_looks_at_six_results_and_recall_at_ten() -> None:
    found = scored([*(LineRange("z.md", at, at) for at in range(1, 7)), A5], [A5])

    assert (found["success@6"], found["recall@6"], found["recall@10"]) == (0, 0, 1)
    assert found["mrr@10"] == pytest.approx(1 / 7)


def test_the_eleventh_result_counts_for_the_budget_and_for_what_order_could_gain() -> (
    None
):
    found = scored([*(LineRange("z.md", at, at) for at in range(1, 11)), A5], [A5])

    assert (found.pop("rec@4kc"), found.pop("success@20")) == (1, 1)
    assert set(found.values()) == {0.0}


def test_the_twenty_first_result_counts_for_the_budget_alone() -> None:
    found = scored([*(LineRange("z.md", at, at) for at in range(1, 21)), A5], [A5])

    assert found.pop("rec@4kc") == 1
    assert set(found.values()) == {0.0}


def test_results_that_touch_an_ignored_place_are_taken_out_first() -> None:
    unclear = LineRange("z.md", 1, 9)

    assert scored([LineRange("z.md", 2, 3), A5], [A5], [unclear]) == scored([A5], [A5])


def test_the_same_name_in_another_form_of_unicode_is_the_same_note() -> None:
    composed, apart = LineRange("caf\u00e9.md", 1, 1), LineRange("cafe\u0301.md", 1, 1)

    assert scored([composed], [apart])["recall@1"] == 1


def test_the_budget_ends_after_the_line_that_uses_it_up() -> None:
    whole = LineRange("a.md", 1, 40)  # 100 characters a line, so 40 lines
    before = LineRange("b.md", 1, 10)

    assert scored([whole], [LineRange("a.md", 40, 40)])["rec@4kc"] == 1
    assert scored([before, whole], [LineRange("a.md", 30, 30)])["rec@4kc"] == 1
    assert scored([before, whole], [LineRange("a.md", 31, 31)])["rec@4kc"] == 0


def test_lines_that_two_results_hold_are_paid_for_twice() -> None:
    once, again = LineRange("a.md", 1, 20), LineRange("a.md", 1, 20)

    found = scored([once, again, LineRange("b.md", 1, 1)], [B1])

    assert (found["recall@10"], found["rec@4kc"]) == (1, 0)


def test_carriage_returns_cost_nothing() -> None:
    plain = Lengths(lambda _path: ["abc", "de"])
    returns = Lengths(lambda _path: ["abc\r", "de\r"])

    span = LineRange("a.md", 1, 2)
    assert plain.spend(span, BUDGET) == returns.spend(span, BUDGET) == (2, 5)


def _span(path: str, start: int, more: int, grade: float) -> LineRange:
    return LineRange(path, start, min(40, start + more), grade)


spans = st.builds(
    _span,
    st.sampled_from(["a.md", "b.md"]),
    st.integers(1, 40),
    st.integers(0, 30),
    st.sampled_from([1.0, 2.0, 4.0]),
)
rankings = st.lists(spans, max_size=25)
places = st.lists(spans, min_size=1, max_size=6)


@given(rankings, places)
def test_every_score_lies_between_0_and_1(
    results: list[LineRange], right: list[LineRange]
) -> None:
    found = scored(results, right)

    assert set(found) == set(METRICS)
    assert all(0 <= value <= 1 for value in found.values())


@given(rankings, places, spans)
def test_one_more_result_at_the_end_never_lowers_a_score(
    results: list[LineRange], right: list[LineRange], more: LineRange
) -> None:
    before, after = scored(results, right), scored([*results, more], right)

    assert all(after[metric] >= before[metric] for metric in METRICS)


@given(rankings, places)
def test_the_order_of_judgements_does_not_matter(
    results: list[LineRange], right: list[LineRange]
) -> None:
    one, other = scored(results, right), scored(results, right[::-1])

    assert one == pytest.approx(other)
