"""A day in the life of an agent: it starts, searches, writes, flushes, and restarts.

    python examples/day_in_the_life.py [FOLDER]

No model is needed: the turns of the day are scripted, and a "model" answers them by
rules. Everything else is what a real loop does: load the context, search before
answering, write down what matters, flush before the conversation is compacted, and find
all of it again in the next session. The notes are left in FOLDER, if one is given.
"""

import asyncio
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from notewell import Memory, open_memory

CONTEXT_WINDOW = 32_000
"""Tokens of the pretended model. With the usual settings a flush is due at 8,000."""

MORNING = (
    "Where is the spare key?",
    "Remember: the boiler is serviced on 12 March by Aldous Heating.",
    "By the way, we decided to keep the old lease until June.",
    "Here is the new contract: " + "Each party shall keep the premises. " * 900,
    "That is all for now.",
)
EVENING = (
    "Who services the boiler?",
    "What did we decide about the lease?",
)


@dataclass
class Loop:
    """One session of an agent: its memory, and the conversation so far."""

    memory: Memory
    name: str
    history: list[str] = field(default_factory=list[str])
    compactions: int = 0

    async def start(self) -> None:
        """Load what a session starts with, and let the index know the last words."""
        await self.memory.refresh()
        context = await self.memory.session_context()
        self.history = [part.text for part in context.parts]
        loaded = ", ".join(part.citation for part in context.parts)
        say("start", f"loaded {loaded or 'nothing yet'}")

    async def hear(self, message: str) -> str:
        """Take a message from the user and answer it."""
        await self.flush_if_due(message)
        self.history.append(message)
        say("user", message)
        answer = await self.answer(message)
        self.history.append(answer)
        say("agent", answer)
        return answer

    async def answer(self, message: str) -> str:
        """What a model would do with its tools, by three rules."""
        if message.startswith("Remember: "):
            done = await self.memory.remember(f"- {message.removeprefix('Remember: ')}")
            return f"Noted ({done.citation})."
        if not message.endswith("?"):
            return "I see."
        found = await self.memory.search(message, max_results=1)
        if not found.results:
            return f"I do not know ({found.reason})."
        [hit] = found.results
        lines = await self.memory.get(hit.path, start=hit.match_line, lines=1)
        return f"{lines.text.lstrip('- ')} ({hit.path}#L{hit.match_line})"

    async def flush_if_due(self, message: str) -> None:
        """Before the context is full, let the agent write down what it would lose."""
        plan = await self.memory.flush.plan(
            context_window=CONTEXT_WINDOW,
            tokens=tokens(self.history),
            incoming_tokens=tokens([message]),
            compactions=self.compactions,
            session_id=self.name,
        )
        if not plan.due:
            return
        say("flush", plan.decision.message)
        outcome = await self.memory.flush.finish(plan, self.silent_turn())
        say("flush", f"{outcome.path}: {'written' if outcome.written else 'no news'}")
        self.compact()

    def silent_turn(self) -> str:
        """What a model would answer to the two prompts of a flush, by one rule."""
        decided = [said for said in self.history if "we decided" in said]
        return "\n".join(f"- {said}" for said in decided) or "NO_REPLY"

    def compact(self) -> None:
        """Forget what was said, but for the last words."""
        self.history = [said[-200:] for said in self.history[-2:]]
        self.compactions += 1
        say("compact", f"{tokens(self.history):,} tokens are left")


def tokens(texts: Sequence[str]) -> int:
    """Estimate the tokens of a conversation: four characters each."""
    return sum(map(len, texts)) // 4


def say(who: str, what: str) -> None:
    """Print one line of the day."""
    sys.stdout.write(f"{who:>8}  {what if len(what) < 100 else what[:97] + '...'}\n")


async def session(folder: Path, name: str, turns: Sequence[str]) -> list[str]:
    """Run one session over the notes in a folder, and return the answers."""
    notes, state = folder / "workspace", folder / "state"
    environ = {"OPENCLAW_STATE_DIR": str(state)}
    async with open_memory(workspace=notes, environ=environ, server=True) as memory:
        loop = Loop(memory, name)
        await loop.start()
        return [await loop.hear(turn) for turn in turns]


async def day(folder: Path) -> list[str]:
    """Live the day: two sessions, with a restart between them."""
    notes = folder / "workspace"
    notes.mkdir(parents=True, exist_ok=True)
    facts = "# Facts\n\n- The spare key hangs behind the clock.\n"
    (notes / "MEMORY.md").write_text(facts, encoding="utf-8")
    morning = await session(folder, "morning", MORNING)
    say("", "the agent is restarted")
    return [*morning, *await session(folder, "evening", EVENING)]


def main() -> None:
    """Live the day in the folder that was named, or in one that is thrown away."""
    if len(sys.argv) > 1:
        asyncio.run(day(Path(sys.argv[1])))
        return
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(day(Path(folder)))


if __name__ == "__main__":
    main()
