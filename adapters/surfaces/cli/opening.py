"""Opens memory for a command, and passes on what it has to say."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from notewell.adapters.surfaces.cli.options import Call

if TYPE_CHECKING:
    from notewell.memory import SyncMemory


@contextmanager
def memory_of(call: Call, *, agent: str | None = None) -> Generator["SyncMemory"]:
    """Open the memory that the options of a call name; `agent` beats them."""
    from notewell.memory import open_memory_sync  # late: `--help` needs none of it

    with open_memory_sync(
        workspace=call.workspace,
        config=call.config,
        agent=agent or call.agent,
        backend=call.backend,
        session_key=call.session_key,
    ) as memory:
        for notice in memory.notices:
            call.output.note(notice)
        yield memory
