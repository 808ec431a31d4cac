"""What goes wrong between us and a server, and what a person is told."""

from __future__ import annotations

import time
from collections.abc import Callable
from email.utils import formatdate
from threading import Event
from typing import TYPE_CHECKING

import pytest

from notewell.adapters.embeddings.base import RetryPolicy
from notewell.adapters.embeddings.remote import ollama, openai
from notewell.errors import EmbeddingError

if TYPE_CHECKING:
    from tests.adapters.embeddings.conftest import Asks, Opened, Server

    from notewell.adapters.embeddings.base import EmbeddingSettings


def failure(request: EmbeddingSettings, opened: Opened) -> EmbeddingError:
    with pytest.raises(EmbeddingError) as caught:
        opened(openai.provider(request)).embed(["text"], "document")
    return caught.value


@pytest.mark.parametrize(
    ("status", "error", "reason"),
    [
        (401, {"code": "invalid_api_key"}, "auth"),
        (403, None, "auth"),
        (400, {"details": [{"reason": "API_KEY_INVALID"}]}, "auth"),
        (402, None, "quota"),
        (429, {"code": "insufficient_quota"}, "quota"),
        (429, {"type": "billing_not_active"}, "quota"),
        (429, {"details": [{"violations": [{"quotaId": "xPerDayPerUser"}]}]}, "quota"),
        (404, {"code": "model_not_found"}, "model-missing"),
        (404, None, "model-missing"),
        (403, {"code": "model_not_found"}, "model-missing"),
        (307, None, "parse"),
        (405, None, "parse"),
    ],
)
def test_what_a_person_has_to_mend_is_not_tried_again(
    server: Server, asks: Asks, status: int, error: object, reason: str, opened: Opened
) -> None:
    server.behave = lambda seen: server.reply(status=status, body={"error": error})

    error_ = failure(asks(dimensionality=4), opened)

    assert error_.reason == reason
    assert len(server.seen) == 1


def test_a_quota_that_is_used_up_takes_one_call(
    server: Server, asks: Asks, opened: Opened
) -> None:
    quota = {"error": {"code": "insufficient_quota", "message": "sk-verysecret"}}
    server.behave = lambda seen: server.reply(status=429, body=quota)
    first = opened(openai.provider(asks(dimensionality=4)))

    with pytest.raises(EmbeddingError, match="quota") as caught:
        first.embed(["edited note"] * 30, "document")

    assert caught.value.terminal
    assert len(server.seen) == 1


@pytest.mark.parametrize("status", [429, 500, 502, 503, 529])
def test_a_passing_trouble_is_waited_out(
    server: Server, asks: Asks, status: int, opened: Opened
) -> None:
    server.first = [server.reply(status=status)]

    rows = opened(openai.provider(asks(dimensionality=4))).embed(["text"], "document")

    assert rows.shape == (1, 4)
    assert [seen.texts for seen in server.seen] == [["text"]] * 2


def test_a_cut_connection_is_opened_again(
    server: Server, asks: Asks, opened: Opened
) -> None:
    server.first = [server.reply(body={"data": []}, cut=True)]

    opened(openai.provider(asks(dimensionality=4))).embed(["text"], "document")

    assert len(server.seen) == 2


def test_a_server_that_always_breaks_is_no_refusal(
    server: Server, asks: Asks, opened: Opened
) -> None:
    server.behave = lambda seen: server.reply(status=500)

    assert failure(asks(dimensionality=4), opened).reason == "network"


def test_attempts_are_few(server: Server, asks: Asks, opened: Opened) -> None:
    server.behave = lambda seen: server.reply(status=429)

    error = failure(asks(dimensionality=4), opened)

    assert (error.reason, error.terminal) == ("rate-limit", False)
    assert len(server.seen) == 3


def test_retry_after_is_waited_for_in_seconds(
    server: Server, asks: Asks, opened: Opened
) -> None:
    server.first = [server.reply(status=429, headers={"Retry-After": "0.3"})]
    started = time.monotonic()

    opened(openai.provider(asks(dimensionality=4))).embed(["text"], "document")

    assert time.monotonic() - started >= 0.3


