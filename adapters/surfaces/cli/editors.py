"""How editors are told at which line to open a file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from notewell.errors import UsageError

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


def command_for(environ: Mapping[str, str], file: Path, line: int) -> list[str]:
    """Return the words that open a file at a line in the editor of the environment.

    >>> command_for({"EDITOR": "code --wait"}, Path("/notes/MEMORY.md"), 3)
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
