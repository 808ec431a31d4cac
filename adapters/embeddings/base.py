"""What an embedding provider is. Read this before writing one.

A provider is described from the `EmbeddingSettings` of one slot, the first provider of an
agent or the one that stands in, and reads nothing else: neither other settings nor the
environment of this process. Providers are synchronous, as the engines that call them are:
blocking work leaves the event loop in one place per engine.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, runtime_checkable

from notewell.config import LocalSettings, Secret
from notewell.values import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix: TypeAlias = NDArray[np.float32]
    """One vector per row."""

Role: TypeAlias = Literal["query", "document"]
"""What a text is for: many models want to be told."""

FetchProgress: TypeAlias = Callable[[int, int | None], None]
"""Called with (bytes here, bytes in all, None if unknown) while a model is fetched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How long a provider is waited for.

    Attributes:
        connect: Seconds until a connection must stand.
        total: Seconds for all attempts together, pauses included.
        attempts: Requests at most, the first one included.
        pause: Seconds before the second attempt; doubles with each further one.
    """

    connect: float
    total: float
    attempts: int
    pause: float


QUERY_RETRIES = RetryPolicy(connect=2.0, total=4.0, attempts=2, pause=0.2)
"""A search waits for it."""

DOCUMENT_RETRIES = RetryPolicy(connect=10.0, total=120.0, attempts=4, pause=1.0)
"""Nobody waits; long enough for a model that has to be loaded first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyLookup:
    """Where a key was looked for, and what was found.

    Attributes:
        key: The key, if there is one.
        places: Where one may be put, for a person who has none.
        only_oauth: There is none, but OpenClaw is logged in to that provider.
        found: Where it was found.
        in_file: That is the configuration file.
    """

    key: Secret | None = None
    places: str = ""
    only_oauth: bool = False
    found: str = ""
    in_file: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingSettings:
    """One slot's settings, resolved.

    Attributes:
        name: The provider's name in the configuration, in its usual spelling.
        state_dir: `<state>`.
        model: The model that is configured; None: the provider's usual one.
        dimensionality: The length of vectors that is configured; None: the model's.
        input_types: What a compatible server is told as `input_type`, by role.
        local: The settings of the provider `local`.
        environ: The environment, for HF_ENDPOINT, HF_HOME and the proxies.
        offline: No connection may be opened but to this machine.
        endpoint: The base address that is configured; None: the provider's own.
        endpoint_key: The setting that names the address, or that would.
        model_key: The setting that names the model, or that would; empty for the
            provider that stands in, whose model cannot be set.
        key: The API key.
        headers: Sent along with every request.
        query: How long a query may take.
        document: How long passages may take.
    """

    name: str
    state_dir: Path
    model: str | None = None
    dimensionality: int | None = None
    input_types: Mapping[Role, str] = field(default_factory=dict[Role, str])
    local: LocalSettings = field(default_factory=LocalSettings)
    environ: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    offline: bool = False
    endpoint: str | None = field(default=None, repr=False)
    endpoint_key: str = ""
    model_key: str = ""
    key: KeyLookup = KeyLookup()
    headers: Mapping[str, Secret] = field(default_factory=dict[str, Secret])
    query: RetryPolicy = QUERY_RETRIES
    document: RetryPolicy = DOCUMENT_RETRIES


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingIdentity:
    """Everything that a vector depends on, but the text.

    Vectors are comparable if and only if their identities are equal.

    Attributes:
        provider: The provider's name.
        model: The model's name, or for a file what tells it from another file.
        endpoint: The base address it was asked at; empty on this machine.
        dimension: Numbers in a vector.
        prefixes: How the roles are told to the model, and how vectors are pooled.
    """

    provider: str
    model: str
    endpoint: str
    dimension: int
    prefixes: str

    def encoded(self) -> str:
        """Return the form in which a store keeps it."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def decoded(cls, text: str) -> EmbeddingIdentity:
        """Read what `encoded` wrote."""
        return cls(**json.loads(text))


class Embedder(Protocol):
    """An open provider with one model. Safe to share between threads.

    Every failure is an EmbeddingError. Nothing is ever retried for longer than the
    provider's own time limit says.
    """

    @property
    def model(self) -> str:
        """The model's name, as an answer shows it."""
        ...

    @property
    def batch_size(self) -> int:
        """How many texts are worth giving at once."""
        ...

    def identity(self) -> EmbeddingIdentity:
        """Return what the vectors depend on; asks the model at most once.

        Raises:
            EmbeddingError: the dimension is not known without the model, which fails.
        """
        ...

    def embed(self, texts: Sequence[str], role: Role) -> Matrix:
        """Return one unit vector per text.

        Returns:
            float32, shape (len(texts), dimension), row i for texts[i], L2 norm 1. A
            row is all NaN if the provider refuses that text alone, or gives a vector
            that cannot be used: zero, not finite, or of another length.

        Raises:
            EmbeddingError: no text could be embedded.
        """
        ...

    def close(self) -> None:
        """Release the model or the connections. Calling it twice is harmless."""
        ...


