"""Providers that are asked over HTTP: what they share before they are opened.

Nothing here loads an HTTP client or numpy: every search describes its provider, and
only some ask it.
"""

from urllib.parse import urlsplit

from notewell.adapters.embeddings.address import Address, read_address
from notewell.adapters.embeddings.base import Embedder, Provider, Reach
from notewell.adapters.embeddings.dialect import Dialect
from notewell.adapters.embeddings.keys import OAUTH
from notewell.adapters.embeddings.request import Request
from notewell.errors import EmbeddingError


def remote_provider(request: Request, dialect: Dialect) -> Provider:
    """Describe a provider that is asked over HTTP; on this machine it is not remote."""
    address = read_address(request.endpoint or dialect.home, path=dialect.path)
    reach = Reach()

    def opened() -> Embedder:
        _check_allowed(request, address)
        _check_key(request, dialect, address)
        from notewell.adapters.embeddings.asking import RemoteEmbedder

        return RemoteEmbedder(request, dialect, address, reach)

    return Provider(
        name=request.name,
        remote=address.remote,
        host=address.host if address.remote else "",
        open=opened,
        reach=reach,
    )


def is_own(dialect: Dialect, address: Address) -> bool:
    """Whether the provider itself is asked, not a server that speaks as it does."""
    return address.host == urlsplit(dialect.home).hostname


def _check_allowed(request: Request, address: Address) -> None:
    if request.offline and address.remote:
        raise EmbeddingError(
            request.name,
            f"memory.offline forbids a connection to {address.host}",
            reason="offline",
            remedy="unset memory.offline and NOTEWELL_OFFLINE, or choose a provider "
            "on this machine: at localhost, 127.0.0.1 or [::1]",
        )


def _check_key(request: Request, dialect: Dialect, address: Address) -> None:
    """Insist on a key at the provider's own address; other servers may need none."""
    if request.key.key or dialect.keyless or not is_own(dialect, address):
        return
    message = "there is no API key"
    if request.key.only_oauth:
        message += f", only a log-in of OpenClaw: {OAUTH}"
    raise EmbeddingError(
        request.name, message, reason="auth", remedy=f"set {request.key.places}"
    )
