"""From text to the terms that are indexed, and from a query to the same terms.

Three kinds of text are told apart:

* words and compounds (`running`, `multi-agent`, `memorySearch.query.hybrid`,
  `20.04`, `C++`): the parts in order, and beside them what else they should be
  found by: the compound as a whole, its pieces, humps of camelCase, the stem;
* runs of scripts that are written without spaces (Chinese, Japanese, Korean,
  Thai, ...): every pair of neighbouring characters, and beside them each character
  alone, so that words of one character are found as well;
* pictographs, one term each.

`BODY` terms keep their order, so that phrases can be asked for; `EXTRA` terms
are a bag.
"""

import operator
import re
from collections.abc import Iterator
from functools import cache
from itertools import chain
from typing import NamedTuple

import Stemmer

from notewell.backends.text.folding import compose, unify

TERMS_VERSION = "1"
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


class _Analysed(dict[str, Forms]):
    """Forms of every word seen lately; notes repeat their words."""

    _MOST = 200_000
    _LONGEST = 64

    def __missing__(self, word: str) -> Forms:
        core = word.strip(_PUNCTUATION)
        if core.isascii() and core.isalpha() and (core.islower() or core.istitle()):
            forms = _plain(core.lower()[:LONGEST_TERM])
        else:
            forms = _joined([analyse(token) for token in split(word)])
        if len(word) <= self._LONGEST:
            if len(self) >= self._MOST:
                self.clear()
            self[word] = forms
        return forms


_analysed = _Analysed()


def forms_of(text: str) -> Iterator[Forms]:
    """Yield the forms of each word of `text` (what stands between white space).

    >>> [forms.body for forms in forms_of("Ubuntu 20.04: 数据库")]
    [('ubuntu',), ('20', '04'), ('数据', '据库', '库')]
    """
    return map(_analysed.__getitem__, text.split())


def forms_of_word(word: str) -> Forms:
    """Return the forms of one word; it holds no white space."""
    return _analysed[word]


def terms_of(text: str) -> set[str]:
    """Return every term of `text`, of both kinds."""
    words = map(_analysed.__getitem__, set(text.split()))
    return {term for forms in words for term in chain(forms.body, forms.extra)}


def split(text: str, *, accents: bool = False) -> list[str]:
    """Return the tokens of `text` in order, unified but not analysed.

    Args:
        accents: Letters keep theirs.

    >>> split("重跑gen-itgc后, don't!")
    ['重跑', 'gen-itgc', '后', "don't"]
    >>> split("Tromsø café"), split("Tromsø café", accents=True)
    (['Tromso', 'cafe'], ['Tromsø', 'café'])
    """
    text = compose(text) if accents else unify(text)
    return (_ASCII_TOKEN if text.isascii() else _beyond_ascii()[0]).findall(text)


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
    """Return the forms of one token of `split`."""
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


def compound(token: str) -> str:
    """Return a token of several words as one term.

    >>> compound("Multi-Agent"), compound("don't"), compound("C++"), compound("foo#")
    ('multi-agent', 'dont', 'c++', 'foo')
    """
    if token.endswith("#") and len(token) > 2:
        token = token[:-1]
    return token.casefold().replace("'", "")[:LONGEST_TERM]


def _wholes(token: str) -> Iterator[str]:
    """Yield a compound as a whole, and the compounds inside it.

    >>> list(_wholes("id=ZX-4417"))
    ['id=zx-4417', 'zx-4417']
    """
    if token.isalnum():
        return
    yield compound(token)
    for piece in _LOOSE_JOINTS.split(token):
        if piece and not piece.isalnum():
            yield compound(piece)


def _other_forms(part: str) -> Iterator[str]:
    if not part.isascii():
        return
    if _HUMP_BORDER.search(part):
        yield from (hump.lower() for hump in _HUMPS.findall(part))
    word = part.lower()
    unit = _ONE_UNIT.fullmatch(word)
    if unit:
        yield from (piece for piece in unit.groups() if piece)
    elif word.isalpha() and len(word) <= LONGEST_TERM:
        yield _stem(word)


def stem(word: str) -> str:
    """Return the English stem of a folded word (Snowball's Porter2).

    >>> stem("deployments")
    'deploy'
    """
    return _stem(word) if word.isascii() and word.isalpha() else word
