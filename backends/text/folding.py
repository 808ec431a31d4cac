"""Folding: what makes no difference to a search is taken from text.

Compatibility forms (full-width Latin, half-width katakana, ligatures), accents, case,
invisible characters, the script of decimal digits and the letters that Arabic and
Persian keyboards put in each other's place make no difference to a search; Japanese
voicing marks, Hangul syllables and Indic vowels do. Lines stay lines: nothing here adds
or removes LF. Words that emphasis, tags or the end of a line part are joined beside
what stands there, not in its place.
"""

import re
import unicodedata

# Most patterns here are met by few texts, and none by one in ASCII: they are compiled when one
# comes, not by every search.

# Marks that only decorate a letter: Latin, Greek and Cyrillic accents, Hebrew points,
# Arabic short vowels, Koranic signs and the stretching line, the Indic nukta. Not U+3099
# (か against が) and no Indic vowel sign.
_MARKS = (
    "[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1-\u05c7"
    "\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed"
    "\u08d3-\u08e1\u08e3-\u08ff"
    "\u093c\u09bc\u0a3c\u0abc\u0b3c\u0c3c\u0cbc]+"
)
_MAY_CARRY_MARKS = "[\u00c0-\u1fff]"

# Unicode's category Cf but for the signs that are seen (of Arabic numbers, and such),
# and selectors of variants. Without them a word is spelled the same.
_INVISIBLE = (
    "[\u00ad\u034f\u061c\u070f\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064"
    "\u2066-\u206f\ufe00-\ufe0f\ufeff\ufff9-\ufffb\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0001-\U000e01ef]+"
)
_ARABIC = "[\u0620-\u064a\u066e-\u06d3\u06fa-\u06ff]"
_HALF_SPACE = f"(?<={_ARABIC})\u200c+(?={_ARABIC})"
"""It parts what Persian writes as one word: with it, with a space or joined."""

_CHILLU = "([\u0d15\u0d23\u0d28\u0d30\u0d32\u0d33])\u0d4d\u200d"
_CHILLUS = dict(zip("\u0d15\u0d23\u0d28\u0d30\u0d32\u0d33", "ൿൺൻർൽൾ", strict=True))
"""Malayalam consonants at the end of a syllable, whose joiner tells them from others."""

_QUOTES = str.maketrans(
    {
        **dict.fromkeys(
            "\u2018\u2019\u201b\u2032\u02b9\u02bb\u02bc\u02bd\u02be\u02bf", "'"
        ),
        **dict.fromkeys("\u055a\u05f3\ua78b\ua78c", "'"),
        **dict.fromkeys("\u2010\u2011", "-"),
    }
)
_MAY_BE_QUOTED = "[\u02b9-\u02bf\u055a\u05f3\u2010-\u201b\u2032\ua78b\ua78c]"

_LATIN = {
    **dict(zip("ıøłđħŧɖŋðɗɓƙƴƶɛɔǝəɨʉǥĸ", "ioldhtdnddbkyzeoeeiugk", strict=True)),
    "œ": "oe",
    "æ": "ae",
    "þ": "th",
}
"""Letters that Unicode does not take apart, as they are typed where a key is missing."""

_LETTER_VARIANTS = str.maketrans(
    {
        **_LATIN,
        **{a.upper(): b.title() for a, b in _LATIN.items() if a not in "ıĸ"},
        **dict.fromkeys("یىےې", "ي"),
        **dict.fromkeys("کڪ", "ك"),
        **dict.fromkeys("ةہھەۃ", "ه"),
        "ٱ": "ا",
    }
)
_MAY_VARY = (
    "[\u00c6\u00d0\u00d8\u00de\u00e6\u00f0\u00f8\u00fe\u0110-\u029d\u0629-\u06d5]"
)
_OTHER_DIGITS = r"[^\D0-9]"


def unify(text: str) -> str:
    """Return text with compatibility forms, accents and the like removed, case kept.

    >>> unify("ＡＢＣ Café ﾃｽﾄ İstanbul Đà Nẵng ٢٠٢٦")
    'ABC Cafe テスト Istanbul Da Nang 2026'
    """
    if text.isascii():
        return text
    text = compose(text)
    if re.search(_MAY_CARRY_MARKS, text):
        bare = re.sub(_MARKS, "", unicodedata.normalize("NFD", text))
        text = unicodedata.normalize("NFC", bare)
        if re.search(_MAY_VARY, text):
            text = text.translate(_LETTER_VARIANTS)
    if re.search(_OTHER_DIGITS, text):
        text = re.sub(
            _OTHER_DIGITS, lambda digit: str(unicodedata.decimal(digit[0])), text
        )
    return text


