"""Names of backends to import strings, resolved when one is asked for."""

import pkgutil
from collections.abc import Mapping
from typing import Final, cast

from notewell.backends.base import Backend, KeepsFresh, Site
from notewell.backends.policy import Policy
from notewell.config import AgentSettings, Settings
from notewell.errors import BackendUnknown
from notewell.plugins import offered

GROUP: Final = "notewell.backends"
"""The entry point group in which other packages offer backends."""

BUILTIN: Final[Mapping[str, str]] = {
    "builtin": "notewell.backends.builtin.engine:BuiltinBackend",
    "postgres": "notewell.backends.postgres.engine:PostgresBackend",
    "qmd": "notewell.backends.qmd.engine:QmdBackend",
}

_POLICIES: Final[Mapping[str, str]] = {
    "builtin": "notewell.backends.builtin.policy:BuiltinPolicy",
    "postgres": "notewell.backends.postgres.policy:PostgresPolicy",
    "qmd": "notewell.backends.qmd.policy:QmdPolicy",
}
"""Those of our engines, which take long to import. They are the engines' `policy`."""

_FOR_TESTS: Final[Mapping[str, str]] = {
    "in-memory": "notewell.backends.contract.in_memory:InMemoryBackend",
}
"""Found by who names it, and offered to nobody."""

STAND_IN: Final = "builtin"
"""The one that answers in place of another which fails."""

DRIVEN: Final = frozenset({"builtin"})
"""Those that need no event loop: they wait for nothing but their own work."""


def targets() -> dict[str, str]:
    """Return every known name with its "module:attribute", built-ins first.

    Raises:
        ConfigError: two installed distributions claim one name.
    """
    return offered(GROUP, BUILTIN, key="memory.backend")


def require_known(name: str) -> None:
    """Make sure that there is a backend of that name. Loads none.

    Raises:
        BackendUnknown: there is none.
    """
    ours = BUILTIN.keys() | _FOR_TESTS.keys()
    if name not in ours and name not in (known := targets()):
        raise BackendUnknown(name, tuple(sorted(known)))


def backend_class(name: str) -> type[Backend]:
    """Return the backend of that name.

    Raises:
        BackendUnknown: there is none.
    """
    require_known(name)
    ours = {**BUILTIN, **_FOR_TESTS}
    known = ours if name in ours else targets()
    return cast("type[Backend]", pkgutil.resolve_name(known[name]))


def policy_class(name: str) -> type[Policy]:
    """Return the policy of the backend of that name.

    Raises:
        BackendUnknown: there is none.
    """
    if name in _POLICIES:
        return cast("type[Policy]", pkgutil.resolve_name(_POLICIES[name]))
    return getattr(backend_class(name), "policy", Policy)


def policy_of(settings: Settings, agent: AgentSettings) -> Policy:
    """Return what an agent's settings mean for its backend.

    Where there is no such backend, which is told when it is opened, they mean the usual.
    """
    try:
        policy = policy_class(settings.memory.backend)
    except BackendUnknown:
        policy = Policy
    return policy(settings, agent)


async def open_backend(name: str, site: Site) -> Backend:
    """Open the backend of that name; where the program stays, with upkeep.

    Raises:
        BackendUnknown: there is none.
        BackendUnavailable: it cannot start here.
    """
    engine = backend_class(name)
    if site.stays and not issubclass(engine, KeepsFresh):
        from notewell.backends.freshness import scheduled  # slow to import

        engine = scheduled(engine)
    return await engine.open(site)
