"""Updates while a program stays: when they run, and that nothing stops them for good."""

import threading
import time
from collections.abc import Callable, Iterator

import pytest

from notewell.backends.freshness import Rhythm, Schedule, Work
from notewell.errors import BackendUnavailable

Start = Callable[..., Schedule]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts a schedule; it is closed after the test."""
    made: list[Schedule] = []

    def started(
        update: Work,
        *,
        embed: Work | None = None,
        on_boot: bool = False,
        interval: float = 0.0,
        debounce_ms: int = 0,
    ) -> Schedule:
        rhythm = Rhythm(
            on_boot=on_boot,
            interval=interval,
            embed_interval=interval,
            debounce=debounce_ms / 1000,
        )
        made.append(Schedule(rhythm, update=update, embed=embed))
        made[-1].start()
        return made[-1]

    yield started
    for one in made:
        one.close()


class Counted:
    """Work that counts itself, and fails the first times if it should."""

    def __init__(self, failing: int = 0) -> None:
        self.times: list[float] = []
        self._failing = failing
        self._ran = threading.Semaphore(0)

    def __call__(self, stop: threading.Event) -> None:
        self.times.append(time.monotonic())
        self._ran.release()
        if len(self.times) <= self._failing:
            raise BackendUnavailable("qmd", "it failed", remedy="wait")

    def wait(self, seconds: float = 60.0) -> bool:
        """Wait for the next run."""
        return self._ran.acquire(timeout=seconds)


def test_an_update_runs_at_the_start_and_then_on_its_interval(start: Start) -> None:
    update = Counted()

    start(update, on_boot=True, interval=0.05)

    assert update.wait()
    assert update.wait()
    assert update.times[1] - update.times[0] >= 0.05


def test_with_an_interval_of_zero_nothing_runs_by_itself(start: Start) -> None:
    update = Counted()

    schedule = start(update, interval=0.0)

    assert not update.wait(0.1)
    assert schedule.seconds_to_next == float("inf")


def test_changes_are_waited_for_until_they_are_quiet(start: Start) -> None:
    update = Counted()
    schedule = start(update, debounce_ms=1_000)

    schedule.refresh_soon()
    update.wait(0.1)
    last = time.monotonic()  # before the refresh_soon, from which the schedule counts
    schedule.refresh_soon()

    assert update.wait()
    assert update.times[0] - last >= 1.0
    assert not update.wait(0.3)


def test_the_turn_of_the_interval_comes_though_there_is_never_quiet(
    start: Start,
) -> None:
    update = Counted()
    schedule = start(update, interval=0.2, debounce_ms=3_600_000)
    asked = 0

    while not update.wait(0.02) or len(update.times) < 3:
        schedule.refresh_soon(changed=asked % 2 == 0)
        asked += 1
        assert asked < 2_000, "the interval never had its turn"

    assert schedule.seconds_to_next <= 0.2


def test_a_failure_is_waited_out_and_shown_and_ends_nothing(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("notewell.backends.freshness._FIRST_PAUSE", 0.1)
    update, embed = Counted(failing=2), Counted()

    schedule = start(update, embed=embed, on_boot=True, interval=0.05)

    assert all(update.wait() for _ in range(3))
    assert embed.wait()
    first, second, third = update.times[:3]
    assert third - second > second - first >= 0.1
    assert update.wait()
    assert schedule.problem is None


def test_a_change_ends_a_long_pause_after_failures(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("notewell.backends.freshness._FIRST_PAUSE", 0.1)
    update = Counted(failing=1)
    schedule = start(update, on_boot=True, interval=60)
    assert update.wait()

    schedule.refresh_soon()
    assert not update.wait(0.5)
    schedule.refresh_soon(changed=True)

    assert update.wait()
    assert update.times[1] - update.times[0] >= 0.1


def test_what_runs_is_called_off_when_the_program_ends(start: Start) -> None:
    running, ended = threading.Event(), threading.Event()

    def endless(stop: threading.Event) -> None:
        running.set()
        stop.wait(60)
        ended.set()

    schedule = start(endless, on_boot=True)
    running.wait(60)

    schedule.close()

    assert ended.is_set()
