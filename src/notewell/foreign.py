"""Reading text and JSON that somebody else wrote, leniently: it never raises for them."""

import json
from typing import cast


def read_json(content: bytes) -> object:
    """Return the first JSON value in what a program or a server sent.

    NaN and Infinity, halves of surrogate pairs, bytes that are not UTF-8, and noise
    around an object are all put up with.

    Raises:
        ValueError: there is no JSON value in it; the message repeats nothing of it.

    >>> read_json(b'warming up... {"score": NaN}')
    {'score': nan}
    """
    import orjson

    try:
        return orjson.loads(content)
    except ValueError:
        pass
    text = content.decode("utf-8", errors="replace")
    starts = [place for place in map(text.find, "{[") if place >= 0]
    try:
        return cast(
            "object", json.JSONDecoder().raw_decode(text, min(starts, default=0))[0]
        )
    except (ValueError, RecursionError):
        raise ValueError("there is no JSON value in it") from None


def well_formed(text: str) -> str:
    """Return a text that UTF-8 can hold: halves of surrogate pairs become `?`.

    >>> well_formed("a\\ud83d")
    'a?'
    """
    return text.encode("utf-8", "replace").decode("utf-8")


def read_member(value: object, *keys: str) -> object:
    """Return what stands under nested keys; None where anything else stands.

    >>> read_member({"error": {"code": 7}}, "error", "code")
    7
    >>> read_member({"error": "down"}, "error", "code")
    """
    for key in keys:
        if not isinstance(value, dict):
            return None
        value = cast("dict[str, object]", value).get(key)
    return value


def read_names(value: object) -> list[str]:
    """Return the keys of an object; anything else has none."""
    return list(cast("dict[str, object]", value)) if isinstance(value, dict) else []


def read_items(value: object) -> list[object]:
    """Return a list; anything else is an empty one."""
    return cast("list[object]", value) if isinstance(value, list) else []
