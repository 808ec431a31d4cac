"""OpenAI's batch interface: a file of requests in, a file of answers out.

Source: platform.openai.com/docs/guides/batch (50,000 texts and 200 MB in a batch).
"""

import contextlib
from collections.abc import Sequence
from typing import ClassVar, Final

from notewell.adapters.embeddings.dialect import Call, indexed_rows
from notewell.adapters.embeddings.failures import Refused
from notewell.adapters.embeddings.jobs import Channel, Look
from notewell.errors import EmbeddingError
from notewell.foreign import read_json, read_member

_ENDED: Final = {"completed": "done", "expired": "part", "cancelled": "part"}


class OpenAIJobs:
    """Batches at OpenAI."""

    # As many could be 50,000; but an answer of 4,000 has up to 70 MB.
    limit: ClassVar[int] = 4000

    def __init__(self, channel: Channel) -> None:
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
        upload = Call(path="/files", body=form, file=b"\n".join(lines))
        asked = {
            "input_file_id": _text(self._channel.send(upload), "id"),
            "endpoint": "/v1/embeddings",
            "completion_window": "24h",
        }
        start = Call(path="/batches", body=asked, once=True)
        return _text(self._channel.send(start), "id")

    def look(self, job: str, count: int) -> Look:
        """Return the vectors of a batch that has ended."""
        batch = self._channel.send(Call(method="GET", path=f"/batches/{job}"))
        status = read_member(batch, "status")
        if status == "failed":
            return Look(state="failed")
        if status not in _ENDED:
            return Look(state="running")
        vectors: list[object] = [None] * count
        if file := _text(batch, "output_file_id"):
            call = Call(method="GET", path=f"/files/{file}/content")
            _place(self._channel.fetch(call), vectors)
        return Look(state="done" if status == "completed" else "part", vectors=vectors)

    def forget(self, job: str) -> None:
        """Delete the files with the texts and the vectors, as far as that succeeds."""
        with contextlib.suppress(EmbeddingError, Refused):
            batch = self._channel.send(Call(method="GET", path=f"/batches/{job}"))
            for name in ("input_file_id", "output_file_id", "error_file_id"):
                if file := _text(batch, name):
                    self._channel.send(Call(method="DELETE", path=f"/files/{file}"))


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
