"""OpenAI, and every server that speaks as it does.

Source: platform.openai.com/docs/api-reference/embeddings (2,048 texts and 300,000 tokens
in a request), and platform.openai.com/docs/guides/batch (50,000 texts and 200 MB in a
batch): a file of requests in, a file of answers out.
"""

import contextlib
from collections.abc import Sequence
from typing import ClassVar, Final

from notewell.adapters.embeddings.base import EmbeddingSettings, Provider
from notewell.adapters.embeddings.prefixes import PLAIN, Prefixes, prefixes_for
from notewell.adapters.embeddings.remote.dialect import (
    Dialect,
    EmbeddingRequest,
    HttpRequest,
    JobState,
    JobTransport,
    Limits,
    indexed_rows,
)
from notewell.adapters.embeddings.remote.errors import Refusal
from notewell.adapters.embeddings.remote.provider import remote_provider
from notewell.errors import EmbeddingError
from notewell.foreign import read_json, read_member

_ENDED: Final = {"completed": "done", "expired": "part", "cancelled": "part"}


class OpenAIJobs:
    """Batches at OpenAI."""

    # As many could be 50,000; but an answer of 4,000 has up to 70 MB.
    limit: ClassVar[int] = 4000

    def __init__(self, channel: JobTransport) -> None:
        self._channel = channel

    def submit(self, texts: Sequence[str]) -> str:
        """Upload the requests and start a batch."""
        import orjson

        lines = (
            orjson.dumps(
                {
                    "custom_id": str(number),
                    "method": "POST",
                    "url": "/v1/embeddings",
                    "body": self._channel.call([text]).body,
                }
            )
            for number, text in enumerate(texts)
        )
        form = {"purpose": "batch"}
        upload = HttpRequest(path="/files", body=form, file=b"\n".join(lines))
        asked = {
            "input_file_id": _text(self._channel.send(upload), "id"),
            "endpoint": "/v1/embeddings",
            "completion_window": "24h",
        }
        start = HttpRequest(path="/batches", body=asked, once=True)
        return _text(self._channel.send(start), "id")

    def look(self, job: str, count: int) -> JobState:
        """Return the vectors of a batch that has ended."""
        batch = self._channel.send(HttpRequest(method="GET", path=f"/batches/{job}"))
        status = read_member(batch, "status")
        if status == "failed":
            return JobState(state="failed")
        if status not in _ENDED:
            return JobState(state="running")
        vectors: list[object] = [None] * count
        if file := _text(batch, "output_file_id"):
            call = HttpRequest(method="GET", path=f"/files/{file}/content")
            _place(self._channel.fetch(call), vectors)
        return JobState(
            state="done" if status == "completed" else "part", vectors=vectors
        )

    def forget(self, job: str) -> None:
        """Delete the files with the texts and the vectors, as far as that succeeds."""
        with contextlib.suppress(EmbeddingError, Refusal):
            batch = self._channel.send(
                HttpRequest(method="GET", path=f"/batches/{job}")
            )
            for name in ("input_file_id", "output_file_id", "error_file_id"):
                if file := _text(batch, name):
                    self._channel.send(
                        HttpRequest(method="DELETE", path=f"/files/{file}")
                    )


def _place(content: bytes, vectors: list[object]) -> None:
    """Put the vectors of a file of answers in their places."""
    for line in content.splitlines():
        try:
            answer = read_json(line)
        except ValueError:
            continue
        place = _text(answer, "custom_id")
        if place.isdecimal() and int(place) < len(vectors):
            body = read_member(answer, "response", "body")
            vectors[int(place)] = indexed_rows(body, 1)[0]


def _text(answer: object, key: str) -> str:
    found = read_member(answer, key)
    return found if isinstance(found, str) else ""


def _call(ask: EmbeddingRequest) -> HttpRequest:
    body: dict[str, object] = {"model": ask.model, "input": list(ask.texts)}
    if ask.own:
        body["encoding_format"] = "base64"  # a quarter of the bytes of decimal numbers
    if ask.dimensionality:
        body["dimensions"] = ask.dimensionality
    if ask.input_type:
        body["input_type"] = ask.input_type
    return HttpRequest(path="/embeddings", body=body)


def _prefixes(model: str, own: bool) -> Prefixes:
    """Its own models want nothing; a compatible server may hold any model."""
    return PLAIN if own else prefixes_for(model)


OPENAI: Final = Dialect(
    home="https://api.openai.com/v1",
    path="/v1",
    model="text-embedding-3-small",
    dimensions={
        "text-embedding-3-small": 1536,
        "text-embedding-3-large": 3072,
        "text-embedding-ada-002": 1536,
    },
    limits=Limits(items=2048, tokens=300_000, usual=128),
    call=_call,
    rows=indexed_rows,
    prefixes=_prefixes,
    jobs=OpenAIJobs,
)


def provider(settings: EmbeddingSettings) -> Provider:
    """Describe OpenAI, or the compatible server at the configured address."""
    return remote_provider(settings, OPENAI)
