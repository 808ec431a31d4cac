"""From a question to typed searches of words that QMD takes for nothing else.

QMD joins the words of a search by AND and deletes most signs inside them, so that
`https://a.b/c` finds nothing. Signs become spaces here, and a question is asked for
in parts as well: the first search is the question itself.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from typing import Final

from notewell.backends.text.folding import fold
from notewell.backends.text.query import Want
from notewell.backends.text.terms import is_unspaced, split

MOST_SEARCHES: Final = 10
"""What QMD takes in one call."""

_MOST_WORDS: Final = 32
_SIGNS: Final = re.compile(r"[^\w'-]+|(?<!\w)[-']+|[-']+(?!\w)")


def as_written(text: str) -> str:
    """Return a query as one search: every word of it, none of its syntax.

    Letters stay as they are: QMD folds é to e, as we do, but ø only to itself.

    >>> as_written('-v "multi-agent" https://api.example.com/v2')
    'v multi-agent https api example com v2'
    """
    words = _SIGNS.sub(" ", " ".join(split(text, accents=True)))
    return " ".join(islice((word for word in words.split()), _MOST_WORDS))


def in_parts(text: str, wants: Sequence[Want]) -> list[str]:
    """Return searches that find what a question asks for, the strictest first."""
    own = {fold(word): word for word in as_written(text).split()}
    content = [
        " ".join(own.get(word, word) for word in as_written(want.exact[0]).split())
        for want in wants
        if not want.filler and not want.part and not want.in_run
    ]
    words = [word for word in dict.fromkeys(content) if word]
    together = [" ".join(words), *(f"{a} {b}" for a, b in pairwise(words))]
    alone = sorted(words, key=len, reverse=True)
    searches = dict.fromkeys(_in_turn(together, alone))
    return [one for one in searches if one][:MOST_SEARCHES]


def _in_turn(together: Sequence[str], alone: Sequence[str]) -> Iterator[str]:
    """Yield the whole, then single words and pairs in turn."""
    yield from together[:1]
    for place in range(max(len(together), len(alone))):
        yield from alone[place : place + 1]
        yield from together[place + 1 : place + 2]


def is_question(wants: Sequence[Want]) -> bool:
    """Say whether words of it only hold a sentence together: no note has them all."""
    return any(want.filler and not want.part for want in wants)


def has_runs(text: str) -> bool:
    """Say whether some of it is of a script that is written without spaces."""
    return any(is_unspaced(token) for token in split(text))


def has_signs(text: str) -> bool:
    """Say whether a word of it is more than letters: `foo/bar`, `C++`, `v2.1`."""
    return any(not token.isalnum() for token in split(text))
