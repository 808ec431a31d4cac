"""Passages of notes on their way from the index to an answer.

A search makes some hundred of them and replaces a field here and there, which is what
makes structs of them.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct
from msgspec.structs import replace

from notewell.backends.text.analysis import terms_of
from notewell.types import source_of

if TYPE_CHECKING:
    from notewell.backends.text.query import QueryTerm

_IS_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")


class Passage(Struct, frozen=True, kw_only=True):
    """A chunk as the index holds it.

    Attributes:
        id: The chunk's id.
        path: The note.
        signature: Size, mtime and ctime of the note when it was indexed.
        start_line: First line.
        end_line: Last line, included.
        heading: The headings above it.
        length: Body terms in it.
        text: Its lines, or a piece of one endless line.
        piece: It is such a piece.
        day: The day of the note, or on which it was said, in ISO 8601; None: unknown.
    """

    id: int
    path: str
    signature: tuple[int, int, int]
    start_line: int
    end_line: int
    heading: str
    length: int
    text: str
    piece: bool = False
    day: str | None = None

    @property
    def written(self) -> date | None:
        """Its day."""
        try:
            return date.fromisoformat(self.day) if self.day else None
        except ValueError:
            return None

    @property
    def beside(self) -> str:
        """What stands beside its text: the note's path and name, and the headings."""
        return f"{note_names(self.path)} {self.heading}"

    @property
    def names(self) -> tuple[str, ...]:
        """What the note is called that begins here; see `names_given`."""
        return names_given(self.path, self.start_line, self.heading, self.text)

    def lines(self, first: int, last: int) -> "Passage":
        """Return the part of it that spans these lines of the note."""
        kept = self.text.split("\n")[
            first - self.start_line : last + 1 - self.start_line
        ]
        return replace(self, start_line=first, end_line=last, text="\n".join(kept))


COLUMNS: Final = (
    "c.id, f.path, f.size, f.mtime_ns, f.ctime_ns, c.start_line, c.end_line,"
    " c.heading, c.length, c.text, c.piece, f.day"
)
"""What `passage_of` reads, of a chunk `c` and its file `f`."""


def passage_of(row: tuple[Any, ...]) -> Passage:
    """Return the passage in a row of COLUMNS."""
    key, path, size, mtime_ns, ctime_ns, *place, heading, length, text, piece, day = row
    start, end = place
    spoken = source_of(path) == "sessions" and _IS_DAY.fullmatch(heading)
    return Passage(
        id=key,
        path=path,
        signature=(size, mtime_ns, ctime_ns),
        start_line=start,
        end_line=end,
        heading=heading,
        length=length,
        text=text,
        piece=bool(piece),
        day=heading if spoken else day,
    )


def note_names(path: str) -> str:
    """Return what a note is called: its path, and its name without the suffix.

    >>> note_names("memory/CHANGELOG_V12.md")
    'memory/CHANGELOG_V12.md CHANGELOG_V12'
    """
    return f"{path} {path.rpartition('/')[2].rpartition('.')[0]}"


def names_given(path: str, start_line: int, heading: str, text: str) -> tuple[str, ...]:
    """Return what the note is called that begins with a passage; of others nothing.

    Its name is that of the file, its title, an alias or its first heading.

    >>> names_given("memory/PRJ-7.md", 1, "", "---\\nalias: Tango\\n---")
    ('PRJ-7', 'Tango')
    """
    title, _, below = heading.partition(" > ")
    begins = start_line == 1
    names = [title] if title and (begins or not below) else []
    if begins:
        names.append(path.rpartition("/")[2].rpartition(".")[0])
        if text.startswith(("---", "+++")):
            from notewell.front_matter import names_in_front_matter  # few notes have it

            names += names_in_front_matter(text.split("\n"))
    return tuple(names)


