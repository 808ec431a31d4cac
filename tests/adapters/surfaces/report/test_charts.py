"""Scales and marks: where values are drawn."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as some

from notewell.adapters.surfaces.report.charts import (
    Scale,
    difference_scale,
    outline,
    time_scale,
)
from notewell.adapters.surfaces.report.html import templates

TIMES = some.lists(some.floats(0.001, 1e7), min_size=1, max_size=50)


def drawing(template: str, scale: Scale | None = None) -> str:
    """What the macros of charts.html draw."""
    macros = '{% from "charts.html" import bar, marker, plot %}'
    return templates().from_string(macros + template).render(scale=scale)


@given(times=TIMES)
def test_every_value_is_inside_its_scale_in_the_order_of_values(
    times: list[float],
) -> None:
    scale = time_scale(times)

    places = [scale.at(value) for value in sorted(times)]

    assert places == sorted(places)
    assert places[0] >= 0
    assert places[-1] <= 100


@given(times=TIMES)
def test_a_scale_has_ticks_enough_to_read_it_and_not_too_many(
    times: list[float],
) -> None:
    scale = time_scale(times)

    assert 1 <= len(scale.ticks) <= 12
    assert all(scale.low <= tick <= scale.high for tick in scale.ticks)


@given(ends=some.lists(some.floats(-1, 1), max_size=20))
def test_differences_lie_around_a_zero_in_the_middle(ends: list[float]) -> None:
    scale = difference_scale(ends)

    assert scale.at(0) == 50
    assert all(scale.low <= end <= scale.high for end in ends)


@given(samples=some.lists(some.floats(0.01, 1e5), min_size=1, max_size=300))
def test_every_sample_is_in_the_outline(samples: list[float]) -> None:
    scale = time_scale(samples)

    drawn = outline(samples, scale, height=20)

    bins = {int(start) for start in re.findall(r"M(\d+) 20v", drawn)}
    assert bins == {min(int(scale.at(one) * 1.2), 119) for one in samples}


def test_a_mark_is_placed_in_per_cent_so_that_text_keeps_its_size() -> None:
    half = Scale(0.0, 1.0, (0.5,))

    drawn = drawing("{% call plot(20, scale) %}{{ marker(1, 50) }}{% endcall %}", half)

    assert 'width="100%"' in drawn
    assert drawn.count('="50.00%"') == 3
    assert "viewBox" not in drawn


def test_no_two_of_thirty_contenders_look_alike() -> None:
    looks = {
        re.sub(r'[xy]="[^"]*"', "", drawing(f"{{{{ marker({index}) }}}}"))
        for index in range(30)
    }

    assert len(looks) == 30


@pytest.mark.parametrize("length", [0.0, 0.01])
def test_the_shortest_bar_can_still_be_seen(length: float) -> None:
    assert 'width="0.40%"' in drawing(f"{{{{ bar(0, {length}) }}}}")
