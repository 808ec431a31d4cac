"""`${NAME}` and `env:NAME` inside the texts of a configuration file."""

import re
from collections.abc import Mapping
from typing import Final, cast

from notewell.config.form import Place, Unfit
from notewell.config.secret import HIDDEN, Secret

# OpenClaw replaces names in capitals only, and `$${NAME}` stands for itself.
_INSIDE: Final = re.compile(r"(\$?)\$\{([A-Z_][A-Z0-9_]*)\}")
_WHOLE: Final = re.compile(r"env:([A-Za-z_][A-Za-z0-9_]*)")
_ALONE: Final = re.compile(r"\$\{[A-Z_][A-Z0-9_]*\}|env:[A-Za-z_][A-Za-z0-9_]*")


class Missing(Unfit):
    """A variable that a text refers to is not set; carries its name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the environment variable {name} is not set")
        self.name = name


def refers(value: object) -> bool:
    """Whether a JSON value holds a text that refers to a variable."""
    if isinstance(value, str):
        return bool(_WHOLE.fullmatch(value) or _INSIDE.search(value))
    if isinstance(value, list):
        return any(refers(item) for item in cast("list[object]", value))
    return False


def expanded(text: str, place: Place) -> str:
    """Return the text with every reference replaced.

    Raises:
        Missing: a variable is not set, or empty.
    """
    environ = place.scene.environ
    if whole := _WHOLE.fullmatch(text):
        return _variable(environ, whole[1])
    return _INSIDE.sub(
        lambda match: match[0][1:] if match[1] else _variable(environ, match[2]), text
    )


def read_secret(value: object, place: Place) -> Secret | None:
    """Return a key; None, with a warning, when its variable is not set.

    Raises:
        Unfit: the value is neither a text nor OpenClaw's reference object.
    """
    if isinstance(value, Mapping):
        return _referenced(cast("Mapping[str, object]", value), place)
    if not isinstance(value, str) or not value.strip():
        raise Unfit("is not a text" if value else "is empty")
    try:
        text = expanded(value, place).strip()
    except Missing as exc:
        place.scene.warnings.append(f"{place.key} is left out: {exc}")
        return None
    _check_sendable(text)
    return Secret(text)


def show_secret(value: object) -> object:
    """Show a reference as it is written, and of anything else only that it exists."""
    if value is None or (isinstance(value, str) and _ALONE.fullmatch(value)):
        return value
    return HIDDEN


def _variable(environ: Mapping[str, str], name: str) -> str:
    if found := environ.get(name):
        return found
    raise Missing(name)


def _check_sendable(text: str) -> None:
    """Refuse what no HTTP header can carry; it would fail with the key in the error."""
    if not text.isprintable() or not text.isascii():
        raise Unfit("holds characters that no key has")


def _referenced(value: Mapping[str, object], place: Place) -> Secret | None:
    source, name = value.get("source"), value.get("id")
    if not isinstance(source, str) or not isinstance(name, str):
        raise Unfit('is an object without "source" and "id"')
    if source == "env":
        return read_secret(f"env:{name}", place)
    place.scene.warnings.append(
        f"{place.key} is left out: notewell reads keys from the file and the "
        f"environment, not from a secret store ({source[:20]!a})"
    )
    return None
