"""Cutting a note into chunks: whole lines, with the headings above them.

A chunk is a run of whole lines of at most `tokens` estimated tokens, the
overlap with the chunk before it included. A heading starts a new chunk once the
one before it is worth keeping alone, and then nothing overlaps. Front matter is a
chunk of its own. A line that is too long for a chunk is cut into pieces, each a chunk
that cites that line.

Law: every character of a line with text in it stands in a chunk that cites it. Pictures
that are written into a note as letters are no text: a mark stands for them.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from notewell.backends.text.analysis import (
    QUARTERS_PER_TOKEN,
    character_border,
    forms_of,
    is_inside_character,
    token_quarters,
)
from notewell.backends.text.passages import Passage
from notewell.backends.text.pictures import is_only_pictures, without_pictures
from notewell.config import ChunkingSettings

if TYPE_CHECKING:
    from notewell.markdown import Structure

CHUNKER_VERSION = "3"
"""Part of the index identity: other cuts need another index."""

_WORTH_ALONE = 0.5
"""A chunk this full ends at the next heading; smaller sections share a chunk."""

_LONGEST_TITLE = 200
"""Characters; every passage below repeats them, and a title may be a whole text."""


class Headings:
    """The headings of a note, and what its front matter gives for one.

    A `title` there stands for a heading of the first level until there is one.
    """

    def __init__(
        self, lines: Sequence[str], structure: "Structure | None" = None
    ) -> None:
        """Read the headings of a note; see `cut_chunks` for its structure."""
        # Late: a search cuts nothing.
        from notewell.front_matter import front_matter_values
        from notewell.markdown import read_structure

        structure = structure or read_structure(lines)
        self.front_matter = structure.front_matter
        """How many lines at the top are metadata."""
        self.at: dict[int, str] = {}
        """The heading path that begins at a line, by the line's index (from 0)."""
        path: list[tuple[int, str]] = []
        if structure.front_matter:
            title = front_matter_values(lines).get("title", [""])[0]
            path = [(1, title[:_LONGEST_TITLE])]
        self._title = path[0][1] if path else ""
        for heading in structure.headings:
            path = [entry for entry in path if entry[0] < heading.level]
            path.append((heading.level, heading.title[:_LONGEST_TITLE]))
            self.at[heading.line] = " > ".join(title for _, title in path if title)
        self._starts = list(self.at)

    def above(self, index: int) -> str:
        """Return the headings in force at a line, outermost first.

        >>> Headings(["# A", "text", "## B", "text"]).above(3)
        'A > B'
        """
        place = bisect_right(self._starts, index)
        if place:
            return self.at[self._starts[place - 1]]
        return self._title if index >= self.front_matter else ""


@dataclass(slots=True, kw_only=True)
class Chunk:
    """A run of lines of a note.

    Attributes:
        start_line: First line, 1-based.
        end_line: Last line, included.
        text: Its lines joined by LF; for a piece of an endless line, the piece.
        heading: The headings above it, outermost first, joined by ` > `.
        piece: It is a piece of an endless line, and not whole lines.
    """

    start_line: int
    end_line: int
    text: str
    heading: str
    piece: bool = False


def cut_chunks(
    lines: Sequence[str],
    *,
    tokens: int,
    overlap: int,
    structure: "Structure | None" = None,
) -> list[Chunk]:
    """Cut the lines of a note into chunks.

    Args:
        lines: The note, split at LF.
        tokens: The most estimated tokens in a chunk.
        overlap: The most tokens that a chunk repeats of the one before it.
        structure: Of the note, where it has been read.

    Returns:
        The chunks in order; none for a note without text.
    """
    shown = without_pictures(lines)
    # What stands for pictures may have another structure than their lines have.
    headings = Headings(shown, structure if shown is lines else None)
    lines = shown
    room, shared = tokens * QUARTERS_PER_TOKEN, overlap * QUARTERS_PER_TOKEN
    chunks: list[Chunk] = []
    for first, end in _spans(lines, headings, room=room, overlap=shared):
        if end - first == 1 and token_quarters(lines[first]) >= room:
            chunks += _pieces(lines[first], first, headings, room=room, overlap=shared)
        elif not all(map(is_only_pictures, lines[first:end])):
            chunks.append(_chunk(lines, first, end, headings))
    return chunks


