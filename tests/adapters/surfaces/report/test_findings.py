"""What the page claims: only what the figures show."""

import random
from dataclasses import replace
from statistics import median

from tests.adapters.surfaces.report.making import latency, made_up

from notewell.adapters.surfaces.report.findings import findings, median_interval
from notewell.bench.results import BenchReport, Comparison, Interval
from notewell.types import Fallback


def with_difference(
    low: float, high: float, *, first: str = "builtin", second: str = "qmd:search"
) -> BenchReport:
    """Two contenders of which the second is above the first by this much."""
    difference = Interval(mean=(low + high) / 2, low=low, high=high)
    pair = Comparison(
        first=first,
        second=second,
        differences={"success@6": difference, "rec@4kc": difference},
        overlap=0.5,
        rank_correlation=0.5,
    )
    return made_up(comparisons=(pair,), queries=40)


def claims(report: BenchReport) -> list[str]:
    """What is said of a report, without the figures."""
    return [found.claim for found in findings(report) if not found.trouble]


def test_a_difference_whose_interval_excludes_zero_is_claimed() -> None:
    report = with_difference(-0.4, -0.2)

    assert "builtin finds more than qmd:search" in claims(report)


def test_the_one_that_finds_more_is_named_first_whoever_was_compared_first() -> None:
    report = with_difference(0.2, 0.4, first="qmd:search", second="builtin")

    assert "builtin finds more than qmd:search" in claims(report)


def test_a_difference_whose_interval_holds_zero_is_not_claimed() -> None:
    report = with_difference(-0.4, 0.01)

    assert claims(report)[0] == (
        "No difference between builtin and qmd:search that these queries could show"
    )


def test_measures_that_disagree_are_both_told() -> None:
    [pair] = with_difference(-0.4, -0.2).comparisons
    opposite = Interval(mean=0.2, low=0.1, high=0.3)
    pair = replace(pair, differences={**pair.differences, "rec@4kc": opposite})

    told = findings(made_up(comparisons=(pair,), queries=40))[0]

    assert told.claim == (
        "builtin finds more by one measure and less by the other than qmd:search"
    )
    assert "difference −0.200 [−0.300, −0.100]" in told.evidence


def test_speed_is_claimed_when_the_medians_are_apart() -> None:
    report = made_up(2)
    ratio = [one.warm.p50 for one in report.contenders if one.warm]

    assert f"builtin answers {ratio[1] / ratio[0]:.0f} times as fast as qmd:search" in (
        claims(report)
    )


def test_speed_is_not_claimed_of_times_that_overlap() -> None:
    chance = random.Random(1)
    first, second = (
        replace(one, warm=latency([chance.uniform(10, 20) for _ in range(50)]))
        for one in made_up().contenders
    )

    report = made_up(contenders=(first, second))

    assert claims(report)[-1] == "No difference in speed that these samples could show"


def test_one_contender_is_compared_with_nobody() -> None:
    assert claims(made_up(1)) == ["There is nothing to compare builtin with"]


def test_who_could_not_take_part_is_named_with_the_reason() -> None:
    first, second = made_up().contenders
    absent = replace(second, unavailable="The program qmd is not installed.")

    told = findings(made_up(contenders=(first, absent)))

    assert ("qmd:search did not take part", "The program qmd is not installed.") in [
        (found.claim, found.evidence) for found in told if found.trouble
    ]


def test_failures_and_steps_down_are_told() -> None:
    first, second = made_up().contenders
    failing = replace(
        second, failures={"BackendTimeout": 2}, fallbacks={"mode:timeout": 3}
    )

    told = findings(made_up(contenders=(first, failing)))[-1]

    assert told.claim == "qmd:search failed on 2 and stepped down on 3 of 12 queries"
    assert told.evidence == "2 × BackendTimeout, 3 × mode:timeout."


def test_nothing_is_claimed_of_one_that_never_answered_by_itself() -> None:
    report = made_up(queries=40)
    step = Fallback(
        kind="mode", from_="vsearch", to="keyword", reason="not-ready", message="late"
    )
    asked = tuple(
        replace(
            one, answers=(one.answers[0], replace(one.answers[1], fallbacks=(step,)))
        )
        for one in report.asked
    )
    first, second = report.contenders
    second = replace(second, failures={}, fallbacks={"mode:not-ready": 40})

    told = findings(replace(report, contenders=(first, second), asked=asked))

    assert [found.claim for found in told if "qmd:search" in found.claim] == [
        "qmd:search stepped down on 40 of 40 queries"
    ]
    assert "nothing is claimed" in told[-1].evidence


def test_the_interval_of_a_median_holds_the_true_one_as_often_as_promised() -> None:
    chance = random.Random(7)
    held = 0
    for _ in range(400):
        known = median_interval([chance.expovariate(1) for _ in range(60)])
        assert known is not None
        held += known[0] <= 0.6931 <= known[1]

    assert 0.92 < held / 400 < 0.99


def test_the_interval_of_a_median_lies_around_it() -> None:
    samples = [float(value) for value in range(30)]

    known = median_interval(samples)

    assert known is not None
    assert known[0] < median(samples) < known[1]
