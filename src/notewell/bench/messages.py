"""What the benchmark and its workers tell each other: one JSON value a line."""

from datetime import date
from typing import Literal, TypeAlias

import msgspec

from notewell.backends.base import Upload
from notewell.types import IndexReport, SearchAnswer


class WorkerMessage(msgspec.Struct, frozen=True, kw_only=True, tag_field="is"):
    """One line; its kind is the lower-case name of its class."""


class IndexRequest(WorkerMessage, frozen=True, kw_only=True, tag="index"):
    """To a worker: bring the index up to date, vectors as well."""


class SearchRequest(WorkerMessage, frozen=True, kw_only=True, tag="search"):
    """To a worker: answer a question, as if it were asked on a day, if one is named."""

    query: str
    today: date | None = None


class FinishRequest(WorkerMessage, frozen=True, kw_only=True, tag="finish"):
    """To a worker: close everything, and say what it took."""


class ProgressEvent(WorkerMessage, frozen=True, kw_only=True, tag="moved"):
    """From a worker: how far it is with notes, with passages or with bytes of a model."""

    what: Literal["notes", "vectors", "model"]
    done: int
    total: int | None


class UploadEvent(WorkerMessage, frozen=True, kw_only=True, tag="uploading"):
    """From a worker: text of the notes is about to leave this machine."""

    upload: Upload


class IndexReply(WorkerMessage, frozen=True, kw_only=True, tag="indexed"):
    """From a worker: the index is as good as it gets.

    Attributes:
        fresh: There was none before.
        version: What the engine says of itself, where it is a program of its own.
        apart: How well the model of its vectors tells the notes apart, by script.
    """

    report: IndexReport
    ms: float
    fresh: bool
    version: str | None = None
    apart: dict[str, str] = {}


class SearchReply(WorkerMessage, frozen=True, kw_only=True, tag="answered"):
    """From a worker: an answer, and the wall time of the call."""

    answer: SearchAnswer
    ms: float


class ErrorReply(WorkerMessage, frozen=True, kw_only=True, tag="failed"):
    """From a worker: it could not, and why."""

    message: str
    remedy: str


class FinishReply(WorkerMessage, frozen=True, kw_only=True, tag="finished"):
    """From a worker, its last word: peak memory in bytes, its largest child's as well."""

    peak_memory: int


WorkerRequest: TypeAlias = IndexRequest | SearchRequest | FinishRequest
WorkerEvent: TypeAlias = ProgressEvent | UploadEvent
WorkerReply: TypeAlias = IndexReply | SearchReply | ErrorReply | FinishReply

encode_message = msgspec.json.encode


def decode_request(line: bytes) -> WorkerRequest:
    """Read what a worker is asked.

    Raises:
        msgspec.MsgspecError: it is no request.
    """
    request: WorkerRequest = msgspec.json.decode(line, type=WorkerRequest)
    return request


def decode_message(line: bytes) -> WorkerEvent | WorkerReply:
    """Read what a worker says.

    Raises:
        msgspec.MsgspecError: it is nothing that a worker says.
    """
    message: WorkerEvent | WorkerReply = msgspec.json.decode(
        line, type=WorkerEvent | WorkerReply
    )
    return message
