"""The order of what has one score."""

from notewell.backends.base import newest_in_ties


def test_of_equal_scores_the_newest_day_is_first_however_short_its_name() -> None:
    paths = ["11 Jan '26.md", "12 Jan '26.md", "plan.md"]

    order = newest_in_ties(paths, [0.5, 0.5, 0.5], paths)

    assert order == ["plan.md", "12 Jan '26.md", "11 Jan '26.md"]
