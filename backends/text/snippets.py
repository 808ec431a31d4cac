"""The part of a passage that is shown: whole lines around the best one."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from notewell.backends.text.analysis import character_border
from notewell.backends.text.passages import ScoredPassage
from notewell.backends.text.pictures import PICTURE_MARK, is_only_pictures
from notewell.backends.text.redundancy import MOST_COPIES
from notewell.backends.text.scoring import Scorer
from notewell.types import Hit, source_of

SNIPPET_CHARACTERS = 700

_AGAIN = 0.15
"""What a term counts that stands on another line of a snippet, too."""

_WINDOW = 240
"""Characters that are weighed at once to find the match in an endless line."""


def hit_of(
    scored: ScoredPassage,
    cited: tuple[int, int, int],
    scorer: Scorer,
    most: int | None,
    also_in: Sequence[str] = (),
) -> Hit:
    """Return a passage as a hit of an answer.

    Args:
        scored: The passage, as it stands in the note.
        cited: First, last and best line of the file that the hit shows.
        scorer: Knows how much of the query a text holds.
        most: The most characters of the snippet; see `cut_snippet`.
        also_in: Citations of the same text in other places.
    """
    passage = scored.passage
    start, end, match = cited
    best = scored.match_line - passage.start_line
    if PICTURE_MARK in passage.text and source_of(passage.path) == "memory":
        best = _with_text(passage.text.split("\n"), best)
        match = start + best
    weight: Callable[[str], float] = scorer.weight
    worth: Mapping[int, Mapping[int, float]] | None = None
    if scored.window:  # no word of the query stands in it, and its best window decides
        weight = partial(_is_in, scored.window)
    else:
        worth = scorer.worth_by_line(passage.text)
    snippet, first = cut_snippet(passage.text, best, weight, most, worth)
    source = source_of(passage.path)
    return Hit(
        path=passage.path,
        start_line=start,
        end_line=end,
        match_line=match,
        snippet=snippet,
        snippet_line=start + first if source == "memory" else None,
        score=scored.score,
        vector_score=None if scored.vector is None else max(0.0, scored.vector),
        text_score=scored.text or None,
        source=source,
        heading=passage.heading,
        date=passage.written,
        also_in=tuple(also_in[:MOST_COPIES]),
    )


def _is_in(window: str, part: str) -> float:
    return float(part in window)


def cut_snippet(
    text: str,
    match: int,
    weight: Callable[[str], float],
    most: int | None = None,
    worth_by_line: Mapping[int, Mapping[int, float]] | None = None,
) -> tuple[str, int]:
    """Return at most `most` characters of a passage, unaltered, and where they begin.

    Args:
        text: The passage.
        match: Index (from 0) of its best line.
        weight: How much of the query a piece of text holds.
        most: SNIPPET_CHARACTERS, where less was not asked for.
        worth_by_line: Which terms of the query stand on each line, with their worth;
            None where no word says what is best.

    Returns:
        The best line with as many lines around it as fit, those that hold most of the
        query; of a line that is too long, the part that holds most of the query, cut
        between words. Then the index of the line in which that begins.
    """
    most = min(most or SNIPPET_CHARACTERS, SNIPPET_CHARACTERS)
    lines = text.split("\n")
    if PICTURE_MARK in text:
        return _between_pictures(lines, match, weight, most, worth_by_line)
    if len(lines[match]) > most:
        return _part(lines[match], weight, most), match
    if len(text) <= most:
        worth_by_line = None  # nothing is to be chosen
    if worth_by_line is None:
        first, last = _around(lines, match, most)
    else:
        first, last = _best_run(lines, match, most, worth_by_line)
    return "\n".join(lines[first : last + 1]), first


def _with_text(lines: Sequence[str], match: int) -> int:
    """Return the line with text that is nearest to the best one."""
    full = [at for at, line in enumerate(lines) if not is_only_pictures(line)]
    return min(full, key=lambda at: abs(at - match), default=match)


def _between_pictures(
    lines: Sequence[str],
    match: int,
    weight: Callable[[str], float],
    most: int,
    worth_by_line: Mapping[int, Mapping[int, float]] | None,
) -> tuple[str, int]:
    """Cut a snippet from what stands between two pictures, as it stands in the note."""
    parts = lines[match].split(PICTURE_MARK)
    best = max(range(len(parts)), key=lambda at: (weight(parts[at]), len(parts[at])))
    number = sum(line.count(PICTURE_MARK) for line in lines[:match]) + best
    pieces = "\n".join(lines).split(PICTURE_MARK)
    first = sum(piece.count("\n") for piece in pieces[:number])
    between = pieces[number].split("\n")
    if number < len(pieces) - 1 and match < first + len(between) - 1:
        between.pop()  # only the beginning of a line that goes on with a picture
    if number and match > first:
        del between[0]
        first += 1
    worth = worth_by_line and {at - first: worth_by_line[at] for at in worth_by_line}
    snippet, start = cut_snippet("\n".join(between), match - first, weight, most, worth)
    return snippet, first + start


def _around(lines: Sequence[str], match: int, most: int) -> tuple[int, int]:
    """Return the lines that fit around the best one, as many after it as before."""
    first = last = match
    room = most - len(lines[match])
    grew = True
    while grew:
        grew = False
        if last + 1 < len(lines) and len(lines[last + 1]) < room:
            last += 1
            room -= len(lines[last]) + 1
            grew = True
        if first > 0 and len(lines[first - 1]) < room:
            first -= 1
            room -= len(lines[first]) + 1
            grew = True
    return _without_blank_ends(lines, match, first, last)


def _best_run(
    lines: Sequence[str],
    match: int,
    most: int,
    worth_by_line: Mapping[int, Mapping[int, float]],
) -> tuple[int, int]:
    """Return the lines that fit and hold most of the query, the best one among them.

    Of two runs that hold the same, the one with the best line nearer to its middle.
    """
    chosen, best = (match, match), (-1.0, 0)
    first, room = match, most - len(lines[match])
    before = 0
    while True:
        last, left = match, room
        while last + 1 < len(lines) and len(lines[last + 1]) < left:
            last += 1
            left -= len(lines[last]) + 1
        off_middle = abs(room - left - before)
        value = (_worth(worth_by_line, first, last), -off_middle)
        if value > best:
            chosen, best = (first, last), value
        if first == 0 or len(lines[first - 1]) >= room:
            return _without_blank_ends(lines, match, *chosen)
        first -= 1
        room -= len(lines[first]) + 1
        before += len(lines[first]) + 1


def _worth(
    worth_by_line: Mapping[int, Mapping[int, float]], first: int, last: int
) -> float:
    """Return what of the query stands on some lines: each term once, and a little again."""
    held: dict[int, float] = {}
    every = 0.0
    for number in range(first, last + 1):
        terms = worth_by_line.get(number, {})
        held.update(terms)
        every += sum(terms.values())
    return round(sum(held.values()) + _AGAIN * every, 9)


def _without_blank_ends(
    lines: Sequence[str], match: int, first: int, last: int
) -> tuple[int, int]:
    while first < match and not lines[first].strip():
        first += 1
    while last > match and not lines[last].strip():
        last -= 1
    return first, last


def _part(line: str, weight: Callable[[str], float], most: int) -> str:
    starts = range(0, len(line), _WINDOW // 2)
    best = max(starts, key=lambda start: weight(line[start : start + _WINDOW]))
    start = max(
        0,
        min(
            best + _WINDOW // 2 - most // 2,
            len(line) - most,
        ),
    )
    end = start + most
    return line[_border_after(line, start) : _border_before(line, end)]


def _border_after(line: str, start: int) -> int:
    if start == 0:
        return 0
    space = line.find(" ", start, start + _WINDOW // 4)
    return space + 1 if space >= 0 else character_border(line, start)


def _border_before(line: str, end: int) -> int:
    if end >= len(line):
        return len(line)
    space = line.rfind(" ", end - _WINDOW // 4, end)
    return space if space > 0 else character_border(line, end)