@pytest.mark.parametrize(
    "written",
    [lambda: "3600", lambda: formatdate(time.time() + 3600, usegmt=True)],
    ids=["seconds", "date"],
)
def test_who_asks_for_more_time_than_there_is_gets_it_from_the_caller(
    server: Server, asks: Asks, written: Callable[[], str], opened: Opened
) -> None:
    wait = server.reply(status=429, headers={"Retry-After": written()})
    server.behave = lambda seen: wait

    error = failure(asks(dimensionality=4), opened)

    assert error.retry_after is not None
    assert 3500 < error.retry_after <= 3600
    assert len(server.seen) == 1


def test_a_slow_answer_is_not_waited_for_twice(
    server: Server, asks: Asks, opened: Opened
) -> None:
    go_on = Event()
    server.behave = lambda seen: server.reply(after=go_on)
    hasty = RetryPolicy(connect=1, total=0.1, attempts=3, pause=0.001)

    error = failure(asks(dimensionality=4, document=hasty), opened)
    go_on.set()

    assert error.reason == "timeout"
    assert len(server.seen) == 1


def test_a_query_has_its_own_shorter_time(
    server: Server, asks: Asks, opened: Opened
) -> None:
    go_on = Event()
    server.behave = lambda seen: server.reply(after=go_on)
    hasty = RetryPolicy(connect=1, total=0.1, attempts=1, pause=0.001)
    embedder = opened(openai.provider(asks(dimensionality=4, query=hasty)))

    with pytest.raises(EmbeddingError, match=r"within 0\.1 s"):
        embedder.embed(["question"], "query")
    go_on.set()


def test_a_redirect_takes_no_key_along(
    server: Server, asks: Asks, opened: Opened
) -> None:
    elsewhere = {"Location": f"{server.url}/elsewhere"}
    server.first = [server.reply(status=307, headers=elsewhere)]

    error = failure(asks(dimensionality=4), opened)

    assert "redirect" in error.message
    assert error.remedy == "correct remote.baseUrl"
    assert [seen.path for seen in server.seen] == ["/v1/embeddings"]


def test_an_answer_that_is_no_json_is_said_to_be_none(
    server: Server, asks: Asks, opened: Opened
) -> None:
    server.behave = lambda seen: server.reply(raw=b"<html>It works!</html>")

    assert failure(asks(dimensionality=4), opened).reason == "parse"


def test_noise_and_nan_in_an_answer_are_put_up_with(
    server: Server, asks: Asks, opened: Opened
) -> None:
    noisy = b'warming up\n{"data": [{"index": 0, "embedding": [1, 2, 3, 4]}], "x": NaN}'
    server.behave = lambda seen: server.reply(raw=noisy)

    rows = opened(openai.provider(asks())).embed(["text"], "document")

    assert rows.shape == (1, 4)


def test_a_server_that_is_not_there_is_a_network_error(
    server: Server, asks: Asks, opened: Opened
) -> None:
    server.close()

    error = failure(asks(dimensionality=4), opened)

    assert (error.reason, error.terminal) == ("network", False)


def test_a_missing_ollama_model_comes_with_the_command_that_gets_it(
    server: Server, asks: Asks, opened: Opened
) -> None:
    missing = {"error": 'model "nomic-embed-text" not found, try pulling it first'}
    server.behave = lambda seen: server.reply(status=404, body=missing)
    embedder = opened(ollama.provider(asks("ollama")))

    with pytest.raises(EmbeddingError) as caught:
        embedder.identity()

    assert caught.value.reason == "model-missing"
    assert caught.value.remedy == "run `ollama pull nomic-embed-text`"


def test_an_ollama_that_does_not_run_comes_with_the_way_to_start_it(
    server: Server, asks: Asks, opened: Opened
) -> None:
    server.close()

    with pytest.raises(EmbeddingError) as caught:
        opened(ollama.provider(asks("ollama"))).identity()

    assert "ollama serve" in caught.value.remedy


def test_a_provider_that_was_closed_says_so(asks: Asks, opened: Opened) -> None:
    embedder = opened(openai.provider(asks(dimensionality=4)))

    embedder.close()
    with pytest.raises(EmbeddingError, match="closed") as caught:
        embedder.embed(["text"], "query")

    assert caught.value.reason == "not-ready"
