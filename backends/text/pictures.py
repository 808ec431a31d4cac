"""Pictures and other bytes that stand in a note as letters: they are no text.

A picture of a telephone, written into a note as `data:` with base64, is longer than all the
words of its writer. In what is indexed, embedded and measured a mark stands for it; the
lines and their numbers stay, and so does what stands before and after it in its line.
"""

import re
from collections.abc import Sequence
from typing import Final

PICTURE_MARK: Final = "\ufffc"
"""Stands where bytes are left out: Unicode's OBJECT REPLACEMENT CHARACTER."""

_SHORTEST: Final = 64
"""A shorter `data:` stays: it may be an example that somebody looks for."""

_ENDLESS: Final = 512
"""No word, name, key or hash is so long without anything that parts it."""

_MEDIA: Final = r"data:(?:image|audio|video|font|application)/[\w.+-]+[^,\s\"'<>()]*,"
_URI: Final = (  # compiled when it is needed
    rf"data:[^,\s\"'<>()]{{0,200}};base64,[ \t]*[\w+/=%-]{{{_SHORTEST},}}"
    rf"|(?<=\"){_MEDIA}[^\"]{{{_SHORTEST},}}(?=\")"
    rf"|(?<='){_MEDIA}[^']{{{_SHORTEST},}}(?=')"
    rf"|{_MEDIA}(?:[^\s\"'<>()]|\([^\s\"'<>()]*\)){{{_SHORTEST},}}"
)
_RUN: Final = rf"[A-Za-z0-9+/_=-]{{{_ENDLESS},}}"
_ROW: Final = r"[>\s]*[A-Za-z0-9+/]{40,}={0,2}\s*"
_LAST_ROW: Final = r"\s*[A-Za-z0-9+/]+={0,2}(?=\s*[\"')>])"
_HEX: Final = r"[0-9a-fA-F]+"
_BEGIN: Final = r"[>\s]*-----BEGIN [A-Z0-9 ]+-----\s*"

_OPENINGS: Final = ("-----", "data:")

_ROW_LENGTH: Final = 60
_ROWS: Final = 16
"""So many rows of one length are a file; fewer may be a list of keys."""


def without_pictures(lines: Sequence[str]) -> Sequence[str]:
    """Return the lines of a note with a mark for each picture, as many as before.

    >>> picture = "data:image/png;base64," + "iVBORw0KGgo" * 9
    >>> without_pictures(["# Trip", f"![photo]({picture}) by the lake"]) == [
    ...     "# Trip", f"![photo]({PICTURE_MARK}) by the lake"]
    True
    """
    # Nearly all lines of nearly all notes are done with here.
    suspects = [
        at
        for at, line in enumerate(lines)
        if (
            len(line) >= _ROW_LENGTH
            and (
                "data:" in line
                or " " not in line
                or (len(line) >= _ENDLESS and _has_endless_word(line))
            )
        )
        or (line[:5] in _OPENINGS and line.startswith(("-----BEGIN", "data:")))
    ]
    if not suspects:
        return lines
    shown = list(lines)
    for at in suspects:
        if shown[at] is lines[at]:  # not left out with the one before
            _leave_out(shown, at)
    return shown


def is_only_pictures(line: str) -> bool:
    """Say whether there is no text in a line, or none beside pictures."""
    return not line.replace(PICTURE_MARK, "").strip()


def _has_endless_word(line: str) -> bool:
    """Say whether a long line has a word that no person would write."""
    return max(map(len, line.split())) >= _ENDLESS


def _leave_out(lines: list[str], at: int) -> None:
    line = lines[at]
    found = line
    if "data:" in line:
        found = re.sub(_URI, PICTURE_MARK, line, flags=re.ASCII | re.IGNORECASE)
    if found.endswith(PICTURE_MARK) and found != line:
        _continue(lines, at + 1)
    if len(found) >= _ENDLESS:
        found = re.sub(_RUN, _mark_bytes, found)
    if found == line and (re.fullmatch(_BEGIN, line) or _is_file(lines, at)):
        _continue(lines, at + 1)
        found = PICTURE_MARK if re.fullmatch(_ROW, line) else line
    lines[at] = found


def _continue(lines: list[str], at: int) -> None:
    """Leave out the rows that go on with what began above."""
    while at < len(lines) and re.fullmatch(_ROW, lines[at]):
        lines[at] = PICTURE_MARK
        at += 1
    if at < len(lines) and lines[at - 1] == PICTURE_MARK:
        lines[at] = re.sub(_LAST_ROW, PICTURE_MARK, lines[at], count=1)


def _is_file(lines: Sequence[str], at: int) -> bool:
    """Say whether many rows of base64 begin here, all of one length but the last."""
    rows = lines[at : at + _ROWS]
    return (
        len(rows) == _ROWS
        and len(set(map(len, rows))) == 1
        and all(re.fullmatch(_ROW, row) and not re.fullmatch(_HEX, row) for row in rows)
    )


def _mark_bytes(found: re.Match[str]) -> str:
    """Leave a run as it is unless it looks like bytes: digits and letters of both cases,
    or nothing but digits of a number to the base 16."""
    run = found[0]
    digits = sum(map(run.count, "0123456789"))
    mixed = run.lower() != run != run.upper()
    hexadecimal = re.fullmatch(_HEX, run) is not None
    return PICTURE_MARK if digits * 40 > len(run) and (mixed or hexadecimal) else run
