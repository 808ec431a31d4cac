"""Whether to flush: every rule, and every reason."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notewell.config import CompactionSettings, MemoryFlushSettings
from notewell.flush import FlushState, should_flush

SETTINGS = CompactionSettings()
NEAR = FlushState(context_window=200_000, tokens=180_000)


def reason(state: FlushState, settings: CompactionSettings = SETTINGS) -> str:
    return should_flush(state, settings).reason


@pytest.mark.parametrize(
    ("tokens", "due"),
    [(175_999, False), (176_000, True), (180_000, True)],
)
def test_it_is_due_from_the_threshold_on(tokens: int, due: bool) -> None:
    decision = should_flush(replace(NEAR, tokens=tokens), SETTINGS)

    assert decision.due == due
    assert "176,000" in decision.message


def test_one_huge_message_is_seen_before_it_is_in_the_context() -> None:
    state = FlushState(context_window=194_000, tokens=160_000)

    assert reason(state) == "not-yet"
    assert reason(replace(state, incoming_tokens=20_000)) == "near-compaction"


def test_a_long_transcript_is_a_reason_of_its_own() -> None:
    flush = MemoryFlushSettings(force_flush_transcript_bytes=2_000_000)
    settings = CompactionSettings(memory_flush=flush)
    state = FlushState(context_window=200_000, tokens=10, transcript_bytes=2_000_000)

    assert reason(state, settings) == "transcript-size"
    assert reason(replace(state, tokens=None), settings) == "transcript-size"
    assert reason(replace(state, transcript_bytes=1_999_999), settings) == "not-yet"


@pytest.mark.parametrize("size", [None, 0])
def test_without_a_limit_no_transcript_is_too_long(size: int | None) -> None:
    flush = MemoryFlushSettings(force_flush_transcript_bytes=size)
    state = FlushState(context_window=200_000, tokens=10, transcript_bytes=10**9)

    assert reason(state, CompactionSettings(memory_flush=flush)) == "not-yet"


def test_it_can_be_switched_off() -> None:
    settings = CompactionSettings(memory_flush=MemoryFlushSettings(enabled=False))

    assert reason(NEAR, settings) == "disabled"


@pytest.mark.parametrize("access", ["ro", "none"])
def test_a_workspace_that_cannot_be_written_is_left_alone(access: str) -> None:
    state = FlushState(context_window=1, tokens=1, workspace_access=access)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]

    assert reason(state) == "not-writable"


def test_it_is_done_once_in_a_cycle_and_again_in_every_next_one() -> None:
    reasons = [
        reason(replace(NEAR, compactions=cycle, flushed_cycle=flushed))
        for cycle, flushed in [(0, None), (0, 0), (1, 0), (1, 1), (2, 1)]
    ]

    assert reasons == [
        "near-compaction",
        "done-this-cycle",
        "near-compaction",
        "done-this-cycle",
        "near-compaction",
    ]


def test_a_flush_does_not_start_another_one() -> None:
    assert reason(replace(NEAR, running=True)) == "running"


def test_after_a_failure_it_waits_and_after_three_it_gives_up() -> None:
    failed = replace(NEAR, failures=1, seconds_since_failure=30.0)

    assert reason(failed) == "backing-off"
    assert reason(replace(failed, seconds_since_failure=60.0)) == "near-compaction"
    assert reason(replace(failed, failures=2, seconds_since_failure=100.0)) == (
        "backing-off"
    )
    assert reason(replace(failed, failures=3, seconds_since_failure=1e9)) == "gave-up"


def test_a_clock_that_was_set_back_does_not_make_it_wait() -> None:
    state = replace(NEAR, failures=1, seconds_since_failure=-3600.0)

    assert reason(state) == "near-compaction"


def test_a_context_without_room_for_the_flush_itself_is_not_flushed() -> None:
    assert reason(replace(NEAR, tokens=199_500)) == "no-room"


@pytest.mark.parametrize(
    ("tokens", "window"), [(None, 200_000), (0, 200_000), (9, None)]
)
def test_without_numbers_nothing_is_due(tokens: int | None, window: int | None) -> None:
    assert reason(FlushState(context_window=window, tokens=tokens)) == "unknown-size"


def test_a_window_smaller_than_the_reserve_is_never_near() -> None:
    assert reason(FlushState(context_window=16_000, tokens=12_000)) == "small-window"


@given(
    st.builds(
        FlushState,
        context_window=st.none() | st.integers(0, 300_000),
        tokens=st.none() | st.integers(0, 300_000),
        incoming_tokens=st.integers(-5, 300_000),
        transcript_bytes=st.none() | st.integers(0, 10**9),
        compactions=st.integers(0, 3),
        flushed_cycle=st.none() | st.integers(0, 3),
        failures=st.integers(0, 4),
        running=st.booleans(),
    )
)
def test_every_decision_says_why(state: FlushState) -> None:
    decision = should_flush(state, SETTINGS)

    assert decision.due == (decision.reason in {"near-compaction", "transcript-size"})
    assert decision.message.endswith(".")
