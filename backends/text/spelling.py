"""Words of the notes that a word of the query may have been meant to be.

A word that the index lacks is looked for with one slip of the keyboard or, if it is
long, with two. The first letter is kept: people rarely miss it, and it makes the
search short. What is found so counts like another word with the same stem, and it
is never the word itself.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from notewell.backends.text.query import QueryTerm

MOST_RESPELLED: Final = 2
"""Words of a query that are looked for with slips."""

_SHORTEST: Final = 6
"""Letters; most neighbours of a shorter word are other words."""

_TWO_FROM: Final = 8
"""Letters from which a word may have two slips."""

_NEAREST: Final = 3
"""Words that are taken for one."""


def unknown_words(
    terms: Iterable[QueryTerm], document_frequency: Mapping[str, int]
) -> list[QueryTerm]:
    """Return the words that stand nowhere, longest first, at most MOST_RESPELLED.

    Names with digits, parts of compounds and scripts without spaces are no such words.
    """
    unknown = [
        term
        for term in terms
        if slips_allowed(term.exact[0])
        and not (term.stop_word or term.part or term.in_run or term.phrase)
        and not any(map(document_frequency.get, (*term.exact, *term.loose)))
    ]
    return sorted(unknown, key=lambda term: -len(term.exact[0]))[:MOST_RESPELLED]


def slips_allowed(word: str) -> int:
    """Return how many slips a word may have.

    >>> [slips_allowed(word) for word in ("port", "gatway", "deploymnet", "zx4417")]
    [0, 1, 2, 0]
    """
    if len(word) < _SHORTEST or not word.isalpha():
        return 0
    return 2 if len(word) >= _TWO_FROM else 1


def nearest_words(word: str, vocabulary: Iterable[tuple[str, int]]) -> tuple[str, ...]:
    """Return the words that are nearest to one, of those with the fewest slips.

    Args:
        word: A word that is not among them.
        vocabulary: Words, each with the number of passages that hold it.

    >>> nearest_words("gatway", [("gateway", 3), ("gateways", 9), ("getaway", 1)])
    ('gateway',)
    """
    most = slips_allowed(word)
    found: list[tuple[int, int, str]] = []
    for other, passages in vocabulary:
        slips = count_slips(word, other, most)
        if slips <= most:
            found.append((slips, -passages, other))
    found.sort()
    return tuple(other for slips, _, other in found if slips == found[0][0])[:_NEAREST]


def count_slips(left: str, right: str, most: int) -> int:
    """Return how many slips part two words, or `most + 1` if they are more.

    A slip is a letter too many, too few or in another's place, or two neighbours in
    each other's.

    Source:
        Damerau, "A technique for computer detection and correction of spelling
        errors", 1964 (in its restricted form: no letter is changed twice).

    >>> count_slips("deploymnet", "deployment", 2), count_slips("port", "sort", 1)
    (1, 1)
    """
    if abs(len(left) - len(right)) > most:
        return most + 1
    left, right = _differing(left, right)
    if not left or not right:
        return max(len(left), len(right))
    if most == 1:
        single = len(left) == len(right) == 1
        return 1 if single or (len(left) == 2 and left == right[::-1]) else 2
    return min(most + 1, _distance(left, right))


def _differing(left: str, right: str) -> tuple[str, str]:
    """Return two words without what they begin and end with alike."""
    shorter = min(len(left), len(right))
    start = 0
    while start < shorter and left[start] == right[start]:
        start += 1
    end = 0
    while end < shorter - start and left[-1 - end] == right[-1 - end]:
        end += 1
    return left[start : len(left) - end], right[start : len(right) - end]


def _distance(left: str, right: str) -> int:
    before: list[int] = []
    above = list(range(len(right) + 1))
    for row, letter in enumerate(left, 1):
        here = [row]
        for column, other in enumerate(right, 1):
            cost = min(
                above[column] + 1,
                here[column - 1] + 1,
                above[column - 1] + (letter != other),
            )
            swapped = left[row - 2 : row] == right[column - 2 : column][::-1]
            here.append(
                min(cost, before[column - 2] + 1)
                if swapped and row > 1 < column
                else cost
            )
        before, above = above, here
    return above[-1]
