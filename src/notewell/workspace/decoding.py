"""From the bytes of a note to text, and never to rubbish.

UTF-8 is what notes are written in. UTF-16 and UTF-32 tell themselves by a mark or by where
their zero bytes stand. What older programs wrote, in one of the encodings of their country,
is read where it is sure in which one; anything else is `NotText`, and the note is left out
with that reason. Lines and their numbers are those of the text.
"""

import codecs
import errno
import re
from collections import Counter
from typing import Final, NamedTuple

NOT_TEXT: Final = "not text"
"""How every reason begins for which a file holds no text that can be read."""

_MARKS: Final = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_MARKED: Final = {mark[:1] for mark, _ in _MARKS}

_DAMAGED: Final = "not valid UTF-8; the bytes in question are read as U+FFFD"

# Line ends, tabs and page breaks are text, and so is what colours a terminal.
_CONTROLS: Final = rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]"
_NO_LETTERS: Final = rb"[\x00-\x09\x0b\x0c\x0e-\x1f]"
_WIDE: Final = 0.2
"""The share of small numbers from which on bytes that are UTF-8, too, are halves of
wider ones: Latin letters have zeros between them, Cyrillic ones fours."""

_MOST_CONTROLS: Final = 0.02
"""The share of control characters up to which something is text with a few of them."""

_WHOLE: Final = 4
"""Sound letters beyond ASCII that damaged UTF-8 has for each broken byte, at least."""

_FEW: Final = 0.02
"""The share of unknown bytes that a note may have and be read all the same."""

_SEVEN_BITS: Final = ("iso2022_jp_2", "iso2022_kr")
"""Encodings that look like ASCII, but for the escape character."""


_NAMES: Final = {
    "cp932": "Shift_JIS",
    "cp949": "EUC-KR",
    "big5hkscs": "Big5",
    "euc_jp": "EUC-JP",
    "iso2022_jp_2": "ISO-2022-JP",
    "iso2022_kr": "ISO-2022-KR",
    "mac-roman": "Mac Roman",
}


def holds_no_text(why: str) -> bool:
    """Say whether this is the reason for which a file holds no text that can be read."""
    return why.startswith(NOT_TEXT)


class NotText(OSError):
    """The file can be read, and what is in it cannot be read as text."""

    def __init__(self, why: str) -> None:
        """Say why, in a few words."""
        self.why = f"{NOT_TEXT}: {why}"
        super().__init__(errno.EILSEQ, self.why)


class DecodedText(NamedTuple):
    """What the bytes of a note say.

    Attributes:
        text: Without a byte order mark; line ends are as in the file.
        codec: Python's name of the encoding.
        odd: What a person should know about it, or None.
        guess: The name of the encoding where the bytes do not tell it, and it is only
            what they look like.
    """

    text: str
    codec: str = "utf-8"
    odd: str | None = None
    guess: str | None = None


def decode(raw: bytes) -> DecodedText:
    r"""Read the bytes of a note.

    >>> decode(b"\xef\xbb\xbfa\r\nb").text
    'a\r\nb'
    >>> decode(codecs.BOM_UTF32_LE + "né".encode("utf-32-le")).codec
    'utf-32-le'

    Raises:
        NotText: they are no text, or it is not sure in which encoding.
    """
    if raw[:1] in _MARKED:
        for mark, codec in _MARKS:
            # The mark of UTF-16 begins that of UTF-32 as well.
            if raw.startswith(mark) and (len(mark) < 4 or len(raw) % 4 == 0):
                return _wide(raw[len(mark) :], codec)
    raw = raw.removeprefix(codecs.BOM_UTF8)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return _decode_other(raw)
    if b"\0" in raw or b"\x1b$" in raw:
        return _decode_odd(raw, text)
    return DecodedText(text)


def encoding_name(codec: str) -> str:
    """Return what people call an encoding.

    >>> encoding_name("cp1252"), encoding_name("cp949"), encoding_name("utf-16-le")
    ('Windows-1252', 'EUC-KR', 'UTF-16')
    """
    name = codecs.lookup(codec).name
    if name.startswith("cp125"):
        return f"Windows-{name[2:]}"
    if name.startswith("utf"):
        return name[:6].upper()
    return _NAMES.get(name) or name.replace("iso8859", "iso-8859").upper()


