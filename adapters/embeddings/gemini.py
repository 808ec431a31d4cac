"""Gemini, in Google's own protocol.

Source: ai.google.dev/gemini-api/docs/embeddings and ai.google.dev/api/embeddings (100 texts
in a request; 2,048 tokens in a text).
"""

from dataclasses import replace
from typing import Final

from notewell.adapters.embeddings.base import Provider
from notewell.adapters.embeddings.dialect import (
    Ask,
    Call,
    Dialect,
    Limits,
    listed_rows,
)
from notewell.adapters.embeddings.gemini_jobs import GeminiJobs
from notewell.adapters.embeddings.prefixes import Prefixes, prefixes_for
from notewell.adapters.embeddings.remote_provider import remote_provider
from notewell.adapters.embeddings.request import Request
from notewell.foreign import read_items, read_member

_TASKS: Final = {"query": "RETRIEVAL_QUERY", "document": "RETRIEVAL_DOCUMENT"}


def _call(ask: Ask) -> Call:
    model = f"models/{ask.model.removeprefix('models/')}"
    shared: dict[str, object] = {"model": model}
    if not prefixes_for(ask.model).query:  # newer models want prefixes instead
        shared["taskType"] = _TASKS[ask.role]
    if ask.dimensionality:
        shared["outputDimensionality"] = ask.dimensionality
    requests = [{**shared, "content": {"parts": [{"text": t}]}} for t in ask.texts]
    return Call(path=f"/{model}:batchEmbedContents", body={"requests": requests})


def _rows(answer: object, count: int) -> list[object]:
    items = read_items(read_member(answer, "embeddings"))
    return listed_rows([read_member(item, "values") for item in items], count)


def _prefixes(model: str, own: bool) -> Prefixes:
    return prefixes_for(model)


def _carries(key: str) -> tuple[str, str]:
    return ("x-goog-api-key", key)  # in the address it would stand in logs


GEMINI: Final = Dialect(
    home="https://generativelanguage.googleapis.com/v1beta",
    path="/v1beta",
    model="gemini-embedding-001",
    dimensions={"gemini-embedding-001": 3072, "gemini-embedding-2": 3072},
    limits=Limits(items=100, tokens=100 * 2048, usual=100),
    call=_call,
    rows=_rows,
    carries=_carries,
    prefixes=_prefixes,
    jobs=GeminiJobs,
    roles="taskType",
)


def provider(request: Request) -> Provider:
    """Describe Gemini."""
    # OpenClaw's entry for chats may name the compatible interface below its address.
    endpoint = (request.endpoint or "").rstrip("/").removesuffix("/openai") or None
    return remote_provider(replace(request, endpoint=endpoint), GEMINI)
