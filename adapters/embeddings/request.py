"""What a provider is made from: everything the settings say about one slot.

A slot is the first provider of an agent, or the one that stands in. A provider reads
nothing else: neither the settings nor the environment of this process.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from notewell.adapters.embeddings.base import Role
from notewell.config import LocalSettings, Secret


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
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


QUERY = Patience(connect=2.0, total=4.0, attempts=2, pause=0.2)
"""A search waits for it."""

DOCUMENT = Patience(connect=10.0, total=120.0, attempts=4, pause=1.0)
"""Nobody waits; long enough for a model that has to be loaded first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyFound:
    """Where a key was looked for, and what was found.

    Attributes:
        key: The key, if there is one.
        places: Where one may be put, for a person who has none.
        only_oauth: There is none, but OpenClaw is logged in to that provider.
    """

    key: Secret | None = None
    places: str = ""
    only_oauth: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
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
    key: KeyFound = KeyFound()
    headers: Mapping[str, Secret] = field(default_factory=dict[str, Secret])
    query: Patience = QUERY
    document: Patience = DOCUMENT
