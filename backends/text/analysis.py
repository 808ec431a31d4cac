"""Text analysis: from text to the terms that are indexed, and from a query to the same.

**Terms**, of three kinds of text:

* words and compounds (`running`, `multi-agent`, `memorySearch.query.hybrid`,
  `20.04`, `C++`): the parts in order, and beside them what else they should be
  found by: the compound as a whole, its pieces, humps of camelCase, the stem;
* runs of scripts that are written without spaces (Chinese, Japanese, Korean,
  Thai, ...): every pair of neighbouring characters, and beside them each character
  alone, so that words of one character are found as well;
* pictographs, one term each.

Terms of the body keep their order, so that phrases can be asked for; the extra terms
are a bag.

**Stop words** hold sentences together and say little of what is asked for. They weigh
less, they are never dropped: `the who` still finds The Who.

**Characters** as people count them, and the **tokens** that a text costs a model: what
cutting a text needs to know of it.
"""

import operator
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import chain
from typing import NamedTuple

import Stemmer

from notewell.backends.text.folding import (
    broken_words,
    compose,
    fold,
    unify,
    without_inline_marks,
)

TERMS_VERSION = "6"
"""Part of the index identity: other terms need another index."""

LONGEST_TERM = 100
"""Characters; longer runs (base64, keys) are cut there, in index and query alike."""

_UNSPACED = (
    "\u3005-\u3007\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"  # kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af"  # Hangul
    "\u3105-\u312f\u31a0-\u31bf"  # Bopomofo
    "\u0e00-\u0e3a\u0e40-\u0e4e\u0e80-\u0eff\u1000-\u109f\u1780-\u17d3"  # Thai to Khmer
)
_INDIC_SIGNS = "\u0900-\u0963\u0966-\u0dff"
_PICTOGRAPHS = "\u2190-\u21ff\u2600-\u27bf\U0001f000-\U0001faff"
_LETTERS = f"(?:[^\\W_{_UNSPACED}]+|[{_INDIC_SIGNS}]+)+"
_JOINT = r"(?:[-._/:@&=+~'\\#]{1,3}|(?<=\d),(?=\d))"


def _compound(letters: str) -> str:
    return f"{letters}(?:{_JOINT}{letters})*(?:\\+\\+|#)?"


_ASCII_TOKEN = re.compile(_compound("[A-Za-z0-9]+"))
_ASCII_WORDS = re.compile("[A-Za-z0-9]+")


