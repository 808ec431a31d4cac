"""`notewell remember`: write something down in today's log."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import click

from notewell.adapters.surfaces.cli.call import CommandCall, memory_of
from notewell.adapters.surfaces.cli.options import Command, CommandUsageError
from notewell.adapters.surfaces.cli.output import STDIN
from notewell.adapters.surfaces.plain_text import decode_argument, one_line

if TYPE_CHECKING:
    from notewell.memory.remember import Remembered

_TEXT: Final = """Write something down, so that it is found from now on.

TEXT is Markdown and goes to the end of today's log, memory/YYYY-MM-DD.md; in a vault
to the note that memorySearch.dailyNotes names. With - it
is read from standard input. What stands there already, block by block, is not
repeated. Nothing in a note is ever changed or removed.

The citation of what was written is printed. The index is brought up to date, for at
most two seconds.
"""
_EXAMPLES: Final = (
    ('notewell remember "The gateway moved to port 18790."', "add to today's log"),
    ("notewell remember --long-term - < facts.md", "add a file to MEMORY.md"),
    ('notewell remember --json "- Noor is away until Monday"', "for programs"),
)


class _Remember(Command):
    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take `- Noor is away`, an item of a list, for a text and not an option."""
        items = [word for word in args if word.startswith("- ")]
        if items and "--" not in args:
            args = [word for word in args if word not in items] + ["--", *items]
        return super().parse_args(ctx, args)


@click.command("remember", cls=_Remember, help=_TEXT, examples=_EXAMPLES)
@click.argument("words", nargs=-1, metavar="TEXT")
@click.option(
    "--long-term", is_flag=True, help="Add to MEMORY.md instead of today's log."
)
@click.pass_context
def remember_command(
    context: click.Context, words: Sequence[str], long_term: bool
) -> None:
    """Append a text and say where it stands."""
    call = CommandCall.of(context)
    text = _text(words)
    with memory_of(call) as memory:
        remembered = memory.remember(text, long_term=long_term)
        if not remembered.indexed:
            memory.refresh_later()
    if call.output.json:
        from notewell.adapters.surfaces import wire

        call.output.value(wire.remembered_json(remembered))
        return
    for sentence in _remarks(remembered):
        call.output.note(one_line(sentence))
    call.output.text(f"{remembered.citation}\n")


def _text(words: Sequence[str]) -> str:
    text = _from_stdin() if list(words) == ["-"] else decode_argument(" ".join(words))
    if text.strip():
        return text
    raise CommandUsageError(
        "what should be remembered?",
        remedy='give a text: notewell remember "The gateway moved to port 18790."',
    )


def _from_stdin() -> str:
    from notewell.writing import MAX_TEXT_BYTES

    with open(STDIN, "rb", closefd=False) as opened:
        raw = opened.read(MAX_TEXT_BYTES + 1)
    if len(raw) > MAX_TEXT_BYTES:
        raise CommandUsageError(
            f"the text has more than {MAX_TEXT_BYTES:,} bytes",
            remedy="put it into a file below memory/, or write it in parts",
        )
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CommandUsageError(
            f"the text on standard input is not UTF-8 (byte {error.start + 1})",
            remedy="convert it first: iconv -f latin1 -t utf-8",
        ) from None


def _remarks(remembered: "Remembered") -> list[str]:
    remarks = [f"warning: {warning}" for warning in remembered.warnings]
    if not remembered.written:
        return ["note: nothing was written, this stands there already", *remarks]
    if remembered.repeated:
        said = f"note: {remembered.repeated:,} parts stood there already"
        remarks.insert(0, f"{said} and were not repeated")
    return remarks
