"""What a memory does besides answering: remembering, starting and flushing sessions."""

from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from datetime import datetime
from typing import Any

from notewell.backends.blocking import called_off, off_the_loop
from notewell.errors import BackendError, NoteNotWritten
from notewell.flush import FlushOutcome, WorkspaceAccess
from notewell.memory.flushing import Conversation, Flushes, FlushPlan
from notewell.memory.opening import Opening, sentences
from notewell.memory.remembering import Remembered, write_down
from notewell.types import IndexReport
from notewell.writing import finish_notes


class FlushControl:
    """`Memory.flush`: the turn before a compaction, planned and finished.

    An agent's loop calls `plan` when a message comes in. If the plan is due, it lets
    the agent answer the two prompts, and passes what came of it to `finish`.
    """

    def __init__(
        self,
        opening: Opening,
        session_key: str | None,
        index: Callable[[], Awaitable[IndexReport]],
    ) -> None:
        self._flushes = Flushes(opening, session_key)
        self._index = index

    async def plan(
        self,
        *,
        context_window: int | None = None,
        tokens: int | None = None,
        incoming_tokens: int = 0,
        transcript_bytes: int | None = None,
        compactions: int | None = None,
        session_id: str | None = None,
        workspace_access: WorkspaceAccess = "rw",
        now: datetime | None = None,
    ) -> FlushPlan:
        """Decide whether to flush now. What is not given is read from `sessions.json`.

        Args:
            context_window: Tokens that the model takes.
            tokens: Tokens in the context now.
            incoming_tokens: Those of the message that came in.
            transcript_bytes: The size of the transcript.
            compactions: How often the conversation has been compacted.
            session_id: Its session. Give one where compactions are counted anew in
                each session, so that each is flushed.
            workspace_access: What a sandbox leaves of the workspace.
            now: The moment; by default this one.
        """
        known = Conversation(
            context_window=context_window,
            tokens=tokens,
            incoming_tokens=incoming_tokens,
            transcript_bytes=transcript_bytes,
            compactions=compactions,
            session_id=session_id,
        )
        return await off_the_loop(self._flushes.plan, known, workspace_access, now)

    async def finish(
        self,
        plan: FlushPlan,
        reply: str | None,
        *,
        path: str | None = None,
        now: datetime | None = None,
    ) -> FlushOutcome:
        """Write what the agent answered to the day's log, and put the end on record.

        No Exception comes out of here: the user's reply must not fail for a flush.

        Args:
            plan: The plan that was due.
            reply: The answer, with whatever is to be written in it; "NO_REPLY" when
                the agent wrote it itself, or had nothing to; None when the turn failed.
            path: The file that the agent wanted; another than the day's log is not
                written to.
            now: The moment; by default this one.
        """
        outcome = await off_the_loop(self._flushes.finish, plan, reply, path, now)
        if outcome.written:
            with suppress(Exception):
                await indexed_now(self._index)
        return outcome


class SyncFlushControl:
    """`FlushControl` with plain calls."""

    def __init__(
        self,
        control: FlushControl,
        run: Callable[[Coroutine[Any, Any, Any]], Any],
    ) -> None:
        self._control = control
        self._run = run

    def plan(
        self,
        *,
        context_window: int | None = None,
        tokens: int | None = None,
        incoming_tokens: int = 0,
        transcript_bytes: int | None = None,
        compactions: int | None = None,
        session_id: str | None = None,
        workspace_access: WorkspaceAccess = "rw",
        now: datetime | None = None,
    ) -> FlushPlan:
        """Decide whether to flush now; see `FlushControl.plan`."""
        plan: FlushPlan = self._run(
            self._control.plan(
                context_window=context_window,
                tokens=tokens,
                incoming_tokens=incoming_tokens,
                transcript_bytes=transcript_bytes,
                compactions=compactions,
                session_id=session_id,
                workspace_access=workspace_access,
                now=now,
            )
        )
        return plan

    def finish(
        self,
        plan: FlushPlan,
        reply: str | None,
        *,
        path: str | None = None,
        now: datetime | None = None,
    ) -> FlushOutcome:
        """Write what the agent answered; see `FlushControl.finish`."""
        outcome: FlushOutcome = self._run(
            self._control.finish(plan, reply, path=path, now=now)
        )
        return outcome


async def remember(
    opening: Opening,
    text: str,
    *,
    long_term: bool,
    hides: Callable[[str], bool],
    index: Callable[[], Awaitable[IndexReport]],
) -> Remembered:
    """Write a text down and bring the index up to date, for about two seconds.

    Raises:
        UsageError, PathRefused, NoteNotWritten, ValueError: as `write_down`.
    """
    appended = await called_off(
        write_down, opening, text, long_term=long_term, hides=hides
    )
    indexed, warnings = await indexed_now(index)
    return Remembered(
        path=appended.path,
        start_line=appended.start_line,
        end_line=appended.end_line,
        written=appended.written,
        repeated=appended.repeated,
        indexed=indexed,
        warnings=(*appended.finished, *warnings),
    )


def finished_texts(opening: Opening) -> tuple[str, ...]:
    """Finish the text of a writer that was killed; say what was done, or why not."""
    state_dir = opening.settings.state_dir
    try:
        return finish_notes(opening.workspace, state_dir=state_dir)
    except NoteNotWritten as error:
        return (f"{error.message}; a text waits to be finished there",)


async def indexed_now(
    index: Callable[[], Awaitable[IndexReport]],
) -> tuple[bool, tuple[str, ...]]:
    """Bring the index up to date; say if it is, and what a person should know."""
    try:
        report = await index()
    except BackendError as error:
        return False, sentences(error)
    if not report.pending:
        return True, ()
    said = f"{report.pending:,} notes wait to be indexed; run `notewell index`"
    return False, (said,)
