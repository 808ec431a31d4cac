"""What holds for every test: a busy machine is no failure, nor one in the background."""

import signal

from hypothesis import HealthCheck, settings

settings.register_profile(
    "patient", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("patient")

# A shell lets its background jobs ignore Ctrl-C, and so would the programs under test.
signal.signal(signal.SIGINT, signal.default_int_handler)
