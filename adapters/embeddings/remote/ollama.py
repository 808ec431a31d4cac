"""Ollama, in its own protocol.

Source: docs.ollama.com/api/embed. It publishes no limits and the vectors' length depends on
what was pulled, so the model is asked.
"""

from dataclasses import replace
from typing import Final

from notewell.adapters.embeddings.base import EmbeddingSettings, Provider
from notewell.adapters.embeddings.prefixes import Prefixes, prefixes_for
from notewell.adapters.embeddings.remote.dialect import (
    Dialect,
    EmbeddingRequest,
    HttpRequest,
    Limits,
    listed_rows,
)
from notewell.adapters.embeddings.remote.provider import remote_provider
from notewell.foreign import read_items, read_member


def _call(ask: EmbeddingRequest) -> HttpRequest:
    body: dict[str, object] = {"model": ask.model, "input": list(ask.texts)}
    if ask.dimensionality:
        body["dimensions"] = ask.dimensionality
    return HttpRequest(path="/api/embed", body=body)


def _rows(answer: object, count: int) -> list[object]:
    return listed_rows(read_items(read_member(answer, "embeddings")), count)


def _prefixes(model: str, own: bool) -> Prefixes:
    return prefixes_for(model)


OLLAMA: Final = Dialect(
    home="http://127.0.0.1:11434",
    path="",
    model="nomic-embed-text",
    dimensions={},
    limits=Limits(items=512, tokens=200_000, usual=16),
    call=_call,
    rows=_rows,
    keyless=True,
    prefixes=_prefixes,
    pull="ollama pull",
    start="start Ollama (`ollama serve`), or correct its address",
)


def provider(settings: EmbeddingSettings) -> Provider:
    """Describe the Ollama at the configured address."""
    # OpenClaw's entry for chats names the compatible interface below the same address.
    endpoint = (settings.endpoint or "").rstrip("/").removesuffix("/v1") or None
    return remote_provider(replace(settings, endpoint=endpoint), OLLAMA)
