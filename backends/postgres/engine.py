"""The engine `postgres`: which server, which space, and what may be sent there."""

import os
from importlib import import_module

from notewell.backends.base import Site
from notewell.backends.postgres.identity import BACKEND, Place, place_of
from notewell.backends.postgres.policy import PostgresPolicy
from notewell.backends.remote.engine import RemoteBackend
from notewell.backends.remote.store import Owner, SpaceStore
from notewell.config import Secret
from notewell.errors import BackendUnavailable
from notewell.installing import install_extra


class PostgresBackend(RemoteBackend):
    """Words in PostgreSQL. See `notewell.backends.base.Backend`."""

    policy = PostgresPolicy

    @classmethod
    def store(cls, site: Site) -> SpaceStore:
        """Return the space of a site; nothing is connected to yet.

        Raises:
            BackendError: it cannot be used here.
        """
        require_installed()
        from notewell.backends.postgres.address import require_allowed, server_address
        from notewell.backends.postgres.store import PostgresStore

        settings = site.memory.postgres
        private = None
        dsn: Secret | None = settings.dsn
        if dsn is None:
            from notewell.backends.postgres.private import PrivateServer

            private = PrivateServer(site.state_dir)
            dsn = private.dsn
        address = server_address(dsn, settings)
        replica = (
            server_address(settings.read_dsn, settings) if settings.read_dsn else None
        )
        for each in (address, replica):
            if each is not None:
                require_allowed(each, offline=site.memory.offline)
        return PostgresStore(
            address,
            replica,
            settings,
            space=_place(site).space,
            locks=site.state_dir / "postgres-locks",
            stays=site.stays,
            private=private,
        )

    @classmethod
    def owner(cls, site: Site) -> Owner:
        """Return whose holding is written.

        Raises:
            BackendError: we have no name.
        """
        return _place(site).owner


def require_installed() -> None:
    """See that what talks to a server is there.

    Raises:
        BackendUnavailable: it is not.
    """
    try:
        import_module("psycopg_pool")  # with psycopg, and the library behind it
    except ImportError as error:
        raise BackendUnavailable(
            BACKEND,
            f"psycopg cannot be loaded ({error})",
            remedy=f"install it: {install_extra('postgres')}",
        ) from error


def _place(site: Site) -> Place:
    """Return the space of a site; another workspace than the agent's has its own."""
    root, own = map(os.path.realpath, (site.workspace.root, site.agent.workspace))
    elsewhere = None if root == own else site.workspace.root
    return place_of(site.state_dir, site.agent.id, elsewhere)
