"""What a terminal can show: colours, links, its width in cells. Plain when it is none."""

import os
import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, Literal, Self, TypeAlias

from notewell.adapters.surfaces.cli.output import STDOUT
from notewell.values import dataclass

Look: TypeAlias = Literal["bold", "dim", "match", "good", "warning", "problem"]

_CODES: Final[Mapping[Look, str]] = {
    "bold": "1",
    "dim": "2",
    "match": "1;33",
    "good": "32",
    "warning": "33",
    "problem": "31",
}
_NARROWEST: Final = 40
_WIDEST_TEXT: Final = 100  # longer lines of prose are hard to read


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """How text looks where it goes.

    Attributes:
        terminal: Whether a person looks at it directly.
        coloured: Whether escape sequences for colours are understood.
        linked: Whether links to files are understood.
        columns: The width to wrap at; None where lines are not wrapped.
    """

    terminal: bool = False
    coloured: bool = False
    linked: bool = False
    columns: int | None = None

    @classmethod
    def of(cls, descriptor: int = STDOUT) -> Self:
        """Look at a descriptor and at NO_COLOR, FORCE_COLOR and TERM."""
        terminal = os.isatty(descriptor)
        wide = _width(descriptor) if terminal else None
        return cls.described(os.environ, wide)

    @classmethod
    def described(cls, environ: Mapping[str, str], wide: int | None) -> Self:
        """Return the screen of an environment.

        Args:
            environ: With NO_COLOR, FORCE_COLOR, TERM and COLUMNS.
            wide: How many columns the terminal has, 0 if it does not say; None: it is no
                terminal.
        """
        terminal = wide is not None
        able = terminal and environ.get("TERM", "dumb") not in ("dumb", "")
        forced = environ.get("FORCE_COLOR", "0").lower() not in ("", "0", "false")
        coloured = not environ.get("NO_COLOR") and (able or forced)
        return cls(
            terminal=terminal,
            coloured=coloured,
            linked=coloured and able and environ.get("TERM") != "linux",
            columns=None if wide is None else _columns(environ, wide),
        )

    def paint(self, text: str, look: Look) -> str:
        """Give `text` a look, where that can be seen."""
        if not (self.coloured and text):
            return text
        return f"\x1b[{_CODES[look]}m{text}\x1b[0m"

    def link(self, text: str, target: Path) -> str:
        """Make `text` a link to a file (OSC 8), where that is understood."""
        if not (self.linked and target.is_absolute()):
            return text
        address = Path(os.path.normpath(target)).as_uri()  # spells out odd signs
        return f"\x1b]8;;{address}\x1b\\{text}\x1b]8;;\x1b\\"


def can_animate(descriptor: int) -> bool:
    """Whether a progress bar can be drawn there."""
    return os.isatty(descriptor) and os.environ.get("TERM", "dumb") not in ("dumb", "")


def _width(descriptor: int) -> int:
    try:
        return os.get_terminal_size(descriptor).columns
    except OSError:
        return 0


def _columns(environ: Mapping[str, str], wide: int) -> int:
    try:
        told = int(environ.get("COLUMNS", "0"))
    except ValueError:
        told = 0
    return min(max(told if told > 0 else wide or 80, _NARROWEST), _WIDEST_TEXT)


def wrapped(text: str, columns: int | None) -> Iterator[tuple[int, int]]:
    """Cut a line into pieces of at most `columns` cells, at a space if there is one.

    Yields:
        The pieces, without the space they are cut at; one piece without a limit.
    """
    start = 0
    while columns is not None:
        fit = _fitting(text, start, columns)
        if fit >= len(text):
            break
        space = text.rfind(" ", start + 1, fit + 1)
        end = space if space > start else fit
        yield start, end
        start = end + 1 if text[end] == " " else end
    yield start, len(text)


def shortened(text: str, columns: int) -> str:
    """Cut a text to `columns` cells, with an ellipsis where something is missing."""
    if cell_count(text) <= columns:
        return text
    return text[: _fitting(text, 0, max(columns - 1, 0))] + "…"


def cell_count(text: str) -> int:
    """Return how many columns a text takes."""
    return sum(map(_character_cells, text))


def _fitting(text: str, start: int, columns: int) -> int:
    """The end of the longest piece that fits; at least one character."""
    used = 0
    for place in range(start, len(text)):
        used += _character_cells(text[place])
        if used > columns:
            return max(place, start + 1) if columns else place
    return len(text)


def _character_cells(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
