"""Names of backends to import strings, resolved when one is asked for."""

import pkgutil
from collections.abc import Mapping
from typing import Final, cast

from notewell.backends.base import Backend, Nudged, Site
from notewell.errors import BackendUnknown
from notewell.plugins import offered

GROUP: Final = "notewell.backends"
"""The entry point group in which other packages offer backends."""

BUILTIN: Final[Mapping[str, str]] = {
    "builtin": "notewell.backends.builtin:BuiltinBackend",
    "qmd": "notewell.backends.qmd:QmdBackend",
}

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


def backend_class(name: str) -> type[Backend]:
    """Return the backend of that name.

    Raises:
        BackendUnknown: there is none.
    """
    known = BUILTIN if name in BUILTIN else targets()
    if name not in known:
        raise BackendUnknown(name, tuple(sorted(known)))
    return cast("type[Backend]", pkgutil.resolve_name(known[name]))


async def open_backend(name: str, site: Site) -> Backend:
    """Open the backend of that name; where the program stays, with upkeep.

    Raises:
        BackendUnknown: there is none.
        BackendUnavailable: it cannot start here.
    """
    engine = backend_class(name)
    if site.stays and not issubclass(engine, Nudged):
        from notewell.backends.upkeep import kept_up  # slow to import

        engine = kept_up(engine)
    return await engine.open(site)
