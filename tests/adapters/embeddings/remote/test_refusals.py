"""Servers refuse texts in their own words; good texts get vectors all the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from notewell.adapters.embeddings.remote.dialect import Limits
from notewell.adapters.embeddings.remote.embedder import BatchSizer
from notewell.adapters.embeddings.remote.openai import provider
from notewell.errors import EmbeddingError

if TYPE_CHECKING:
    from tests.adapters.embeddings.conftest import Asks, Opened, Reply, Seen, Server

    from notewell.adapters.embeddings.base import Matrix


def unit(numbers: list[float]) -> Matrix:
    array = np.array(numbers, dtype=np.float32)
    return array / np.float32(np.linalg.norm(array))


def test_each_text_gets_its_own_unit_vector(
    server: Server, asks: Asks, opened: Opened
) -> None:
    embedder = opened(provider(asks()))

    rows = embedder.embed(["a", "b", "c"], "document")

    assert rows.dtype == np.float32
    expected = np.stack([unit(server.vector(text)) for text in "abc"])
    np.testing.assert_allclose(rows, expected, rtol=1e-6)


def test_no_texts_are_no_rows(asks: Asks, opened: Opened) -> None:
    assert opened(provider(asks())).embed([], "document").shape == (0, 4)


def test_a_cap_that_nobody_published_is_found_and_remembered(
    server: Server, asks: Asks, opened: Opened
) -> None:
    texts = [f"passage {number}" for number in range(26)]
    texts[17] += " TOO_LONG"

    def behave(seen: Seen) -> Reply:
        if len(seen.texts) > 10 or any("TOO_LONG" in text for text in seen.texts):
            return server.reply(status=400, body={"error": {"message": "大小无效"}})
        return server.embeds(seen)

    server.behave = behave
    embedder = opened(provider(asks()))

    rows = embedder.embed(texts, "document")
    again = embedder.embed(texts, "document")

    sizes = [len(seen.texts) for seen in server.seen]
    first_small = next(i for i, size in enumerate(sizes) if 1 < size <= 10)
    assert max(sizes[first_small:]) <= 10
    assert [i for i in range(26) if np.isnan(rows[i]).all()] == [17]
    np.testing.assert_array_equal(rows, again)


@pytest.mark.parametrize("status", [400, 413, 422, 500])
def test_one_bad_text_costs_no_other_its_vector(
    server: Server, asks: Asks, status: int, opened: Opened
) -> None:
    def behave(seen: Seen) -> Reply:
        bad = "bad" in seen.texts
        return server.reply(status=status) if bad else server.embeds(seen)

    server.behave = behave

    rows = opened(provider(asks())).embed(["a", "bad", "b"], "document")

    assert np.isnan(rows[1]).all()
    np.testing.assert_allclose(rows[2], unit(server.vector("b")), rtol=1e-6)


def test_one_bad_text_does_not_make_later_requests_small(
    server: Server, asks: Asks, opened: Opened
) -> None:
    def behave(seen: Seen) -> Reply:
        bad = "bad" in seen.texts
        return server.reply(status=400) if bad else server.embeds(seen)

    server.behave = behave
    embedder = opened(provider(asks()))
    embedder.embed(["a", "bad", "b"], "document")
    server.seen.clear()

    embedder.embed([str(number) for number in range(100)], "document")

    [seen] = server.seen
    assert len(seen.texts) == 100


def test_a_server_that_refuses_everything_is_an_error_at_once(
    server: Server, asks: Asks, opened: Opened
) -> None:
    server.behave = lambda seen: server.reply(status=400)
    embedder = opened(provider(asks(dimensionality=4)))

    with pytest.raises(EmbeddingError, match="refuses every text: HTTP 400"):
        embedder.embed([str(number) for number in range(64)], "document")

    assert len(server.seen) == 2


@pytest.mark.parametrize(
    "answer", [{}, {"data": []}, {"data": [{"index": 0}]}, [], "x"]
)
def test_a_success_without_an_embedding_is_a_text_too_long(
    server: Server, asks: Asks, answer: object, opened: Opened
) -> None:
    def behave(seen: Seen) -> Reply:
        long = "long" in seen.texts
        return server.reply(body=answer) if long else server.embeds(seen)

    server.behave = behave

    rows = opened(provider(asks())).embed(["a", "long"], "document")

    assert np.isnan(rows[1]).all()
    np.testing.assert_allclose(rows[0], unit(server.vector("a")), rtol=1e-6)


def test_vectors_in_another_order_find_their_texts(
    server: Server, asks: Asks, opened: Opened
) -> None:
    def behave(seen: Seen) -> Reply:
        body = server.embeds(seen).body
        return server.reply(body={"data": body["data"][::-1]})

    server.behave = behave

    rows = opened(provider(asks())).embed(["a", "b"], "document")

    np.testing.assert_allclose(rows[0], unit(server.vector("a")), rtol=1e-6)


@pytest.mark.parametrize("indexed", [True, False])
def test_a_short_answer_shifts_nothing(
    server: Server, asks: Asks, indexed: bool, opened: Opened
) -> None:
    def behave(seen: Seen) -> Reply:
        data = server.embeds(seen).body["data"]
        if len(data) > 1:
            del data[0]
        if not indexed:
            data = [{"embedding": item["embedding"]} for item in data]
        return server.reply(body={"data": data})

    server.behave = behave

    rows = opened(provider(asks())).embed(["a", "b", "c"], "document")

    expected = np.stack([unit(server.vector(text)) for text in "abc"])
    np.testing.assert_allclose(rows, expected, rtol=1e-6)


@pytest.mark.parametrize(
    "bad", [[0, 0, 0, 0], [1, 2, 3], [1, 2, 3, float("nan")], None, "!", [[1]], {}]
)
def test_a_vector_that_cannot_be_used_is_asked_for_once_more_and_then_none(
    server: Server, asks: Asks, bad: object, opened: Opened
) -> None:
    def behave(seen: Seen) -> Reply:
        data = server.embeds(seen).body["data"]
        for item, text in zip(data, seen.texts, strict=True):
            item["embedding"] = bad if text == "bad" else item["embedding"]
        return server.reply(body={"data": data})

    server.behave = behave

    rows = opened(provider(asks(dimensionality=4))).embed(["a", "bad"], "document")

    assert [seen.texts for seen in server.seen] == [["a", "bad"], ["bad"]]
    assert np.isnan(rows[1]).all()
    assert np.isfinite(rows[0]).all()


def test_vectors_of_another_length_than_configured_are_an_error(
    asks: Asks, opened: Opened
) -> None:
    embedder = opened(provider(asks(dimensionality=8)))

    with pytest.raises(EmbeddingError, match="4 numbers instead of 8") as caught:
        embedder.embed(["a", "b"], "document")

    assert caught.value.reason == "bad-vector"


def test_halves_of_surrogate_pairs_are_no_obstacle(asks: Asks, opened: Opened) -> None:
    rows = opened(provider(asks())).embed(["broken \ud83d emoji"], "document")

    assert np.isfinite(rows).all()


@given(
    texts=st.lists(st.text(max_size=40), max_size=60),
    items=st.integers(1, 20),
    tokens=st.integers(1, 30),
)
def test_portions_hold_every_text_once_and_in_order(
    texts: list[str], items: int, tokens: int
) -> None:
    portions = BatchSizer(Limits(items=items, tokens=tokens, usual=1))

    found: list[int] = []
    while len(found) < len(texts):
        portion = portions.next(texts, len(found))
        assert 1 <= len(portion) <= items
        found.extend(portion)

    assert found == list(range(len(texts)))


def test_a_size_that_was_refused_is_tried_again_ever_more_rarely() -> None:
    portions = BatchSizer(Limits(items=64, tokens=10**9, usual=64))
    texts = ["x"] * 64
    tried = 0

    for _ in range(500):
        size = len(portions.next(texts, 0))
        tried += size > 8
        portions.learn(largest=min(size, 8), refused=size > 8)

    assert 2 <= tried <= 8
