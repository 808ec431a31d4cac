"""Each provider is asked as its documentation says."""

from __future__ import annotations

import base64
import struct
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from notewell.adapters.embeddings.base import EmbeddingIdentity
from notewell.adapters.embeddings.remote.gemini import GEMINI
from notewell.adapters.embeddings.remote.gemini import provider as gemini
from notewell.adapters.embeddings.remote.mistral import MISTRAL
from notewell.adapters.embeddings.remote.ollama import provider as ollama
from notewell.adapters.embeddings.remote.openai import OPENAI
from notewell.adapters.embeddings.remote.openai import provider as openai
from notewell.adapters.embeddings.remote.provider import remote_provider
from notewell.adapters.embeddings.remote.voyage import VOYAGE
from notewell.config import Secret

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.adapters.embeddings.conftest import Asks, Opened, Reply, Seen, Server

    from notewell.adapters.embeddings.base import EmbeddingSettings, Provider
    from notewell.adapters.embeddings.remote.dialect import Dialect


def at_home(dialect: Dialect, request: EmbeddingSettings) -> Provider:
    """Ask the test's server as if it were the provider itself."""
    home = f"{request.endpoint}{dialect.path}"
    return remote_provider(replace(request, endpoint=None), replace(dialect, home=home))


def gemini_like(server: Server, dimension: int) -> Callable[[Seen], Reply]:
    def behave(seen: Seen) -> Reply:
        texts = [r["content"]["parts"][0]["text"] for r in seen.body["requests"]]
        vectors = [{"values": server.vector(text, dimension)} for text in texts]
        return server.reply(body={"embeddings": vectors})

    return behave


def test_openai_is_asked_for_packed_numbers(
    server: Server, asks: Asks, opened: Opened
) -> None:
    def behave(seen: Seen) -> Reply:
        packed = base64.b64encode(struct.pack("<4f", 0, 3, 0, 4)).decode()
        return server.reply(body={"data": [{"index": 0, "embedding": packed}]})

    server.behave = behave
    embedder = opened(at_home(OPENAI, asks(dimensionality=4)))

    rows = embedder.embed(["a text"], "query")

    np.testing.assert_allclose(rows, [[0, 0.6, 0, 0.8]], rtol=1e-6)
    [seen] = server.seen
    assert seen.path == "/v1/embeddings"
    assert seen.headers["authorization"] == "Bearer sk-verysecret"
    assert seen.body == {
        "model": "text-embedding-3-small",
        "input": ["a text"],
        "encoding_format": "base64",
        "dimensions": 4,
    }


def test_a_compatible_server_is_asked_with_as_little_as_possible(
    server: Server, asks: Asks, opened: Opened
) -> None:
    headers = {"authorization": Secret("Basic mine"), "X-Org": Secret("us")}
    embedder = opened(openai(asks(model="org/bge-m3", headers=headers)))

    embedder.embed(["a text"], "document")

    seen = server.seen[-1]
    assert seen.body == {"model": "org/bge-m3", "input": ["a text"]}
    assert seen.headers["authorization"] == "Basic mine"
    assert seen.headers["x-org"] == "us"


@pytest.mark.parametrize(
    ("base", "path"),
    [
        ("", "/v1/embeddings"),
        ("/", "/v1/embeddings"),
        ("/api/v3/", "/api/v3/embeddings"),
        ("/v1?key=a%2Fb", "/v1/embeddings?key=a%2Fb"),
    ],
)
def test_a_base_address_may_have_a_path_and_a_query(
    server: Server, asks: Asks, opened: Opened, base: str, path: str
) -> None:
    opened(openai(asks(endpoint=f"{server.url}{base}"))).identity()

    assert server.seen[0].path == path


def test_a_login_in_the_address_is_sent_as_such(
    server: Server, asks: Asks, opened: Opened
) -> None:
    request = asks(endpoint=server.url.replace("//", "//me:p%40ss@"))

    opened(openai(replace(request, key=type(request.key)()))).identity()

    login = base64.b64encode(b"me:p@ss").decode()
    assert server.seen[0].headers["authorization"] == f"Basic {login}"


def test_the_model_behind_a_compatible_server_gets_its_prefixes(
    server: Server, asks: Asks, opened: Opened
) -> None:
    embedder = opened(openai(asks(model="nomic-ai/nomic-embed-text-v1.5")))

    embedder.embed(["text"], "query")
    embedder.embed(["text"], "document")

    sent = [seen.texts for seen in server.seen]
    assert sent == [["search_query: text"], ["search_document: text"]]