def _wide(raw: bytes, codec: str) -> DecodedText:
    """Read what has the mark of a wide encoding; a byte too few at the end is damage."""
    text = raw.decode(codec, "replace")
    if text.count("\ufffd") > max(1, len(text) * _FEW):
        raise NotText(f"it begins like {encoding_name(codec)} and goes on otherwise")
    return DecodedText(text, codec, f"read as {encoding_name(codec)}")


def _decode_odd(raw: bytes, text: str) -> DecodedText:
    """Read what is UTF-8 by its bytes, with zeros or escapes that are unusual in text."""
    for codec in _SEVEN_BITS if b"\x1b$" in raw else ():
        shifted = _strictly(raw, codec)
        if shifted is not None and not shifted.isascii():
            return _guess(shifted, codec)
    wide = len(re.findall(_NO_LETTERS, raw)) > len(raw) * _WIDE
    return (_without_mark(raw) if wide else None) or _checked(raw, DecodedText(text))


def _decode_other(raw: bytes) -> DecodedText:
    """Read what is not valid UTF-8."""
    if b"\0" in raw and (wide := _without_mark(raw)):
        return wide
    text = raw.decode("utf-8", "replace")
    damaged = DecodedText(text, odd=_DAMAGED)
    bad = text.count("\ufffd")
    if sum(map(len, re.findall(r"[^\x00-\x7f\ufffd]+", text))) >= bad * _WHOLE:
        return _checked(raw, damaged)
    _checked(raw, damaged)
    from notewell.workspace.legacy_encodings import guess_encoding  # rare

    codec = guess_encoding(raw)
    if codec is not None:
        return _guess(raw.decode(codec), codec)
    if bad <= len(raw) * _FEW:
        return damaged
    raise NotText("neither UTF-8 nor surely one of the older encodings")


def _without_mark(raw: bytes) -> DecodedText | None:
    """Read UTF-16 or UTF-32 without a mark, which the places of zero bytes tell.

    A line end, a space or a Latin letter has its zeros always at the same place.
    """
    if not raw.strip(b"\0"):
        raise NotText("only zero bytes: lost by the disk, or never downloaded")
    zeros = [raw[place::4].count(0) for place in range(4)]
    for codec, never, seldom in (("utf-32-le", 3, 2), ("utf-32-be", 0, 1)):
        full = len(raw) // 4
        if len(raw) % 4 == 0 and full == zeros[never] and zeros[seldom] >= full * 0.9:
            return _plausibly_wide(raw, codec)
    if len(raw) % 2:
        return None
    little_first = zeros[1] + zeros[3] > zeros[0] + zeros[2]
    one, other = _plausibly_wide(raw, "utf-16-le"), _plausibly_wide(raw, "utf-16-be")
    return one or other if little_first else other or one


def _plausibly_wide(raw: bytes, codec: str) -> DecodedText | None:
    """Return the text if it is one: of few scripts, without what Unicode leaves out."""
    text = _strictly(raw, codec)
    if text is None or not _is_clean(text):
        return None
    # Chance spreads over all of Unicode's blocks, and people write in few.
    blocks = Counter(ord(character) >> 8 for character in text)
    latin = sum(blocks[block] for block in (0, 1, 0x20, 0x30))
    if len(blocks) > 8 and latin < len(text) / 5 and not _is_ideographic(text):
        return None
    name = encoding_name(codec)
    return DecodedText(text, codec, f"read as {name}, without a mark", name)


def _is_ideographic(text: str) -> bool:
    wide = len(re.findall("[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3]", text))
    return wide > len(text) / 2


def _is_clean(text: str) -> bool:
    """Say whether every character is one that people write."""
    from unicodedata import category

    odd = {"Cc", "Cn", "Co", "Cs"}
    return not any(
        category(character) in odd and character not in "\t\n\v\f\r\x1b"
        for character in set(text)
    )


def _strictly(raw: bytes, codec: str) -> str | None:
    try:
        return raw.decode(codec)
    except UnicodeDecodeError:
        return None


def _checked(raw: bytes, read: DecodedText) -> DecodedText:
    """Return what was read, unless it is full of control characters.

    A block of zeros, which a crash leaves at the end of a file, counts once.
    """
    solid = re.sub(rb"\0+", b"\0", raw)
    if len(re.findall(_CONTROLS, solid)) > max(2, len(solid) * _MOST_CONTROLS):
        raise NotText("its bytes are those of a program, a picture or an archive")
    return read


def _guess(text: str, codec: str) -> DecodedText:
    name = encoding_name(codec)
    return DecodedText(
        text, codec, f"not UTF-8; read as {name}, which it looks like", name
    )
