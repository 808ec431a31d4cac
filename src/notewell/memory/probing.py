"""Trying the providers of vectors: does each answer, how fast, how long are its vectors."""

import time

from notewell.adapters.embeddings.base import Choice, Provider
from notewell.errors import EmbeddingError
from notewell.types import ProviderProbe

_TEXT = "notewell"
"""What is embedded; nothing of a note is."""


def probe_providers(choice: Choice, *, embed: bool) -> tuple[ProviderProbe, ...]:
    """Try each provider that an agent has.

    Args:
        choice: The providers.
        embed: Embed one word; else only see whether what a provider needs is here.
    """
    return tuple(
        _probe(provider, embed=embed, stands_in=provider is not choice.first)
        for provider in choice.providers
    )


def _probe(provider: Provider, *, embed: bool, stands_in: bool) -> ProviderProbe:
    began = time.perf_counter()
    model, dimension, problem = None, None, None
    try:
        embedder = provider.open()
        try:
            model = embedder.model
            if embed:
                vectors = embedder.embed([_TEXT], "query")
                dimension = vectors.shape[1]
                if vectors[0, 0] != vectors[0, 0]:  # NaN: it gave no usable vector
                    problem = (
                        f"{provider.name} gave no usable vector; try another model"
                    )
        finally:
            embedder.close()
    except EmbeddingError as error:
        problem = f"{error.message}; {error.remedy}"
    return ProviderProbe(
        provider=provider.name,
        model=model,
        stands_in=stands_in,
        remote=provider.remote,
        dimension=dimension,
        took_ms=(time.perf_counter() - began) * 1000,
        problem=problem,
    )
