"""Voyage AI.

Source: docs.voyageai.com/docs/embeddings and docs.voyageai.com/reference/embeddings-api
(1,000 texts in a request, and 120,000 tokens with the large models).
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
    body: dict[str, object] = {
        "model": ask.model,
        "input": list(ask.texts),
        "input_type": ask.role,  # the same words as ours
    }
    if ask.dimensionality:
        body["output_dimension"] = ask.dimensionality
    return HttpRequest(path="/embeddings", body=body)


VOYAGE: Final = Dialect(
    home="https://api.voyageai.com/v1",
    path="/v1",
    model="voyage-4-large",
    dimensions={
        "voyage-4-large": 1024,
        "voyage-4": 1024,
        "voyage-4-lite": 1024,
        "voyage-3-large": 1024,
        "voyage-3.5": 1024,
        "voyage-3.5-lite": 1024,
        "voyage-code-3": 1024,
        "voyage-finance-2": 1024,
        "voyage-law-2": 1024,
    },
    limits=Limits(items=1000, tokens=120_000, usual=128),
    call=_call,
    rows=indexed_rows,
    roles="input_type",
)


def provider(settings: EmbeddingSettings) -> Provider:
    """Describe Voyage AI."""
    return remote_provider(settings, VOYAGE)
