"""The user's clock, whatever the machine's is."""

from datetime import UTC, datetime

import pytest

from notewell.zones import moment_in, zone_problem


def test_the_day_is_that_of_the_users_clock() -> None:
    moment = datetime(2026, 1, 10, 23, 30, tzinfo=UTC)

    assert str(moment_in("Asia/Tokyo", moment).date()) == "2026-01-11"
    assert str(moment_in("America/Lima", moment).date()) == "2026-01-10"


@pytest.mark.parametrize("zone", [None, "Mars/Olympus", "", "../etc/passwd"])
def test_a_zone_that_nobody_knows_is_this_machines(zone: str | None) -> None:
    moment = datetime(2026, 1, 10, 12, tzinfo=UTC)

    assert moment_in(zone, moment) == moment
    assert moment_in(zone, moment).utcoffset() == moment.astimezone().utcoffset()


@pytest.mark.parametrize("zone", ["Europe/Berlin", "UTC", "Etc/GMT+5", "CET"])
def test_a_zone_that_this_machine_knows_is_no_problem(zone: str) -> None:
    assert zone_problem(zone) is None
