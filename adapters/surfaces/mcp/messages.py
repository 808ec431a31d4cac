"""Messages as they come in: which the SDK answers, and the answer to all others.

The SDK drops what does not look like a message, and a client that waits for an answer
hangs. So each message is looked at before the SDK sees it. What it would drop is
answered here with the protocol's error, under the id that can be made out.
"""

import json
import re
import threading
from collections.abc import Iterator
from typing import Any, Final, cast

import orjson

MOST_BYTES: Final = 8 << 20
"""Of one message. The largest text that may be written down takes six, all escaped."""

_DEEPEST: Final = 128
"""Of lists and objects in one another; the SDK reads some more."""

_PARSE_ERROR: Final = -32700
_INVALID_REQUEST: Final = -32600
_INVALID_PARAMS: Final = -32602
_INTERNAL_ERROR: Final = -32603
_NO_ID: Final = b"null"
_LONGEST_ID: Final = 1_000
_END: Final = 65_536

# Strings, also one that is not closed; brackets; everything else.
_TOKEN: Final = re.compile(
    rb'"[^"\\]*(?:\\.?[^"\\]*)*"?|[{}\[\]:,]|[^\s"{}\[\]:,]+', re.DOTALL
)
_ID: Final = re.compile(
    rb'"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*"'
    rb"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?"
)
# Some clients write it after the parameters, alone or before another short member.
_ID_AT_THE_END: Final = re.compile(
    rb'"id"\s*:\s*('
    + _ID.pattern
    + rb')(?:\s*,\s*"(?:jsonrpc|method)"\s*:\s*"[^"\\]*")*\s*\}\s*\Z'
)


def refusals(message: bytes) -> list[bytes] | None:
    """Return the answers to a message that the SDK would drop, each without a newline.

    Args:
        message: One message as it came, without its newline.

    Returns:
        None when the SDK takes it; nothing when there is nothing to answer.
    """
    if not message.strip():
        return []
    if len(message) > MOST_BYTES:
        return [too_large(message[:_END], message[-_END:])]
    try:
        read: Any = orjson.loads(message)
    except orjson.JSONDecodeError as problem:  # its words repeat nothing of the text
        said = f"this is no JSON in UTF-8: {problem}"
        return [_error(_PARSE_ERROR, said, _id_in(message))]
    if isinstance(read, list):
        return _batch(cast("list[object]", read))
    if not isinstance(read, dict):
        return [_error(_INVALID_REQUEST, "a message is an object", _NO_ID)]
    return _object(cast("dict[str, object]", read), message)


def too_large(head: bytes, end: bytes) -> bytes:
    """Return the answer to a message of which only the two ends were kept."""
    request = _id_in(head)
    if request == _NO_ID and (found := _ID_AT_THE_END.search(end)):
        request = found[1]
    said = f"the message has more than {MOST_BYTES:,} bytes"
    return _error(_INVALID_REQUEST, said, request)


def missing_message() -> bytes:
    """Return the answer to nothing at all, where a message was due."""
    return _error(_PARSE_ERROR, "there is no message", _NO_ID)


def server_ending(message: bytes) -> bytes:
    """Return the answer to a request that is open when the server ends."""
    return _error(_INTERNAL_ERROR, "the server is ending", _id_in(message))


def _object(read: dict[str, object], message: bytes) -> list[bytes] | None:
    request = _id_in(message) if "id" in read else _NO_ID
    problem = _problem(read, request)
    if problem is None:
        return None
    if "id" not in read and isinstance(read.get("method"), str):
        return []  # a notification, which is never answered
    return [_error(*problem, request)]


def _problem(read: dict[str, object], request: bytes) -> tuple[int, str] | None:
    """Say what is wrong with a message, if the SDK would drop it for that."""
    whole = request.removeprefix(b"-").isdigit()  # however large
    if read.get("jsonrpc") != "2.0":
        return _INVALID_REQUEST, 'the member "jsonrpc" must be "2.0"'
    if "method" not in read and ("result" in read or "error" in read):
        return None  # an answer to the server, which waits for none itself
    if not isinstance(read.get("method"), str):
        return _INVALID_REQUEST, 'the member "method" must be a text'
    if "id" in read and not (whole or _is_id(read["id"])):
        return _INVALID_REQUEST, 'the member "id" must be a text or a whole number'
    if not isinstance(read.get("params", {}), dict | None):
        return _INVALID_PARAMS, 'the member "params" must be an object'
    if _is_deep(read):
        said = f"lists and objects lie more than {_DEEPEST} deep in one another"
        return _INVALID_REQUEST, said
    return None


