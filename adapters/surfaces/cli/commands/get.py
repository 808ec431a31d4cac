"""`notewell get`: print lines of notes, unaltered, as UTF-8."""

from collections.abc import Iterator, Sequence
from typing import Final

import click

from notewell.adapters.surfaces.cli.call import CommandCall, memory_of, screen_of
from notewell.adapters.surfaces.cli.note_paths import complete_notes
from notewell.adapters.surfaces.cli.options import (
    Command,
    CommandUsageError,
    whole_number,
)
from notewell.adapters.surfaces.cli.screen import Screen
from notewell.adapters.surfaces.plain_text import decode_argument, one_line, visible
from notewell.adapters.surfaces.sentences import why_missing
from notewell.note_links import NoteLinks
from notewell.types import Document

_TEXT: Final = """Print lines of notes.

PATH is what `notewell search` printed: a path relative to the workspace, alone or as a
citation with lines. What else one has in hand is read, too: [[Note]], [[Note#Heading]],
note.md:12-20, a Markdown link, a path in other case, percent-encoded or without .md, a
note's title or alias, a day such as 2026-01-10, "March 3rd" or yesterday. A path that is
there wins over all of these. Of several notes with one name all are told, and of
a name that is not there the nearest. Several PATHs are printed one after the other.

The output is text in UTF-8, also where the note is not: other encodings are decoded, a
byte order mark is left out, and a byte that is no text becomes U+FFFD. One newline ends
it. stderr says what was odd.

A note that does not exist is no error: the exit code is 0, stdout stays empty, and
--json says "found": false. A path outside the workspace is refused with exit code 2.
"""
_EXAMPLES: Final = (
    ("notewell get MEMORY.md", "a whole note"),
    ("notewell get memory/2026-01-10.md --from 3 --lines 7", "lines 3 to 9 of it"),
    ("notewell get memory/2026-01-10.md#L3-L9", "the same, as a search cites it"),
    ("notewell get 2026-01-10 --json", "one JSON object, for programs"),
    ('notewell get "[[Tidepool#Open ends]]"', "a section, by the note's name"),
    ("notewell get yesterday MEMORY.md", "several notes"),
)


@click.command("get", cls=Command, help=_TEXT, examples=_EXAMPLES)
@click.argument(
    "paths",
    metavar="PATH...",
    nargs=-1,
    required=True,
    shell_complete=complete_notes,
)
@click.option(
    "--from", "start", callback=whole_number(), metavar="N", help="The first line."
)
@click.option(
    "--lines", callback=whole_number(), metavar="N", help="How many lines at most."
)
@click.pass_context
def get_command(
    context: click.Context,
    paths: Sequence[str],
    start: int | None,
    lines: int | None,
) -> int:
    """Print what paths and a range name."""
    call = CommandCall.of(context)
    if len(paths) > 1:
        if start or lines:
            raise CommandUsageError(
                "--from and --lines are for one PATH",
                remedy="name the lines of each as in note.md#L3-L9",
            )
        return _print_several(call, paths)
    with memory_of(call) as memory:
        document = memory.get(decode_argument(paths[0]), start or 1, lines)
    if call.output.json:
        from notewell.adapters.surfaces import wire

        call.output.value(wire.document_json(document))
        return 0
    _print(call, document)
    return 0


def _print_several(call: CommandCall, paths: Sequence[str]) -> int:
    """Print notes one after the other, each below its name; 2 if one was refused."""
    from notewell.backends.policy import MOST_DOCUMENTS  # for several alone

    if len(paths) > MOST_DOCUMENTS:
        raise CommandUsageError(
            f"{len(paths)} notes are more than {MOST_DOCUMENTS}",
            remedy="ask for them in several calls",
        )
    with memory_of(call) as memory:
        documents = memory.get_many([decode_argument(path) for path in paths])
    if call.output.json:
        from notewell.adapters.surfaces import wire

        call.output.value(wire.documents_json(documents))
    else:
        for document in documents:
            if document.found:
                call.output.text(f"==> {one_line(document.path)} <==\n")
            _print(call, document)
    refused = any((each.reason or "").startswith("path-refused") for each in documents)
    return 2 if refused else 0


def _print(call: CommandCall, document: Document) -> None:
    for sentence in _remarks(document):
        call.output.note(one_line(sentence))
    call.output.text(_rendered(document, screen_of(call)))


def _remarks(document: Document) -> list[str]:
    if not document.found:
        return [why_missing(document), *instead(document)]
    remarks = [f"note: {document.reason}"] if document.reason else []
    if document.end_line < document.start_line and document.total_lines:
        remarks.append(f"note: the note ends at line {document.total_lines:,}")
    if document.truncated:
        remarks.append(
            f"note: lines {document.start_line:,} to {document.end_line:,} of "
            f"{document.total_lines:,}; go on with --from {document.next_from}"
        )
    return remarks


def instead(document: Document | NoteLinks) -> Iterator[str]:
    """Say which notes may be meant."""
    if document.nearest:
        yield f"nearest: {', '.join(document.nearest)}"


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
