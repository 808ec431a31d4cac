"""The prompt for the turn in which an agent writes down what it would lose."""

from typing import Final

from notewell.flush import flush_prompts
from notewell.memory import Memory
from notewell.workspace.days import moment_in

NAME: Final = "memory_flush"
TITLE: Final = "Write down what should be remembered"
DESCRIPTION: Final = (
    "Before a conversation is compacted or ends: have the agent append what will matter "
    "later to today's log."
)
_WITH_TOOL: Final = "Use the tool memory_write, which appends to that file."


def flush_prompt(memory: Memory, *, write: bool) -> str:
    """Return the prompt, the configured one or our own, with today's date in it.

    Args:
        memory: Whose notes are written to.
        write: Whether the agent has the tool memory_write.
    """
    settings = memory.settings
    now = moment_in(settings.user_timezone, None)
    prompts = flush_prompts(settings.compaction.memory_flush, now)
    parts = (prompts.system, prompts.user, _WITH_TOOL if write else "")
    return "\n\n".join(filter(None, parts))
