"""The flush: writing down what matters before a conversation is compacted."""

from notewell.flush.decision import Decision, FlushState, WorkspaceAccess, should_flush
from notewell.flush.prompts import FlushPrompts, flush_prompts
from notewell.flush.record import FlushRecord, note_flush, read_record
from notewell.flush.writer import FlushOutcome, write_flush

__all__ = [
    "Decision",
    "FlushOutcome",
    "FlushPrompts",
    "FlushRecord",
    "FlushState",
    "WorkspaceAccess",
    "flush_prompts",
    "note_flush",
    "read_record",
    "should_flush",
    "write_flush",
]
