"""What agents have in hand when they ask for a note, and how it may be read.

A path, a citation, `[[Note#Heading|shown]]`, `[text](note.md#heading)`, `note.md:12-20`,
percent-encoded or quoted: each reading is a path with the lines or the part that is meant.
Whether there is such a note, and whether it may be read, is not decided here.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final
from urllib.parse import unquote

from notewell.workspace.requests import (
    CITED,
    PathRequest,
    parse_path_request,
    request_of,
)

_LINES: Final = re.compile(
    r"(?:(?::|, lines? )([1-9][0-9]{0,8})(?:(?:-| to )([1-9][0-9]{0,8})|:\d{1,9}:?)?)"
    r"(?:, score [0-9.]+)?\Z"
)
"""`:12`, `:12-20`, `:12:5`, and how passages are headed: `, lines 12 to 20, score 0.82`."""

_WIKI: Final = re.compile(r"!?\[\[(.+?)(?:\\?\|.*)?\]\]\Z", re.DOTALL)
_MARKDOWN: Final = re.compile(
    r"!?\[.*\]\(\s*(?:<(.+?)>|(.+?))(?:\s+(?:\".*\"|'.*'))?\s*\)\Z", re.DOTALL
)
_SAID: Final = re.compile(r"\A(?:[-*] |\d{1,3}\. )?(?:Source: )?", re.IGNORECASE)
_QUOTED: Final = ('""', "''", "``", "<>", "“”", "«»", "()")
_AFTER: Final = re.compile(r"(?:(?<=\.md)|(?<=\.markdown))[.,;:]+\Z", re.IGNORECASE)
_ENCODED: Final = re.compile(r"%[0-9a-f]{2}", re.IGNORECASE)
_LONGEST: Final = 4_096
"""Characters; a longer text has one reading, the literal one."""


def read_reference(given: str) -> list[PathRequest]:
    """Return how a text may be read, the literal way first, the most free one last.

    >>> [each.path for each in read_reference("[[Tide pool#Pump|the pump]]")]
    ['[[Tide pool#Pump|the pump]].md', 'Tide pool#Pump.md', 'Tide pool.md']

    Raises:
        PathRefused: no disk can have that path.
    """
    literal = parse_path_request(given)
    if len(given) > _LONGEST:
        return [literal]
    found = [literal]
    text = _unwrapped(given)
    if text:
        found += _parted(literal.given, text)
        if _ENCODED.search(text):
            found += _parted(literal.given, unquote(text))
    good = (each for each in found if "\0" not in each.path and each.path.isprintable())
    return [literal, *dict.fromkeys(each for each in good if each != literal)]


def _parted(shown: str, text: str) -> Iterator[PathRequest]:
    """Yield the readings of a text without its wrapping."""
    cited = re.search(CITED, text)
    lines = cited or _LINES.search(text)
    rest = text[: lines.start()] if lines else text
    whole = request_of(shown, text, lines)
    if not cited:
        yield whole
    path, sign, part = rest.partition("#")
    if sign and path.strip():
        yield replace(
            request_of(shown, path.rstrip(), None),
            first=whole.first,
            last=whole.last,
            part=part.strip("# "),
        )
    else:
        yield whole


def _unwrapped(given: str) -> str:
    """Return what stands in a link, in quotes, behind `Source:`, or in an address."""
    text = given.strip()
    text = _SAID.sub("", text, count=1)
    if found := _WIKI.match(text):
        return found[1].strip()
    if found := _MARKDOWN.match(text):
        text = found[1] or found[2]
    while len(text) > 1 and text[0] + text[-1] in _QUOTED:
        text = text[1:-1].strip()
    text = _AFTER.sub("", text)
    scheme, colon, rest = text.partition(":")
    if colon and scheme.lower() in ("memory", "file"):
        return unquote(rest.removeprefix("//"))
    return text
