"""Where the server is: read from the dsn alone, so that nobody else leads us astray.

libpq fills what a dsn leaves open from its own variables (`PGHOST`, `PGHOSTADDR`,
`PGSSLMODE`). What decides where notes go is therefore given to it explicitly.
"""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from notewell.backends.postgres.identity import BACKEND
from notewell.config import PostgresSettings, Secret
from notewell.errors import BackendFailed, BackendUnavailable
from notewell.hosts import is_loopback
from notewell.values import dataclass

_VERIFIED: Final = "verify-full"
_MODES: Final = ("disable", "allow", "prefer", "require", "verify-ca", _VERIFIED)
_NUMBERS: Final = ("connect_timeout", "tcp_user_timeout")
_REMEDY: Final = (
    "set memory.postgres.dsn to an address such as"
    " postgresql://user@host/database, or to env:NAME"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerAddress:
    """A server, and how it is reached.

    Attributes:
        conninfo: For libpq; it may hold a password, and is never shown.
        shown: The hosts and the database, fit to be printed.
        host: The hosts alone, by which somebody agrees to send notes there.
        local: Nothing leaves this machine: a socket, or loopback by its text.
        weak: The way of TLS that the dsn names, where it is weaker than it should be.
    """

    conninfo: Secret
    shown: str
    host: str
    local: bool
    weak: str | None = None

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a person should know of it."""
        if self.weak is None:
            return ()
        return (
            (
                f"The connection to {self.host} is made with sslmode={self.weak}: nobody sees"
                f" to it that it is the right server; sslmode={_VERIFIED} does."
            ),
        )


def server_address(dsn: Secret, settings: PostgresSettings) -> ServerAddress:
    """Take a dsn apart.

    Raises:
        BackendUnavailable: it cannot be used.
    """
    given = _read(dsn.reveal().strip())
    if given.keys() & {"service", "servicefile"}:
        raise _unusable("the dsn names a service, which says elsewhere where it leads")
    hosts = _listed(given.get("host"))
    addresses = _listed(given.get("hostaddr"))
    if not (hosts or addresses):
        raise _unusable("the dsn names no host")
    _require_sound(given, [*hosts, *addresses])
    local = all(map(_is_local, addresses or hosts))
    named = given.get("sslmode")
    mode = str(named or ("prefer" if local else _VERIFIED))
    extra: dict[str, str] = {}
    if mode == _VERIFIED and "sslrootcert" not in given and not _has_root():
        extra["sslrootcert"] = "system"
    timeout = max(1, -(-settings.connect_timeout_ms // 1000))
    conninfo = make_conninfo(
        "",
        **{
            **given,
            **extra,
            "host": ",".join(hosts),
            "hostaddr": ",".join(addresses),
            "port": str(given.get("port") or 5432),
            "sslmode": mode,
            "connect_timeout": str(given.get("connect_timeout") or timeout),
            "tcp_user_timeout": str(
                given.get("tcp_user_timeout") or _patience(settings)
            ),
            "application_name": str(given.get("application_name") or "notewell"),
        },
    )
    # Where an address is named, it is what counts, whatever the host is called.
    host = ", ".join(dict.fromkeys([*hosts, *addresses]))
    name = given.get("dbname") or given.get("user") or ""
    return ServerAddress(
        conninfo=Secret(conninfo),
        shown=f"{host}/{name}" if name else host,
        host=host,
        local=local,
        weak=None if local or mode == _VERIFIED else mode,
    )


def require_allowed(address: ServerAddress, *, offline: bool) -> None:
    """See that a server may be connected to.

    Raises:
        BackendFailed: it is elsewhere, and `memory.offline` is set.
    """
    if offline and not address.local:
        raise BackendFailed(
            BACKEND,
            f"memory.offline is set, and {address.host} is another machine",
            reason="offline",
            remedy="unset memory.offline, or name a server on this machine",
        )


def _patience(settings: PostgresSettings) -> int:
    """Return the milliseconds after which a silent connection is given up."""
    return max(2 * settings.timeout_ms, 10_000)


def _listed(value: object) -> list[str]:
    return [part for part in str(value or "").split(",") if part]


def _is_local(host: str) -> bool:
    return host.startswith(("/", "@")) or is_loopback(host)


def _has_root() -> bool:
    """Whether the user keeps certificates for libpq."""
    return Path(os.path.expanduser("~"), ".postgresql", "root.crt").is_file()


def _read(written: str) -> dict[str, Any]:
    """Return what a dsn says.

    Raises:
        BackendUnavailable: it cannot be read, or would be read as something else.
    """
    if not written.isprintable():
        raise _unusable("the dsn holds a sign that cannot be printed")
    if _is_cut_by_password(written):
        raise _unusable(
            "the login in the dsn holds an `@` or a `/` as it is: write %40 and %2F"
        )
    try:
        return dict(conninfo_to_dict(written))
    except ProgrammingError:  # its message repeats the dsn
        raise _unusable("the dsn cannot be read") from None


def _is_cut_by_password(dsn: str) -> bool:
    """Whether libpq would take the rest of a password for a host or a database.

    It looks for the first `@` or `/`; what follows would be shown, and connected to.
    """
    _, uri, rest = dsn.partition("://")
    login, found, place = rest.partition("@")
    return bool(uri and found) and (
        "/" in login.partition("?")[0] or "@" in place.partition("?")[0]
    )


def _require_sound(given: Mapping[str, Any], hosts: Iterable[str]) -> None:
    """Refuse what libpq would refuse by repeating it: it may be part of a password.

    Raises:
        BackendUnavailable: a host, a port or a number is none, or a mode is unknown.
    """
    if any(each[0] != "/" and ("@" in each[1:] or " " in each) for each in hosts):
        raise _unusable("a host in the dsn is none")
    numbers = [*_listed(given.get("port")), *(given.get(name) for name in _NUMBERS)]
    if not all(
        str(each or 0).isascii() and str(each or 0).isdigit() for each in numbers
    ):
        raise _unusable("a port, or a number of seconds, in the dsn is none")
    if given.get("sslmode") not in (None, *_MODES):
        raise _unusable("the sslmode in the dsn is unknown")


def _unusable(why: str) -> BackendUnavailable:
    return BackendUnavailable(BACKEND, why, remedy=_REMEDY)
