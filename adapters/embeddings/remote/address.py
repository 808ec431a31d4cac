"""Addresses of providers: what may be shown of them, whose they are, and who was agreed to."""

from __future__ import annotations

import base64
import ipaddress
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

from notewell.config import Secret


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


LOCALHOST: Final = ("127.0.0.1", "::1")
"""What `localhost` is, whatever a name server says."""


def is_loopback(host: str) -> bool:
    """Whether a host is this machine by its text alone, with no name server asked.

    That is an address, or the name `localhost`. Another name, also `x.localhost` and
    `localhost.`, leads wherever a name server says.

    >>> is_loopback("127.0.0.2"), is_loopback("localhost"), is_loopback("x.localhost")
    (True, True, False)
    """
    return host.lower() == "localhost" or is_own_address(host)


def is_own_address(host: str) -> bool:
    """Whether a host is the address of this machine for itself.

    >>> is_own_address("::ffff:127.0.0.1"), is_own_address("::1%eth0")
    (True, False)
    """
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv6Address):
        if address.scope_id is not None:
            return False
        address = address.ipv4_mapped or address
    # A connection to 0.0.0.0 reaches this machine.
    return address.is_loopback or address.is_unspecified


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


class HostAgreements:
    """The hosts that a person has agreed to send the text of notes to.

    Kept in a file of the state folder. One that cannot be read agrees to nothing.
    """

    def __init__(self, state_dir: Path) -> None:
        self._file = state_dir / "notewell-hosts.json"

    def has(self, host: str) -> bool:
        """Whether there is an agreement."""
        return host in self._hosts()

    def add(self, host: str) -> None:
        """Remember an agreement; where that is not possible, it is asked for again."""
        import orjson

        from notewell.files import create_folder, replace_file

        hosts = sorted({*self._hosts(), host})
        with suppress(OSError):
            create_folder(self._file.parent)
            replace_file(self._file, orjson.dumps({"hosts": hosts}))

    def _hosts(self) -> set[str]:
        from notewell.files import read_regular
        from notewell.foreign import read_items, read_json, read_member

        try:
            raw = read_regular(self._file, below_links=True)
            found = read_member(read_json(raw), "hosts")
        except (OSError, ValueError):
            return set()
        return {host for host in read_items(found) if isinstance(host, str)}
