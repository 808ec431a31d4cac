"""No key and no note's text in errors, print-outs or logs, whatever a server does."""

from __future__ import annotations

import logging
import traceback
from typing import TYPE_CHECKING

import pytest

from notewell.adapters.embeddings.base import RetryPolicy
from notewell.adapters.embeddings.remote.openai import provider
from notewell.config import Secret
from notewell.errors import EmbeddingError

if TYPE_CHECKING:
    from tests.adapters.embeddings.conftest import Asks, Opened, Reply, Seen, Server

KEY, LOGIN, QUERY, HEADER = "sk-verysecret", "pass-word", "query-key", "header-key"
TEXT = "the private note"


@pytest.mark.parametrize("status", [200, 302, 400, 401, 402, 403, 404, 413, 429, 500])
def test_what_a_server_says_is_never_repeated(
    server: Server,
    asks: Asks,
    opened: Opened,
    caplog: pytest.LogCaptureFixture,
    status: int,
) -> None:
    def behave(seen: Seen) -> Reply:
        echo = f"{seen.path} {seen.headers} {seen.texts}"
        error = {"code": echo, "type": echo, "message": echo, "status": echo}
        return server.reply(
            status=status, body={"error": error}, headers={"Retry-After": "soon"}
        )

    server.behave = behave
    caplog.set_level(logging.DEBUG)
    request = asks(
        endpoint=server.url.replace("//", f"//me:{LOGIN}@") + f"/v1?key={QUERY}",
        headers={"X-Mine": Secret(HEADER)},
        document=RetryPolicy(connect=1, total=1, attempts=2, pause=0.001),
    )
    described = provider(request)
    embedder = opened(described)

    with pytest.raises(EmbeddingError) as caught:
        embedder.embed([TEXT, TEXT], "document")

    sent = server.seen[0]
    assert KEY in sent.headers["authorization"]
    assert QUERY in sent.path
    assert sent.headers["x-mine"] == HEADER
    shown = [
        *traceback.format_exception(caught.value),
        repr(caught.value),
        caught.value.remedy,
        repr((request, described, embedder)),
        caplog.text,
    ]
    for secret in (KEY, LOGIN, QUERY, HEADER, TEXT):
        assert secret not in "".join(shown)


def test_an_identity_holds_no_key(server: Server, asks: Asks, opened: Opened) -> None:
    endpoint = server.url.replace("//", f"//me:{LOGIN}@") + f"/v1?key={QUERY}"

    identity = opened(provider(asks(endpoint=endpoint))).identity().encoded()

    assert not any(secret in identity for secret in (KEY, LOGIN, QUERY))


def test_a_header_that_cannot_be_sent_is_not_quoted(asks: Asks, opened: Opened) -> None:
    embedder = opened(provider(asks(headers={"X-Mine": Secret(f"{HEADER}\nX: y")})))

    with pytest.raises(EmbeddingError) as caught:
        embedder.identity()

    assert HEADER not in "".join(traceback.format_exception(caught.value))
