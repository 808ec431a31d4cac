"""Which model an agent needs on this disk, and fetching it; never in a search."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeAlias

from notewell.adapters.embeddings.base import EmbeddingSettings, FetchProgress, Provider
from notewell.adapters.embeddings.local import llama, sentence_transformers, static
from notewell.adapters.embeddings.local.disk import ModelOnDisk
from notewell.errors import UsageError

if TYPE_CHECKING:
    from notewell.config import AgentSettings, Settings

OnDisk: TypeAlias = Callable[[EmbeddingSettings], ModelOnDisk]
Describe: TypeAlias = Callable[[EmbeddingSettings], Provider]

_HERE: Final[Mapping[str, tuple[OnDisk, Describe]]] = {
    "local": (llama.gguf_on_disk, llama.provider),
    "sentence-transformers": (
        sentence_transformers.folder_on_disk,
        sentence_transformers.provider,
    ),
}
_NAME_ONE: Final = "name one: notewell models pull hf:<owner>/<repository>/<file>.gguf"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPull:
    """One model that can be fetched."""

    settings: EmbeddingSettings

    def model(self) -> ModelOnDisk:
        """Return what it is, and where it is or will be."""
        on_disk, _ = _HERE[self.settings.name]
        return on_disk(self.settings)

    def run(self, fetched: FetchProgress) -> ModelOnDisk:
        """Fetch it, or what is missing of it.

        Raises:
            EmbeddingError: it cannot be fetched; what has come is kept.
            UsageError: it is named by a path, so it is there or nowhere.
        """
        _, describe = _HERE[self.settings.name]
        fetch = describe(self.settings).fetch
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
) -> ModelPull:
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
    local = EmbeddingSettings(
        name="local",
        state_dir=settings.state_dir,
        local=search.local,
        environ=environ,
        offline=settings.memory.offline,
    )
    if named is not None:
        return ModelPull(settings=_of(named, local))
    first, second = (_spelled(name) for name in (search.provider, search.fallback))
    if first == "local":
        return ModelPull(settings=local)
    if first in _HERE:
        return ModelPull(settings=replace(local, name=first, model=search.model))
    if second in _HERE:
        return ModelPull(settings=replace(local, name=second))
    problem = f"the provider {search.provider!r} keeps no model on this disk"
    if first == static.NAME:
        problem = (
            "the vectors of static come with the install: nothing is to be fetched"
        )
    raise UsageError(problem, remedy=_NAME_ONE)


def _spelled(name: str | None) -> str:
    return "local" if name is None else name.strip().lower()


def _of(named: str, settings: EmbeddingSettings) -> EmbeddingSettings:
    if not named.strip():
        raise UsageError("no model is named", remedy=_NAME_ONE)
    hub = named.startswith(("hf:", "huggingface:"))
    if hub and named.count("/") < 2:  # an owner and a repository, and no file in it
        remedy = f"name the file in that repository: {named}/<file>.gguf"
        raise UsageError(f"{named} names no file of a repository", remedy=remedy)
    if llama.is_model_path(named) and not named.lower().endswith(".gguf"):
        return replace(settings, name="sentence-transformers", model=named)
    cache = settings.local.model_cache_dir
    local = type(settings.local)(model_path=named, model_cache_dir=cache)
    return replace(settings, local=local)
