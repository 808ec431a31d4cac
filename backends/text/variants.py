"""Other ways to write what a query asks for: they are found too, and count less.

Simplified, traditional and Japanese Han characters; hiragana and katakana; and letters
with marks as they are written where a keyboard lacks them (`ae` for `ä`, `oe` for `ø`).
Nothing of this is folded, for the ways are told apart by whoever writes both.
"""

import re
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import islice, product
from pathlib import Path
from typing import Final

from notewell.backends.text.analysis import split_words
from notewell.backends.text.folding import fold
from notewell.backends.text.query import QueryTerm

LIKENESS: Final = 0.5
"""What an occurrence of another way to write a thing counts."""

WITH_MARKS: Final = frozenset({"danish", "finnish", "german", "norwegian", "swedish"})
"""Languages that write letters with marks as two where a keyboard lacks them."""

_MOST: Final = 6
"""Ways to write one thing that are looked for."""

# Patterns of scripts are compiled when a question is in one.
_HIRAGANA: Final = "\u3041-\u3096"
_KATAKANA: Final = "\u30a1-\u30f6"
_KANA: Final = f"[{_HIRAGANA}{_KATAKANA}]"
_ONLY_HIRAGANA: Final = f"[{_HIRAGANA}\u30fc]+"
_BETWEEN_KANA: Final = 0x60

_HAN: Final = "[\u4e00-\u9fff]"

_TWO_LETTERS: Final = {"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa"}
_MARKED: Final = "[äöüøå]"
_ONE_LETTER: Final = re.compile(r"([aou])(?:e|(?<=a)a)(?=.)")
"""What may be a letter with a mark, once folded; seldom at the end of a word."""


def written_otherwise(term: QueryTerm, written: str) -> tuple[str, ...]:
    """Return other ways to write a thing that a query asks for, as terms.

    Args:
        term: The thing.
        written: It as the query has it, with its marks.

    >>> written_otherwise(QueryTerm(("会议",), in_run=True), "会议")
    ('会議', '會议', '會議')
    >>> written_otherwise(QueryTerm(("サク",), in_run=True), "サク")
    ('さく',)
    >>> written_otherwise(QueryTerm(("muller",)), "müller")
    ('mueller',)
    >>> written_otherwise(QueryTerm(("aarhuus",)), "aarhuus")
    ('arhuus',)
    """
    if term.stop_word or term.phrase:
        return ()
    [thing, *_] = term.exact
    ways = _of_run(thing) if term.in_run else _of_word(thing, written)
    return tuple(dict.fromkeys(islice((way for way in ways if way != thing), _MOST)))


def _of_run(run: str) -> Iterator[str]:
    if re.search(_KANA, run):
        yield re.sub(_KANA, _other_kana, run)
    if re.search(_HAN, run):
        table = _han_variants()
        yield from map("".join, product(*((one, *table.get(one, "")) for one in run)))


def _other_kana(found: re.Match[str]) -> str:
    kana = ord(found[0])
    return chr(
        kana + _BETWEEN_KANA if kana <= ord(_HIRAGANA[-1]) else kana - _BETWEEN_KANA
    )


def _of_word(word: str, written: str) -> Iterator[str]:
    lower = written.lower()
    if re.search(_MARKED, lower):
        yield fold(re.sub(_MARKED, lambda found: _TWO_LETTERS[found[0]], lower))
    elif _ONE_LETTER.search(word):
        yield _ONE_LETTER.sub(r"\1", word)


@cache
def _han_variants() -> Mapping[str, str]:
    """Return for each Han character with other ways to write it those ways."""
    table: dict[str, str] = {}
    file = Path(__file__).with_name("han_variants.txt")
    for line in file.read_text(encoding="utf-8").splitlines():
        for one in line if line[0] != "#" else "":
            others = line.replace(one, "")
            table[one] = table.get(one, "") + others
    return table


def ways_to_look_for(
    query_terms: Sequence[QueryTerm],
    text: str,
    document_frequency: Mapping[str, int],
    languages: Collection[str],
) -> dict[QueryTerm, tuple[str, ...]]:
    """Return for each thing in a query the other ways to write it that are worth a look.

    Two letters are taken for one with a mark where the notes are in a language that has
    them, or where no note holds the word; hiragana for katakana where no note holds it.

    Args:
        query_terms: The things.
        text: The query, with its marks.
        document_frequency: In how many passages each term stands.
        languages: Those that the notes are in, beside English.
    """
    plain = text.isascii()
    written: dict[str, str] = {}
    if not plain:
        written = {fold(token): token for token in split_words(text, accents=True)}
    marks = not WITH_MARKS.isdisjoint(languages)
    ways: dict[QueryTerm, tuple[str, ...]] = {}
    for term in query_terms:
        thing = term.exact[0]
        known = any(map(document_frequency.get, term.exact))
        if term.in_run:
            doubtful = known and re.fullmatch(_ONLY_HIRAGANA, thing) is not None
        else:
            doubtful = known and not marks and thing == written.get(thing, thing)
        if not doubtful and (
            found := written_otherwise(term, written.get(thing, thing))
        ):
            ways[term] = found
    return ways


def with_ways(
    query_terms: Sequence[QueryTerm],
    ways: Mapping[QueryTerm, Sequence[str]],
    here: Container[str],
) -> tuple[QueryTerm, ...]:
    """Return the things in a query, each with the ways to write it that stand somewhere."""

    def widened(term: QueryTerm) -> QueryTerm:
        found = tuple(way for way in ways.get(term, ()) if way in here)
        if not found:
            return term
        like = LIKENESS if term.in_run else term.likeness
        return replace(term, loose=(*term.loose, *found), likeness=like)

    return tuple(map(widened, query_terms))
