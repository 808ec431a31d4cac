"""What of a text is new to a note.

A text is taken apart into blocks: headings, list items, paragraphs, fenced code. A
block that stands in the note, line by line, is not repeated. A heading is kept if
something new stands below it and the note does not end below that heading already.

Which blocks stand in a note is found in one pass over it, by the automaton of Aho and
Corasick ("Efficient String Matching", CACM 18(6), 1975), with lines in the place of
letters. A run of lines is found where its state is reached; states that are only
suffixes of reached ones are marked afterwards, so that no match costs more than its
lines.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import Final, NamedTuple

_HEADING: Final = re.compile(r"(#{1,6})(?:[ \t]|$)")
_ITEM: Final = re.compile(r"(?:[-*+]|[0-9]{1,9}[.)])(?:[ \t]|$)")

_LEAD: Final = 7
"""The level of a line such as `Decisions:` above a list: a heading below all others."""


class TextBlock(NamedTuple):
    """Lines that are kept or left out together.

    Attributes:
        lines: As written, without line ends.
        level: 1 to 6 for headings, 0 for everything else.
        gap: An empty line stood before it.
    """

    lines: tuple[str, ...]
    level: int = 0
    gap: bool = False


class NewText(NamedTuple):
    """The part of a text that a note lacks.

    Attributes:
        lines: To be appended; empty when everything stands there.
        repeated: How many blocks were left out.
        first_repeated: The lines of the first of them.
        tight: The lines go on with the note's last paragraph.
    """

    lines: tuple[str, ...]
    repeated: int = 0
    first_repeated: tuple[str, ...] = ()
    tight: bool = False


def find_new_text(
    text: Sequence[str], note: Sequence[str], *, known: Iterable[Sequence[str]] = ()
) -> NewText:
    """Return what of a text a note lacks.

    Args:
        text: Lines, without their ends.
        note: The lines of the note.
        known: The lines of further notes, whose blocks are not repeated either.
    """
    rest = _without_copy(text, note)
    parts = list(_with_leads(split_blocks(rest.lines)))
    standing = LineRuns(part.lines for part in parts)
    for lines in (note, *known):
        standing.read(lines)
    sieve = _Sieve(note, standing, rest.more)
    for part in parts:
        sieve.take(part)
    sieve.end()
    copied = len(text) - len(rest.lines) - len(rest.more)
    return NewText(
        tuple(sieve.lines),
        sieve.repeated + (copied > 0),
        sieve.first_repeated or tuple(text[:copied]),
        rest.tight,
    )


def split_blocks(lines: Iterable[str]) -> Iterator[TextBlock]:
    """Take lines apart. Empty lines between blocks are only remembered as gaps."""
    from notewell.markdown import read_structure  # late: few programs write

    block: list[str] = []
    blanks: list[str] = []
    gap = fence = False
    lines = list(lines)
    code = read_structure(lines).code
    unended = {line for first, end in code for line in range(first, end - 1)}
    for number, line in enumerate(lines):
        if not fence and not line.strip():
            blanks.append(line)
            continue
        if block and not fence and not _goes_on(block, blanks, line):
            yield _block(block, gap)
            block = []
        if block:
            block.extend(blanks)
        else:
            gap = bool(blanks)
        blanks = []
        block.append(line)
        fence = number in unended
    if block:
        yield _block(block, gap)


def joined_lines(lines: Iterable[str]) -> str:
    r"""Join lines so that whole lines can be looked for.

    >>> joined_lines(["a ", "b"])
    '\na\nb\n'
    """
    return "\n" + "\n".join(comparable(lines)) + "\n"


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


class _Sieve:
    """Keeps the blocks that are new, with the headings that they need."""

    def __init__(
        self, note: Sequence[str], standing: LineRuns, more: Sequence[str]
    ) -> None:
        self.lines = list(more)
        self.repeated = 0
        self.first_repeated: tuple[str, ...] = ()
        self._standing = standing
        self._force: list[TextBlock] = []
        for block in split_blocks(note):
            if block.level:
                self._force = _under(self._force, block)
        self._pending: list[TextBlock] = []
        self._gap = False

    def take(self, block: TextBlock) -> None:
        """Keep a block, remember a heading, or leave out what stands there."""
        self._gap = self._gap or block.gap
        if block.level:
            self._give_up(self._pending[len(_outer(self._pending, block)) :])
            self._pending = [*_outer(self._pending, block), block]
        elif self._standing.stands(block.lines):
            self._leave_out(block)
        else:
            for heading in self._pending:
                self._head(heading)
            self._pending = []
            self._keep(block)
            if not _ITEM.match(block.lines[0]):
                self._force = [one for one in self._force if one.level < _LEAD]

    def end(self) -> None:
        """Keep the headings with nothing below them that the note lacks."""
        self._give_up(self._pending)

    def _give_up(self, headings: Sequence[TextBlock]) -> None:
        for heading in headings:
            if self._standing.stands(heading.lines):
                self._leave_out(heading)
            else:
                self._head(heading)

    def _head(self, heading: TextBlock) -> None:
        if not any(_same(heading, outer) for outer in self._force):
            self._keep(heading)
            self._force = _under(self._force, heading)

    def _keep(self, block: TextBlock) -> None:
        if self.lines and (self._gap or block.gap):
            self.lines.append("")
        self.lines.extend(block.lines)
        self._gap = False

    def _leave_out(self, block: TextBlock) -> None:
        self.repeated += 1
        self.first_repeated = self.first_repeated or block.lines


class _Rest(NamedTuple):
    """What is left of a text when a copy of the note is cut off.

    Attributes:
        lines: The rest.
        more: The first of them that belong to the last block of the note.
        tight: No empty line stands before these.
    """

    lines: Sequence[str]
    more: tuple[str, ...] = ()
    tight: bool = False


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


def _without_copy(text: Sequence[str], note: Sequence[str]) -> _Rest:
    """Cut off a copy of the whole note that a text begins with.

    Where the text goes on with the note's last block, and that cannot be written down
    as it stands in the text, nothing is cut off.
    """
    count = _filled(note)
    if not count or joined_lines(text[:count]) != joined_lines(note[:count]):
        return _Rest(text)
    *_, last = split_blocks(note[:count])
    joined = next(split_blocks([*last.lines, *text[count:]])).lines
    more = joined[len(last.lines) :]
    blanks = len(list(takewhile(lambda line: not line.strip(), more)))
    if not more:
        return _Rest(text[count:])
    if blanks > 1 or count < len(note):
        return _Rest(text)
    return _Rest(text[count + len(more) :], more[blanks:], tight=not blanks)


def _filled(lines: Sequence[str]) -> int:
    """Count lines, without the empty ones at the end."""
    count = len(lines)
    while count and not lines[count - 1].strip():
        count -= 1
    return count


def _with_leads(parts: Iterable[TextBlock]) -> Iterator[TextBlock]:
    held: TextBlock | None = None
    for part in parts:
        if held is not None:
            is_item = _ITEM.match(part.lines[0]) is not None
            yield held._replace(level=_LEAD) if is_item else held
        held = part if _is_lead(part) else None
        if held is None:
            yield part
    if held is not None:
        yield held


def _is_lead(part: TextBlock) -> bool:
    return not part.level and len(part.lines) == 1 and part.lines[0].endswith(":")


def _block(lines: list[str], gap: bool) -> TextBlock:
    heading = _HEADING.match(lines[0])
    return TextBlock(tuple(lines), len(heading[1]) if heading else 0, gap)


def _goes_on(block: list[str], blanks: list[str], line: str) -> bool:
    """Whether a line belongs to the block above it."""
    if blanks:  # only a list item has more, indented, below an empty line
        return _ITEM.match(block[0]) is not None and line[:1] in (" ", "\t")
    begins = _HEADING.match(line) or _ITEM.match(line) or _HEADING.match(block[-1])
    return begins is None


def _outer(headings: list[TextBlock], block: TextBlock) -> list[TextBlock]:
    return [outer for outer in headings if outer.level < block.level]


def _under(headings: list[TextBlock], block: TextBlock) -> list[TextBlock]:
    return [*_outer(headings, block), block]


def _same(one: TextBlock, other: TextBlock) -> bool:
    return one.level == other.level and joined_lines(one.lines) == joined_lines(
        other.lines
    )
