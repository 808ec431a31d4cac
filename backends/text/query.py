"""Parsing a query: which things it asks for, and what each may look like in a note."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from notewell.backends.base import Query
from notewell.backends.text.analysis import (
    LONGEST_TERM,
    analyse,
    compound_term,
    humps,
    is_stop_word,
    is_unspaced,
    split_words,
    stem,
    unit_parts,
)
from notewell.backends.text.folding import number_keys
from notewell.values import dataclass

if TYPE_CHECKING:
    from notewell.backends.text.filtering import FilterTest

MOST_QUERY_TERMS = 48
"""Distinct things that one query may ask for; the rest of a long text is left out."""

MOST_READ = 20_000
"""Characters of a query that are read at all."""

_PART = 0.35
"""Weight of a part beside the whole compound it comes from."""

_AGAIN = 0.5
"""Weight of another way to write what is asked for."""

LIKE_STEM = 0.8
"""What an occurrence of another word with the same stem counts, or of one like it."""

_LONGEST_NUMBER = 15
_TELEPHONE = 10
"""Digits of a number, and of a North American telephone number."""

_RUN = 0.2
"""Weight of a short run as a whole, which may be a word, beside its pairs."""

_STOP_WORD = 0.1
"""Weight of a word that only holds a sentence together."""

_LONGEST_WORD = 4
"""Characters of a run without spaces that may be one word."""

_IDENTIFIER = re.compile(
    r"(?=.*\d)[0-9a-z]{6,}|(?=.*\d)(?=.*[a-f])[0-9a-f]{4,5}"  # a hash's beginning
)
_GROUPS = re.compile(r"(?<![^\s(])\d{1,3}(?: \d{3})+(?![^\s),.;:?!])")
"""A number as 250 000, the groups apart."""
_AMOUNT = re.compile(r"\d+[.,]\d+[a-z]+")
_GROUPED = re.compile(r"(\d{1,3}([,._])\d{3}(?:\2\d{3})*)(?:[.,](\d{1,2}))?")
_WORDS_IN_ONE = re.compile(r"[a-z]{2,}(?:([_-])[a-z]{2,})(?:\1[a-z]{2,})*")
_NUMBERS_IN_ONE = re.compile(r"\d{3}([.-])\d{3}\1\d{4}")
_PLAIN_WORD = r"(?:(?![Vv][0-9])[A-Za-z]+[0-9]{0,9}|[0-9]{1,15})(?![A-Za-z0-9])"
_PLAIN_NAME = re.compile(rf"{_PLAIN_WORD}(?:(?:[,:;.!?]? |[_-]){_PLAIN_WORD})*[ .!?]*")
_JOINT = re.compile(r"[,:;.!?]? |[_-]")
"""A name of plain words, as most are: reading it as a query would tell nothing more."""
_LONGEST_NAME = 80
_EXPORT_ID = re.compile(r"(?<=.)[ _-][0-9a-f]{32}$")
_NAME = "\u00b6"
"""No character of any other term."""
_HASH = re.compile(r"(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{4,}")
_ABBREVIATED = (7, 8, 10, 12)
_LONG_HASH = 16
"""Characters of short forms, and of a hash that has them."""
_VERSION = re.compile(r"v\d")


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """One thing that a query asks for.

    Attributes:
        exact: Terms that are the thing itself.
        loose: Terms that are nearly the thing: its stem, or words that it may be.
        phrase: Terms that are the thing when they follow each other.
        prefix: A term that begins with `exact` is the thing, too.
        weight: How much it counts, in (0, 1].
        stop_word: It only holds the sentence together.
        part: It is a part of something that is asked for as a whole, too.
        in_run: It is a piece of a run without spaces.
        likeness: What an occurrence of a `loose` term counts, in (0, 1].
    """

    exact: tuple[str, ...]
    loose: tuple[str, ...] = ()
    phrase: tuple[str, ...] = ()
    prefix: bool = False
    weight: float = 1.0
    stop_word: bool = False
    part: bool = False
    in_run: bool = False
    likeness: float = LIKE_STEM

    def terms(self) -> Iterator[str]:
        """Yield every term that has to do with the thing."""
        yield from self.exact
        yield from self.loose
        yield from self.phrase


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A query as it was read.

    Attributes:
        terms: Distinct things, in the order of the query.
        cut: True when the query asked for more than `MOST_QUERY_TERMS`.
    """

    terms: tuple[QueryTerm, ...]
    cut: bool


def wants_newest(query: Query) -> bool:
    """Say whether a filter is all that was given: no word is asked for."""
    narrowed = query.filter is not None and query.filter.narrows
    return narrowed and not parse_query(query.text).terms


