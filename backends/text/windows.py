"""Cutting a passage into windows: what a vector is made of.

A model reads some hundred tokens, and one vector for ten topics is near none of them.
So a passage has a vector for each window of a few lines, and the best one counts. A
window is a run of whole lines; only a line that is too long for one is cut, at a word.

Law: windows depend on the text and the setting alone, and every character of a line
with text in it stands in one of them.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from notewell.backends.text.analysis import (
    QUARTERS_PER_TOKEN,
    character_border,
    token_quarters,
)

MOST_WINDOWS: Final = 256
"""Of a passage; the last one takes what is left, and a model what it can read of it."""

_VERSION: Final = 1
"""Other cuts need other vectors."""

_TAIL: Final = 0.5
"""A last window with less than this share of a step for itself goes to the one before."""


class Window(NamedTuple):
    """A part of a passage.

    Attributes:
        first_line: Its first line, 0-based in the passage.
        last_line: Its last line, included.
        text: Its lines joined by LF; of a line that is too long, a part.
    """

    first_line: int
    last_line: int
    text: str

    @property
    def middle_line(self) -> int:
        """The line with text in its middle: the ends are its neighbours', too.

        >>> Window(4, 7, "one\\ntwo three\\n\\nfour").middle_line
        5
        """
        best, left = self.first_line, len(self.text) / 2
        for number, line in enumerate(self.text.split("\n"), self.first_line):
            if line.strip():
                best = number
            left -= len(line) + 1
            if left <= 0 and line.strip():
                break
        return best


class _Unit(NamedTuple):
    """What is not cut any further: a line, or a part of one that is too long."""

    line: int
    start: int
    end: int
    cost: int


def cut_name(tokens: int, overlap: int) -> str:
    """Return what tells one cut from another; empty for passages that are not cut.

    Args:
        tokens: The most estimated tokens in a window; 0: passages are not cut.
        overlap: The most that a window repeats of the one before it.

    >>> cut_name(120, 40), cut_name(0, 40)
    ('1:120/40', '')
    """
    return f"{_VERSION}:{tokens}/{min(overlap, tokens // 2)}" if tokens else ""


def times_read(name: str) -> float:
    """Return how often each token of a long passage is in a window, about.

    >>> times_read("1:120/40"), times_read("")
    (1.5, 1.0)
    """
    if not name:
        return 1.0
    tokens, overlap = _cut(name)
    return tokens / (tokens - overlap)


def cut_windows(text: str, name: str) -> list[Window]:
    """Cut the text of a passage; at least one window.

    Args:
        text: The passage.
        name: How it is cut, as `cut_name` says it.

    >>> [w.text for w in cut_windows("one two\\nsix\\nfour five", "1:4/1")]
    ['one two\\nsix', 'six\\nfour five']
    """
    whole = Window(0, text.count("\n"), text)
    if not name:
        return [whole]
    tokens, overlap = _cut(name)
    room, shared = tokens * QUARTERS_PER_TOKEN, overlap * QUARTERS_PER_TOKEN
    if token_quarters(text) <= room:
        return [whole]
    units = list(_units(text, room, shared))
    return [
        Window(
            units[a].line, units[b - 1].line, text[units[a].start : units[b - 1].end]
        )
        for a, b in _spans(units, room, shared)
    ] or [whole]


def _cut(name: str) -> tuple[int, int]:
    tokens, overlap = name.partition(":")[2].split("/")
    return int(tokens), int(overlap)


def _units(text: str, room: int, shared: int) -> Iterator[_Unit]:
    """Yield the lines that have text in them, and long ones in parts."""
    start = 0
    part = max(QUARTERS_PER_TOKEN, min(shared, room // 3) or room // 3)
    for number, line in enumerate(text.split("\n")):
        end = start + len(line)
        cost = token_quarters(line) + 1
        if not line.strip():
            pass
        elif cost <= room:
            yield _Unit(number, start, end, cost)
        else:
            yield from _parts(text, number, (start, end), part)
        start = end + 1


def _parts(text: str, line: int, span: tuple[int, int], part: int) -> Iterator[_Unit]:
    at, end = span
    while at < end:
        width = _fitting(text[at : min(end, at + part)], part)
        cut = at + width
        if cut < end:
            border = text.rfind(" ", at + width // 2, cut) + 1
            cut = border or at + max(1, character_border(text[at:end], width))
        piece = text[at:cut]
        if piece.strip():
            yield _Unit(line, at, cut, token_quarters(piece))
        at = cut


def _fitting(text: str, room: int) -> int:
    """Return about how many characters of a text cost no more than `room`."""
    while (cost := token_quarters(text)) > room and len(text) > 1:
        text = text[: max(1, min(len(text) - 1, len(text) * room // cost))]
    return len(text)


def _spans(units: list[_Unit], room: int, shared: int) -> Iterator[tuple[int, int]]:
    """Yield the windows as runs of units, end excluded."""
    first = given = 0
    while first < len(units):
        end, cost = first, 0
        while end < len(units) and (end == first or cost + units[end].cost <= room):
            cost += units[end].cost
            end += 1
        given += 1
        fresh = sum(unit.cost for unit in units[end:])
        if fresh < (room - shared) * _TAIL or given == MOST_WINDOWS:
            end = len(units)
        yield first, end
        if end == len(units):
            return
        first = _overlap(units, first, end, shared)


def _overlap(units: list[_Unit], first: int, end: int, shared: int) -> int:
    """Return where the window after this one begins, to repeat some units."""
    start = end
    while start > first + 1 and units[start - 1].cost <= shared:
        start -= 1
        shared -= units[start].cost
    return start
