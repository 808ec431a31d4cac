"""What the batch interface of a provider is: texts handed in, vectors fetched later."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol

from notewell.adapters.embeddings.dialect import Call


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """How a batch interface reaches its provider.

    Attributes:
        send: Sends a request and returns the answer's JSON.
        fetch: The same, for an answer that is a file.
        call: Writes the request that would embed passages inline.
    """

    send: Callable[[Call], object]
    fetch: Callable[[Call], bytes]
    call: Callable[[Sequence[str]], Call]


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What became of a job.

    Attributes:
        state: `part`: it ended early, and what is missing can be handed in again.
        vectors: One per text, None where there is none; empty while it runs.
    """

    state: Literal["running", "done", "part", "failed"]
    vectors: Sequence[object] = ()


class Jobs(Protocol):
    """A batch interface. Every failure is an EmbeddingError or Refused."""

    limit: ClassVar[int]
    """The most texts in a job."""

    def submit(self, texts: Sequence[str]) -> str:
        """Hand texts in and return the job's id. This is what is paid for."""
        ...

    def look(self, job: str, count: int) -> Look:
        """Return what became of a job of so many texts."""
        ...

    def forget(self, job: str) -> None:
        """Delete what the provider keeps of a job that has ended."""
        ...
