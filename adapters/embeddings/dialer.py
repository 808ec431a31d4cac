"""Connecting to a host so that it is known where the connection leads."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Mapping

import httpx

from notewell.adapters.embeddings.address import LOCALHOST, is_own_address, proxy_for
from notewell.adapters.embeddings.base import Reach


class Dialer(httpx.BaseTransport):
    """Connects to one host, and knows whether that is this machine.

    A name is looked up here and connected to by its address, so that what is said of
    the connection is true of it. `localhost` is never looked up.
    """

    def __init__(self, url: str, environ: Mapping[str, str], reach: Reach) -> None:
        """Make ready; nothing is looked up, no connection is opened.

        Args:
            url: Of the host.
            environ: For the proxies and the certificates.
            reach: Told how far each connection leads.

        Raises:
            ImportError, OSError, ValueError, httpx.InvalidURL: the proxy or the
                certificates that the environment names cannot be used.
        """
        proxy = proxy_for(url, environ)
        self._inner = httpx.HTTPTransport(
            verify=_certificates(url, proxy, environ),
            trust_env=False,
            proxy=httpx.Proxy(proxy) if proxy else None,
        )
        self._proxied = proxy is not None
        self._reach = reach
        self._found: tuple[str, ...] = ()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request to the first address of its host that takes it.

        Raises:
            httpx.ConnectError: the host has no address, or none takes it.
        """
        if self._proxied:
            self._reach.away = True
            return self._inner.handle_request(request)
        if self._found:
            try:
                return self._to_first(request, self._found)
            except (httpx.ConnectError, httpx.ConnectTimeout):
                self._found = ()  # the host may have moved
        self._found = _addresses(request.url)
        return self._to_first(request, self._found)

    def close(self) -> None:
        """Close the connections."""
        self._inner.close()

    def _to_first(
        self, request: httpx.Request, addresses: tuple[str, ...]
    ) -> httpx.Response:
        *others, last = addresses
        for address in others:
            try:
                return self._to(request, address)
            except (httpx.ConnectError, httpx.ConnectTimeout):
                continue
        return self._to(request, last)

    def _to(self, request: httpx.Request, address: str) -> httpx.Response:
        self._reach.away = not is_own_address(address)
        host = request.url.raw_host.decode("ascii")
        return self._inner.handle_request(
            changed(request, request.url.copy_with(host=address), sni_hostname=host)
        )


def _addresses(url: httpx.URL) -> tuple[str, ...]:
    """Return where a host may be, the best first; only a name is looked up."""
    host = url.raw_host.decode("ascii")
    if host == "localhost":
        return LOCALHOST
    if is_own_address(host):
        return (host,)
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as exc:  # the second: no name of a host at all
        raise httpx.ConnectError("the host has no address") from exc
    return tuple(dict.fromkeys(str(address[0]) for *_, address in found))


def changed(
    request: httpx.Request,
    url: httpx.URL,
    *,
    headers: httpx.Headers | None = None,
    **extensions: str,
) -> httpx.Request:
    """Return the same request for another address or with other headers."""
    return httpx.Request(
        request.method,
        url,
        headers=request.headers if headers is None else headers,
        stream=request.stream,
        extensions={**request.extensions, **extensions},
    )


def _certificates(
    url: str, proxy: str | None, environ: Mapping[str, str]
) -> ssl.SSLContext | bool:
    """Return what to trust; nothing is loaded for an address that wants no TLS."""
    if not any(place.startswith("https:") for place in (url, proxy or "")):
        return False
    file, folder = environ.get("SSL_CERT_FILE"), environ.get("SSL_CERT_DIR")
    if file or folder:
        return ssl.create_default_context(cafile=file or None, capath=folder or None)
    return httpx.create_ssl_context(trust_env=False)
