"""The flush: writing down what matters before a conversation is compacted."""

from notewell.flush.decision import (
    Decision,
    FlushPrompts,
    FlushState,
    WorkspaceAccess,
    flush_prompts,
    should_flush,
)
from notewell.flush.record import (
    FlushOutcome,
    FlushRecord,
    note_flush,
    read_record,
    write_flush,
)

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
