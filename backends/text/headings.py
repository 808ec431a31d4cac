"""The headings of a note, and which of them stand above a line."""

import re
from bisect import bisect_right
from collections.abc import Sequence

_HEADING = re.compile(r" {0,3}(#{1,6})(?=[ \t\r]|$)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")

_LONGEST_TITLE = 200
"""Characters; every passage below repeats them, and a title may be a whole text."""


class Headings:
    """Every ATX heading of a note; those inside fenced code are not headings."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.at: dict[int, str] = {}
        """The heading path that begins at a line, by the line's index (from 0)."""
        self._read(lines)
        self._starts = list(self.at)

    def above(self, index: int) -> str:
        """Return the headings in force at a line, outermost first.

        >>> Headings(["# A", "text", "## B", "text"]).above(3)
        'A > B'
        """
        place = bisect_right(self._starts, index)
        return self.at[self._starts[place - 1]] if place else ""

    def _read(self, lines: Sequence[str]) -> None:
        open_fence = ""
        path: list[tuple[int, str]] = []
        for index, line in enumerate(lines):
            start = line.lstrip(" ")[:1]
            if start in ("`", "~"):
                open_fence = _after_fence(line, open_fence)
            elif start == "#" and not open_fence and (found := _HEADING.match(line)):
                level = len(found[1])
                path = [entry for entry in path if entry[0] < level]
                path.append((level, _title(line[found.end() :])))
                self.at[index] = " > ".join(title for _, title in path if title)


def _title(text: str) -> str:
    """Return what stands after the opening hashes, without closing ones.

    >>> _title(" Ports ## "), _title(" C#"), _title(" ##")
    ('Ports', 'C#', '')
    """
    text = text.strip(" \t\r")
    bare = text.rstrip("#")
    if not bare or bare[-1] in " \t":
        text = bare.rstrip(" \t")
    return text[:_LONGEST_TITLE]


def _after_fence(line: str, open_fence: str) -> str:
    """Return the fence that is open after a line that may be one."""
    found = _FENCE.match(line)
    if not found:
        return open_fence
    if not open_fence:
        return found[1]
    closes = found[1].startswith(open_fence) and not line.strip(" \t\r" + open_fence[0])
    return "" if closes else open_fence
