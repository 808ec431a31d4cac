"""What counts as this machine, and what goes through a proxy."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from notewell.adapters.embeddings.remote.address import proxy_for, read_address
from notewell.adapters.embeddings.remote.openai import provider
from notewell.errors import EmbeddingError

if TYPE_CHECKING:
    from tests.adapters.embeddings.conftest import Asks, Opened, Reply, Seen, Server


@pytest.mark.parametrize(
    ("host", "remote"),
    [
        ("localhost", False),
        ("LOCALHOST", False),
        ("localhost.", True),
        ("api.localhost", True),
        ("localhost.localdomain", True),
        ("ip6-localhost", True),
        ("\u24dbocalhost", True),
        ("127.0.0.1", False),
        ("127.9.9.9", False),
        ("[::1]", False),
        ("[0:0:0:0:0:0:0:1]", False),
        ("[::ffff:127.0.0.1]", False),
        ("[::ffff:7f00:1]", False),
        ("[::ffff:10.0.0.1]", True),
        ("[::127.0.0.1]", True),
        ("[::1%25eth0]", True),
        ("[fe80::1%25lo]", True),
        ("0.0.0.0", False),
        ("[::]", False),
        ("127.1", True),
        ("2130706433", True),
        ("0x7f000001", True),
        ("0177.0.0.1", True),
        ("127.0.0.1.", True),
        ("\uff11\uff12\uff17.0.0.1", True),
        ("localhost@evil.example", True),
        ("127.0.0.1:80@evil.example", True),
        ("127.0.0.1%40evil.example", True),
        ("evil.example\\@127.0.0.1", False),
        ("192.168.1.5", True),
        ("127.0.0.1.example.com", True),
        ("localhost.example.com", True),
        ("api.openai.com", True),
    ],
)
def test_only_a_loopback_address_or_localhost_is_this_machine(
    host: str, remote: bool
) -> None:
    assert read_address(f"http://{host}:8080/v1", path="").remote is remote


def test_localhost_is_connected_to_without_a_name_server(
    server: Server, asks: Asks, opened: Opened, looked_up: list[str]
) -> None:
    endpoint = server.url.replace("127.0.0.1", "LocalHost")

    found = opened(provider(asks(endpoint=f"{endpoint}/v1"))).identity()

    assert found.dimension == 4
    assert [seen.headers["host"] for seen in server.seen] == [
        endpoint.removeprefix("http://").lower()
    ]
    assert looked_up == []


@pytest.mark.parametrize(
    "host",
    [
        "localhost.",
        "api.localhost",
        "ip6-localhost",
        "127.1",
        "2130706433",
        "0177.0.0.1",
        "[::1%25eth0]",
        "localhost@evil.localhost",
        "evil.example",
        "10.0.0.1",
    ],
)
@pytest.mark.parametrize("proxy", ["", "http://127.0.0.1:9"])
def test_offline_another_host_is_refused_before_it_is_looked_up(
    asks: Asks, looked_up: list[str], host: str, proxy: str
) -> None:
    environ = {"HTTP_PROXY": proxy, "ALL_PROXY": proxy}
    request = asks(endpoint=f"http://{host}:9/v1", offline=True, environ=environ)

    with pytest.raises(EmbeddingError, match=r"memory\.offline forbids") as refused:
        provider(request).open()

    assert refused.value.reason == "offline"
    assert "localhost, 127.0.0.1" in refused.value.remedy
    assert looked_up == []


@pytest.mark.parametrize(
    ("host", "remote", "away"),
    [
        ("127.0.0.1", False, False),
        ("localhost", False, False),
        ("[::ffff:127.0.0.1]", False, False),
        ("127.1", True, False),
        ("2130706433", True, False),
        ("0x7f000001", True, False),
    ],
)
def test_whether_text_left_follows_the_address_that_was_connected_to(
    server: Server, asks: Asks, opened: Opened, host: str, remote: bool, away: bool
) -> None:
    made = provider(asks(endpoint=server.url.replace("127.0.0.1", host) + "/v1"))
    before = made.away

    opened(made).identity()

    assert (made.remote, before, made.away) == (remote, remote, away)
    assert len(server.seen) == 1


def test_a_proxy_is_the_far_end_wherever_it_is(
    server: Server, asks: Asks, opened: Opened
) -> None:
    made = provider(
        asks(endpoint="http://127.1:9/v1", environ={"HTTP_PROXY": server.url})
    )

    opened(made).identity()

    assert made.away


def test_a_name_is_looked_up_once_and_again_when_nothing_answers_there(
    server: Server, asks: Asks, opened: Opened, looked_up: list[str]
) -> None:
    def behave(seen: Seen) -> Reply:
        return replace(server.embeds(seen), headers={"Connection": "close"})

    server.behave = behave
    endpoint = server.url.replace("127.0.0.1", "127.1")
    embedder = opened(provider(asks(endpoint=endpoint, dimensionality=4)))
    embedder.embed(["a"], "query")
    embedder.embed(["b"], "query")
    before = list(looked_up)
    server.close()

    with pytest.raises(EmbeddingError, match="no connection"):
        embedder.embed(["c"], "query")

    assert before == ["127.1"]
    assert len(looked_up) > len(before)


def test_what_is_shown_of_an_address_holds_no_login_and_no_query() -> None:
    address = read_address("https://me:pw@host:8443/v1/?key=pw#pw", path="/v1")

    assert address.url == "https://host:8443/v1"
    assert "pw" not in repr(address)


@pytest.mark.parametrize(
    ("url", "environ", "proxy"),
    [
        ("https://host/", {}, None),
        ("https://host/", {"HTTPS_PROXY": "http://p:1"}, "http://p:1"),
        ("https://host/", {"HTTPS_PROXY": "p:1"}, "http://p:1"),
        ("https://host/", {"https_proxy": "http://a", "HTTPS_PROXY": "b"}, "http://a"),
        ("https://host/", {"HTTP_PROXY": "http://p"}, None),
        ("http://host/", {"ALL_PROXY": "http://p"}, "http://p"),
        ("https://a.host/", {"ALL_PROXY": "http://p", "NO_PROXY": "x, .host"}, None),
        ("https://ahost/", {"ALL_PROXY": "http://p", "NO_PROXY": "host"}, "http://p"),
        ("https://host:1/", {"ALL_PROXY": "http://p", "NO_PROXY": "host:1"}, None),
        ("https://host/", {"ALL_PROXY": "http://p", "no_proxy": "*"}, None),
        ("http://localhost:1/", {"ALL_PROXY": "http://p"}, None),
        ("http://127.0.0.1/", {"HTTP_PROXY": "http://p"}, None),
        ("http://[::1]/", {"HTTP_PROXY": "http://p"}, None),
    ],
)
def test_the_usual_proxy_variables_count(
    url: str, environ: dict[str, str], proxy: str | None
) -> None:
    assert proxy_for(url, environ) == proxy


def test_a_remote_server_is_asked_through_the_proxy(
    server: Server, asks: Asks, opened: Opened
) -> None:
    request = asks(
        endpoint="http://embeddings.invalid/v1", environ={"HTTP_PROXY": server.url}
    )

    opened(provider(request)).identity()

    assert [seen.path for seen in server.seen] == [
        "http://embeddings.invalid/v1/embeddings"
    ]


def test_this_machine_is_never_asked_through_a_proxy(
    server: Server, asks: Asks, opened: Opened
) -> None:
    opened(provider(asks(environ={"HTTP_PROXY": "http://127.0.0.1:9"}))).identity()

    assert len(server.seen) == 1


def test_a_proxy_that_cannot_be_used_is_an_error_of_the_provider(asks: Asks) -> None:
    request = asks(
        endpoint="http://host.invalid", environ={"ALL_PROXY": "gopher://me:pw@proxy"}
    )

    with pytest.raises(EmbeddingError, match="proxy") as caught:
        provider(request).open()

    assert "pw" not in str(caught.value)