def filter_test_of(query: Query) -> "FilterTest | None":
    """Return what says which notes pass the filter of a question; None: it has none."""
    if query.filter is None or not query.filter.narrows:
        return None
    from notewell.backends.text.filtering import FilterTest  # most have none

    return FilterTest(query.filter)


def parse_query(text: str) -> ParsedQuery:
    """Read a query. No character of it is syntax.

    >>> [term.exact for term in parse_query("the multi-agent plan").terms]
    [('the',), ('multi-agent', 'multiagent'), ('multi',), ('agent',), ('plan',)]
    """
    query_terms: dict[tuple[str, ...], QueryTerm] = {}
    for token in split_words(text[:MOST_READ]):
        for query_term in _terms_of_token(token):
            known = query_terms.get(query_term.exact)
            if known is None or known.weight < query_term.weight:
                query_terms[query_term.exact] = query_term
        if len(query_terms) > MOST_QUERY_TERMS * 8:
            break
    for number in _GROUPS.findall(text[:MOST_READ]):
        joined = (number.replace(" ", ""),)
        query_terms.setdefault(joined, QueryTerm(joined, weight=_PART, part=True))
    for key in number_keys(text[:MOST_READ]):
        query_terms.setdefault((key,), QueryTerm((key,), part=True))
    chosen = _heaviest(query_terms.values())
    whole = len(text) <= MOST_READ and len(chosen) == len(query_terms)
    return ParsedQuery(terms=chosen, cut=not whole)


def words_asked(query_terms: Iterable[QueryTerm]) -> tuple[str, ...]:
    """Return the distinct words of a query in order, compounds by their parts.

    >>> words_asked(parse_query("Set-up of the PostBox").terms)
    ('set', 'up', 'of', 'the', 'post', 'box')
    """
    asked = (
        word
        for query_term in query_terms
        if not query_term.part
        for word in (query_term.phrase or query_term.exact[:1])
    )
    return tuple(dict.fromkeys(asked))


@lru_cache(maxsize=4096)
def words_of_name(name: str) -> tuple[str, ...]:
    """Return the words of a note's name as a query would ask for it.

    An id of 32 digits that an export appends (Notion's do) is no part of the name.

    >>> words_of_name("Garden_plan 0123456789abcdef0123456789abcdef")
    ('garden', 'plan')
    """
    if _PLAIN_NAME.fullmatch(name):
        words = _JOINT.split(name.rstrip(" .!?"))
        if not any(map(humps, words)):
            return tuple(dict.fromkeys(map(str.lower, words)))
    return words_asked(parse_query(_EXPORT_ID.sub("", name)).terms)


@lru_cache(maxsize=4096)
def name_term(name: str) -> str:
    """Return the term by which the beginning of a note is found that has a name.

    Nobody asks for a note by a sentence: a long name has none.

    >>> name_term("Garden_plan"), name_term("garden plan"), name_term("?")
    ('¶garden¶plan', '¶garden¶plan', '')
    """
    return asked_by_name(words_of_name(name)) if len(name) <= _LONGEST_NAME else ""


def asked_by_name(words: Sequence[str]) -> str:
    """Return the term for the words of a name, or for all of a query."""
    return (_NAME + _NAME.join(words))[:LONGEST_TERM] if words else ""


def _heaviest(query_terms: Iterable[QueryTerm]) -> tuple[QueryTerm, ...]:
    """Keep the first MOST_QUERY_TERMS, words with content before others, in their order."""
    listed = list(query_terms)
    if len(listed) <= MOST_QUERY_TERMS:
        return tuple(listed)
    order = sorted(range(len(listed)), key=lambda place: (-listed[place].weight, place))
    return tuple(listed[place] for place in sorted(order[:MOST_QUERY_TERMS]))


def _terms_of_token(token: str) -> list[QueryTerm]:
    forms = analyse(token)
    if is_unspaced(token):
        return _terms_of_run(forms.body)
    if token.isalnum() and len(forms.body) == 1:
        word = forms.body[0]
        parts = humps(token)
        if parts and not _IDENTIFIER.fullmatch(word):
            return [
                replace(_word(word), phrase=parts),
                *(_word(part, share=_PART) for part in dict.fromkeys(parts)),
            ]
        return _word_and_spellings(word)
    return _terms_of_compound(token, forms.body)


def _word_and_spellings(word: str) -> list[QueryTerm]:
    """Return a word and how a number or an amount may be written beside the usual way."""
    known = _word(word)
    unit = unit_parts(word) if word[0].isdecimal() else ()
    if unit and not known.prefix:
        return [replace(known, phrase=unit)]
    if unit:
        whole = ("-".join(unit),)
        return [known, QueryTerm(whole, phrase=unit, weight=_AGAIN, part=True)]
    if not word.isdecimal() or not 4 < len(word) <= _LONGEST_NUMBER:
        return [known]
    first = len(word) % 3 or 3
    groups = [word[:first]]
    groups += [word[at : at + 3] for at in range(first, len(word), 3)]
    if len(word) == _TELEPHONE:
        return [
            known,
            _in_groups(groups),
            _in_groups([word[:3], word[3:6], word[6:]]),
        ]
    return [known, _in_groups(groups)]


