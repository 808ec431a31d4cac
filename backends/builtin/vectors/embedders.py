"""The providers of one agent, opened when they are needed and left alone when they fail."""

import time
from dataclasses import dataclass
from threading import Lock

from notewell.adapters.embeddings.base import Choice, Embedder, Provider
from notewell.backends.text.windows import cut_name
from notewell.config import WindowSettings
from notewell.errors import EmbeddingError

_REST = 60.0
"""Seconds for which a provider that failed is not asked again by a search."""

_LONGEST_REST = 3600.0

_WINDOW = 120
"""Tokens in a window where nothing is set, and the provider is on this machine."""


def cut_for(provider: Provider, window: WindowSettings) -> str:
    """Return how passages are cut into windows for a provider, as `windows` knows it."""
    usual = 0 if provider.remote else _WINDOW
    tokens = usual if window.tokens is None else window.tokens
    return cut_name(tokens, window.overlap)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    """A provider is left alone for a while.

    Attributes:
        error: What it failed with.
        until: On `time.monotonic()`.
    """

    error: EmbeddingError
    until: float

    @property
    def left(self) -> float:
        """Seconds until it is asked again; not above zero when it may be."""
        return self.until - time.monotonic()


class Embedders:
    """Opens providers once. Safe to share between threads.

    Attributes:
        choice: The providers.
    """

    def __init__(self, choice: Choice, *, rest: float = _REST) -> None:
        self.choice = choice
        self._rest = rest
        self._open: dict[str, Embedder] = {}
        self._resting: dict[str, Rest] = {}
        self._guard = Lock()

    def get(self, provider: Provider) -> Embedder:
        """Return the provider, open.

        Raises:
            EmbeddingError: something that it needs is missing.
        """
        with self._guard:
            if provider.name not in self._open:
                self._open[provider.name] = provider.open()
            return self._open[provider.name]

    def rest(self, provider: Provider, error: EmbeddingError) -> None:
        """Leave a provider alone for as long as it asks for, or for a while."""
        seconds = min(error.retry_after or self._rest, _LONGEST_REST)
        until = time.monotonic() + seconds
        self._resting[provider.name] = Rest(error=error, until=until)

    def resting(self, provider: Provider) -> Rest | None:
        """Return why a provider is not asked now, if it is not."""
        rest = self._resting.get(provider.name)
        return rest if rest and rest.left > 0 else None

    def wake(self, provider: Provider) -> None:
        """Forget that a provider has failed: it works again."""
        self._resting.pop(provider.name, None)

    def close(self) -> None:
        """Close every provider."""
        with self._guard:
            opened, self._open = list(self._open.values()), {}
        for embedder in opened:
            embedder.close()
