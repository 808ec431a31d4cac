"""Addresses of providers: what may be shown of them, and by which proxy they are reached."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

from notewell.config import Secret
from notewell.hosts import is_loopback


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A base address, taken apart.

    Attributes:
        url: Without login, query and final slash; may be shown.
        host: Its host.
        query: Its query, which may hold a key.
        login: The value of an Authorization header, if the address holds a login.
    """

    url: str
    host: str
    query: Secret | None = None
    login: Secret | None = None

    @property
    def remote(self) -> bool:
        """Whether text that is sent there may leave this machine, by the host's text."""
        return not is_loopback(self.host)


def read_address(written: str, *, path: str) -> Address:
    """Take an address of the configuration apart.

    Args:
        written: A sound http or https address, as the configuration has checked.
        path: The path that counts when the address has none.

    >>> read_address("http://localhost:8080", path="/v1").url
    'http://localhost:8080/v1'
    """
    parts = urlsplit(written)
    shown = parts._replace(
        netloc=parts.netloc.rpartition("@")[2],
        path=parts.path.rstrip("/") or path,
        query="",
        fragment="",
    )
    return Address(
        url=urlunsplit(shown),
        host=parts.hostname or "",
        query=Secret(parts.query) if parts.query else None,
        login=_login(parts),
    )


def proxy_for(url: str, environ: Mapping[str, str]) -> str | None:
    """Return the proxy that the environment names for an address, if any.

    HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY are understood, in small letters
    first. This machine is never asked through a proxy.

    >>> proxy_for("https://host/", {"https_proxy": "http://proxy:3128"})
    'http://proxy:3128'
    >>> proxy_for("https://host/", {"ALL_PROXY": "http://proxy", "NO_PROXY": "host"})
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    found = _variable(environ, f"{parts.scheme}_proxy")
    found = found or _variable(environ, "all_proxy")
    if not found or is_loopback(host) or _spared(host, _variable(environ, "no_proxy")):
        return None
    return found if "://" in found else f"http://{found}"


def _variable(environ: Mapping[str, str], name: str) -> str:
    return environ.get(name) or environ.get(name.upper()) or ""


def _spared(host: str, listed: str) -> bool:
    """Whether NO_PROXY names a host, a domain above it, or everything."""
    for entry in listed.lower().split(","):
        name = entry.strip().removeprefix("*.").removeprefix(".")
        if name.count(":") == 1:
            name = name.partition(":")[0]
        if name == "*" or (name and (host == name or host.endswith(f".{name}"))):
            return True
    return False


def _login(parts: SplitResult) -> Secret | None:
    if parts.username is None:
        return None
    login = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return Secret(f"Basic {base64.b64encode(login.encode()).decode()}")
