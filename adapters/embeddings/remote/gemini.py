"""Gemini, in Google's own protocol.

Source: ai.google.dev/gemini-api/docs/embeddings and ai.google.dev/api/embeddings (100 texts
in a request; 2,048 tokens in a text), and ai.google.dev/gemini-api/docs/batch-api (20 MB in
a call, which holds the requests).
"""

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Final

from notewell.adapters.embeddings.base import EmbeddingSettings, Provider
from notewell.adapters.embeddings.prefixes import Prefixes, prefixes_for
from notewell.adapters.embeddings.remote.dialect import (
    Dialect,
    EmbeddingRequest,
    HttpRequest,
    JobState,
    JobTransport,
    Limits,
    listed_rows,
)
from notewell.adapters.embeddings.remote.errors import Refusal
from notewell.adapters.embeddings.remote.provider import remote_provider
from notewell.errors import EmbeddingError
from notewell.foreign import read_items, read_member

_TASKS: Final = {"query": "RETRIEVAL_QUERY", "document": "RETRIEVAL_DOCUMENT"}

_FAILED: Final = ("FAILED", "CANCELLED", "EXPIRED")


class GeminiJobs:
    """Batches at Google."""

    limit: ClassVar[int] = 4000  # of 400 tokens each they stay below 20 MB

    def __init__(self, channel: JobTransport) -> None:
        self._channel = channel

    def submit(self, texts: Sequence[str]) -> str:
        """Start a batch."""
        inline = self._channel.call(texts)
        requests = [
            {"request": request, "metadata": {"key": str(number)}}
            for number, request in enumerate(read_items(inline.body.get("requests")))
        ]
        config: Mapping[str, object] = {"requests": {"requests": requests}}
        body = {"batch": {"displayName": "notewell", "inputConfig": config}}
        path = inline.path.replace(":batchEmbedContents", ":asyncBatchEmbedContent")
        started = self._channel.send(HttpRequest(path=path, body=body, once=True))
        name = read_member(started, "name")
        return name if isinstance(name, str) else ""

    def look(self, job: str, count: int) -> JobState:
        """Return the vectors of a batch that has ended."""
        batch = self._channel.send(HttpRequest(method="GET", path=f"/{job}"))
        state = str(read_member(batch, "metadata", "state"))
        if state.endswith(_FAILED) or read_member(batch, "error") is not None:
            return JobState(state="failed")
        if read_member(batch, "done") is not True:
            return JobState(state="running")
        vectors: list[object] = [None] * count
        inlined = read_member(batch, "response", "inlinedResponses", "inlinedResponses")
        for answer in read_items(inlined):
            place = str(read_member(answer, "metadata", "key"))
            if place.isdecimal() and int(place) < count:
                vector = read_member(answer, "response", "embedding", "values")
                vectors[int(place)] = vector
        return JobState(state="done", vectors=vectors)

    def forget(self, job: str) -> None:
        """Delete the batch with its texts and vectors, as far as that succeeds."""
        with contextlib.suppress(EmbeddingError, Refusal):
            self._channel.send(HttpRequest(method="DELETE", path=f"/{job}"))


def _call(ask: EmbeddingRequest) -> HttpRequest:
    model = f"models/{ask.model.removeprefix('models/')}"
    shared: dict[str, object] = {"model": model}
    if not prefixes_for(ask.model).query:  # newer models want prefixes instead
        shared["taskType"] = _TASKS[ask.role]
    if ask.dimensionality:
        shared["outputDimensionality"] = ask.dimensionality
    requests = [{**shared, "content": {"parts": [{"text": t}]}} for t in ask.texts]
    return HttpRequest(path=f"/{model}:batchEmbedContents", body={"requests": requests})


def _rows(answer: object, count: int) -> list[object]:
    items = read_items(read_member(answer, "embeddings"))
    return listed_rows([read_member(item, "values") for item in items], count)


def _prefixes(model: str, own: bool) -> Prefixes:
    return prefixes_for(model)


def _carries(key: str) -> tuple[str, str]:
    return ("x-goog-api-key", key)  # in the address it would stand in logs


GEMINI: Final = Dialect(
    home="https://generativelanguage.googleapis.com/v1beta",
    path="/v1beta",
    model="gemini-embedding-001",
    dimensions={"gemini-embedding-001": 3072, "gemini-embedding-2": 3072},
    limits=Limits(items=100, tokens=100 * 2048, usual=100),
    call=_call,
    rows=_rows,
    carries=_carries,
    prefixes=_prefixes,
    jobs=GeminiJobs,
    roles="taskType",
)


def provider(settings: EmbeddingSettings) -> Provider:
    """Describe Gemini."""
    # OpenClaw's entry for chats may name the compatible interface below its address.
    endpoint = (settings.endpoint or "").rstrip("/").removesuffix("/openai") or None
    return remote_provider(replace(settings, endpoint=endpoint), GEMINI)
