"""One folding of text, for the index and for queries alike.

Compatibility forms (full-width Latin, half-width katakana, ligatures), accents
and case make no difference to a search; Japanese voicing marks, Hangul
syllables and Indic vowels do. Lines stay lines: nothing here adds or removes LF.
"""

import re
import unicodedata

# Marks that only decorate a letter: Latin, Greek and Cyrillic accents, Hebrew
# points, Arabic short vowels. Not U+3099 (か against が) and no Indic vowel sign.
_MARKS = re.compile(
    "[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1-\u05c7\u064b-\u065f\u0670]+"
)
_MAY_CARRY_MARKS = re.compile("[\u00c0-\u1fff]")
_ODD_LETTERS = str.maketrans({"ı": "i", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L"})


def unify(text: str) -> str:
    """Return text with compatibility forms and accents removed, case kept.

    >>> unify("ＡＢＣ Café ﾃｽﾄ İstanbul")
    'ABC Cafe テスト Istanbul'
    """
    if text.isascii():
        return text
    text = compose(text)
    if _MAY_CARRY_MARKS.search(text):
        bare = _MARKS.sub("", unicodedata.normalize("NFD", text))
        text = unicodedata.normalize("NFC", bare).translate(_ODD_LETTERS)
    return text


def compose(text: str) -> str:
    """Return text without compatibility forms; letters keep their accents.

    >>> compose("ＡＢＣ Tromsø’s ﾃｽﾄ")
    "ABC Tromsø's テスト"
    """
    return unicodedata.normalize("NFKC", text).replace("’", "'")


def fold(text: str) -> str:
    """Return `unify(text)` without case differences.

    >>> fold("STRASSE") == fold("Straße")
    True
    """
    return text.lower() if text.isascii() else unify(text).casefold()
