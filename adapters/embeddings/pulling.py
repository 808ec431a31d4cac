"""Which model an agent needs on this disk, and fetching it; never in a search."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeAlias

from notewell.adapters.embeddings import llama_provider, sentence_transformers, static
from notewell.adapters.embeddings.base import Fetched, Provider
from notewell.adapters.embeddings.disk import ModelOnDisk
from notewell.adapters.embeddings.request import Request
from notewell.errors import UsageError

if TYPE_CHECKING:
    from notewell.config import AgentSettings, Settings

OnDisk: TypeAlias = Callable[[Request], ModelOnDisk]
Describe: TypeAlias = Callable[[Request], Provider]

_HERE: Final[Mapping[str, tuple[OnDisk, Describe]]] = {
    "local": (llama_provider.on_disk, llama_provider.provider),
    "sentence-transformers": (
        sentence_transformers.on_disk,
        sentence_transformers.provider,
    ),
}
_NAME_ONE: Final = "name one: notewell models pull hf:<owner>/<repository>/<file>.gguf"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pull:
    """One model that can be fetched."""

    request: Request

    def model(self) -> ModelOnDisk:
        """Return what it is, and where it is or will be."""
        on_disk, _ = _HERE[self.request.name]
        return on_disk(self.request)

    def run(self, fetched: Fetched) -> ModelOnDisk:
        """Fetch it, or what is missing of it.

        Raises:
            EmbeddingError: it cannot be fetched; what has come is kept.
            UsageError: it is named by a path, so it is there or nowhere.
        """
        _, describe = _HERE[self.request.name]
        fetch = describe(self.request).fetch
        if fetch is None:
            raise UsageError(
                f"{self.model().path} is a place on this disk", remedy=_NAME_ONE
            )
        fetch(fetched)
        return self.model()


def pull_for(
    settings: Settings,
    agent: AgentSettings,
    environ: Mapping[str, str],
    *,
    named: str | None = None,
) -> Pull:
    """Find the model to fetch.

    Args:
        settings: Every setting.
        agent: Whose model.
        environ: For HF_ENDPOINT, HF_TOKEN, the caches and the proxies.
        named: Another model than the configured one: a GGUF file on the hub
            (`hf:...`), or a model for sentence-transformers.

    Raises:
        UsageError: no provider of this agent keeps a model on this disk.
    """
    search = agent.search
    request = Request(
        name="local",
        state_dir=settings.state_dir,
        local=search.local,
        environ=environ,
        offline=settings.memory.offline,
    )
    if named is not None:
        return Pull(request=_of(named, request))
    first, second = (_spelled(name) for name in (search.provider, search.fallback))
    if first == "local":
        return Pull(request=request)
    if first in _HERE:
        return Pull(request=replace(request, name=first, model=search.model))
    if second in _HERE:
        return Pull(request=replace(request, name=second))
    problem = f"the provider {search.provider!r} keeps no model on this disk"
    if first == static.NAME:
        problem = (
            "the vectors of static come with the install: nothing is to be fetched"
        )
    raise UsageError(problem, remedy=_NAME_ONE)


def _spelled(name: str | None) -> str:
    return "local" if name is None else name.strip().lower()


def _of(named: str, request: Request) -> Request:
    if llama_provider.is_path(named) and not named.lower().endswith(".gguf"):
        return replace(request, name="sentence-transformers", model=named)
    cache = request.local.model_cache_dir
    settings = type(request.local)(model_path=named, model_cache_dir=cache)
    return replace(request, local=settings)