class ScoredPassage(Struct, frozen=True, kw_only=True):
    """A passage with what the legs say of it.

    Attributes:
        passage: The passage.
        score: What it is ordered by, in [0, 1].
        match_line: The line that holds most of what was asked for.
        exact: Something that was asked for stands in it as it was written.
        text: The keyword leg's score, in [0, 1]; 0 if it holds nothing of the query.
        vector: The cosine of its best vector with the question's; None without vectors.
        window: The part that this vector is of, where no word of the query stands in it.
        named: It begins a note whose name is the whole query.
        copies: The passages with the same text that it stands for.
    """

    passage: Passage
    score: float
    match_line: int
    exact: bool
    text: float = 0.0
    vector: float | None = None
    window: str = ""
    named: bool = False
    copies: tuple[Passage, ...] = ()

    @property
    def order(self) -> tuple[float, str, int]:
        """The place in an answer: best first, then by path and line."""
        return (-self.score, self.passage.path, self.passage.start_line)


def passage_frequencies(
    passages: Iterable[Passage],
    query_terms: "Sequence[QueryTerm]",
    documents: Mapping[str, int] = {},
) -> Mapping[str, int]:
    """Return in how many passages each term of a query stands.

    Args:
        documents: In how many documents of the index terms stand. These passages were
            chosen for the terms, so of a common one they hold but a few.
    """
    terms = {term for query_term in query_terms for term in query_term.terms()}
    frequencies: Counter[str] = Counter()
    notes: dict[str, set[str]] = defaultdict(set)
    for passage in passages:
        found = terms & terms_of(f"{passage.beside} {passage.text}")
        frequencies.update(found)
        for term in found:
            notes[term].add(passage.path)
    for query_term in query_terms:
        held = max((documents.get(term, 0) for term in query_term.exact), default=0)
        for term in (*query_term.exact, *query_term.loose):
            here = len(notes.get(term, ()))
            if held > here > 0:
                frequencies[term] = round(frequencies[term] * held / here)
    return frequencies


def without_repeats(ranked: Iterable[ScoredPassage]) -> list[ScoredPassage]:
    """Let no line stand in two passages: the better passage keeps it.

    What is left of the other one stays if its best line is in it; otherwise the
    better passage already shows that line.
    """
    kept: list[ScoredPassage] = []
    of_note: dict[str, list[Passage]] = {}
    for scored in ranked:
        better = of_note.setdefault(scored.passage.path, [])
        rest = _rest(scored, better)
        if rest:
            kept.append(rest)
            better.append(rest.passage)
    return kept


def _rest(scored: ScoredPassage, better: Sequence[Passage]) -> ScoredPassage | None:
    first, last = scored.passage.start_line, scored.passage.end_line
    for passage in better:
        if passage.start_line <= scored.match_line <= passage.end_line:
            return None
        if passage.end_line < scored.match_line:
            first = max(first, passage.end_line + 1)
        else:
            last = min(last, passage.start_line - 1)
    if (first, last) == (scored.passage.start_line, scored.passage.end_line):
        return scored
    shift = first - scored.passage.start_line, last - scored.passage.end_line
    copies = tuple(
        copy.lines(copy.start_line + shift[0], copy.end_line + shift[1])
        for copy in scored.copies
        if copy.text.count("\n") == scored.passage.text.count("\n")
    )
    return replace(scored, passage=scored.passage.lines(first, last), copies=copies)


_SHOWN: Final = 3


def with_silent_transcripts(counted: str, silent: Sequence[str]) -> str:
    """Add to a count the transcripts in which there is nothing to search.

    >>> with_silent_transcripts("2 with 9 passages", ["sessions/a.jsonl"])
    '2 with 9 passages; nothing to search in sessions/a.jsonl'
    """
    if not silent:
        return counted
    names = ", ".join(silent[:_SHOWN])
    left = len(silent) - _SHOWN
    more = f" and {left:,} more" if left > 0 else ""
    return f"{counted}; nothing to search in {names}{more}"
