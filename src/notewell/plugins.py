"""What other packages offer: names to import strings, by entry points."""

from collections.abc import Mapping

from notewell.errors import ConfigError


def offered(group: str, ours: Mapping[str, str], *, key: str) -> dict[str, str]:
    """Return every known name with its "module:attribute", ours first.

    Args:
        group: The entry point group.
        ours: What needs no entry point, so that a checkout works uninstalled.
        key: The setting by which one is chosen.

    Raises:
        ConfigError: two installed distributions claim one name.
    """
    from importlib.metadata import entry_points  # slow, and only for plugins

    found = dict(ours)
    for entry in entry_points(group=group):
        if found.setdefault(entry.name, entry.value) != entry.value:
            raise ConfigError(
                key,
                f"{entry.name!r} is offered by two installed packages",
                accepted="a name that one package offers; remove the other package",
            )
    return found
