"""When a growing transcript is worth indexing again."""

import pytest

from notewell.config import SyncSettings
from notewell.sessions import Growth, is_worth_indexing

USUAL = SyncSettings().sessions


@pytest.mark.parametrize(
    ("grown", "messages", "worth"),
    [
        (0, 0, False),
        (99_999, 49, False),
        (100_000, 1, True),
        (100_000, None, True),
        (500, 50, True),
        (500, None, False),
        (-1, None, True),
        (0, 60, False),
    ],
)
def test_either_threshold_is_enough(
    grown: int, messages: int | None, worth: bool
) -> None:
    assert is_worth_indexing(Growth(bytes=grown, messages=messages), USUAL) == worth


def test_a_threshold_of_zero_is_reached_by_any_growth() -> None:
    eager = type(USUAL)(delta_bytes=0, delta_messages=0)

    assert is_worth_indexing(Growth(bytes=1), eager)
    assert not is_worth_indexing(Growth(bytes=0), eager)
