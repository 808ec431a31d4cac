"""OpenAI, and every server that speaks as it does.

Source: platform.openai.com/docs/api-reference/embeddings (2,048 texts and 300,000 tokens
in a request).
"""

from typing import Final

from notewell.adapters.embeddings.base import Provider
from notewell.adapters.embeddings.dialect import (
    Ask,
    Call,
    Dialect,
    Limits,
    indexed_rows,
)
from notewell.adapters.embeddings.openai_jobs import OpenAIJobs
from notewell.adapters.embeddings.prefixes import PLAIN, Prefixes, prefixes_for
from notewell.adapters.embeddings.remote_provider import remote_provider
from notewell.adapters.embeddings.request import Request


def _call(ask: Ask) -> Call:
    body: dict[str, object] = {"model": ask.model, "input": list(ask.texts)}
    if ask.own:
        body["encoding_format"] = "base64"  # a quarter of the bytes of decimal numbers
    if ask.dimensionality:
        body["dimensions"] = ask.dimensionality
    if ask.input_type:
        body["input_type"] = ask.input_type
    return Call(path="/embeddings", body=body)


def _prefixes(model: str, own: bool) -> Prefixes:
    """Its own models want nothing; a compatible server may hold any model."""
    return PLAIN if own else prefixes_for(model)


OPENAI: Final = Dialect(
    home="https://api.openai.com/v1",
    path="/v1",
    model="text-embedding-3-small",
    dimensions={
        "text-embedding-3-small": 1536,
        "text-embedding-3-large": 3072,
        "text-embedding-ada-002": 1536,
    },
    limits=Limits(items=2048, tokens=300_000, usual=128),
    call=_call,
    rows=indexed_rows,
    prefixes=_prefixes,
    jobs=OpenAIJobs,
)


def provider(request: Request) -> Provider:
    """Describe OpenAI, or the compatible server at the configured address."""
    return remote_provider(request, OPENAI)
