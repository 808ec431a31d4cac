"""Whether to flush now, with the reason, and the two prompts that tell an agent to."""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Final, Literal, TypeAlias

from notewell.config import CompactionSettings, MemoryFlushSettings
from notewell.sessions.reading import NO_REPLY
from notewell.workspace.days import log_of

WorkspaceAccess: TypeAlias = Literal["rw", "ro", "none"]

Reason: TypeAlias = Literal[
    "near-compaction",
    "transcript-size",
    "disabled",
    "memory-disabled",
    "not-writable",
    "running",
    "done-this-cycle",
    "backing-off",
    "gave-up",
    "no-room",
    "unknown-size",
    "small-window",
    "not-yet",
]

OWN_TOKENS: Final = 1_000
"""What the two prompts and a short note take; a flush needs so much room itself."""

MOST_FAILURES: Final = 3
"""In one cycle. A flush that fails thrice will fail again."""

_FIRST_PAUSE: Final = 60.0
"""Seconds after the first failure; twice as many after the next one."""

_DATE: Final = "YYYY-MM-DD"

_SYSTEM: Final = f"""\
This is a housekeeping turn that the user does not see. The conversation will soon be
shortened to a summary, and what is not written down now may be lost. Append what will
matter later to memory/{_DATE}.md: decisions with their reasons, facts, preferences,
open ends. Change no other file; MEMORY.md, USER.md, DREAMS.md and AGENTS.md are only to be
read now. Your answer is not delivered, so answer {NO_REPLY}."""

_USER: Final = f"""\
Write down what should outlast this conversation, in memory/{_DATE}.md and under no other
name. If the file exists, add to its end only what it does not say yet; never replace or
repeat what stands there. Be brief, and keep names, numbers and dates exact. When that is
done, or if nothing is worth keeping, answer {NO_REPLY}."""

_SILENCE: Final = f"If there is nothing to say, answer {NO_REPLY}."


@dataclass(frozen=True, slots=True, kw_only=True)
class FlushState:
    """What is known of a conversation when a message comes in.

    Attributes:
        context_window: Tokens that the model takes; None when nobody knows.
        tokens: Tokens in the context now; None when nobody knows.
        incoming_tokens: Those of the message that came in, which `tokens` lacks.
        transcript_bytes: The size of the transcript; None when nobody knows.
        workspace_access: What a sandbox leaves of the workspace.
        compactions: How often the conversation has been compacted: the cycle.
        flushed_cycle: The cycle in which a flush last succeeded; None if none did.
        failures: Flushes that have failed in this cycle.
        seconds_since_failure: Since the last of them; None without one.
        running: A flush of this conversation is under way.
    """

    context_window: int | None
    tokens: int | None = None
    incoming_tokens: int = 0
    transcript_bytes: int | None = None
    workspace_access: WorkspaceAccess = "rw"
    compactions: int = 0
    flushed_cycle: int | None = None
    failures: int = 0
    seconds_since_failure: float | None = None
    running: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Whether to flush.

    Attributes:
        due: Whether to do it now.
        reason: Why, or why not, in a word.
        message: The same for a person, one sentence.
    """

    due: bool
    reason: Reason
    message: str


def should_flush(state: FlushState, settings: CompactionSettings) -> Decision:
    """Decide whether an agent should write down what matters before a compaction.

    It should when the context, with the message that came in, reaches
    `context_window - reserveTokensFloor - softThresholdTokens` tokens, or when the
    transcript reaches `forceFlushTranscriptBytes`; once in each cycle.
    """
    return _hindrance(state, settings) or _need(state, settings)


@dataclass(frozen=True, slots=True, kw_only=True)
class FlushPrompts:
    """The two prompts of a flush, with the day filled in.

    Attributes:
        system: To be added to the system prompt.
        user: The message of the turn.
        path: The log that both name, relative to the workspace.
        day: The day for the user when the flush was planned.
    """

    system: str
    user: str
    path: str
    day: date


def flush_prompts(
    settings: MemoryFlushSettings, now: datetime, path: str | None = None
) -> FlushPrompts:
    """Return the prompts: the configured ones, else our own.

    Each says how to stay silent, whatever was configured; `YYYY-MM-DD` becomes the day.

    Args:
        settings: `compaction.memoryFlush`.
        now: The moment on the user's clock.
        path: The note of that day; by default `memory/YYYY-MM-DD.md`.
    """
    day = now.date()
    path = path or log_of(day)
    clock = f"It is {day.isoformat()} {now:%H:%M} ({now.tzname()})."
    return FlushPrompts(
        system=_filled(settings.system_prompt or _SYSTEM, day, path),
        user=f"{_filled(settings.prompt or _USER, day, path)}\n{clock}",
        path=path,
        day=day,
    )


def _hindrance(state: FlushState, settings: CompactionSettings) -> Decision | None:
    """Return why nothing is done whatever the sizes are, or None."""
    if not settings.memory_flush.enabled:
        return _no("disabled", "compaction.memoryFlush.enabled is false.")
    if state.workspace_access != "rw":
        access = state.workspace_access
        return _no("not-writable", f"The workspace is not writable ({access!r}).")
    if state.running:
        return _no("running", "A flush of this conversation is under way.")
    if state.flushed_cycle == state.compactions:
        cycle = state.compactions
        return _no("done-this-cycle", f"Already done in cycle {cycle}.")
    return _repose(state)


def _repose(state: FlushState) -> Decision | None:
    if state.failures >= MOST_FAILURES:
        return _no("gave-up", f"It failed {state.failures} times in this cycle.")
    since = state.seconds_since_failure
    if not state.failures or since is None:
        return None
    pause = _FIRST_PAUSE * 2 ** (state.failures - 1)
    # A negative number is a clock that was set back: no reason to wait for long.
    if not 0 <= since < pause:
        return None
    return _no(
        "backing-off", f"It failed {since:.0f} s ago; again after {pause:.0f} s."
    )


def _need(state: FlushState, settings: CompactionSettings) -> Decision:
    flush = settings.memory_flush
    tokens, window = state.tokens, state.context_window
    if tokens and window and tokens + OWN_TOKENS > window:
        return _no("no-room", "The context is so full that a flush does not fit.")
    force, size = flush.force_flush_transcript_bytes, state.transcript_bytes
    if force and size is not None and size >= force:
        said = f"The transcript has {size:,} bytes, {force:,} are allowed."
        return Decision(due=True, reason="transcript-size", message=said)
    if not tokens or not window:
        return _no("unknown-size", "Nobody knows how full the context is.")
    threshold = window - settings.reserve_tokens_floor - flush.soft_threshold_tokens
    if threshold <= 0:
        return _no("small-window", "The window is smaller than what is kept free.")
    expected = tokens + max(state.incoming_tokens, 0)
    said = f"{expected:,} tokens are expected, the threshold is {threshold:,}."
    if expected < threshold:
        return _no("not-yet", said)
    return Decision(due=True, reason="near-compaction", message=said)


def _no(reason: Reason, message: str) -> Decision:
    return Decision(due=False, reason=reason, message=message)


def _filled(prompt: str, day: date, path: str) -> str:
    named = prompt.strip().replace(f"memory/{_DATE}.md", path)
    named = named.replace(_DATE, day.isoformat())
    return named if NO_REPLY in named else f"{named}\n\n{_SILENCE}"
