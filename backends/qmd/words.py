"""From a question to typed searches of words that QMD takes for nothing else.

QMD joins the words of a search by AND and deletes most signs inside them, so that
`https://a.b/c` finds nothing, and takes a run of a script without spaces for a phrase.
Signs become spaces here, and a question is asked for in parts as well: the first search
is the question itself.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations, islice, pairwise, zip_longest
from typing import Final, NamedTuple

from notewell.backends.qmd.counts import Counts
from notewell.backends.text.analysis import fold, is_unspaced, split_words
from notewell.backends.text.query import QueryTerm

MOST_SEARCHES: Final = 10
"""What QMD takes in one call."""

_RAREST: Final = 5
_PAIRS: Final = 4
_NEIGHBOURS: Final = 2
"""How many of each are asked for; what is left over goes to the next rarest words."""

_FEW: Final = 500
"""Documents beyond which a pair is not worth counting."""

_MOST_WORDS: Final = 32
_SIGNS: Final = re.compile(r"[^\w'-]+|(?<!\w)[-']+|[-']+(?!\w)")


def as_written(text: str) -> str:
    """Return a query as one search: every word of it, none of its syntax.

    Letters stay as they are: QMD folds é to e, as we do, but ø only to itself.

    >>> as_written('-v "multi-agent" https://api.example.com/v2')
    'v multi-agent https api example com v2'
    """
    words = _SIGNS.sub(" ", " ".join(split_words(text, accents=True)))
    return " ".join(islice((word for word in words.split()), _MOST_WORDS))


class Asked(NamedTuple):
    """What a question is asked in.

    Attributes:
        searches: What QMD is asked, the strictest first, at most MOST_SEARCHES.
        spread: In how many documents each term stands, as far as that is known.
    """

    searches: list[str]
    spread: dict[str, int]


def planned(text: str, wants: Sequence[QueryTerm], counts: Counts) -> Asked:
    """Choose the searches that find what a question asks for.

    The whole of it; then what is rare in it, alone, by pairs, and beside each other as
    it stands there: a search gives a handful of documents, so the word that a third of
    the notes have would give any of them.
    """
    written = as_written(text)
    if not written:
        return Asked([], {})
    own = {fold(word): word for word in written.split()}
    spread: dict[str, int] = {}
    whole: list[str] = []
    pieces: list[str] = []
    for want in [want for want in wants if not want.stop_word] or wants:
        for term in want.exact:
            search = _search_for(term, own)
            if search:
                spread[term] = counts.of(search)
                into = pieces if want.part and not want.in_run else whole
                into += [search] if spread[term] or not counts.are_there else []
    rare = sorted(dict.fromkeys(whole), key=_rarity(counts))
    searches = [written, " ".join(rare), *_in_turn(rare, whole, counts)]
    if counts.are_there:
        searches = [one for one in searches if one and counts.of(one, _FEW)]
    unique = dict.fromkeys([*searches, *sorted(pieces, key=_rarity(counts))])
    return Asked([one for one in unique if one][:MOST_SEARCHES] or [written], spread)


def _search_for(term: str, own: Mapping[str, str]) -> str:
    """Return the search for a term: a word as it was written, or a phrase."""
    words = [own.get(word, word) for word in as_written(term).split()]
    return " ".join(words) if len(words) < 2 else f'"{" ".join(words)}"'


def _rarity(counts: Counts) -> Callable[[str], int]:
    """Return what searches are sorted by; without counts, long ones are the rare ones."""
    return counts.of if counts.are_there else lambda search: -len(search)


def _in_turn(
    rare: Sequence[str], whole: Sequence[str], counts: Counts
) -> Iterator[str]:
    """Yield single searches, pairs of rare ones and neighbours in turn."""
    pairs = [f"{a} {b}" for a, b in combinations(rare[:_RAREST], 2)]
    words = [one for one in whole if '"' not in one and not is_unspaced(one)]
    beside = [f'"{a} {b}"' for a, b in pairwise(words)]
    if counts.are_there:
        pairs, beside = (
            sorted((one for one in some if counts.of(one, _FEW)), key=_few(counts))
            for some in (pairs, beside)
        )
    ways = (rare[:_RAREST], pairs[:_PAIRS], beside[:_NEIGHBOURS])
    for some in zip_longest(*ways):
        yield from (one for one in some if one)
    yield from rare[_RAREST:]


def _few(counts: Counts) -> Callable[[str], int]:
    return lambda search: counts.of(search, _FEW)


def runs_in(text: str) -> list[str]:
    """Return what of it is of a script that is written without spaces."""
    return [token for token in split_words(text) if is_unspaced(token)]


def has_signs(text: str) -> bool:
    """Say whether a word of it is more than letters: `foo/bar`, `C++`, `v2.1`."""
    return any(not token.isalnum() for token in split_words(text))
