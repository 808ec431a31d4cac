"""Which of many runs of lines stand in a note, found in one pass over it.

Source: Aho and Corasick, "Efficient String Matching", CACM 18(6), 1975, with lines in
the place of letters. A run is found where its state is reached; states that are only
suffixes of reached ones are marked afterwards, so that no match costs more than its
lines.
"""

import unicodedata
from collections.abc import Iterable, Sequence


class LineRuns:
    """Runs of lines, and which of them stand in the notes that were read.

    Lines are compared without white space at their end, and composed alike.

    >>> runs = LineRuns([["- a", "  more"], ["- b"]])
    >>> runs.read(["# Day", "- a ", "  more"])
    >>> runs.stands(["- a", "  more"]), runs.stands(["- b"])
    (True, False)
    """

    def __init__(self, runs: Iterable[Sequence[str]]) -> None:
        self._next: list[dict[str, int]] = [{}]
        self._lines: set[str] = set()
        for run in runs:
            self._add(comparable(run))
        self._shorter = [0] * len(self._next)
        self._order = self._linked()
        self._reached = bytearray(len(self._next))

    def read(self, note: Iterable[str]) -> None:
        """Take in the lines of a note."""
        following, shorter, reached = self._next, self._shorter, self._reached
        state = 0
        for line in comparable(note):
            if line not in self._lines:
                state = 0
                continue
            while state and line not in following[state]:
                state = shorter[state]
            state = following[state].get(line, 0)
            reached[state] = 1
        for longer in reversed(self._order):
            if reached[longer]:
                reached[shorter[longer]] = 1

    def stands(self, run: Sequence[str]) -> bool:
        """Whether one of the runs stands, line by line, in a note that was read."""
        state = 0
        for line in comparable(run):
            state = self._next[state][line]
        return bool(self._reached[state])

    def _add(self, run: Sequence[str]) -> None:
        state = 0
        for line in run:
            self._lines.add(line)
            following = self._next[state]
            if line not in following:
                following[line] = len(self._next)
                self._next.append({})
            state = following[line]

    def _linked(self) -> list[int]:
        """Link each state to the longest shorter one that ends like it, by length."""
        order = list(self._next[0].values())
        for state in order:
            for line, longer in self._next[state].items():
                order.append(longer)
                other = self._shorter[state]
                while other and line not in self._next[other]:
                    other = self._shorter[other]
                self._shorter[longer] = self._next[other].get(line, 0)
        return order


def comparable(lines: Iterable[str]) -> list[str]:
    """Return lines as they are compared; empty ones at the end count for nothing.

    >>> comparable(["a ", "b", ""])
    ['a', 'b']
    """
    compared = [line.rstrip() for line in lines]
    while compared and not compared[-1]:
        compared.pop()
    joined = "\n".join(compared)
    if joined.isascii():
        return compared
    return unicodedata.normalize("NFC", joined).split("\n")
