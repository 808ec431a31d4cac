"""Scales and marks: where values are drawn."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as some

from notewell.adapters.surfaces.report import marks
from notewell.adapters.surfaces.report.scales import SHARES, differences, positive

TIMES = some.lists(some.floats(0.001, 1e7), min_size=1, max_size=50)


@given(times=TIMES)
def test_every_value_is_inside_its_scale_in_the_order_of_values(
    times: list[float],
) -> None:
    scale = positive(times)

    places = [scale.at(value) for value in sorted(times)]

    assert places == sorted(places)
    assert places[0] >= 0
    assert places[-1] <= 100


@given(times=TIMES)
def test_a_scale_has_ticks_enough_to_read_it_and_not_too_many(
    times: list[float],
) -> None:
    scale = positive(times)

    assert 1 <= len(scale.ticks) <= 12
    assert all(scale.low <= tick <= scale.high for tick in scale.ticks)


@given(ends=some.lists(some.floats(-1, 1), max_size=20))
def test_differences_lie_around_a_zero_in_the_middle(ends: list[float]) -> None:
    scale = differences(ends)

    assert scale.at(0) == 50
    assert all(scale.low <= end <= scale.high for end in ends)


@given(samples=some.lists(some.floats(0.01, 1e5), min_size=1, max_size=300))
def test_every_sample_is_in_the_outline(samples: list[float]) -> None:
    scale = positive(samples)

    drawn = marks.histogram(0, samples, scale, height=20)

    bins = {int(start) for start in re.findall(r"M(\d+) 20v", drawn)}
    assert bins == {min(int(scale.at(one) * 1.2), 119) for one in samples}


def test_a_mark_is_placed_in_per_cent_so_that_text_keeps_its_size() -> None:
    drawn = marks.plot(20, marks.marker(1, SHARES.at(0.5)), scale=SHARES)

    assert 'width="100%"' in drawn
    assert 'x="50.00%"' in drawn
    assert "viewBox" not in drawn


def test_no_two_of_thirty_contenders_look_alike() -> None:
    looks = {re.sub(r'[xy]="[^"]*"', "", marks.marker(index)) for index in range(30)}

    assert len(looks) == 30


@pytest.mark.parametrize("length", [0.0, 0.01])
def test_the_shortest_bar_can_still_be_seen(length: float) -> None:
    assert 'width="0.40%"' in marks.bar(0, length)
