"""Mistral.

Source: docs.mistral.ai/capabilities/embeddings and docs.mistral.ai/api (16,384 tokens in a
request, as its refusals say).
"""

from typing import Final

from notewell.adapters.embeddings.base import EmbeddingSettings, Provider
from notewell.adapters.embeddings.remote.dialect import (
    Dialect,
    EmbeddingRequest,
    HttpRequest,
    Limits,
    indexed_rows,
)
from notewell.adapters.embeddings.remote.provider import remote_provider


def _call(ask: EmbeddingRequest) -> HttpRequest:
    body: dict[str, object] = {"model": ask.model, "input": list(ask.texts)}
    if ask.dimensionality:
        body["output_dimension"] = ask.dimensionality
    return HttpRequest(path="/embeddings", body=body)


MISTRAL: Final = Dialect(
    home="https://api.mistral.ai/v1",
    path="/v1",
    model="mistral-embed",
    dimensions={"mistral-embed": 1024},
    limits=Limits(items=128, tokens=16_384, usual=32),
    call=_call,
    rows=indexed_rows,
)


def provider(settings: EmbeddingSettings) -> Provider:
    """Describe Mistral."""
    return remote_provider(settings, MISTRAL)
