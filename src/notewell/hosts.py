"""Hosts: which of them is this machine, and to which a person has agreed to send notes."""

from __future__ import annotations

import ipaddress
from contextlib import suppress
from pathlib import Path
from typing import Final

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
