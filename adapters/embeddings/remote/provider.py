"""Providers that are asked over HTTP: what they share before they are opened.

Nothing here loads an HTTP client or numpy: every search describes its provider, and
only some ask it.
"""

from notewell.adapters.embeddings.base import (
    Embedder,
    EmbeddingSettings,
    Provider,
    Reach,
)
from notewell.adapters.embeddings.choose import OAUTH
from notewell.adapters.embeddings.remote.address import Address, read_address
from notewell.adapters.embeddings.remote.dialect import Dialect, is_own
from notewell.errors import EmbeddingError


def remote_provider(settings: EmbeddingSettings, dialect: Dialect) -> Provider:
    """Describe a provider that is asked over HTTP; on this machine it is not remote."""
    address = read_address(settings.endpoint or dialect.home, path=dialect.path)
    reach = Reach()

    def check() -> None:
        _check_allowed(settings, address)
        _check_key(settings, dialect, address)

    def opened() -> Embedder:
        check()
        from notewell.adapters.embeddings.remote.embedder import RemoteEmbedder

        return RemoteEmbedder(settings, dialect, address, reach)

    return Provider(
        name=settings.name,
        remote=address.remote,
        host=address.host if address.remote else "",
        open=opened,
        check=check,
        reach=reach,
    )


def _check_allowed(settings: EmbeddingSettings, address: Address) -> None:
    if settings.offline and address.remote:
        raise EmbeddingError(
            settings.name,
            f"memory.offline forbids a connection to {address.host}",
            reason="offline",
            remedy="unset memory.offline and NOTEWELL_OFFLINE, or choose a provider "
            "on this machine: at localhost, 127.0.0.1 or [::1]",
        )


def _check_key(settings: EmbeddingSettings, dialect: Dialect, address: Address) -> None:
    """Insist on a key at the provider's own address; other servers may need none."""
    if settings.key.key or dialect.keyless or not is_own(dialect, address):
        return
    message = "there is no API key"
    if settings.key.only_oauth:
        message += f", only a log-in of OpenClaw: {OAUTH}"
    raise EmbeddingError(
        settings.name, message, reason="auth", remedy=f"set {settings.key.places}"
    )
