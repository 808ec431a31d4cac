"""The flush of one memory: planned when a message comes in, finished after its turn."""

import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Final, cast

from notewell.backends.loops import PlainCalls, off_the_loop, plain
from notewell.errors import NotewellError
from notewell.flush import (
    Decision,
    FlushOutcome,
    FlushPrompts,
    FlushState,
    WorkspaceAccess,
    flush_prompts,
    note_flush,
    read_record,
    should_flush,
    write_flush,
)
from notewell.memory.remember import check_writable, indexed_now
from notewell.memory.setup import Setup
from notewell.sessions import SessionEntry, read_store, sessions_folder
from notewell.types import IndexReport
from notewell.workspace.days import daily_note
from notewell.zones import moment_in

_LONGEST: Final = 600.0
"""Seconds after which a flush that nobody has finished no longer counts as running."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlushPlan:
    """Whether to flush now, and what to tell the agent if so.

    Attributes:
        decision: With its reason.
        prompts: For the turn of the flush.
        session_key: The conversation.
        session_id: Its session, where the loop or `sessions.json` names it.
        cycle: How often the conversation has been compacted.
    """

    decision: Decision
    prompts: FlushPrompts
    session_key: str
    session_id: str | None
    cycle: int

    @property
    def due(self) -> bool:
        """Whether to flush now."""
        return self.decision.due


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationState:
    """What a loop knows of its conversation. None: what `sessions.json` says, if it can.

    Attributes:
        context_window: Tokens that the model takes.
        tokens: Tokens in the context now.
        incoming_tokens: Those of the message that came in.
        transcript_bytes: The size of the transcript.
        compactions: How often it has been compacted; 0 if nobody knows.
        session_id: Its session; another one begins to count anew.
    """

    context_window: int | None = None
    tokens: int | None = None
    incoming_tokens: int = 0
    transcript_bytes: int | None = None
    compactions: int | None = None
    session_id: str | None = None


class FlushControl:
    """`Memory.flush`: the turn before a compaction, planned and finished.

    An agent's loop calls `plan` when a message comes in. If the plan is due, it lets
    the agent answer the two prompts, and passes what came of it to `finish`.
    """

    def __init__(
        self,
        setup: Setup,
        session_key: str | None,
        index: Callable[[], Awaitable[IndexReport]],
    ) -> None:
        self._flushes = FlushPlanner(setup, session_key)
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
        known = ConversationState(
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


class SyncFlushControl(PlainCalls[FlushControl]):
    """`FlushControl` with plain calls, of the same arguments and results."""

    plan = plain(FlushControl.plan, loop=False)
    """Decide whether to flush now; see `FlushControl.plan`."""

    finish = plain(FlushControl.finish)
    """Write what the agent answered; see `FlushControl.finish`."""


class FlushPlanner:
    """Plans and finishes the flushes of one memory."""

    def __init__(self, setup: Setup, session_key: str | None) -> None:
        self._setup = setup
        self._key = session_key or f"agent:{setup.agent.id}:main"
        self._folder = sessions_folder(setup.settings.state_dir, setup.agent.id)
        self._began: dict[str | None, float] = {}  # by session

    def plan(
        self, known: ConversationState, access: WorkspaceAccess, now: datetime | None
    ) -> FlushPlan:
        """Decide; a plan that is due counts as running until it is finished."""
        settings = self._setup.settings
        entry = read_store(self._folder).get(self._key) or SessionEntry(key=self._key)
        cycle = entry.compactions if known.compactions is None else known.compactions
        decision = self._decision(self._state(known, entry, cycle, access))
        session_id = known.session_id or entry.session_id
        if decision.due:
            self._began[session_id] = time.monotonic()
        moment = moment_in(settings.user_timezone, now)
        return FlushPlan(
            decision=decision,
            prompts=flush_prompts(
                settings.compaction.memory_flush,
                moment,
                daily_note(self._setup.workspace, moment.date()),
            ),
            session_key=self._key,
            session_id=session_id,
            cycle=cycle,
        )

    def finish(
        self,
        plan: FlushPlan,
        reply: str | None,
        path: str | None,
        now: datetime | None,
    ) -> FlushOutcome:
        """Write what the agent said and put the end on record. Never raises."""
        self._began.pop(plan.session_id, None)
        outcome = self._written(plan, reply, path, now)
        try:
            note_flush(
                self._folder,
                plan.session_key,
                session_id=plan.session_id,
                cycle=plan.cycle,
                succeeded=outcome.succeeded,
                now=time.time(),
                state_dir=self._setup.settings.state_dir,
            )
        except NotewellError as error:
            said = "; ".join(filter(None, (outcome.problem, error.message)))
            return outcome.with_problem(said)
        return outcome

    def _decision(self, state: FlushState) -> Decision:
        if not self._setup.enabled:
            message = "Memory is switched off for this agent."
            return Decision(due=False, reason="memory-disabled", message=message)
        try:
            check_writable(self._setup)
        except NotewellError as error:
            message = f"{error.message}."
            return Decision(due=False, reason="not-writable", message=message)
        return should_flush(state, self._setup.settings.compaction)

    def _state(
        self,
        known: ConversationState,
        entry: SessionEntry,
        cycle: int,
        access: WorkspaceAccess,
    ) -> FlushState:
        session_id = known.session_id or entry.session_id
        record = read_record(self._folder, self._key, session_id)
        failed = record.failures if record.failed_cycle == cycle else 0
        began = self._began.get(session_id)
        size = known.transcript_bytes
        return FlushState(
            context_window=known.context_window or entry.context_window,
            tokens=entry.tokens if known.tokens is None else known.tokens,
            incoming_tokens=known.incoming_tokens,
            transcript_bytes=self._transcript_bytes(entry) if size is None else size,
            workspace_access=self._access(access),
            compactions=cycle,
            flushed_cycle=record.flushed_cycle,
            failures=failed,
            seconds_since_failure=time.time() - record.at if failed else None,
            running=began is not None and time.monotonic() - began < _LONGEST,
        )

    def _access(self, known: WorkspaceAccess) -> WorkspaceAccess:
        """Return what is left of the workspace: the less of what is known and configured."""
        agent = self._setup.agent
        main = self._key == f"agent:{agent.id}:main"
        configured = agent.sandbox.access(main=main)
        return known if configured == "rw" else cast("WorkspaceAccess", configured)

    def _transcript_bytes(self, entry: SessionEntry) -> int | None:
        name = entry.file or (f"{entry.session_id}.jsonl" if entry.session_id else "")
        try:
            return (self._folder / name).stat().st_size if name else None
        except (OSError, ValueError):
            return None

    def _written(
        self,
        plan: FlushPlan,
        reply: str | None,
        path: str | None,
        now: datetime | None,
    ) -> FlushOutcome:
        log = plan.prompts.path
        if reply is None:
            said = "the turn of the flush has failed"
            return FlushOutcome(succeeded=False, path=log, problem=said)
        settings = self._setup.settings
        return write_flush(
            self._setup.workspace,
            reply,
            planned=plan.prompts.day,
            today=moment_in(settings.user_timezone, now).date(),
            state_dir=settings.state_dir,
            path=path,
        )
