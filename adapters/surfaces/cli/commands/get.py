"""`notewell get`: print lines of a note, unaltered, as UTF-8."""

from typing import Final

import click

from notewell.adapters.surfaces.cli.call import CommandCall, memory_of
from notewell.adapters.surfaces.cli.options import Command, whole_number
from notewell.adapters.surfaces.cli.screen import Screen
from notewell.adapters.surfaces.plain_text import one_line, visible
from notewell.types import Document

_TEXT: Final = """Print lines of a note.

PATH is what `notewell search` printed: a path relative to the workspace, alone or
as a citation with lines. A bare date such as 2026-01-10 finds memory/2026-01-10.md.

The output is text in UTF-8, also where the note is not: it is read as the search
reads it, a byte order mark is left out, and a byte that is no text becomes
U+FFFD. One newline ends it. stderr says what was odd.

A note that does not exist is no error: the exit code is 0, stdout stays empty, and
--json says "found": false. A path outside the workspace is refused with exit code 2.
"""
_EXAMPLES: Final = (
    ("notewell get MEMORY.md", "a whole note"),
    ("notewell get memory/2026-01-10.md --from 3 --lines 7", "lines 3 to 9 of it"),
    ("notewell get memory/2026-01-10.md#L3-L9", "the same, as a search cites it"),
    ("notewell get 2026-01-10 --json", "one JSON object, for programs"),
)


@click.command("get", cls=Command, help=_TEXT, examples=_EXAMPLES)
@click.argument("path", metavar="PATH")
@click.option(
    "--from", "start", callback=whole_number(), metavar="N", help="The first line."
)
@click.option(
    "--lines", callback=whole_number(), metavar="N", help="How many lines at most."
)
@click.pass_context
def get_command(
    context: click.Context, path: str, start: int | None, lines: int | None
) -> None:
    """Print what a path and a range name."""
    call = CommandCall.of(context)
    with memory_of(call) as memory:
        document = memory.get(path, start or 1, lines)
    if call.output.json:
        from notewell.adapters.surfaces import wire

        call.output.value(wire.document_json(document))
        return
    for sentence in _remarks(document):
        call.output.note(one_line(sentence))
    call.output.text(_rendered(document, Screen.of()))


def _remarks(document: Document) -> list[str]:
    if not document.found:
        return [f"not found: {document.path}" + _because(document)]
    remarks = [f"note: {document.reason}"] if document.reason else []
    if document.end_line < document.start_line and document.total_lines:
        remarks.append(f"note: the note ends at line {document.total_lines:,}")
    if document.truncated:
        remarks.append(
            f"note: lines {document.start_line:,} to {document.end_line:,} of "
            f"{document.total_lines:,}; go on with --from {document.next_from}"
        )
    return remarks


def _because(document: Document) -> str:
    known = document.reason in (None, "not-found")
    return "" if known else f" ({document.reason})"


def _rendered(document: Document, screen: Screen) -> str:
    if document.end_line < document.start_line:
        return ""
    if not screen.terminal:
        return document.text + "\n"
    width = len(str(document.end_line))
    return "".join(
        screen.paint(f"{number:>{width}}", "dim") + f"  {visible(_unix(line))}\n"
        for number, line in enumerate(
            document.text.split("\n"), start=document.start_line
        )
    )


def _unix(line: str) -> str:
    return line.removesuffix("\r")
