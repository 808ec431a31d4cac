"""`notewell links`: the links in a note and those to it, each with its line."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

import click

from notewell.adapters.surfaces.cli.call import CommandCall, memory_of
from notewell.adapters.surfaces.cli.commands.get import instead
from notewell.adapters.surfaces.cli.note_paths import complete_notes
from notewell.adapters.surfaces.cli.options import Command
from notewell.adapters.surfaces.cli.screen import Screen
from notewell.adapters.surfaces.plain_text import decode_argument, one_line
from notewell.adapters.surfaces.sentences import link_target, why_missing
from notewell.note_links import NoteLink, NoteLinks

_TEXT: Final = """Show the links in a note, and those to it from other notes.

NOTE is what `notewell get` takes. Read are the links of Markdown and [[wiki links]],
but none in code. A link that leads nowhere is told, and so is one that may mean
several notes.

A wiki link means the note at that path from the top; else the one whose path ends so,
the nearest: in the same folder or below, then in the fewest folders; else the one with
such a title or alias. A Markdown link is relative to its note first.
"""
_EXAMPLES: Final = (
    ("notewell links memory/projects/tidepool.md", "out and back"),
    ('notewell links "[[Tidepool]]"', "of a note by its name"),
    ("notewell links Tidepool --json", "one JSON object, for programs"),
)


@click.command("links", cls=Command, help=_TEXT, examples=_EXAMPLES)
@click.argument("note", metavar="NOTE", shell_complete=complete_notes)
@click.pass_context
def links_command(context: click.Context, note: str) -> None:
    """Show what a note links to, and what links to it."""
    call = CommandCall.of(context)
    with memory_of(call) as memory:
        found = memory.links(decode_argument(note))
    if call.output.json:
        from notewell.adapters.surfaces import wire

        call.output.value(wire.links_json(found))
        return
    for sentence in _remarks(found):
        call.output.note(one_line(sentence))
    if found.found:
        screen = Screen.of()
        parts = [*_drawn_links(found.outgoing, screen), *_drawn_back(found, screen)]
        call.output.text("".join(f"{line}\n" for line in parts))


def _remarks(found: NoteLinks) -> Iterator[str]:
    if not found.found:
        yield why_missing(found)
        yield from instead(found)
    elif found.reason:
        yield f"note: {found.reason}"
    for warning in found.warnings:
        yield f"warning: {warning}"


def _drawn_links(links: Sequence[NoteLink], screen: Screen) -> Iterator[str]:
    """The lines with links in them, and below each where they lead."""
    if not links:
        yield "It links to no note."
        return
    yield screen.paint(f"links to ({len(links):,})", "bold")
    width = len(str(links[-1].line))
    for line, several in groupby(links, key=lambda link: link.line):
        here = list(several)
        number = screen.paint(f"  {line:>{width}}", "dim")
        yield f"{number}  {one_line(here[0].text)}"
        for target in dict.fromkeys(map(link_target, here)):
            yield f"  {' ' * width}  → {one_line(target)}"


def _drawn_back(found: NoteLinks, screen: Screen) -> Iterator[str]:
    """The lines in other notes that link to this one."""
    yield ""
    if not found.backlinks:
        yield "No note links to it."
        return
    yield screen.paint(f"linked from ({len(found.backlinks):,})", "bold")
    for place, several in groupby(found.backlinks, key=lambda link: link.citation):
        yield f"  {screen.paint(one_line(place), 'bold')}"
        yield f"    {one_line(next(several).text)}"
