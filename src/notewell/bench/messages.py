"""What the benchmark and its workers tell each other: one JSON value a line."""

from typing import Literal, TypeAlias

import msgspec

from notewell.backends.base import Upload
from notewell.types import IndexReport, SearchAnswer


class Message(msgspec.Struct, frozen=True, kw_only=True, tag_field="is"):
    """One line; its kind is the lower-case name of its class."""


class Index(Message, frozen=True, kw_only=True, tag="index"):
    """To a worker: bring the index up to date, vectors as well."""


class Search(Message, frozen=True, kw_only=True, tag="search"):
    """To a worker: answer a question."""

    query: str


class Finish(Message, frozen=True, kw_only=True, tag="finish"):
    """To a worker: close everything, and say what it took."""


class Moved(Message, frozen=True, kw_only=True, tag="moved"):
    """From a worker: how far it is with notes, with passages or with bytes of a model."""

    what: Literal["notes", "vectors", "model"]
    done: int
    total: int | None


class Uploading(Message, frozen=True, kw_only=True, tag="uploading"):
    """From a worker: text of the notes is about to leave this machine."""

    upload: Upload


class Indexed(Message, frozen=True, kw_only=True, tag="indexed"):
    """From a worker: the index is as good as it gets.

    Attributes:
        fresh: There was none before.
        version: What the engine says of itself, where it is a program of its own.
    """

    report: IndexReport
    ms: float
    fresh: bool
    version: str | None = None


class Answered(Message, frozen=True, kw_only=True, tag="answered"):
    """From a worker: an answer, and the wall time of the call."""

    answer: SearchAnswer
    ms: float


class Failed(Message, frozen=True, kw_only=True, tag="failed"):
    """From a worker: it could not, and why."""

    message: str
    remedy: str


class Finished(Message, frozen=True, kw_only=True, tag="finished"):
    """From a worker, its last word: peak memory in bytes, its largest child's as well."""

    peak_memory: int


Request: TypeAlias = Index | Search | Finish
Event: TypeAlias = Moved | Uploading
Reply: TypeAlias = Indexed | Answered | Failed | Finished

encode = msgspec.json.encode


def read_request(line: bytes) -> Request:
    """Read what a worker is asked.

    Raises:
        msgspec.MsgspecError: it is no request.
    """
    request: Request = msgspec.json.decode(line, type=Request)
    return request


def read_told(line: bytes) -> Event | Reply:
    """Read what a worker says.

    Raises:
        msgspec.MsgspecError: it is nothing that a worker says.
    """
    message: Event | Reply = msgspec.json.decode(line, type=Event | Reply)
    return message
