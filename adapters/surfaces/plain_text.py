"""Text as it may leave us: in UTF-8, with nothing in it that a terminal would obey."""

import re
from typing import Final

# C0 but tab and newline, DEL, C1, surrogates, line and paragraph separators, and
# the characters that turn the reading direction around.
_OBEYED: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u2028-\u202e\u2066-\u2069]"
)
_SURROGATE: Final = "[\ud800-\udfff]"  # compiled where there is one
_UNDECODABLE: Final = range(0xDC80, 0xDD00)
"""How Python carries a byte that is no UTF-8."""


def visible(text: str) -> str:
    r"""Spell out every character that a terminal would obey.

    >>> print(visible("a\x1b[31mb\x9bc\u202ed"))
    a\x1b[31mb\x9bc\u202ed
    """
    return _OBEYED.sub(_spelled, text)


def one_line(text: str) -> str:
    r"""The same for a text that must stay on one line, such as a path.

    >>> print(one_line("a\nb\tc"))
    a\nb\tc
    """
    return visible(text).replace("\n", "\\n").replace("\t", "\\t")


def without_surrogates(text: str) -> str:
    r"""Put U+FFFD where half of a surrogate pair stands, which UTF-8 cannot hold.

    >>> without_surrogates("a\ud83d") == "a\ufffd"
    True
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return re.sub(_SURROGATE, "\ufffd", text)
    return text


def encode_utf8(text: str) -> bytes:
    """Encode `text`; what is no character becomes U+FFFD."""
    return without_surrogates(text).encode("utf-8")


def decode_argument(text: str) -> str:
    """Read an argument as UTF-8 where the locale could not (`LC_ALL=C`)."""
    try:
        typed = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        typed = encode_utf8(text)
    return typed.decode("utf-8", "replace")


def _spelled(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code in _UNDECODABLE:
        code -= 0xDC00
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
