"""What counts as this machine, and what goes through a proxy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from notewell.adapters.embeddings.address import proxy_for, read_address
from notewell.adapters.embeddings.openai import provider
from notewell.errors import EmbeddingError

if TYPE_CHECKING:
    from tests.adapters.embeddings.conftest import Asks, Opened, Server


@pytest.mark.parametrize(
    ("host", "remote"),
    [
        ("localhost", False),
        ("LOCALHOST.", False),
        ("api.localhost", False),
        ("127.0.0.1", False),
        ("127.9.9.9", False),
        ("[::1]", False),
        ("0.0.0.0", False),
        ("192.168.1.5", True),
        ("127.0.0.1.example.com", True),
        ("localhost.example.com", True),
        ("api.openai.com", True),
    ],
)
def test_only_loopback_is_this_machine(host: str, remote: bool) -> None:
    assert read_address(f"http://{host}:8080/v1", path="").remote is remote


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
