"""The one place that turns our values into JSON: camelCase names, UTF-8 bytes."""

import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from datetime import UTC, date, datetime
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import orjson

from notewell.adapters.surfaces.plain_text import without_surrogates
from notewell.errors import NotewellError
from notewell.note_links import NoteLinks
from notewell.types import (
    Document,
    Hit,
    IndexReport,
    SearchAnswer,
    StatusReport,
)

if TYPE_CHECKING:
    from notewell.bench.results import BenchReport
    from notewell.memory.context import SessionContext
    from notewell.memory.remember import Remembered

Json: TypeAlias = dict[str, object]

# DEL, C1 controls, line separators and bidirectional overrides: JSON allows them
# raw, but a terminal obeys them. Escaped, the value stays the same.
_OBEYED = re.compile(
    rb"\x7f|\xc2[\x80-\x9f]|\xe2\x80[\xa8-\xae]|\xe2\x81[\xa6-\xa9]",
)
ADDITIVE: Final = frozenset(
    {
        "alsoIn",
        "candidates",
        "date",
        "engine",
        "filters",
        "links",
        "nearest",
        "understood",
        "within",
    }
)
"""Members that came later, and are left out where they say nothing."""

_LARGEST_INTEGER = 2**64 - 1
_SMALLEST_INTEGER = -(2**63)


def answer_json(answer: SearchAnswer) -> Json:
    """Return the answer of a search as agents know it.

    `fallback` is the first step down in OpenClaw's shape; absent without one.
    """
    body = _members(answer)
    shape: Json = {"schemaVersion": body.pop("schemaVersion")}
    shape.update(body)
    if answer.fallbacks:
        first = answer.fallbacks[0]
        shape["fallback"] = {"from": first.from_, "reason": first.reason}
    return shape


def hit_json(found: Hit) -> Json:
    """Return one passage, with its citation."""
    return _members(found)


def document_json(found: Document) -> Json:
    """Return the answer of a get."""
    return _members(found)


def documents_json(found: Sequence[Document]) -> Json:
    """Return the answer of a get of several notes."""
    return {"documents": [_members(each) for each in found]}


def links_json(found: NoteLinks) -> Json:
    """Return the links of a note."""
    return _members(found)


def remembered_json(found: "Remembered") -> Json:
    """Return what became of a text that was to be remembered."""
    return {"citation": found.citation, **_members(found)}


def context_json(found: "SessionContext") -> Json:
    """Return what a session starts with; each part has its citation."""
    parts = [
        {"citation": part.citation, **_members(part), "truncated": part.truncated}
        for part in found.parts
    ]
    return {**_members(found), "day": found.day.isoformat(), "parts": parts}


def index_json(report: IndexReport) -> Json:
    """Return what an indexing run left behind."""
    body = _members(report)
    del body["changed"], body["removed"]  # for people only
    return body


def status_json(report: StatusReport) -> Json:
    """Return the state of one agent's memory."""
    return _members(report)


def bench_json(report: "BenchReport") -> Json:
    """Return what a benchmark found; metrics, categories and settings keep their names."""
    return _members(report)


def error_json(kind: str, message: str, remedy: str) -> Json:
    """Return the object that stands for a failure, in every surface."""
    return {"error": {"type": kind, "message": message, "remedy": remedy}}


def failure_json(cause: NotewellError) -> Json:
    """Return the object for an error of ours."""
    return error_json(cause.kind, cause.message, cause.remedy)


def agents_json(reports: list[Json]) -> Json:
    """Return the object itself when there is one, else `{"agents": [...]}`."""
    return reports[0] if len(reports) == 1 else {"agents": reports}


def dump(value: Mapping[str, object]) -> bytes:
    """Encode one JSON object, with a final newline.

    Always valid UTF-8 and never refused: a lone surrogate becomes U+FFFD, an
    integer beyond 64 bits a float.
    """
    options = orjson.OPT_APPEND_NEWLINE
    shape = as_json(value)
    try:
        encoded = orjson.dumps(shape, option=options)
    except TypeError:  # orjson's own error is one
        encoded = orjson.dumps(_mended(shape), option=options)
    return _OBEYED.sub(_escaped, encoded)


def as_json(value: object) -> object:
    """Return `value` made of what JSON knows."""
    if is_dataclass(value) and not isinstance(value, type):
        return _members(value)
    if isinstance(value, datetime):
        return _utc(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping):
        mapping = cast("Mapping[object, object]", value)
        return {str(key): as_json(item) for key, item in mapping.items()}
    if isinstance(value, AbstractSet):
        return sorted(map(str, cast("AbstractSet[object]", value)))
    if isinstance(value, list | tuple):
        return [as_json(item) for item in cast("list[object]", value)]
    return str(value) if isinstance(value, PurePath) else value


def _members(value: Any) -> Json:
    """The fields of a dataclass; a hit carries its citation too."""
    members: Json = {}
    for field in fields(value):
        name, said = camel_case(field.name), getattr(value, field.name)
        if said or name not in ADDITIVE:
            members[name] = as_json(said)
    if isinstance(value, Hit):
        members["citation"] = value.citation
    return members


def camel_case(name: str) -> str:
    """Spell a field's name in camelCase.

    >>> camel_case("start_line"), camel_case("from_"), camel_case("took_ms")
    ('startLine', 'from', 'tookMs')
    """
    head, *tail = name.rstrip("_").split("_")
    return head + "".join(word.capitalize() for word in tail)


def _utc(moment: datetime) -> str:
    """ISO 8601 in UTC, with Z; a moment without a zone is taken for UTC."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return aware.astimezone(UTC).isoformat(timespec="milliseconds")[:-6] + "Z"


def _mended(value: object) -> object:
    """Replace what JSON in UTF-8 cannot hold."""
    if isinstance(value, dict):
        members = cast("dict[str, object]", value)
        return {str(_mended(key)): _mended(item) for key, item in members.items()}
    if isinstance(value, list):
        return [_mended(item) for item in cast("list[object]", value)]
    if isinstance(value, str):
        return without_surrogates(value)
    if isinstance(value, int) and not _SMALLEST_INTEGER <= value <= _LARGEST_INTEGER:
        return float(value) if abs(value) < 10**300 else str(value)
    known = value is None or isinstance(value, bool | int | float)
    return value if known else str(value)


def _escaped(match: re.Match[bytes]) -> bytes:
    return b"\\u%04x" % ord(match.group().decode("utf-8"))