@runtime_checkable
class EmbedsQuestions(Protocol):
    """An embedder that turns a query into a vector without numpy."""

    def embed_question(self, text: str) -> bytes:
        """Return the query's unit vector: float32, little-endian.

        Returns:
            The numbers that `embed` gives for the role "query"; no bytes where that
            row is NaN.

        Raises:
            EmbeddingError: the text could not be embedded.
        """
        ...


@runtime_checkable
class TellsIdentity(Protocol):
    """An embedder that knows what its vectors depend on, but perhaps for their length."""

    def identity_of(self, dimension: int) -> EmbeddingIdentity:
        """Return what its vectors depend on if they have so many numbers.

        Asks nobody and loads no model. Where the length is known, that one is told.

        Raises:
            EmbeddingError: the files of the model have gone.
        """
        ...


@dataclass(slots=True)
class Reach:
    """How far the connections of one provider lead.

    Attributes:
        away: Whether the last one led off this machine; None before any. One through
            a proxy always does.
    """

    away: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """A provider that was chosen: what is known of it before it is opened.

    Attributes:
        name: Its name in the configuration.
        remote: Text may leave this machine: its host is a name other than `localhost`,
            or the address of another one.
        host: Where text would go; empty on this machine.
        open: Returns it ready for use. Loads no model, opens no connection; raises
            EmbeddingError if something it needs is missing (package, key, model file).
        check: Raises what `open` would raise for what is missing, and loads nothing: for
            one whose opening costs time. None: opening costs none.
        fetch: Gets the model that is missing on this disk; None if there is nothing
            to fetch. Never called by a search.
        instant: No model has to be loaded and no server asked, so a few vectors may be
            made on the way to an answer.
        reach: Where its connections have led.
        absent: What is configured is no provider; why, and what to do, in a sentence.
    """

    name: str
    remote: bool
    host: str
    open: Callable[[], Embedder]
    check: Callable[[], None] | None = None
    fetch: Callable[[FetchProgress], None] | None = None
    instant: bool = False
    reach: Reach = field(default_factory=Reach, compare=False)
    absent: str = ""

    @property
    def away(self) -> bool:
        """Whether text leaves this machine: by the address that was connected to.

        Before there was a connection, by what the host is called.
        """
        return self.remote if self.reach.away is None else self.reach.away


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderChoice:
    """Which providers an agent has.

    Attributes:
        first: The one that is configured, or that was chosen automatically.
        second: The one that stands in, `memorySearch.fallback`.
        last: The one that comes with the install, when it is neither of them: it
            answers while they fail, or have too few vectors yet.
        warnings: Settings that none of them has a use for, in sentences.
        problems: Settings that are wrong and that no answer tells as a step down.
        hint: Which key was found where nobody chose a provider, and how to use it.
    """

    first: Provider | None = None
    second: Provider | None = None
    last: Provider | None = None
    warnings: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    hint: str = ""

    @property
    def providers(self) -> tuple[Provider, ...]:
        """Those that there are, in the order in which they are asked."""
        return tuple(filter(None, (self.first, self.second, self.last)))


NO_PROVIDER = ProviderChoice()
"""Words alone are searched."""
