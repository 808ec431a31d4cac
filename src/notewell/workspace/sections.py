"""The lines of a note that a heading or a block's id names."""

import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Final

from notewell.markdown import Heading, read_structure

_WORDS: Final = re.compile(r"\w+")
_ITEM: Final = re.compile(r"\s*(?:[*+-]|\d{1,9}[.)])\s")
_COUNTED: Final = re.compile(r"(.+)-(\d{1,4})\Z")


def lines_of_part(lines: Sequence[str], part: str) -> tuple[int, int] | None:
    """Return the first and the last line that are meant, counted from 1; None: none.

    A section ends in the line before the next heading of its level or above. Headings are compared by
    their words, so the anchor of a page, `#open-ends-1`, means one as well. Of several
    the first is meant; `A#B` is the B below A.

    >>> lines_of_part(["# A", "", "## Open ends", "x", "", "# B", "y"], "open-ends")
    (3, 5)
    >>> lines_of_part(["a", "", "- one", "- two ^id"], "^id")
    (4, 4)
    """
    if part.startswith("^"):
        return _block(lines, part[1:].strip())
    headings = read_structure(lines).headings
    first, end = 0, len(lines)
    found: Heading | None = None
    for name in filter(None, (piece.strip() for piece in part.split("#"))):
        inside = [one for one in headings if first <= one.line < end and one != found]
        found = _called(inside, name)
        if found is None:
            return None
        first = found.line
        closes = (
            one.line
            for one in headings
            if one.line > first and one.level <= found.level
        )
        end = next(closes, len(lines))
    if end == len(lines):  # what is blank there separates nothing
        while end > first + 1 and not lines[end - 1].strip():
            end -= 1
    return (first + 1, end) if found else None


def nearest_headings(lines: Sequence[str], part: str, count: int = 3) -> list[str]:
    """Return the headings of a note that are most like the one that is not there."""
    titles = {" ".join(_words(one.title)): one.title for one in _headings(lines)}
    wanted = " ".join(_words(part.rpartition("#")[2]))
    close = get_close_matches(wanted, list(titles), n=count, cutoff=0.4)
    return [titles[words] for words in close]


def _headings(lines: Sequence[str]) -> list[Heading]:
    return read_structure(lines).headings[:1_000]


def _words(text: str) -> list[str]:
    return _WORDS.findall(text.casefold().replace("_", " "))


def _called(headings: Sequence[Heading], name: str) -> Heading | None:
    wanted = _words(name)
    same = [one for one in headings if wanted and _words(one.title) == wanted]
    same = same or [one for one in headings if one.title.strip() == name]
    if not same and (counted := _COUNTED.match(name)):
        wanted = _words(counted[1])
        same = [one for one in headings if _words(one.title) == wanted]
        same = same[int(counted[2]) :]
    return same[0] if same else None


def _block(lines: Sequence[str], name: str) -> tuple[int, int] | None:
    ends = re.compile(rf"(?:^|\s)\^{re.escape(name)}\s*$")
    last = next((at for at, line in enumerate(lines) if ends.search(line)), None)
    if last is None or not name:
        return None
    at = last
    if ends.match(lines[at]):  # a line of its own: what stands above is meant
        at -= 1
        while at > 0 and not lines[at].strip():
            at -= 1
    first = max(at, 0)
    while first > 0 and lines[first - 1].strip() and not _ITEM.match(lines[first]):
        first -= 1
    return first + 1, last + 1