@cache
def _beyond_ascii() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return what finds tokens, and words in a token, in any script.

    Compiled when first needed: it takes longer than a search among English notes.
    """
    token = f"{_compound(_LETTERS)}|[{_UNSPACED}]+|[{_PICTOGRAPHS}]"
    return re.compile(token), re.compile(_LETTERS)


_LOOSE_JOINTS = re.compile(r"[/:@&=~\\#,]+|\.{2,}|-{2,}")
_HUMPS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_HUMP_BORDER = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]")
_ONE_UNIT = re.compile(r"(\d+)([a-z]+)|([a-z]+)(\d+)")
_PUNCTUATION = ".,;:!?()[]{}<>\"'`*_-"
"""Around a plain word these change nothing; longer rules are not asked for it."""

_stem = Stemmer.Stemmer("english", 0).stemWord


class Forms(NamedTuple):
    """What a piece of text is indexed as.

    Attributes:
        body: Terms in order.
        extra: Further terms, in no order.
        body_text: `body`, joined by spaces.
        extra_text: `extra`, joined by spaces.
    """

    body: tuple[str, ...]
    extra: tuple[str, ...]
    body_text: str
    extra_text: str

    @classmethod
    def of(cls, body: tuple[str, ...], extra: tuple[str, ...] = ()) -> "Forms":
        """Join the terms once; most words come again and again."""
        return cls(body, extra, " ".join(body), " ".join(extra))

    def as_extra(self) -> "Forms":
        """Return the same terms in no order."""
        return Forms.of((), (*self.body, *self.extra))


class _FormsCache(dict[str, Forms]):
    """Forms of every word seen lately; notes repeat their words."""

    _MOST = 200_000
    _LONGEST = 64

    def __missing__(self, word: str) -> Forms:
        core = word.strip(_PUNCTUATION)
        if core.isascii() and core.isalpha() and (core.islower() or core.istitle()):
            forms = _plain(core.lower()[:LONGEST_TERM])
        else:
            forms = _analysed(word)
        if len(word) <= self._LONGEST:
            if len(self) >= self._MOST:
                self.clear()
            self[word] = forms
        return forms


_forms_cache = _FormsCache()


def forms_of(text: str, words: Iterable[str] | None = None) -> Iterator[Forms]:
    """Yield the forms of each word of `text` (what stands between white space).

    Args:
        words: These, if they are at hand.

    >>> [forms.body for forms in forms_of("Ubuntu 20.04: 数据库")]
    [('ubuntu',), ('20', '04'), ('数据', '据库', '库')]
    """
    forms = map(_forms_cache.__getitem__, text.split() if words is None else words)
    if "-\n" not in text:
        return forms
    return chain(forms, (_forms_cache[word].as_extra() for word in broken_words(text)))


def forms_of_word(word: str) -> Forms:
    """Return the forms of one word; it holds no white space."""
    return _forms_cache[word]


def terms_of(text: str) -> set[str]:
    """Return every term of `text`, of both kinds."""
    words = map(_forms_cache.__getitem__, {*text.split(), *broken_words(text)})
    return {term for forms in words for term in chain(forms.body, forms.extra)}


def split_words(text: str, *, accents: bool = False) -> list[str]:
    """Return the tokens of `text` in order, unified but not analysed.

    Args:
        accents: Letters keep theirs.

    >>> split_words("重跑gen-itgc后, don't!")
    ['重跑', 'gen-itgc', '后', "don't"]
    >>> split_words("Tromsø café"), split_words("Tromsø café", accents=True)
    (['Tromso', 'cafe'], ['Tromsø', 'café'])
    """
    text = compose(text) if accents else unify(text)
    return (_ASCII_TOKEN if text.isascii() else _beyond_ascii()[0]).findall(text)


def _analysed(word: str) -> Forms:
    """Return the forms of a word that is not plain, its parts beside it if it is marked."""
    forms = _joined([analyse(token) for token in split_words(word)])
    bare = without_inline_marks(word)
    if bare == word:
        return forms
    whole = _joined([analyse(token) for token in split_words(bare)])
    if whole.body == forms.body:
        return forms
    pieces = dict.fromkeys((*whole.extra, *forms.body, *forms.extra))
    return Forms.of(
        whole.body, tuple(term for term in pieces if term not in whole.body)
    )


def _plain(word: str) -> Forms:
    root = _stem(word)
    return Forms.of((word,), () if root == word else (root,))


def _joined(forms: list[Forms]) -> Forms:
    if len(forms) == 1:
        return forms[0]
    return Forms.of(
        tuple(term for form in forms for term in form.body),
        tuple(term for form in forms for term in form.extra),
    )


def is_unspaced(token: str) -> bool:
    """Say whether a token is of a script that is written without spaces."""
    return not token.isascii() and _unspaced().match(token) is not None


@cache
def _unspaced() -> re.Pattern[str]:
    return re.compile(f"[{_UNSPACED}]")


def analyse(token: str) -> Forms:
    """Return the forms of one token of `split_words`."""
    if is_unspaced(token):
        run = token.casefold()
        return Forms.of((*_pairs(run), run[-1]), tuple(dict.fromkeys(run[:-1])))
    words = _ASCII_WORDS if token.isascii() else _beyond_ascii()[1]
    parts = words.findall(token)
    if not parts:
        return Forms.of((token,))
    body = tuple(part.casefold()[:LONGEST_TERM] for part in parts)
    extra = dict.fromkeys(
        [*_wholes(token), *(form for part in parts for form in _other_forms(part))]
    )
    return Forms.of(body, tuple(form for form in extra if form not in body))


def _pairs(run: str) -> tuple[str, ...]:
    """Return every pair of neighbours in a run.

    The run's last character follows them in the index, so that the pairs of two
    neighbouring runs never follow each other as those of one run do.
    """
    return tuple(map(operator.add, run, run[1:]))


def compound_term(token: str) -> str:
    """Return a token of several words as one term.

    >>> compound_term("Multi-Agent"), compound_term("don't"), compound_term("C++"), compound_term("foo#")
    ('multi-agent', 'dont', 'c++', 'foo')
    """
    if token.endswith("#") and len(token) > 2:
        token = token[:-1]
    return token.casefold().replace("'", "")[:LONGEST_TERM]


def humps(word: str) -> tuple[str, ...]:
    """Return the parts of a word in camelCase, in lower case; of others nothing.

    >>> humps("parseHTTPHeader"), humps("Header"), humps("iPhone")
    (('parse', 'http', 'header'), (), ())
    """
    if not word.isascii() or not _HUMP_BORDER.search(word):
        return ()
    parts = tuple(hump.lower() for hump in _HUMPS.findall(word))
    return parts if len(parts) > 1 and min(map(len, parts)) > 1 else ()


def unit_parts(word: str) -> tuple[str, ...]:
    """Return the number and the letters of a word like `16gb`; of others nothing.

    >>> unit_parts("16gb"), unit_parts("v12"), unit_parts("i18n")
    (('16', 'gb'), ('v', '12'), ())
    """
    unit = _ONE_UNIT.fullmatch(word)
    return tuple(filter(None, unit.groups())) if unit else ()


def _wholes(token: str) -> Iterator[str]:
    """Yield a compound as a whole, and the compounds inside it.

    >>> list(_wholes("id=ZX-4417"))
    ['id=zx-4417', 'zx-4417']
    """
    if token.isalnum():
        return
    yield compound_term(token)
    for piece in _LOOSE_JOINTS.split(token):
        if piece and not piece.isalnum():
            yield compound_term(piece)


def _other_forms(part: str) -> Iterator[str]:
    if not part.isascii():
        yield stem(part.casefold()[:LONGEST_TERM])
        return
    if _HUMP_BORDER.search(part):
        yield from (hump.lower() for hump in _HUMPS.findall(part))
    word = part.lower()
    unit = unit_parts(word)
    if unit:
        yield from unit
    elif word.isalpha() and len(word) <= LONGEST_TERM:
        yield _stem(word)


def stem(word: str) -> str:
    """Return the Snowball stem of a folded word, or the word.

    Words of Latin letters are taken for English; other scripts tell their language
    nearly. A stem is a way to find a note, never what was asked for.

    >>> stem("deployments"), stem("копии"), stem("والمستشفي")
    ('deploy', 'коп', 'مستشف')
    """
    if word.isascii():
        return _stem(word) if word.isalpha() else word
    language = next((name for last, name in _LANGUAGES if word[0] <= last), "")
    if not language or not _script(language).fullmatch(word):
        return word
    if language == "russian":
        word = re.sub(_SHORT_I, "й", word)
    elif language == "arabic":
        word = re.sub(_ARTICLE, "", word)
    root = _stemmer(language)(word)
    return root if len(root) > 1 else word


_LANGUAGES = (
    ("\u036f", ""),
    ("\u03ff", "greek"),
    ("\u0481", "russian"),
    ("\u0530", ""),
    ("\u0587", "armenian"),
    ("\u0619", ""),
    ("\u06ff", "arabic"),
    ("\u08ff", ""),
    ("\u097f", "hindi"),
    ("\u0b81", ""),
    ("\u0bff", "tamil"),
)
"""The last character of a range of scripts, and whose stemmer reads it."""

_SCRIPTS = {
    "greek": "[\u0370-\u03ff]+",
    "russian": "[\u0400-\u0481]+",
    "armenian": "[\u0531-\u0587]+",
    "arabic": "[\u0620-\u06ff]+",
    "hindi": "[\u0900-\u097f]+",
    "tamil": "[\u0b82-\u0bff]+",
}

_SHORT_I = "(?<=[аеиоуыэюя])и$"
"""Folding takes the breve of й, which the stemmer needs to see at the end."""

_ARTICLE = "^و?(?:ال|بال|كال|فال|لل)(?=.{3})"


@cache
def _script(language: str) -> re.Pattern[str]:
    return re.compile(_SCRIPTS[language])


@cache
def _stemmer(language: str) -> Callable[[str], str]:
    return Stemmer.Stemmer(language, 0).stemWord


_ENGLISH = """
a about am an and any are as at be been before being but by can could did do does doing
for from had has have having he her hers him his how i if in into is it its me my of on
or our ours she should so some than that the their theirs them then there these they this
those to too us was we were what when where which who whom whose why will with would you
your yours s t re ve ll d m don didn doesn isn wasn weren aren haven hasn hadn wouldn
couldn shouldn won
"""

_GERMAN = """
aber als am an auch auf aus bei bin bis das dass dem den der des die doch du ein eine einem
einen einer eines er es für fur habe haben hat hatte ich ihr im in ist ja kann man mein mit
nach nicht noch nun nur ob oder sein sich sie sind so uber über um und uns unser von vor
wann war waren warum was weil welche welcher welches wenn wer werden wie wir wird wo wurde
zu zum zur
"""

_FRENCH = """
au aux avec ce ces cette comment dans de des du elle elles en est et il ils je la le les leur
lui ma mais mes mon nous on ou où par pas pour pourquoi qu quand que quel quelle qui quoi
sa se ses son sont sur ta te tes ton tu un une vos votre vous était etait ont
"""

_SPANISH_PORTUGUESE = """
al como con cual cuando de del donde dónde el ella en era es esta este fue ha hay la las lo
los mas mi muy no nos o para pero por porque que qué quien quién se si sin sobre su sus un
una y ya yo em do da dos das no na nos nas um uma com não nao quem onde os as foi são sao ao
"""

_ITALIAN_DUTCH_NORDIC = """
che chi come con cosa da dei del della di dove e gli ha ho il io la le lo mi nel non per più
quale quando sono un una het een de en van ik je hij zij wij wat wie waar wanneer hoe
waarom niet met voor op te zijn was og er det den de en et at som på pa med til af for ikke
har var vi jeg du han hun hvad hvem hvor hvornår hvordan och att som för är den ett vad
"""


def _stop_words() -> frozenset[str]:
    lists = (_ENGLISH, _GERMAN, _FRENCH, _SPANISH_PORTUGUESE, _ITALIAN_DUTCH_NORDIC)
    return frozenset(fold(" ".join(lists)).split())


_STOP_WORDS = _stop_words()
"""From the Snowball project's lists, cut to the words that questions are made of.

