"""The languages of Latin letters that notes are written in, and stems of their words.

English stems are made of every word (`text.analysis`). A note that is mostly in another
of the Snowball project's languages gets those of that language beside them, marked, so
that they are found by forms of the same word in that language only. Which language it is
in is told by the words that hold sentences together, and a query is asked in all
languages that the notes are in.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from typing import Final

import Stemmer

from notewell.backends.text.analysis import LONGEST_TERM, split_words
from notewell.backends.text.folding import fold
from notewell.backends.text.query import QueryTerm

LANGUAGE_MARK: Final = "\u00b6\u00b6"
"""Begins the term that says in which language a note is; ends a stem, before its language."""

_PROFILES: Final = {
    "german": "der das und ist nicht ein eine mit auf fur von den dem des sich auch werden"
    " wird sind wir ich zu im bei nach aus oder",
    "french": "le les des et est une dans pour que qui sur pas avec sont nous du au ce la",
    "spanish": "el que y los las del una por con para es se su lo al como mas fue la de",
    "portuguese": "que e do da em um uma os para com nao por mais dos das foi foram na se",
    "italian": "il di che e una per sono della del con non le nel gli dei alla ma piu si",
    "dutch": "de het een van zijn en niet met voor aan op dat wordt ik ook naar bij",
    "swedish": "och att det ar som inte en pa av till med jag har vi ett kan ska blir efter",
    "danish": "og er det ikke af til med som jeg har har vi pa et de kan skal bliver blev",
    "norwegian": "og er det ikke av til med som jeg har vi pa et de kan skal blir etter",
    "finnish": "ja ei etta mutta ovat oli olen niin kun kuin myos sen han tai joka se",
    "polish": "sie na jest nie ze jak ale lub sa dla przez oraz po juz przy jestem ich",
    "czech": "je se na ze jsou pro jako ale nebo aby jsem byl bylo pri podle take ktery",
    "hungarian": "az egy es nem hogy meg mert volt csak vagy ezt el mar kell lesz amely",
    "romanian": "si este la cu din pe nu o sunt pentru ca care mai au fost un sa le",
    "turkish": "ve bir bu icin ile de da daha cok olarak gibi var ne ama kadar sonra",
    "catalan": "amb els les del una que pel aquest aquesta tambe som dels ser com",
}
"""Of each language the words that stand most often, folded; in the order of their use."""

_ENGLISH: Final = (
    "the of and to in is for on with at this that it be are was by from a as"
)

_ENGLISH_WORDS: Final = (
    "the and with this that from are have you been which were they not"
)

_IN_NAMES: Final = frozenset(
    str.split("da das de del der des di do du el la las le les los van von")
)
"""They stand in names in all languages, and count half."""

_ENGLISH_ALONE: Final = frozenset(_ENGLISH_WORDS.split())
_ENGLISH_SHARE: Final = 0.05
"""English words that no other language here has; from this share on a text is English."""

_FEW_WORDS: Final = 8
"""Words of a note in which one such word is enough; in longer ones two, and a share."""
_LEAST_SHARE: Final = 0.04
_SAMPLE: Final = 250
"""Words of a note that are looked at."""

_RANK: Final = {language: rank for rank, language in enumerate(("", *_PROFILES))}

_NOT_LATIN: Final = "\u0250"

_SHORTEST: Final = 3
"""Letters of a word that has a stem, and of the stem."""

_EDGES: Final = ".,;:!?()[]{}<>\"'`*_-„“”«»’…"


@cache
def _languages_of() -> dict[str, tuple[str, ...]]:
    """Return the languages that each word of the profiles tells of."""
    here = set(Stemmer.algorithms())
    known: dict[str, tuple[str, ...]] = dict.fromkeys(_ENGLISH.split(), ("",))
    for language, words in _PROFILES.items():
        for word in dict.fromkeys(words.split()) if language in here else ():
            known[word] = (*known.get(word, ()), language)
    return known


def language_of(words: Sequence[str]) -> str:
    """Return the language of a note; nothing if it is English or not known.

    >>> language_of(["De", "facturen", "zijn", "betaald."])
    'dutch'
    >>> language_of("Notes of Maria de la Cruz".split())
    ''

    Args:
        words: What stands between white space, from the beginning; some are enough.
    """
    words = words[:_SAMPLE]
    if _are_english(words):
        return ""  # as most are: nothing else is asked of their words
    words = list(map(str.lower, words))
    if _are_english(words):
        return ""
    known = _languages_of()
    told = list(filter(known.__contains__, words))
    if not "".join(words).isascii():
        accented = (word for word in words if not word.isascii() and word < _NOT_LATIN)
        told += [word for word in map(fold, accented) if word in known]
    enough = max(2.0, _LEAST_SHARE * len(words)) if len(words) > _FEW_WORDS else 1.0
    if len(told) < enough:
        return ""
    counted: dict[str, int] = {}
    for word in told:
        weight = 1 if word in _IN_NAMES else 2
        for language in known[word]:
            counted[language] = counted.get(language, 0) + weight
    language, hits = max(counted.items(), key=_order)
    return language if hits >= 2 * enough else ""


def _are_english(words: Sequence[str]) -> bool:
    """Say whether enough of some words are of no other language."""
    english = sum(map(_ENGLISH_ALONE.__contains__, words))
    return english > 1 and english >= _ENGLISH_SHARE * len(words)


def _order(counted: tuple[str, int]) -> tuple[int, int]:
    """Return what languages are compared by: hits, then how many people use them."""
    return counted[1], -_RANK[counted[0]]


def stems_of(words: Iterable[str], language: str) -> str:
    """Return the marked stems of words, each once, parted by spaces."""
    stems = (root for word in words for root in marked_stems(word, language))
    return " ".join(dict.fromkeys(stems))


@lru_cache(maxsize=100_000)
def marked_stems(word: str, language: str) -> tuple[str, ...]:
    """Return the stems of a word as notes in a language have them, marked.

    Stemmers know accents, and people leave them out: both stems are taken.

    >>> marked_stems("Rechnungen,", "german"), marked_stems("declarações", "portuguese")
    (('rechnung¶¶german',), ('declar¶¶portuguese', 'declaraco¶¶portuguese'))
    """
    stemmed = _stemmer(language)
    found: dict[str, None] = {}
    for token in split_words(word.strip(_EDGES), accents=True):
        if len(token) < _SHORTEST or not token.isalpha() or token >= _NOT_LATIN:
            continue
        lower = token.lower()[:LONGEST_TERM]
        for form in dict.fromkeys((lower, fold(lower))):
            root = fold(stemmed(form))
            if len(root) >= _SHORTEST:
                found[f"{root}{LANGUAGE_MARK}{language}"] = None
    return tuple(found)


@cache
def _stemmer(language: str) -> Callable[[str], str]:
    return Stemmer.Stemmer(language, 0).stemWord


def in_languages(
    query_terms: Sequence[QueryTerm], text: str, languages: Iterable[str]
) -> tuple[QueryTerm, ...]:
    """Return the terms of a query, each word with its stems in some languages.

    Args:
        query_terms: What was parsed.
        text: The query, with its accents.
        languages: Those that the notes are in.
    """
    languages = tuple(languages)
    if not languages:
        return tuple(query_terms)
    written = {fold(token): token for token in split_words(text, accents=True)}

    def stemmed(term: QueryTerm) -> QueryTerm:
        word = term.exact[0]
        if term.stop_word or term.in_run or term.prefix or not word.isalpha():
            return term
        roots = (
            root
            for language in languages
            for root in marked_stems(written.get(word, word), language)
        )
        return replace(term, loose=(*term.loose, *roots))

    return tuple(map(stemmed, query_terms))


class StemmedWords:
    """Finds the marked stems that a query asks for in the words of notes."""

    def __init__(self, marked: Iterable[str]) -> None:
        """Take the stems that are asked for."""
        self._terms = frozenset(marked)
        self._languages = sorted(
            {term.partition(LANGUAGE_MARK)[2] for term in self._terms}
        )
        self._heads = frozenset(term[:_SHORTEST] for term in self._terms)

    def of(self, word: str, body: Iterable[str]) -> tuple[str, ...]:
        """Return the stems of a word that are asked for.

        Args:
            word: As it stands in a note.
            body: Its terms, in order; a stem begins as one of them does.
        """
        if self._heads.isdisjoint(term[:_SHORTEST] for term in body):
            return ()
        return tuple(
            root
            for language in self._languages
            for root in marked_stems(word, language)
            if root in self._terms
        )[:1]