@pytest.mark.parametrize(
    ("role", "task"),
    [("query", "RETRIEVAL_QUERY"), ("document", "RETRIEVAL_DOCUMENT")],
)
def test_gemini_is_told_the_role_as_a_task(
    server: Server, asks: Asks, opened: Opened, role: str, task: str
) -> None:
    server.behave = gemini_like(server, 8)
    embedder = opened(gemini(asks("gemini", dimensionality=8)))

    rows = embedder.embed(["a", "b"], "query" if role == "query" else "document")

    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), [1, 1], rtol=1e-6)
    [seen] = server.seen
    assert seen.path == "/v1beta/models/gemini-embedding-001:batchEmbedContents"
    assert seen.headers["x-goog-api-key"] == "sk-verysecret"
    assert "authorization" not in seen.headers
    assert seen.body["requests"][1] == {
        "model": "models/gemini-embedding-001",
        "taskType": task,
        "outputDimensionality": 8,
        "content": {"parts": [{"text": "b"}]},
    }


def test_newer_gemini_models_are_told_the_role_in_the_text(
    server: Server, asks: Asks, opened: Opened
) -> None:
    server.behave = gemini_like(server, 4)
    asked = asks("gemini", model="gemini-embedding-2", dimensionality=4)

    opened(gemini(asked)).embed(["a"], "query")

    [request] = server.seen[0].body["requests"]
    assert "taskType" not in request
    text = request["content"]["parts"][0]["text"]
    assert text == "task: search result | query: a"


def test_gemini_takes_a_hundred_texts_in_a_request(
    server: Server, asks: Asks, opened: Opened
) -> None:
    server.behave = gemini_like(server, 4)
    embedder = opened(gemini(asks("gemini", dimensionality=4)))

    embedder.embed([str(number) for number in range(150)], "document")

    assert [len(seen.body["requests"]) for seen in server.seen] == [100, 50]


@pytest.mark.parametrize("role", ["query", "document"])
def test_voyage_is_told_the_role(
    server: Server, asks: Asks, opened: Opened, role: str
) -> None:
    embedder = opened(at_home(VOYAGE, asks("voyage", dimensionality=4)))

    embedder.embed(["a"], "query" if role == "query" else "document")

    assert server.seen[0].body == {
        "model": "voyage-4-large",
        "input": ["a"],
        "input_type": role,
        "output_dimension": 4,
    }


def test_mistral_gets_no_more_tokens_than_it_takes(
    server: Server, asks: Asks, opened: Opened
) -> None:
    def behave(seen: Seen) -> Reply:
        data = [{"index": i, "embedding": [1.0] * 1024} for i in range(len(seen.texts))]
        return server.reply(body={"data": data})

    server.behave = behave
    embedder = opened(at_home(MISTRAL, asks("mistral")))

    embedder.embed(["x" * 4800] * 30, "document")

    assert max(sum(map(len, seen.texts)) for seen in server.seen) / 3 <= 16_384
    assert sum(len(seen.texts) for seen in server.seen) == 30


@pytest.mark.parametrize("base", ["", "/v1", "/v1/"])
def test_ollama_is_asked_in_its_own_protocol(
    server: Server, asks: Asks, opened: Opened, base: str
) -> None:
    def behave(seen: Seen) -> Reply:
        vectors = [server.vector(text) for text in seen.texts]
        return server.reply(body={"model": "x", "embeddings": vectors})

    server.behave = behave
    embedder = opened(ollama(asks("ollama", endpoint=f"{server.url}{base}")))

    rows = embedder.embed(["a", "b"], "query")

    assert rows.shape == (2, 4)
    seen = server.seen[-1]
    assert seen.path == "/api/embed"
    assert seen.texts == ["search_query: a", "search_query: b"]
    assert seen.body["model"] == "nomic-embed-text"


@pytest.mark.parametrize(
    ("dialect", "dimension"),
    [(OPENAI, 1536), (GEMINI, 3072), (VOYAGE, 1024), (MISTRAL, 1024)],
)
def test_published_dimensions_need_no_call(
    server: Server, asks: Asks, opened: Opened, dialect: Dialect, dimension: int
) -> None:
    identity = opened(at_home(dialect, asks("any"))).identity()

    assert identity.dimension == dimension
    assert identity.model == dialect.model
    assert server.seen == []


def test_an_unknown_dimension_is_asked_for_once(
    server: Server, asks: Asks, opened: Opened
) -> None:
    embedder = opened(openai(asks(model="some-model")))

    first, second = embedder.identity(), embedder.identity()

    assert first == second == EmbeddingIdentity.decoded(first.encoded())
    assert first == EmbeddingIdentity(
        provider="openai",
        model="some-model",
        endpoint=f"{server.url}/v1",
        dimension=4,
        prefixes='["", "", ""]',
    )
    assert len(server.seen) == 1


def test_a_model_may_be_written_with_its_provider(asks: Asks, opened: Opened) -> None:
    asked = asks(model="openai/text-embedding-3-large")

    own = opened(at_home(OPENAI, asked))
    gateway = opened(openai(asked))

    assert own.model == "text-embedding-3-large"
    assert gateway.model == "openai/text-embedding-3-large"


def test_closing_twice_is_harmless(asks: Asks) -> None:
    embedder = openai(asks()).open()

    embedder.close()
    embedder.close()
