"""How a remote provider is spoken to: what its module has to say about it.

That is a `Dialect`: addresses, models, limits, how texts become a request and an answer
vectors, and the batch interface (`BatchJobs`), if there is one: texts handed in, vectors
fetched later.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, Protocol, TypeAlias
from urllib.parse import urlsplit

from notewell.adapters.embeddings.base import Role
from notewell.adapters.embeddings.prefixes import PLAIN, Prefixes
from notewell.adapters.embeddings.remote.address import Address
from notewell.foreign import read_items, read_member

ReadVectors: TypeAlias = Callable[[object, int], list[object]]
"""From an answer's JSON and the number of texts to as many vectors.

A vector is whatever `vectors.unit_rows` takes; None where the answer has none. A vector
whose text is not certain counts as none: texts never get each other's vectors.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one request may hold, as the provider publishes it.

    Attributes:
        items: Texts at most.
        tokens: Tokens of all texts together at most.
        usual: Texts that are worth giving at once.
    """

    items: int
    tokens: int
    usual: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingRequest:
    """Texts to be embedded.

    Attributes:
        model: The model's name, without a prefix of the provider.
        texts: With the model's prefixes.
        role: What they are for.
        dimensionality: The length that is configured for vectors, or None.
        input_type: What is configured for this role, or None.
        own: The provider itself is asked, not a server that speaks as it does.
    """

    model: str
    texts: Sequence[str]
    role: Role
    dimensionality: int | None
    input_type: str | None
    own: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """One request.

    Attributes:
        path: Below the base address.
        body: The JSON that is sent; the fields of a form if there is a file.
        file: A file that is uploaded.
        method: Of HTTP.
        once: It is not repeated when it fails: it might be paid for twice.
    """

    path: str
    body: Mapping[str, object] = field(default_factory=dict[str, object])
    file: bytes | None = None
    method: str = "POST"
    once: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class JobTransport:
    """How a batch interface reaches its provider.

    Attributes:
        send: Sends a request and returns the answer's JSON.
        fetch: The same, for an answer that is a file.
        call: Writes the request that would embed passages inline.
    """

    send: Callable[[HttpRequest], object]
    fetch: Callable[[HttpRequest], bytes]
    call: Callable[[Sequence[str]], HttpRequest]


@dataclass(frozen=True, slots=True, kw_only=True)
class JobState:
    """What became of a job.

    Attributes:
        state: `part`: it ended early, and what is missing can be handed in again.
        vectors: One per text, None where there is none; empty while it runs.
    """

    state: Literal["running", "done", "part", "failed"]
    vectors: Sequence[object] = ()


class BatchJobs(Protocol):
    """A batch interface. Every failure is an EmbeddingError or Refusal."""

    limit: ClassVar[int]
    """The most texts in a job."""

    def submit(self, texts: Sequence[str]) -> str:
        """Hand texts in and return the job's id. This is what is paid for."""
        ...

    def look(self, job: str, count: int) -> JobState:
        """Return what became of a job of so many texts."""
        ...

    def forget(self, job: str) -> None:
        """Delete what the provider keeps of a job that has ended."""
        ...


def bearer(key: str) -> tuple[str, str]:
    """Return the header that carries a key at most providers."""
    return ("Authorization", f"Bearer {key}")


def _nothing_special(model: str, own: bool) -> Prefixes:
    return PLAIN


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """What there is to know about a provider.

    Attributes:
        home: Its own base address.
        path: The path that counts when a configured address has none.
        model: Its usual model.
        dimensions: Lengths of the vectors of its models, as published.
        limits: Bounds of a request.
        call: Writes a request.
        rows: Reads an answer.
        carries: The header that carries a key.
        keyless: It may be asked without a key at its own address.
        prefixes: What stands before texts, by model and by whether it is itself asked.
        roles: How else it is told the roles, for the identity of vectors.
        pull: The command that gets a missing model; empty: there is none.
        jobs: Its batch interface.
        start: What to do when nothing answers at its address.
    """

    home: str
    path: str
    model: str
    dimensions: Mapping[str, int]
    limits: Limits
    call: Callable[[EmbeddingRequest], HttpRequest]
    rows: ReadVectors
    carries: Callable[[str], tuple[str, str]] = bearer
    keyless: bool = False
    prefixes: Callable[[str, bool], Prefixes] = _nothing_special
    roles: str = ""
    pull: str = ""
    jobs: Callable[[JobTransport], BatchJobs] | None = None
    start: str = field(default="check the network, and the address if you set one")


def indexed_rows(answer: object, count: int) -> list[object]:
    """Read `{"data": [{"index": …, "embedding": …}]}`, whatever the order.

    >>> indexed_rows({"data": [{"index": 1, "embedding": [2]}]}, 2)
    [None, [2]]
    >>> indexed_rows({"data": [{"embedding": [2]}]}, 2)
    [None, None]
    """
    items = read_items(read_member(answer, "data"))
    places = [read_member(item, "index") for item in items]
    vectors = [_plain(read_member(item, "embedding")) for item in items]
    if all(place is None for place in places):
        return listed_rows(vectors, count)
    found: list[object] = [None] * count
    for place, vector in zip(places, vectors, strict=True):
        if isinstance(place, int) and 0 <= place < count and places.count(place) == 1:
            found[place] = vector
    return found


def listed_rows(vectors: list[object], count: int) -> list[object]:
    """Return vectors that stand in the order of their texts, if there is one for each."""
    return vectors if len(vectors) == count else [None] * count


def _plain(vector: object) -> object:
    """Decode base64, in which OpenAI packs float32 on request."""
    if not isinstance(vector, str):
        return vector
    import base64

    try:
        return base64.b64decode(vector, validate=True)
    except ValueError:
        return None


def is_own(dialect: Dialect, address: Address) -> bool:
    """Whether the provider itself is asked, not a server that speaks as it does."""
    return address.host == urlsplit(dialect.home).hostname
