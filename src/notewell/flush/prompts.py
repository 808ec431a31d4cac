"""What an agent is told in a flush: two prompts, for any model."""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Final

from notewell.config import MemoryFlushSettings
from notewell.sessions.silence import NO_REPLY
from notewell.workspace.days import log_of

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


def flush_prompts(settings: MemoryFlushSettings, now: datetime) -> FlushPrompts:
    """Return the prompts: the configured ones, else our own.

    Each says how to stay silent, whatever was configured; `YYYY-MM-DD` becomes the day.

    Args:
        settings: `compaction.memoryFlush`.
        now: The moment on the user's clock.
    """
    day = now.date()
    clock = f"It is {day.isoformat()} {now:%H:%M} ({now.tzname()})."
    return FlushPrompts(
        system=_filled(settings.system_prompt or _SYSTEM, day),
        user=f"{_filled(settings.prompt or _USER, day)}\n{clock}",
        path=log_of(day),
        day=day,
    )


def _filled(prompt: str, day: date) -> str:
    named = prompt.strip().replace(_DATE, day.isoformat())
    return named if NO_REPLY in named else f"{named}\n\n{_SILENCE}"
