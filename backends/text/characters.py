"""Where one character ends and the next begins, as people count them.

A letter with its accents, a flag, a family of emoji and a decomposed Hangul syllable
are one character each and several code points. These are the cases of Unicode's
grapheme clusters (UAX 29) that are met in notes, not all of its rules.
"""

import re
import unicodedata

_CONTINUES = re.compile(
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
        or _CONTINUES.match(right) is not None
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
