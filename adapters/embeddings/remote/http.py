"""The HTTP client of every remote provider: time limits, repeats, and no leaks.

Redirects are never followed, so that a key does not travel; what is secret in an address
is added below the client, so that its log does not show it. Connections are made by a
`Dialer`, which knows where each of them leads.
"""

from __future__ import annotations

import contextlib
import random
import socket
import ssl
import time
from collections.abc import Mapping
from typing import Final, TypedDict

import httpx
import orjson

from notewell.adapters.embeddings.base import Reach, RetryPolicy
from notewell.adapters.embeddings.remote.address import Address, proxy_for
from notewell.adapters.embeddings.remote.dialect import HttpRequest
from notewell.adapters.embeddings.remote.errors import (
    ErrorMap,
    HttpResponse,
    Refusal,
    seconds_from,
)
from notewell.config import Secret
from notewell.errors import EmbeddingError
from notewell.foreign import read_json
from notewell.hosts import LOCALHOST, is_own_address

_LARGEST_ANSWER: Final = 256 * 1024 * 1024

_LONGEST_PAUSE: Final = 30.0

_WORTH_REPEATING: Final = frozenset({"network", "rate-limit"})


class HttpClient:
    """Posts JSON to one provider. Safe to share between threads."""

    def __init__(
        self,
        address: Address,
        *,
        headers: Mapping[str, Secret],
        environ: Mapping[str, str],
        errors: ErrorMap,
        reach: Reach,
    ) -> None:
        """Make ready; no connection is opened.

        Args:
            address: Of the provider.
            headers: Sent along with every request.
            environ: For the proxies and the certificates.
            errors: Makes the errors.
            reach: Told how far the connections lead.

        Raises:
            EmbeddingError: the proxy or the certificates that the environment names
                cannot be used.
        """
        self._base = address.url
        self._errors = errors
        try:
            dialer = Dialer(address.url, environ, reach)
        except (ImportError, OSError, ValueError, httpx.InvalidURL):
            raise errors.error(
                "the proxy or the certificates in the environment cannot be used",
                reason="network",
                remedy="check HTTPS_PROXY, ALL_PROXY, SSL_CERT_FILE and SSL_CERT_DIR",
            ) from None
        self._http = httpx.Client(
            transport=_Private(address, headers, dialer),
            trust_env=False,
            follow_redirects=False,
        )

    def ask(self, call: HttpRequest, retries: RetryPolicy) -> object:
        """Send a request as `fetch` does, and return the answer's JSON.

        Raises:
            Refusal: the server does not want these texts.
            EmbeddingError: no attempt succeeded, or the answer is no JSON.
        """
        try:
            return read_json(self.fetch(call, retries))
        except ValueError:
            raise self._errors.unreadable() from None

    def fetch(self, call: HttpRequest, retries: RetryPolicy) -> bytes:
        """Send a request, again if that may help, and return the answer's bytes.

        Raises:
            Refusal: the server does not want these texts.
            EmbeddingError: no attempt succeeded.
        """
        until = time.monotonic() + retries.total
        attempts = 1 if call.once else retries.attempts
        for attempt in range(attempts):
            outcome = self._once(call, retries, until)
            if isinstance(outcome, HttpResponse):
                return outcome.body
            pause = _pause(outcome, attempt, retries)
            last = attempt + 1 == attempts
            if last or pause is None or time.monotonic() + pause >= until:
                raise outcome
            time.sleep(pause)
        raise ValueError("retries must allow an attempt")

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def _once(
        self, call: HttpRequest, retries: RetryPolicy, until: float
    ) -> HttpResponse | EmbeddingError | Refusal:
        # Exceptions of the client may quote a header, so none is kept as a cause.
        try:
            answer = self._exchange(call, retries, until)
        except httpx.TimeoutException:
            return self._errors.timeout(retries.total)
        except httpx.HTTPError:
            return self._errors.broken()
        except RuntimeError:  # what the client says when another thread closed it
            return self._errors.closed()
        return answer if 200 <= answer.status < 300 else self._errors.of(answer)

    def _exchange(
        self, call: HttpRequest, retries: RetryPolicy, until: float
    ) -> HttpResponse:
        left = max(until - time.monotonic(), 0.001)
        limit = httpx.Timeout(left, connect=min(left, retries.connect))
        url = f"{self._base}{call.path}"
        sent = self._http.build_request(call.method, url, timeout=limit, **_sent(call))
        with contextlib.closing(self._http.send(sent, stream=True)) as response:
            body = _body(response, until)
        wait = response.headers.get("retry-after")
        return HttpResponse(
            status=response.status_code,
            body=body,
            retry_after=seconds_from(wait, now=time.time()),
        )


class _Private(httpx.BaseTransport):
    """Adds headers and the query of the address below the client, which logs."""

    def __init__(
        self, address: Address, headers: Mapping[str, Secret], dialer: Dialer
    ) -> None:
        self._inner = dialer
        self._query = address.query
        self._headers = headers

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        url, headers = request.url, request.headers.copy()
        if self._query is not None:
            url = url.copy_with(query=self._query.reveal().encode())
        headers.update({name: held.reveal() for name, held in self._headers.items()})
        return self._inner.handle_request(changed(request, url, headers=headers))

    def close(self) -> None:
        self._inner.close()


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


class _Sent(TypedDict, total=False):
    content: bytes
    headers: dict[str, str]
    data: dict[str, str]
    files: dict[str, tuple[str, bytes]]


def _sent(call: HttpRequest) -> _Sent:
    """Return what a request carries: a form with a file, JSON, or nothing."""
    if call.file is not None:
        form = {name: str(value) for name, value in call.body.items()}
        return {"data": form, "files": {"file": ("batch.jsonl", call.file)}}
    if call.method != "POST":
        return {}
    content = orjson.dumps(call.body)
    return {"content": content, "headers": {"Content-Type": "application/json"}}


def _body(response: httpx.Response, until: float) -> bytes:
    """Read an answer to its end, though the server sends it drop by drop."""
    parts: list[bytes] = []
    size = 0
    for part in response.iter_bytes():
        size += len(part)
        if time.monotonic() > until:
            raise httpx.ReadTimeout("the answer takes too long")
        if size > _LARGEST_ANSWER:
            raise httpx.ReadError("the answer is too large")
        parts.append(part)
    return b"".join(parts)


def _pause(
    outcome: EmbeddingError | Refusal, attempt: int, retries: RetryPolicy
) -> float | None:
    """Return the seconds before the next attempt; None if none is of use."""
    usual = retries.pause * 2.0**attempt * random.uniform(0.5, 1.0)
    if isinstance(outcome, Refusal):
        return usual if outcome.status == 500 and attempt == 0 else None
    if outcome.reason not in _WORTH_REPEATING:
        return None
    asked = outcome.retry_after or 0.0
    return max(asked, min(usual, _LONGEST_PAUSE))


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