def cut_passages(
    lines: Sequence[str],
    path: str,
    signature: tuple[int, int, int],
    chunking: ChunkingSettings,
    *,
    first_id: int = 0,
) -> Iterator[Passage]:
    """Cut a note as it is now into the passages that an index would have of it.

    Args:
        lines: Of the note.
        path: Of the note, as cited.
        signature: Its size, mtime and ctime.
        chunking: How long the passages are.
        first_id: The `id` of the first; the others are counted on.
    """
    from notewell.workspace.metadata import day_of_note

    chunks = cut_chunks(lines, tokens=chunking.tokens, overlap=chunking.overlap)
    day = day_of_note(path, lines, signature[1])
    for number, chunk in enumerate(chunks, first_id):
        yield Passage(
            id=number,
            path=path,
            signature=signature,
            start_line=chunk.start_line,
            end_line=chunk.end_line,
            heading=chunk.heading,
            length=sum(len(forms.body) for forms in forms_of(chunk.text)),
            text=chunk.text,
            piece=chunk.piece,
            day=None if day is None else day.isoformat(),
        )


def _spans(
    lines: Sequence[str], headings: Headings, *, room: int, overlap: int
) -> Iterator[tuple[int, int]]:
    """Yield (first, end) indexes of the chunks; an endless line is a span of its own."""
    costs = [
        len(line) + 1 if line.isascii() else token_quarters(line) + 1 for line in lines
    ]
    first = fresh = cost = 0
    for index, size in enumerate(costs):
        endless = size > room
        at_section = 0 < index == headings.front_matter or (
            index in headings.at and cost >= room * _WORTH_ALONE
        )
        if not endless and not at_section and cost + size <= room:
            cost += size
            continue
        if index > fresh:
            yield first, index
        if endless:
            yield index, index + 1
            first, cost = index + 1, 0
            fresh = first
            continue
        back = 0 if at_section or fresh == index else overlap
        first = _overlap_start(costs, index, min(back, room - size), floor=first)
        cost = sum(costs[first : index + 1])
        fresh = index
    if len(costs) > fresh:
        yield first, len(costs)


def _overlap_start(costs: Sequence[int], index: int, room: int, *, floor: int) -> int:
    """Return where a chunk that goes on at `index` begins, to repeat some lines."""
    while index > floor + 1 and costs[index - 1] <= room:
        index -= 1
        room -= costs[index]
    return index


def _chunk(lines: Sequence[str], first: int, end: int, headings: Headings) -> Chunk:
    inside = first
    while inside < end - 1 and (inside in headings.at or not lines[inside].strip()):
        inside += 1
    return Chunk(
        start_line=first + 1,
        end_line=end,
        text="\n".join(lines[first:end]),
        heading=headings.above(inside),
    )


def _pieces(
    line: str, index: int, headings: Headings, *, room: int, overlap: int
) -> Iterator[Chunk]:
    heading = headings.above(index)
    start = 0
    while start < len(line):
        # One more than can fit: what follows decides whether a character is whole.
        size = _fitting(line[start : start + room + 1], room)
        piece = line[start : start + size]
        if not is_only_pictures(piece):
            yield Chunk(
                start_line=index + 1,
                end_line=index + 1,
                text=piece,
                heading=heading,
                piece=True,
            )
        if start + size >= len(line):
            return
        start += size - _repeated(piece, overlap)


def _fitting(text: str, room: int) -> int:
    """Return how many characters of `text` fit into `room` quarters of a token.

    The piece ends after white space when there is some in its last quarter, and
    never inside a character that is written with several code points.
    """
    if token_quarters(text) <= room:
        return len(text)
    low, high = 1, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        fits = token_quarters(text[:middle]) <= room
        low, high = (middle, high) if fits else (low, middle - 1)
    late = low - low // 4
    border = max(text.rfind(" ", late, low), text.rfind("\t", late, low))
    return character_border(text, border + 1 if border > 0 else low)


def _repeated(piece: str, overlap: int) -> int:
    """Return how many characters at the end of a piece the next one repeats."""
    width = min(overlap, len(piece) // 2)
    while width and token_quarters(piece[-width:]) > overlap:
        width = width * 3 // 4
    start = len(piece) - width
    start = piece.find(" ", start) + 1 or start
    while start < len(piece) and is_inside_character(piece, start):
        start += 1
    return len(piece) - start