def _batch(items: list[object]) -> list[bytes]:
    """Return one answer for each request of a batch, or one for all if none is there."""
    said = "batches are not taken; send one message at a time"
    objects = [cast("dict[str, object]", one) for one in items if isinstance(one, dict)]
    ids = [json.dumps(one["id"]).encode() for one in objects if _is_id(one.get("id"))]
    return [_error(_INVALID_REQUEST, said, one) for one in ids or [_NO_ID]]


def _is_id(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _is_deep(read: dict[str, object]) -> bool:
    """Whether values lie deeper in one another than the SDK reads them."""
    level: list[object] = [read]
    for _ in range(_DEEPEST):
        level = [inner for value in level for inner in _inner(value)]
        if not level:
            return False
    return True


def _inner(value: object) -> Iterator[object]:
    """Return what a list or an object holds."""
    if isinstance(value, dict):
        yield from cast("dict[str, object]", value).values()
    elif isinstance(value, list):
        yield from cast("list[object]", value)


def _id_in(message: bytes) -> bytes:
    """Return the id of a message that may be no JSON, as JSON; `null` if there is none.

    >>> _id_in(b'{"params": {"id": 1, "deep": [[[["')
    b'null'
    >>> _id_in(b'{"method": "id", "params": {"id": 1, "x": [}, "id": "a"')
    b'"a"'
    """
    found = _NO_ID
    before = b""
    for token in _outermost(message):
        if before == b'"id"' and token != b",":
            found = token
        before = token
    if len(found) > _LONGEST_ID or not _ID.fullmatch(found):
        return _NO_ID
    try:
        found.decode("utf-8")
    except UnicodeDecodeError:
        return _NO_ID
    return found


def _outermost(message: bytes) -> Iterator[bytes]:
    """Return the words of the first object of a message, without what lies deeper.

    A bracket that is not closed ends with what it stands in.
    """
    opened: list[bytes] = []
    for token in _TOKEN.finditer(message):
        word = token[0]
        if word in (b"{", b"["):
            opened.append(word)
            if opened == [b"["]:
                return
        elif word in (b"}", b"]"):
            while opened and opened.pop() != (b"{" if word == b"}" else b"["):
                pass
            if not opened:
                return
        elif len(opened) == 1 and word != b":":
            yield word


def _error(code: int, said: str, request: bytes) -> bytes:
    error = orjson.dumps({"code": code, "message": said})
    return b'{"jsonrpc":"2.0","id":%s,"error":%s}' % (request, error)


class OpenRequests:
    """The requests that were passed on and have no answer yet. Safe between threads."""

    def __init__(self) -> None:
        """Begin with none."""
        self._changed = threading.Condition()
        self._ids: set[tuple[type, object]] = set()

    def asked(self, message: bytes) -> None:
        """Hear what the client says: a request, or that one is cancelled."""
        read = _read_object(message)
        if "method" not in read:
            return
        params = read.get("params")
        with self._changed:
            if _is_id(read.get("id")):
                self._ids.add(_keyed(read["id"]))
            elif read["method"] == "notifications/cancelled" and isinstance(
                params, dict
            ):
                self._answered(cast("dict[str, object]", params).get("requestId"))

    def told(self, message: bytes) -> None:
        """Hear what the client is told: an answer, or something else."""
        read = _read_object(message)
        if "method" not in read:
            with self._changed:
                self._answered(read.get("id"))

    def wait(self, seconds: float) -> None:
        """Wait until all have their answers, but no longer than that."""
        with self._changed:
            self._changed.wait_for(lambda: not self._ids, timeout=seconds)

    def forget(self) -> None:
        """Wait for none of them any more."""
        with self._changed:
            self._ids.clear()
            self._changed.notify_all()

    def _answered(self, request: object) -> None:
        self._ids.discard(_keyed(request))
        self._changed.notify_all()


def _keyed(request: object) -> tuple[type, object]:
    return type(request), request if isinstance(request, str | int | float) else None


def _read_object(message: bytes) -> dict[str, object]:
    try:
        read: object = orjson.loads(message)
    except orjson.JSONDecodeError:
        return {}
    return cast("dict[str, object]", read) if isinstance(read, dict) else {}
