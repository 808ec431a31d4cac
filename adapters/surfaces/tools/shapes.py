"""What the tools give back, as JSON Schema: read from the very values that they give.

`wire` writes the fields of a value in camelCase, and these are their types. A field
that comes to be, or changes, is in the schema without a word here.
"""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from types import NoneType, UnionType
from typing import Any, Final, Literal, TypeAlias, Union, cast, get_args, get_origin
from typing import get_type_hints as types_of

from notewell.adapters.surfaces import wire
from notewell.types import Document, Hit, SearchAnswer

Json: TypeAlias = dict[str, object]

_TEXT: Final[Json] = {"type": "string"}
_PLAIN: Final[dict[object, Json]] = {
    str: _TEXT,
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    NoneType: {"type": "null"},
    datetime: {"type": "string", "format": "date-time"},
}
_FAILURE: Final[Json] = {
    "type": "object",
    "properties": {"type": _TEXT, "message": _TEXT, "remedy": _TEXT},
    "required": ["type", "message", "remedy"],
}


def found() -> Json:
    """Return the schema of what memory_search gives."""
    step = {"from": _TEXT, "reason": _TEXT}
    first: Json = {"type": "object", "properties": step, "required": list(step)}
    shape = _members(SearchAnswer)
    return _result({"notice": _TEXT, **shape}, perhaps={"fallback": first})


def lines() -> Json:
    """Return the schema of what memory_get gives."""
    return _result({"notice": _TEXT, **_members(Document)})


def noted() -> Json:
    """Return the schema of what memory_write gives."""
    from notewell.memory.remember import Remembered

    return _result({"citation": _TEXT, **_members(Remembered)})


def _result(shape: Json, *, perhaps: Mapping[str, object] = {}) -> Json:
    """Return the schema of one tool's result, which may be a failure instead."""
    return {
        "type": "object",
        "properties": {**shape, **perhaps, "error": _FAILURE},
        "anyOf": [{"required": list(shape)}, {"required": ["error"]}],
    }


def _members(kind: type) -> Json:
    hints = types_of(kind)
    named = fields(cast("Any", kind))
    return {wire.camel(each.name): _shape(hints[each.name]) for each in named}


def _shape(kind: object) -> Json:
    if kind in _PLAIN:
        return _PLAIN[kind]
    if isinstance(kind, type) and is_dataclass(kind):
        return _object(kind)
    inner = get_args(kind)
    if get_origin(kind) is Literal:
        return {"type": "string", "enum": list(inner)}
    if get_origin(kind) in (Union, UnionType):
        return {"anyOf": [_shape(each) for each in inner]}
    if get_origin(kind) is tuple:
        return {"type": "array", "items": _shape(inner[0])}
    raise TypeError(f"no tool gives back {kind!r}")


def _object(kind: type) -> Json:
    members = _members(kind)
    # A hit has its citation where the conversation is shown citations.
    perhaps: Json = {"citation": _TEXT} if kind is Hit else {}
    return {
        "type": "object",
        "properties": {**members, **perhaps},
        "required": [
            name for name in members if kind is not Hit or name not in wire.UNLESS_NONE
        ],
    }
