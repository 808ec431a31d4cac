"""What holds for every test: a busy machine is no failure, nor one in the background."""

import signal

import pytest
from hypothesis import HealthCheck, settings
from tests.patience import lift_limits

settings.register_profile(
    "patient", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("patient")

# A shell lets its background jobs ignore Ctrl-C, and so would the programs under test.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def _limits_are_lifted() -> None:
    """Let what notewell limits by the clock take its time; see `patience.py`."""
    lift_limits()
