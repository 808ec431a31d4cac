"""Text that a terminal may be given: nothing in it is obeyed as a command."""

import re

# C0 but tab and newline, DEL, C1, surrogates, line and paragraph separators, and
# the characters that turn the reading direction around.
_OBEYED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u2028-\u202e\u2066-\u2069]"
)
_UNDECODABLE = range(0xDC80, 0xDD00)  # how Python carries a byte that is no UTF-8


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


def _spelled(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code in _UNDECODABLE:
        code -= 0xDC00
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
