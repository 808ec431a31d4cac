"""Intervals, percentiles and agreement."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notewell.bench.metrics import (
    bootstrap_interval,
    latency_percentiles,
    overlap,
    rank_biased_overlap,
)

names = st.lists(st.sampled_from("abcdefgh"), unique=True)
shares = st.lists(st.floats(0, 1), min_size=1, max_size=40)


def test_the_interval_of_one_value_is_that_value() -> None:
    found = bootstrap_interval([0.25])

    assert (found.mean, found.low, found.high) == (0.25, 0.25, 0.25)


def test_the_interval_is_near_what_theory_says_of_a_fair_coin() -> None:
    found = bootstrap_interval([0.0, 1.0] * 200)

    half = 1.96 * (0.25 / 400) ** 0.5
    assert found.mean == 0.5
    assert found.low == pytest.approx(0.5 - half, abs=0.01)
    assert found.high == pytest.approx(0.5 + half, abs=0.01)


@given(shares)
def test_the_same_values_give_the_same_interval_around_their_mean(
    values: list[float],
) -> None:
    found = bootstrap_interval(values)

    assert found == bootstrap_interval(values)
    assert min(values) - 1e-9 <= found.low <= found.high <= max(values) + 1e-9


def test_times_keep_their_order_and_get_percentiles() -> None:
    found = latency_percentiles([3.0, 1.0, 2.0])

    assert found is not None
    assert (found.p50, found.p99, found.samples) == (2.0, 2.98, (3.0, 1.0, 2.0))
    assert latency_percentiles([]) is None


def test_overlap_is_what_both_have_of_what_any_has() -> None:
    assert overlap("ab", "bc") == pytest.approx(1 / 3)
    assert overlap("", "") == 1
    assert overlap("a", "") == 0


def test_the_top_counts_most_in_rank_biased_overlap() -> None:
    top = rank_biased_overlap("abcd", "abdc")
    bottom = rank_biased_overlap("abcd", "bacd")

    assert 0 < bottom < top < 1


def test_rank_biased_overlap_of_two_swapped_names_by_hand() -> None:
    # Agreement is 0 at depth 1 and 1 at depth 2, where it stays: 1 - (1 - p) = p.
    assert rank_biased_overlap("ab", "ba") == pytest.approx(0.9)


def test_nothing_agrees_with_nothing_only() -> None:
    assert rank_biased_overlap("", "") == 1
    assert rank_biased_overlap("", "ab") == 0


@given(names, names)
def test_agreement_is_a_share_and_has_no_direction(
    one: list[str], other: list[str]
) -> None:
    for measure in (overlap, rank_biased_overlap):
        found = measure(one, other)

        assert 0 <= found <= 1
        assert found == pytest.approx(measure(other, one))
        assert measure(one, one) == pytest.approx(1)