def compose(text: str) -> str:
    """Return text without compatibility forms and invisible characters.

    Letters keep their accents. A joiner that says something becomes what says the same.

    >>> compose("ＡＢＣ Tromsø’s ﾃｽﾄ up\u00adgrade")
    "ABC Tromsø's テスト upgrade"
    """
    text = unicodedata.normalize("NFKC", text.replace("\u00b4", "'"))
    if re.search(_INVISIBLE, text):
        text = re.sub(_CHILLU, lambda found: _CHILLUS[found[1]], text)
        text = re.sub(_INVISIBLE, "", re.sub(_HALF_SPACE, "'", text))
        text = unicodedata.normalize("NFC", text)
    return text.translate(_QUOTES) if re.search(_MAY_BE_QUOTED, text) else text


def fold(text: str) -> str:
    """Return `unify(text)` without case differences.

    >>> fold("STRASSE") == fold("Straße")
    True
    """
    return text.lower() if text.isascii() else unify(text).casefold()


_INLINE_MARKS = re.compile(
    r"</?(?:b|i|em|strong|u|s|del|ins|mark|sub|sup|small|span|font|code|kbd|wbr)/?>"
    r"|(?P<run>\*{1,3}|~~)(?P<word>[^\W\d_]+)(?P=run)",
    re.IGNORECASE,
)


def without_inline_marks(text: str) -> str:
    """Return text without the emphasis and the tags that stand inside words.

    >>> without_inline_marks("kuber**net**es H<sub>2</sub>O **all** 2*3*4")
    'kubernetes H2O all 2*3*4'
    """
    if "*" in text or "<" in text or "~~" in text:
        return _INLINE_MARKS.sub(lambda found: found["word"] or "", text)
    return text


_BREAK = r"-\r?\n[ \t>]*([^\W\d_]{2,})"
_END_OF_WORD = r"[^\W\d_]{2,}$"


_LONGEST_HALF = 100
"""Characters before a hyphen that are looked at."""


def broken_words(text: str) -> list[str]:
    """Return the words that a hyphen breaks at the end of a line, joined and with it.

    >>> broken_words("the deploy-\\nment ends - \\nhere")
    ['deployment', 'deploy-ment']
    """
    if "-\n" not in text:
        return []
    words: list[str] = []
    for found in re.finditer(_BREAK, text):
        at, right = found.start(), found[1]
        before = text[max(0, at - _LONGEST_HALF) : at].split()
        left = re.search(_END_OF_WORD, before[-1]) if before else None
        if left and right.islower() and not text[at - 1].isspace():
            words += (f"{left[0]}{right}", f"{left[0]}-{right}")
    return words


NUMBER_KEY = "\u00b6#"
"""Begins the term of a long number; no other term begins so."""

_LONG_NUMBER = re.compile(r"[0-9](?:[ \u00a0./()\u2010-\u2015-]{0,3}[0-9]){6,33}(?!\w)")
_GOES_ON = r"[\w.,:/-]$"
_BEGINS_WITH_DATE = (
    r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])"
    r"|(?:0[1-9]|[12]\d|3[01])(?:0[1-9]|1[0-2])(?:19|20)\d\d$"
)
_NOT_DIGITS = r"\D"
_LONGEST_TELEPHONE = 15
_TOLD_APART_BY = 8
"""Digits: the longest number of E.164, and what of its end tells it from others."""


def number_keys(text: str) -> list[str]:
    """Return terms for the long numbers of a text, however their digits are grouped.

    A telephone number is known by its last digits, with or without its country's.

    >>> number_keys("+49 (0)171 2345678, 0171/2345678 and on 2026-03-03 10:15")
    ['¶#12345678', '¶#12345678']
    """
    keys: list[str] = []
    for number in _LONG_NUMBER.finditer(text):
        digits = re.sub(_NOT_DIGITS, "", number[0])
        before = text[max(0, number.start() - 1) : number.start()]
        if not re.match(_GOES_ON, before) and not re.match(_BEGINS_WITH_DATE, digits):
            short = len(digits) <= _LONGEST_TELEPHONE
            keys.append(NUMBER_KEY + (digits[-_TOLD_APART_BY:] if short else digits))
    return keys
