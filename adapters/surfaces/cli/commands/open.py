"""`notewell open`: a note in an editor, at the line that a search cites."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from notewell.adapters.surfaces.cli.editors import command_for
from notewell.adapters.surfaces.cli.opening import memory_of
from notewell.adapters.surfaces.cli.options import Call, Command
from notewell.adapters.surfaces.cli.output import decoded
from notewell.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

_TEXT: Final = """Open a note in an editor, at the line.

CITATION is what `notewell search` printed, such as memory/2026-01-10.md#L3-L9. A path
alone or a bare date will do as well.

The editor is $VISUAL, else $EDITOR, else vi; it may have options. Of most editors it
is known how they are told a line; others get the file alone. With --json nothing is
opened: the file and the line are printed.
"""
_EXAMPLES: Final = (
    ("notewell open memory/2026-01-10.md#L3-L9", "at line 3"),
    ("notewell open 2026-01-10", "the log of a day"),
    ("notewell open MEMORY.md --json", "where it is, for programs"),
)


@click.command("open", cls=Command, help=_TEXT, examples=_EXAMPLES)
@click.argument("citation", metavar="CITATION")
@click.pass_context
def open_note(context: click.Context, citation: str) -> int:
    """Open what a citation names; the exit code is the editor's."""
    call = Call.of(context)
    with memory_of(call) as memory:
        found = memory.get(decoded(citation))
        file = Path(os.path.normpath(memory.workspace.root / found.path))
    if not found.found:
        raise UsageError(
            f"there is no note {found.path!r}", remedy="search for it: notewell search"
        )
    if call.output.json:
        call.output.value({"file": str(file), "line": found.start_line})
        return 0
    return _edited(command_for(os.environ, file, found.start_line))


def _edited(command: "Sequence[str]") -> int:
    """Run an editor until it is closed, and return its exit code."""
    import subprocess  # only here

    try:
        return subprocess.run(command, check=False).returncode
    except OSError as problem:
        raise UsageError(
            f"the editor {command[0]!r} cannot be started: {problem.strerror}",
            remedy="set VISUAL or EDITOR to one that is installed",
        ) from problem