Rare words decide by their rarity in any language; these lists only help where the notes
are too few to tell.
"""


def is_stop_word(word: str) -> bool:
    """Say whether a folded word holds sentences together in one of the languages.

    >>> is_stop_word("the"), is_stop_word("gateway")
    (True, False)
    """
    return word in _STOP_WORDS


_CONTINUES = (
    "[\u200c\u200d"  # joiners
    "\u1160-\u11ff\ud7b0-\ud7ff"  # Hangul vowels and finals
    "\u0e33\u0eb3"  # Thai and Lao am
    "\uff9e\uff9f"  # half-width voicing marks
    "\U0001f3fb-\U0001f3ff"  # skin tones
    "\U000e0020-\U000e007f]"  # the letters of some flags
)
_JOINER = "\u200d"


def is_inside_character(text: str, at: int) -> bool:
    """Say whether a cut of `text` before its code point `at` parts a character.

    A letter with its accents, a flag, a family of emoji and a decomposed Hangul syllable
    are one character each and several code points. These are the cases of Unicode's
    grapheme clusters (UAX 29) that are met in notes, not all of its rules.
    `text` begins with a whole character.

    >>> [is_inside_character("e\u0301a", at) for at in (1, 2)]
    [True, False]
    """
    left, right = text[at - 1], text[at]
    if left.isascii() and right.isascii():
        return False
    if _is_flag_letter(left) and _is_flag_letter(right):
        return _flag_letters_before(text, at) % 2 == 1
    return (
        left == _JOINER
        or re.match(_CONTINUES, right) is not None
        or unicodedata.category(right)[0] == "M"
    )


def character_border(text: str, at: int) -> int:
    """Return the last border between characters up to `at`, or `at` if there is none."""
    border = at
    while 0 < border < len(text) and is_inside_character(text, border):
        border -= 1
    return border or at


def _is_flag_letter(letter: str) -> bool:
    return "\U0001f1e6" <= letter <= "\U0001f1ff"


def _flag_letters_before(text: str, at: int) -> int:
    start = at
    while start and _is_flag_letter(text[start - 1]):
        start -= 1
    return at - start


QUARTERS_PER_TOKEN = 4


def token_quarters(text: str) -> int:
    """Estimate how many tokens of a model a text costs, in quarters of a token.

    No tokenizer is at hand without a model, so this leans to the high side. Quarters
    per character: ASCII 1 (four characters a token, OpenAI's rule of thumb), other
    alphabets 2, Han, kana, Hangul and full-width forms 4, pictographs 6.

    A character of n bytes in UTF-8 counts 2 * (n - 1), and 1 if it is ASCII: the
    scripts that cost most tokens are those with the longest encodings.

    >>> token_quarters("four"), token_quarters("ñ"), token_quarters("：：")
    (4, 2, 8)
    """
    length = len(text)
    if text.isascii():
        return length
    ascii_only = len(text.encode("ascii", "ignore"))
    return ascii_only + 2 * (len(text.encode("utf-8", "surrogatepass")) - length)
