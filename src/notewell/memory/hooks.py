"""What is said, and written down, at the moments at which other agents' programs ask.

Claude Code and Codex cannot be given a turn of their own before a compaction. So the
agent is told with the user's next message, once in each cycle, as soon as the context
is nearly full; where that came too late, it is told right after the compaction.
"""

import time
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Final

from notewell.errors import NotewellError
from notewell.flush import FlushState, note_flush, read_record, should_flush
from notewell.memory.remember import check_writable, write_down
from notewell.memory.setup import Setup
from notewell.sessions import sessions_folder
from notewell.sessions.usage import ContextUse, context_use
from notewell.workspace.days import daily_note
from notewell.zones import moment_in

HOOK_SECONDS: Final = 2
"""After which a program gives a hook up."""

_NAMES: Final = {"claude-code": "Claude Code", "codex": "Codex"}

_WINDOW: Final = 200_000
_LARGE_WINDOW: Final = 1_000_000
"""Of Claude Code, whose transcripts do not name it."""

_CLAUDE_RESERVE: Final = 33_000
"""Tokens below the window at which Claude Code compacts: for its answer, and a margin."""

_CODEX_SHARE: Final = 0.9
"""Of the window, at which Codex compacts."""

_ASKED: Final = 600
_ANSWERED: Final = 2_400
"""Characters of a turn that are remembered."""

_FLUSH: Final = """\
This conversation will soon be shortened to a summary, and what is not written down now may \
be lost. Before you go on, append what will matter later to {path} (in {root}): decisions with \
their reasons, facts, preferences, open ends. Add only what that file does not say yet, to its \
end; change nothing else there. Be brief, and keep names, numbers and dates exact. If nothing is \
worth keeping, write nothing. Then go on with what was asked, and do not mention this."""

_SUMMARY: Final = """\
Keep in the summary, with exact names, numbers and dates, what should outlast this \
conversation: decisions with their reasons, facts, preferences and open ends that are not yet \
written down in {path} (in {root})."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HookMoment:
    """What a program tells a hook.

    Attributes:
        program: `claude-code` or `codex`.
        event: The name of the event.
        session_id: The session.
        source: How a session came to start, such as `startup` or `compact`.
        transcript: The session's transcript, where it has one.
        prompt: What the user has just sent.
        answer: What the agent has said at the end of its turn.
        context_window: Tokens that the model takes, where a person has said so.
    """

    program: str
    event: str
    session_id: str
    source: str = ""
    transcript: Path | None = None
    prompt: str = ""
    answer: str = ""
    context_window: int | None = None


def flush_reminder(
    setup: Setup, moment: HookMoment, *, now: datetime | None = None
) -> str | None:
    """Return what an agent is to be told of a flush now, or None; it is put on record.

    Raises:
        NotewellError: the record cannot be kept.
    """
    compacted = moment.event == "SessionStart"
    use = _use(moment)
    cycle = use.compactions
    folder = sessions_folder(setup.settings.state_dir, setup.agent.id)
    key = f"{moment.program}:{moment.session_id}"
    record = read_record(folder, key, moment.session_id)
    if compacted:
        # The cycle that has just ended, whose line may not be written yet.
        if record.flushed_cycle is not None and record.flushed_cycle >= cycle - 1:
            return None
        due = setup.settings.compaction.memory_flush.enabled
    else:
        state = replace(_state(moment, use), flushed_cycle=record.flushed_cycle)
        decision = should_flush(state, setup.settings.compaction)
        # It comes with a message, so it needs no room of its own.
        due = decision.due or decision.reason == "no-room"
    if not due or not _is_writable(setup):
        return None
    note_flush(
        folder,
        key,
        session_id=moment.session_id,
        cycle=max(cycle - 1, 0) if compacted else cycle,
        succeeded=True,
        now=time.time(),
        state_dir=setup.settings.state_dir,
    )
    return _with_place(_FLUSH, setup, now)


def summary_advice(setup: Setup, *, now: datetime | None = None) -> str | None:
    """Return what a compaction is to keep, or None where nothing is to be written."""
    if not setup.settings.compaction.memory_flush.enabled or not _is_writable(setup):
        return None
    return _with_place(_SUMMARY, setup, now)


def remember_turn(
    setup: Setup, moment: HookMoment, *, now: datetime | None = None
) -> bool:
    """Write the turn that has ended into the day's log; say whether anything was new.

    Raises:
        NotewellError: it cannot be written there.
    """
    asked = _use(moment).asked
    answered = _shortened(moment.answer, _ANSWERED)
    if not answered:
        return False
    clock = moment_in(setup.settings.user_timezone, now)
    lines = [f"### {clock:%H:%M} {_NAMES[moment.program]}"]
    if asked is not None:
        lines.append(f"User: {_shortened(asked.text, _ASKED)}")
    lines.append(f"Assistant: {answered}")
    return write_down(
        setup,
        "\n\n".join(lines),
        long_term=False,
        hides=lambda _path: False,
        now=now,
    ).written


def _use(moment: HookMoment) -> ContextUse:
    try:
        return ContextUse() if not moment.transcript else context_use(moment.transcript)
    except (OSError, ValueError):
        return ContextUse()


def _state(moment: HookMoment, use: ContextUse) -> FlushState:
    return FlushState(
        context_window=_compacts_at(moment, use),
        tokens=use.tokens,
        incoming_tokens=len(moment.prompt) // 4,
        transcript_bytes=use.size or None,
        compactions=use.compactions,
    )


def _compacts_at(moment: HookMoment, use: ContextUse) -> int:
    """Return at how many tokens the program compacts by itself."""
    window = moment.context_window or use.window
    if moment.program == "codex":
        return int((window or _WINDOW) * _CODEX_SHARE)
    large = (use.tokens or 0) > _WINDOW
    return (window or (_LARGE_WINDOW if large else _WINDOW)) - _CLAUDE_RESERVE


def _is_writable(setup: Setup) -> bool:
    try:
        check_writable(setup)
    except NotewellError:
        return False
    return True


def _with_place(text: str, setup: Setup, now: datetime | None) -> str:
    day = moment_in(setup.settings.user_timezone, now).date()
    path = daily_note(setup.workspace, day)
    return text.format(path=path, root=setup.workspace.root)


def _shortened(text: str, most: int) -> str:
    text = text.strip()
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"