def _in_groups(groups: list[str]) -> QueryTerm:
    written = tuple(joint.join(groups) for joint in ",.-_")
    return QueryTerm(written, phrase=tuple(groups), weight=_AGAIN, part=True)


def _terms_of_run(pairs: tuple[str, ...]) -> list[QueryTerm]:
    """Return the pairs of a run; of one that may be a word, the whole run as well."""
    if len(pairs) == 1:
        return [QueryTerm(pairs, in_run=True)]
    pairs = pairs[:-1]
    is_word = 1 < len(pairs) < _LONGEST_WORD
    query_terms = [QueryTerm((pair,), in_run=True, part=is_word) for pair in pairs]
    if is_word:
        whole = pairs[0] + "".join(pair[-1] for pair in pairs[1:])
        query_terms.append(QueryTerm((whole,), phrase=pairs, weight=_RUN, in_run=True))
    return query_terms


def _terms_of_compound(token: str, parts: tuple[str, ...]) -> list[QueryTerm]:
    whole = compound_term(token)
    if whole in parts:
        return [_word(whole)]
    if parts[1:] == ("s",) and token[-2] == "'":
        # Whose it is stands mostly without the 's: Noor's dentist, Noor has a dentist.
        return [_word(parts[0]), QueryTerm((whole,), weight=_PART, part=True)]
    bare = _without_v(whole)
    exact = tuple(dict.fromkeys((whole, bare, *_joined(whole, parts))))
    # `v2.2.15` is also written `2.2.15`; `CHANGELOG_V12` is nothing but itself.
    first = bare[: len(parts[0]) - 1] if bare != whole else parts[0]
    phrase = (first, *parts[1:]) if len(parts) > 1 else ()
    if phrase and _AMOUNT.fullmatch(whole):
        phrase = (*phrase[:-1], *unit_parts(phrase[-1]))
    return [
        QueryTerm(exact, phrase=phrase),
        *(_word(part, share=_PART) for part in dict.fromkeys(parts)),
    ]


def _joined(whole: str, parts: tuple[str, ...]) -> Iterator[str]:
    """Yield what a compound is written as without its joints.

    >>> list(_joined("read_only_mode", ("read", "only", "mode")))
    ['readonlymode']
    >>> list(_joined("1,234,567.89", ("1", "234", "567", "89")))
    ['1234567.89', '1234567']
    """
    number = _GROUPED.fullmatch(whole)
    if number:
        digits = re.sub(r"\D", "", number[1])
        if number[3]:
            yield f"{digits}.{number[3]}"
        yield digits
    elif _WORDS_IN_ONE.fullmatch(whole) or _NUMBERS_IN_ONE.fullmatch(whole):
        yield "".join(parts)


def _word(word: str, *, share: float = 1.0) -> QueryTerm:
    if _IDENTIFIER.fullmatch(word):
        whole, shorter = _abbreviations(word)
        return QueryTerm(
            whole, loose=shorter, prefix=True, weight=share, part=share < 1
        )
    root = stem(word)
    stop_word = is_stop_word(word)
    return QueryTerm(
        (word,),
        loose=(root,) if root != word else (),
        weight=share * (_STOP_WORD if stop_word else 1.0),
        stop_word=stop_word,
        part=share < 1,
    )


def _abbreviations(word: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return a hash with its usual short forms, and what it may be cut to.

    >>> _abbreviations("ae9bb849edfac72a7ca97e0bf683719127f3b0b8")[0][1:]
    ('ae9bb84', 'ae9bb849', 'ae9bb849ed', 'ae9bb849edfa')
    >>> _abbreviations("ae9bb84"), _abbreviations("order2026")
    ((('ae9bb84',), ('ae9b', 'ae9bb', 'ae9bb8')), (('order2026',), ()))
    """
    if len(word) < _ABBREVIATED[0] or not _HASH.fullmatch(word):
        return (word,), ()
    usual = tuple(word[:length] for length in _ABBREVIATED if length < len(word))
    shorter = tuple(
        cut for cut in (word[:4], word[:5], word[:6]) if _HASH.fullmatch(cut)
    )
    if len(word) >= _LONG_HASH:
        return (word, *usual), shorter
    return (word,), (*shorter, *usual)


def _without_v(word: str) -> str:
    """Return a version without its letter: `v2.2.15` is `2.2.15`."""
    return word[1:] if _VERSION.match(word) else word
