"""Lines of text as a screen shows them: wrapped at its width, matches painted."""

import unicodedata
from collections.abc import Iterator, Sequence

from notewell.adapters.surfaces.cli.matches import Span
from notewell.adapters.surfaces.cli.screen import Screen


def painted(text: str, spans: Sequence[Span], screen: Screen) -> str:
    """Give the spans of a text the look of a match."""
    parts: list[str] = []
    last = 0
    for start, end in spans:
        parts.append(text[last:start])
        parts.append(screen.paint(text[start:end], "match"))
        last = end
    return "".join(parts) + text[last:]


def wrapped(text: str, columns: int | None) -> Iterator[Span]:
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


def within(spans: Sequence[Span], piece: Span) -> list[Span]:
    """Return the parts of the spans that lie in a piece, counted from its start."""
    first, last = piece
    return [
        (max(start, first) - first, min(end, last) - first)
        for start, end in spans
        if start < last and end > first
    ]


def shortened(text: str, columns: int) -> str:
    """Cut a text to `columns` cells, with an ellipsis where something is missing."""
    if cells(text) <= columns:
        return text
    return text[: _fitting(text, 0, max(columns - 1, 0))] + "…"


def cells(text: str) -> int:
    """Return how many columns a text takes."""
    return sum(map(_cells, text))


def _fitting(text: str, start: int, columns: int) -> int:
    """The end of the longest piece that fits; at least one character."""
    used = 0
    for place in range(start, len(text)):
        used += _cells(text[place])
        if used > columns:
            return max(place, start + 1) if columns else place
    return len(text)


def _cells(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
