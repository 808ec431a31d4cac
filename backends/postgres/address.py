"""Where the server is: read from the dsn alone, so that nobody else leads us astray.

libpq fills what a dsn leaves open from its own variables (`PGHOST`, `PGHOSTADDR`,
`PGSSLMODE`). What decides where notes go is therefore given to it explicitly.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from notewell.adapters.embeddings.remote.address import is_loopback
from notewell.config import PostgresSettings, Secret
from notewell.errors import BackendFailed, BackendUnavailable
from notewell.values import dataclass

BACKEND: Final = "postgres"

_VERIFIED: Final = "verify-full"
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
    try:
        given = conninfo_to_dict(dsn.reveal())
    except ProgrammingError:  # its message repeats the dsn
        raise _unusable("the dsn cannot be read") from None
    if given.keys() & {"service", "servicefile"}:
        raise _unusable("the dsn names a service, which says elsewhere where it leads")
    hosts = _listed(given.get("host"))
    addresses = _listed(given.get("hostaddr"))
    if not (hosts or addresses):
        raise _unusable("the dsn names no host")
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
    host = ", ".join(dict.fromkeys(hosts or addresses))
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
    return max(2 * settings.timeout_ms, 10_000)


def _listed(value: object) -> list[str]:
    return [part for part in str(value or "").split(",") if part]


def _is_local(host: str) -> bool:
    return host.startswith(("/", "@")) or is_loopback(host)


def _has_root() -> bool:
    """Whether the user keeps certificates for libpq."""
    return any(place.is_file() for place in _roots())


def _roots() -> Iterator[Path]:
    yield Path(os.path.expanduser("~")) / ".postgresql" / "root.crt"


def _unusable(why: str) -> BackendUnavailable:
    return BackendUnavailable(BACKEND, why, remedy=_REMEDY)
