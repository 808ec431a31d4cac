"""Reading what QMD prints: pure, and at peace with noise and nonsense.

Standard output should be one JSON array. Older versions and the libraries below QMD
print progress, colours and warnings around it; some say in words that nothing was
found. Whatever comes, the result is a list of documents or `UnreadableAnswer`, which
tells sizes and never what was printed: that may be the text of a note.
"""

import json
import math
import re
from collections.abc import Iterator
from typing import Final, NamedTuple, cast

from notewell.foreign import well_formed

_ESCAPES: Final = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours, cursor
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?"  # titles, links, progress
    r"|\x1b."
)
_NOTHING: Final = re.compile(r"no results? (?:found|for)\b|no documents", re.IGNORECASE)
_URI: Final = re.compile(r"(?:qmd://)?([^/]+)/(.+)", re.DOTALL)
_PLACE: Final = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? @@[^\n]*\n?")
_NUMBERED: Final = re.compile(r"\d{1,9}: ?")
_DOCID: Final = re.compile(r"#?([0-9a-f]{6,64})")
_INDEX_SUFFIX: Final = "?index=index"
_MOST_LINES: Final = 2**31
_MOST_STARTS: Final = 200
"""Brackets that are tried as the beginning of the array."""


class UnreadableAnswer(ValueError):
    """There is no answer in what was printed."""


class QmdHit(NamedTuple):
    """A note that QMD found, as QMD names it.

    Attributes:
        collection: The name of its collection.
        path: Below the collection's folder; older versions alter it.
        docid: The beginning of the SHA-256 of its text, or empty.
        score: In [0, 1]; what it means depends on version and command.
        line: The best line, counted from 1, or None.
        snippet: Text of the note, without QMD's own marks.
    """

    collection: str
    path: str
    docid: str = ""
    score: float = 0.0
    line: int | None = None
    snippet: str = ""


def parse_answer(out: bytes, err: bytes = b"") -> list[QmdHit]:
    """Return the documents of a search, best first, each once.

    Raises:
        UnreadableAnswer: there is no complete array of documents.
    """
    text = _ESCAPES.sub("", out.decode("utf-8", "replace")).replace("\r\n", "\n")
    text = text.replace("\r", "\n")
    for array in _arrays(text):
        documents = parse_hits(array)
        if documents is not None:
            return documents
    said = text if text.strip() else err.decode("utf-8", "replace")
    if _NOTHING.search(said) and "[{" not in text:
        return []
    raise UnreadableAnswer(f"no list of documents in {len(out):,} bytes")


def parse_hits(array: object) -> list[QmdHit] | None:
    """Return the documents of a parsed array; None if it is something else."""
    if not isinstance(array, list):
        return None
    found: dict[tuple[str, str], QmdHit] = {}
    for item in cast("list[object]", array):
        document = _document(item)
        if document is None:
            return None
        found.setdefault((document.collection, document.path), document)
    return list(found.values())


def _arrays(text: str) -> Iterator[object]:
    """Yield each JSON array that can be parsed, wherever one may begin."""
    decoder = json.JSONDecoder()
    at, tried = text.find("["), 0
    while at >= 0 and tried < _MOST_STARTS:
        tried += 1
        end = at + 1
        if _begins_array(text, at):
            try:
                array, end = decoder.raw_decode(text, at)
            except (ValueError, RecursionError):
                end = at + 1
            else:
                yield array
        at = text.find("[", end)


def _begins_array(text: str, at: int) -> bool:
    """Say whether an array of objects, or an empty one alone, may begin here."""
    rest = text[at + 1 : at + 200].lstrip()
    if rest.startswith("]"):
        line = text[text.rfind("\n", 0, at) + 1 :].partition("\n")[0]
        return line.strip() == "[]" or not rest[1:].strip()
    return rest.startswith("{")


def _document(item: object) -> QmdHit | None:
    if not isinstance(item, dict):
        return None
    fields = cast("dict[str, object]", item)
    name = fields.get("file")
    if not isinstance(name, str):
        return None
    place = _URI.fullmatch(_text(name).removesuffix(_INDEX_SUFFIX))
    if place is None:
        return None
    snippet, first = _snippet(_text(fields.get("snippet")))
    return QmdHit(
        collection=place[1],
        path=place[2],
        docid=_docid(fields.get("docid")),
        score=_score(fields.get("score")),
        line=_line(fields.get("line")) or _line(fields.get("start_line")) or first,
        snippet=snippet,
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        return ""
    return well_formed(value)


def _docid(value: object) -> str:
    found = _DOCID.fullmatch(_text(value))
    return found[1] if found else ""


def _score(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0.0
    return min(1.0, max(0.0, value)) if math.isfinite(value) else 0.0


def _line(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if 1 <= value < _MOST_LINES else None


def _snippet(text: str) -> tuple[str, int | None]:
    """Return a snippet without QMD's line numbers and place, and its first line."""
    numbered = _NUMBERED.match(text)
    bare = text[numbered.end() :] if numbered else text
    place = _PLACE.match(bare)
    if place is None:
        return text, None
    lines = bare[place.end() :].split("\n")
    if numbered:
        lines = [_NUMBERED.sub("", line, count=1) for line in lines]
    return "\n".join(lines), _line(int(place[1]))
