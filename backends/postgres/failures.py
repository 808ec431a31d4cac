"""What went wrong in the server, in the words of `fallbacks`."""

import re
from collections.abc import Mapping
from typing import Final

import psycopg
from psycopg_pool import PoolClosed, PoolTimeout, TooManyRequests

from notewell.backends.postgres.identity import BACKEND
from notewell.errors import BackendError, BackendFailed

_TRY_AGAIN: Final = "see that the server runs and can be reached, and try again"
_RIGHTS: Final = "`notewell postgres check` says which rights are missing"
_INIT: Final = "run `notewell index`, or `notewell postgres init` for the SQL of it"

_BY_STATE: Final[Mapping[str, tuple[str, str, str]]] = {
    "25006": (
        "auth",
        "the server only reads",
        "name the primary in memory.postgres.dsn",
    ),
    "28000": ("auth", "the server does not let this user in", _RIGHTS),
    "28P01": ("auth", "the password is wrong", "set it anew in the dsn"),
    "3D000": ("missing", "the database is not there", "create it, or name another one"),
    "3F000": ("not-ready", "the schema is not there", _INIT),
    "40001": ("busy", "the server asks to try again", "try again"),
    "40P01": ("busy", "the server asks to try again", "try again"),
    "42501": ("auth", "the server refuses the right to do that", _RIGHTS),
    "42P01": ("not-ready", "the tables are not there", _INIT),
    "42703": ("version", "the tables are of another version", _INIT),
    "53100": ("quota", "the disk of the server is full", "make room there"),
    "53200": ("busy", "the server has no memory left", "try again"),
    "53300": (
        "busy",
        "the server has no connection left",
        "lower memory.postgres.poolSize",
    ),
    "55P03": ("busy", "another process is writing", "try again"),
    "57014": (
        "timeout",
        "a statement took too long",
        "raise memory.postgres.timeoutMs",
    ),
    "57P03": ("not-ready", "the server is starting", "try again"),
    "XX001": ("corrupt", "a table is damaged", "see the log of the server"),
    "XX002": ("corrupt", "an index is damaged", "see the log of the server"),
}
"""By SQLSTATE: the reason, what is said, and what to do."""

# A connection that fails has no SQLSTATE in libpq, only its text.
_BY_TEXT: Final = (
    (r"password authentication failed|no password supplied", "28P01"),
    (r"no pg_hba\.conf entry|role .* does not exist|not permitted to log in", "28000"),
    (r"database .* does not exist", "3D000"),
    (r"too many (clients|connections)|remaining connection slots", "53300"),
    (r"starting up|shutting down|recovery mode|not yet accepting", "57P03"),
)


def backend_error(error: psycopg.Error) -> BackendError:
    """Return what an error of psycopg means."""
    if isinstance(error, (PoolTimeout, TooManyRequests)):
        return failed(
            "busy", "no connection came free", "raise memory.postgres.poolSize"
        )
    if isinstance(error, PoolClosed):
        return failed("network", "the engine is closed", "open it again")
    if isinstance(error, psycopg.errors.ConnectionTimeout):
        return failed("timeout", "the server does not answer in time", _TRY_AGAIN)
    state = error.sqlstate or _state_in(str(error))
    if state is not None and state in _BY_STATE:
        return failed(*_BY_STATE[state])
    if isinstance(error, psycopg.OperationalError):
        return _connection_lost(error)
    return failed(
        "exit", f"the server refuses a statement ({state or 'no code'})", _INIT
    )


def _connection_lost(error: psycopg.OperationalError) -> BackendError:
    if "certificate" in str(error) or "SSL" in str(error):
        why = "the server cannot show that it is the right one (TLS)"
        return failed("auth", why, "see sslmode and sslrootcert in memory.postgres.dsn")
    if error.pgconn is not None and error.pgconn.needs_password:
        return failed(*_BY_STATE["28P01"])
    return failed("network", "the server cannot be reached", _TRY_AGAIN)


def _state_in(text: str) -> str | None:
    return next((state for hint, state in _BY_TEXT if re.search(hint, text)), None)


def failed(reason: str, why: str, remedy: str) -> BackendFailed:
    """Return the error for a reason of `fallbacks`."""
    return BackendFailed(BACKEND, why, reason=reason, remedy=remedy)
