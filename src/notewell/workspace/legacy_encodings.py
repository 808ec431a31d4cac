"""Which older encoding some bytes are in, where that is sure.

Any bytes can be read in most of these encodings, and nearly all of what comes out is
rubbish. So the guess of chardetng, by which Firefox reads pages that do not tell theirs,
counts only where the text that comes out looks like its language; and of the East Asian
encodings only if no other one gives a text that looks like its own.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Final

_SHARE: Final = 0.85
"""How much of a text has to be as its language has it."""

_CODECS: Final[Mapping[str, str]] = {
    "GBK": "gb18030",
    "Big5": "big5hkscs",
    "EUC-KR": "cp949",
    "Shift_JIS": "cp932",
    "EUC-JP": "euc_jp",
    "IBM866": "cp866",
    "windows-874": "cp874",
    "ISO-8859-8-I": "iso8859_8",
}
"""What the standard of the Web calls otherwise than Python, or reads more widely."""

_EAST_ASIAN: Final = ("gb18030", "big5hkscs", "cp949", "cp932", "euc_jp")

_UNKNOWN: Final = ("iso8859_15", "mac_roman", "cp850")
"""What the Web has hardly ever used, so that the detector never guesses it."""

_EVIDENCE: Final = 3
"""Words that have to tell such an encoding."""

_CHINESE: Final = ("gb18030", "big5hkscs")

_CHARACTERS: Final = frozenset(
    "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下"
    "自之年过发后作里用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部"
    "其些主样理心她本前开但因只从想实日军者意无力它与长把机十民第公此已工使情明性知全三又"
    "关点正业外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯"
    "月话合回特代内信表化老给世位次度门任常先海通教儿原东声提立及比员解水名真论处走义各入"
    "几口认条平系气题活尔更别打女变四神总何电数安少报才结反受目太量再感建务做接必场件计管"
    "這個們來為國說時會對於著過發後裡麼經學現當沒動還進樣開從實軍無與長機關點業將兩間問並"
    "應戰頭體見產話內門兒東聲員論處義幾認條氣題爾別變總電數報結務場計館資料碼議請週"
)
"""Common Chinese characters, simplified and traditional."""

_KOREAN: Final = frozenset(
    "이다는에의가을로하고지은한를사기도스자리시어그인나대아일정서"
)
"""The commonest syllables; they make two fifths of any text."""

# A capital in the middle of a word, or a sign between letters, is what a wrong
# encoding makes of a letter with an accent.
_SIGNS: Final = "[^\\W\\d_]['’·-]?[^\\w\\s'’·\\-‐-―./\\\\()\\[\\]{}<>*`~:;,!?\"“”„«»+=&|#@%^$][^\\W\\d_]"


_ASCII: Final = frozenset(map(chr, range(128)))
_TYPOGRAPHY: Final = frozenset("\xa0€£§©®°±·•…–—‘’‚“”„«»‹›½¼¾×÷¿¡²³µ™")


def guess_encoding(raw: bytes) -> str | None:
    """Return Python's name of the encoding that some bytes are in; None: not sure.

    Args:
        raw: Neither UTF-8 nor binary.
    """
    guess = _guess(raw)
    plausible = [codec for codec in _EAST_ASIAN if _looks(raw, codec, _TESTS[codec])]
    if guess in plausible and guess not in _CHINESE:
        return guess  # kana and the endings of Korean are no accident
    if not plausible and guess and guess not in _EAST_ASIAN:
        return _alphabetic(raw, guess)
    if guess not in _EAST_ASIAN or not set(plausible) <= set(_CHINESE):
        return None
    return _more_common(raw) if len(plausible) > 1 else next(iter(plausible), None)


def _alphabetic(raw: bytes, guess: str) -> str | None:
    """Return the guess, or what the detector does not know, if only one of them fits."""
    if _looks(raw, guess, _looks_alphabetic):
        return guess
    if len(set(re.findall(rb"\w*[\x80-\xff]\w*", raw))) < _EVIDENCE:
        return None
    fitting = [codec for codec in _UNKNOWN if _looks(raw, codec, _looks_alphabetic)]
    return fitting[0] if len(fitting) == 1 else None


def _more_common(raw: bytes) -> str | None:
    """Choose between the two Chinese encodings by the characters that are everywhere."""
    one, other = (
        _share_of(_foreign_letters(raw.decode(codec)), _CHARACTERS.__contains__)
        for codec in _CHINESE
    )
    if max(one, other) < 0.1 or max(one, other) < 3 * min(one, other):
        return None
    return _CHINESE[one < other]


def _guess(raw: bytes) -> str | None:
    try:
        from chardetng_py import EncodingDetector
    except ImportError:  # no wheel for this machine
        return None
    detector = EncodingDetector()
    detector.feed(raw, last=True)
    name = detector.guess(tld=None, allow_utf8=False)
    return _CODECS.get(name, name)


def _looks(raw: bytes, codec: str, test: Callable[[str], bool]) -> bool:
    try:
        text = raw.decode(codec)
    except (UnicodeDecodeError, LookupError):
        return False
    # Control characters, unassigned and private ones are in no note.
    kinds = {unicodedata.category(one) for one in set(text) - set("\t\n\v\f\r\x1b")}
    return kinds.isdisjoint({"Cc", "Cn", "Co"}) and test(text)


def _share_of(letters: str, wanted: Callable[[str], bool]) -> float:
    return sum(map(wanted, letters)) / len(letters) if letters else 0.0


def _foreign_letters(text: str) -> str:
    return "".join(re.findall(r"[^\W\d_]", re.sub(r"[\x00-\x7f]+", "", text)))


def _is_common_in(codec: str, first: int, last: int) -> Callable[[str], bool]:
    """Return a test for the characters whose first byte lies between two: the standard
    puts the common ones first."""

    def test(character: str) -> bool:
        try:
            return first <= character.encode(codec)[0] <= last
        except UnicodeEncodeError:
            return False

    return test


def _looks_chinese(codec: str, last: int) -> Callable[[str], bool]:
    common = _is_common_in(codec, 0xA4 if codec == "big5" else 0xB0, last)

    def test(text: str) -> bool:
        letters = _foreign_letters(text)
        # The Chinese standards hold kana, too, where those of Japan have them.
        return (
            _share_of(letters, common) >= _SHARE
            and not _share_of(letters, _is_kana) > 0.1
        )

    return test


def _is_kana(letter: str) -> bool:
    return "\u3041" <= letter <= "\u30fe"


def _looks_japanese(text: str) -> bool:
    letters = _foreign_letters(text)
    kana = _share_of(letters, _is_kana)
    common = _is_common_in("euc_jp", 0xA1, 0xCF)
    return kana >= 0.15 and _share_of(letters, common) >= _SHARE


def _looks_korean(text: str) -> bool:
    letters = _foreign_letters(text)
    hangul = _share_of(letters, lambda one: "\uac00" <= one <= "\ud7a3")
    return hangul >= _SHARE and _share_of(letters, _KOREAN.__contains__) >= 0.1


def _looks_alphabetic(text: str) -> bool:
    """Say whether the words of a text are of one alphabet each, and cased like words."""
    text = "".join(one for one in text if unicodedata.category(one)[0] != "M")
    words = [word for word in re.findall(r"[^\W\d_]+", text) if not word.isascii()]
    if not words:
        return set(text) - _ASCII <= _TYPOGRAPHY
    odd = len(re.findall(_SIGNS, text)) + sum(map(_is_odd_word, words))
    return odd <= len(words) * (1 - _SHARE)


def _is_odd_word(word: str) -> bool:
    scripts = {unicodedata.name(letter, "?").split()[0] for letter in word}
    scripts -= {"MICRO", "MASCULINE", "FEMININE", "MODIFIER"}
    return len(scripts) > 1 or any(
        before.islower() and after.isupper() for before, after in pairwise(word)
    )


_TESTS: Final[Mapping[str, Callable[[str], bool]]] = {
    "gb18030": _looks_chinese("gb2312", 0xD7),
    "big5hkscs": _looks_chinese("big5", 0xC6),
    "cp949": _looks_korean,
    "cp932": _looks_japanese,
    "euc_jp": _looks_japanese,
}
