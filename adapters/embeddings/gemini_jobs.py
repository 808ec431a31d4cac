"""Gemini's batch interface, with the requests in the call itself.

Source: ai.google.dev/gemini-api/docs/batch-api (20 MB in a call).
"""

import contextlib
from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

from notewell.adapters.embeddings.dialect import Call
from notewell.adapters.embeddings.failures import Refused
from notewell.adapters.embeddings.jobs import Channel, Look
from notewell.errors import EmbeddingError
from notewell.foreign import read_items, read_member

_FAILED: Final = ("FAILED", "CANCELLED", "EXPIRED")


class GeminiJobs:
    """Batches at Google."""

    limit: ClassVar[int] = 4000  # of 400 tokens each they stay below 20 MB

    def __init__(self, channel: Channel) -> None:
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
        started = self._channel.send(Call(path=path, body=body, once=True))
        name = read_member(started, "name")
        return name if isinstance(name, str) else ""

    def look(self, job: str, count: int) -> Look:
        """Return the vectors of a batch that has ended."""
        batch = self._channel.send(Call(method="GET", path=f"/{job}"))
        state = str(read_member(batch, "metadata", "state"))
        if state.endswith(_FAILED) or read_member(batch, "error") is not None:
            return Look(state="failed")
        if read_member(batch, "done") is not True:
            return Look(state="running")
        vectors: list[object] = [None] * count
        inlined = read_member(batch, "response", "inlinedResponses", "inlinedResponses")
        for answer in read_items(inlined):
            place = str(read_member(answer, "metadata", "key"))
            if place.isdecimal() and int(place) < count:
                vector = read_member(answer, "response", "embedding", "values")
                vectors[int(place)] = vector
        return Look(state="done", vectors=vectors)

    def forget(self, job: str) -> None:
        """Delete the batch with its texts and vectors, as far as that succeeds."""
        with contextlib.suppress(EmbeddingError, Refused):
            self._channel.send(Call(method="DELETE", path=f"/{job}"))
