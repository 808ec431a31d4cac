"""`notewell open`: a note in an editor, at the line that a search cites."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import click

from notewell.adapters.surfaces.cli.call import CommandCall, memory_of
from notewell.adapters.surfaces.cli.note_paths import complete_notes
from notewell.adapters.surfaces.cli.options import Command
from notewell.adapters.surfaces.plain_text import decode_argument
from notewell.errors import UsageError

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
# How editors are told at which line to open a file.
_PLUS: Final = ("+{line}", "{file}")
_COLON: Final = ("{file}:{line}",)
_GOTO: Final = ("--goto", "{file}:{line}")
_OPTION: Final = ("--line", "{line}", "{file}")
_WAYS: Final[Mapping[tuple[str, ...], tuple[str, ...]]] = {
    ("vi", "vim", "nvim", "gvim", "mvim", "view", "ex", "nano", "pico"): _PLUS,
    ("emacs", "emacsclient", "kak", "joe", "mg", "ne", "gedit", "less"): _PLUS,
    ("code", "code-insiders", "codium", "cursor", "windsurf"): _GOTO,
    ("hx", "helix", "subl", "zed", "zeditor", "micro"): _COLON,
    ("kate", "mate", "idea", "pycharm", "webstorm"): _OPTION,
}
_DEFAULT: Final = "vi"


@click.command("open", cls=Command, help=_TEXT, examples=_EXAMPLES)
@click.argument("citation", metavar="CITATION", shell_complete=complete_notes)
@click.pass_context
def open_command(context: click.Context, citation: str) -> int:
    """Open what a citation names; the exit code is the editor's."""
    call = CommandCall.of(context)
    with memory_of(call) as memory:
        found = memory.get(decode_argument(citation))
        file = Path(os.path.normpath(memory.workspace.root / found.path))
    if not found.found:
        near = ", ".join(found.candidates or found.nearest)
        raise UsageError(
            f"there is no note {found.path!r}",
            remedy=f"there is {near}" if near else "search for it: notewell search",
        )
    if call.output.json:
        call.output.value({"file": str(file), "line": found.start_line})
        return 0
    return _edited(editor_command(os.environ, file, found.start_line))


def _edited(command: Sequence[str]) -> int:
    """Run an editor until it is closed, and return its exit code."""
    import subprocess  # only here

    try:
        return subprocess.run(command, check=False).returncode
    except OSError as problem:
        raise UsageError(
            f"the editor {command[0]!r} cannot be started: {problem.strerror}",
            remedy="set VISUAL or EDITOR to one that is installed",
        ) from problem


def editor_command(environ: Mapping[str, str], file: Path, line: int) -> list[str]:
    """Return the words that open a file at a line in the editor of the environment.

    >>> editor_command({"EDITOR": "code --wait"}, Path("/notes/MEMORY.md"), 3)
    ['code', '--wait', '--goto', '/notes/MEMORY.md:3']

    Raises:
        UsageError: the setting cannot be read as words.
    """
    import shlex

    named = environ.get("VISUAL") or environ.get("EDITOR") or _DEFAULT
    try:
        words = shlex.split(named)
    except ValueError as problem:
        raise UsageError(
            f"VISUAL or EDITOR cannot be read: {problem}", remedy="close its quotes"
        ) from problem
    words = words or [_DEFAULT]
    way = _way(Path(words[0]).name)
    return [*words, *(part.format(file=file, line=line) for part in way)]


def _way(editor: str) -> tuple[str, ...]:
    """Return how an editor is told a line; one that is not known gets the file."""
    return next((way for names, way in _WAYS.items() if editor in names), ("{file}",))
