"""`notewell context`: what an agent loads when a session starts."""

from typing import TYPE_CHECKING, Final

import click

from notewell.adapters.surfaces.cli.call import CommandCall, memory_of
from notewell.adapters.surfaces.cli.options import Command, whole_number
from notewell.adapters.surfaces.cli.screen import Screen
from notewell.adapters.surfaces.plain_text import one_line, visible

if TYPE_CHECKING:
    from notewell.memory.context import ContextPart, SessionContext

_KINDS: Final = ("main", "direct", "group", "channel")
_TEXT: Final = """Print what an agent loads when a session starts.

These are the notes of yesterday and today. The main private session also gets
USER.md and MEMORY.md, which no other conversation does: not a group, and not a direct
chat that --session-key names and that may be with anybody. Of a log that does not
fit, the last lines are kept.

Lines of notes are quoted with `>`: to a model they are material, not instructions.
"""
_EXAMPLES: Final = (
    ("notewell context", "the main session, with MEMORY.md"),
    ("notewell context --max-chars 4000 --json", "less of it, for programs"),
    (
        "notewell context --session-key agent:main:telegram:group:-100200",
        "what a group may see",
    ),
)


@click.command("context", cls=Command, help=_TEXT, examples=_EXAMPLES)
@click.option(
    "--kind",
    type=click.Choice(_KINDS),
    metavar="KIND",
    help="The conversation: main, direct, group or channel, where the session key does "
    "not say so.",
)
@click.option(
    "--max-chars",
    callback=whole_number(),
    metavar="N",
    help="The most characters of notes; 12,000 by default.",
)
@click.pass_context
def context_command(
    context: click.Context, kind: str | None, max_chars: int | None
) -> None:
    """Print the context of a session."""
    call = CommandCall.of(context)
    with memory_of(call) as memory:
        found = memory.session_context(
            next((each for each in _KINDS if each == kind), None), max_chars=max_chars
        )
    if call.output.json:
        from notewell.adapters.surfaces import wire

        call.output.value(wire.context_json(found))
        return
    for skipped in found.skipped:
        call.output.note(one_line(f"skipped: {skipped.path}: {skipped.detail}"))
    if not found.parts:
        call.output.note(_nothing(found))
    call.output.text("\n".join(_rendered(part, Screen.of()) for part in found.parts))


def _nothing(found: "SessionContext") -> str:
    if found.reason == "memory-disabled":
        return "note: memory is switched off for this agent"
    if found.skipped:
        return "note: there are notes, and none of them could be shown"
    return f"note: there are no notes of {found.day.isoformat()} or the day before"


def _rendered(part: "ContextPart", screen: Screen) -> str:
    head = screen.paint(one_line(part.citation), "bold")
    rest = f" of {part.total_lines:,}" if part.truncated else ""
    lines = [visible(line.removesuffix("\r")) for line in part.text.split("\n")]
    return f"{head}{rest}\n" + "".join(f"> {line}".rstrip() + "\n" for line in lines)
