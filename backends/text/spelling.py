"""Words of the notes that a word of the query may have been meant to be.

A word that the index lacks is looked for with one slip of the keyboard or, if it is
long, with two. The first letter is kept: people rarely miss it, and it makes the
search short. What is found so counts like another word with the same stem, and it
is never the word itself.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from notewell.backends.text.query import QueryTerm

_SHORTEST: Final = 6
"""Letters; most neighbours of a shorter word are other words."""

_TWO_FROM: Final = 8
"""Letters from which a word may have two slips."""

_NEAREST: Final = 3
"""Words that are taken for one."""

_WORD_LIKE: Final = 2
"""Pieces of a word that may well be one, though it is not common."""

_ENDING: Final = re.compile(r"(?:ings?|e?d|e?rs?|e?s|ly)$")
_SHORTEST_BASE: Final = 3

_CENTRE: Final = re.compile(r"(?<=[^aeiou])re(?=[ds]?$)|ere(?=d$)")


def is_unknown(term: QueryTerm, document_frequency: Mapping[str, int]) -> bool:
    """Say whether a thing is a word that stands nowhere, in any of its forms.

    Beginnings of names, parts of compounds and scripts without spaces are no words.
    """
    if term.stop_word or term.part or term.in_run or term.prefix:
        return False
    if any(map(document_frequency.get, (*term.exact, *term.loose))):
        return False
    apart = term.phrase and all(map(document_frequency.get, term.phrase))
    return term.exact[0].isalnum() and not apart


def slips_allowed(word: str) -> int:
    """Return how many slips a word may have.

    >>> [slips_allowed(word) for word in ("port", "gatway", "deploymnet", "zx4417")]
    [0, 1, 2, 0]
    """
    if len(word) < _SHORTEST or not word.isalpha():
        return 0
    return 2 if len(word) >= _TWO_FROM else 1


def looks_misspelled(word: str, other: str, pieces: Callable[[str], int]) -> bool:
    """Say whether a word may be a slip for another, and is no word of its own.

    Common words, and what is formed from one, are no slips. Of how many pieces of a
    common vocabulary a word is made says the rest: two slips leave three at least.

    Args:
        word: What stands nowhere.
        other: What it may be.
        pieces: Returns how many pieces a word has; 0: not known.

    >>> counts = {"organizing": 2, "organising": 2, "heating": 2, "heat": 1, "dplymnt": 4}
    >>> pieces = lambda word: counts.get(word, 3)
    >>> [looks_misspelled(*each, pieces) for each in (
    ...     ("heating", "hearing"), ("organising", "organizing"), ("dplymnt", "deployment"))]
    [False, True, True]
    """
    made_of = pieces(word)
    if not made_of or _american(word) == _american(other):
        return True
    if made_of == 1 or any(pieces(base) == 1 for base in _bases(word)):
        return False
    return made_of > _WORD_LIKE or count_slips(word, other, 2) == 1


def _american(word: str) -> str:
    """Return a word with British and American spelling made one.

    >>> _american("centred"), _american("colours"), _american("organising")
    ('centerd', 'colors', 'organizing')
    """
    word = word.replace("our", "or").replace("is", "iz").replace("ys", "yz")
    return _CENTRE.sub("er", word).replace("ll", "l")


def _bases(word: str) -> Iterator[str]:
    """Yield what an English word may be formed from.

    >>> list(_bases("shipping")), list(_bases("staged")), list(_bases("supplier"))
    (['shipp', 'shippe', 'ship'], ['stag', 'stage'], ['suppli', 'supplie', 'supply'])
    """
    ending = _ENDING.search(word)
    if not ending or ending.start() < _SHORTEST_BASE:
        return
    base = word[: ending.start()]
    yield base
    yield base + "e"
    if base[-1] == base[-2]:
        yield base[:-1]
    if base[-1] == "i":
        yield base[:-1] + "y"


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
