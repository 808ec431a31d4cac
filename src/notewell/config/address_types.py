"""The types of what leads to servers: addresses, keys, headers, models."""

import re
from collections.abc import Mapping
from typing import Final, cast

from notewell.config.value_types import file_path, read_text
from notewell.config.values import (
    IfWrong,
    InvalidValue,
    KeyPath,
    MissingVariable,
    Secret,
    ValueType,
    describe_kind,
    describe_value,
    expand_references,
    read_secret,
    show_secret,
)
from notewell.errors import without_logins

# The scheme, which may be a reference; the login; what is shown; the rest.
_ADDRESS: Final = r"(?s)(?:([^/?#]*://)[^/?#]*@)?([^?#]*).*"


def model_file() -> ValueType:
    """A file path, or a reference to a model (`hf:`, `https:`) as it is."""
    plain = file_path()

    def read(value: object, key_path: KeyPath) -> str:
        written = read_text(value, key_path)
        if re.match(r"(hf|https?):", written):
            return written
        return str(plain.read(written, key_path))

    accepted = "a path of a GGUF file, or hf:<repository>/<file>"
    return ValueType(accepted=accepted, read=read, show=without_secrets)


def http_address() -> ValueType:
    """An http or https address. Errors do not repeat it: it may hold a key."""

    def read(value: object, key_path: KeyPath) -> str:
        from urllib.parse import urlsplit  # only files that name an address pay for it

        written = read_text(value, key_path).strip()
        try:
            parts = urlsplit(written)
            sound = parts.scheme in ("http", "https") and parts.port != 0
        except ValueError:
            raise InvalidValue("is not a sound address") from None
        if not sound or not parts.hostname or not written.isprintable():
            raise InvalidValue("is not an http or https address")
        return written

    return ValueType(
        accepted="an address: http(s)://host[:port]/…", read=read, show=without_secrets
    )


def secret_text() -> ValueType:
    """A key: a text, a reference to a variable, or OpenClaw's reference object."""
    accepted = "a text, ${NAME} or env:NAME"
    return ValueType(accepted=accepted, read=read_secret, show=show_secret)


def database_address() -> ValueType:
    """How a database is reached, with its password; it is never shown.

    One whose variable is not set is there, and empty: nothing else is used for it.
    """

    def read(value: object, key_path: KeyPath) -> Secret:
        if not isinstance(value, str):
            raise InvalidValue(f"is {describe_kind(value)}")
        try:
            written = expand_references(value, key_path).strip()
        except MissingVariable as exc:
            key_path.context.warnings.append(f"{key_path.key} cannot be used: {exc}")
            return Secret("")
        if not written or not written.isprintable():
            raise InvalidValue("is empty or holds characters that no address has")
        return Secret(written)

    accepted = "an address as libpq has it, ${NAME} or env:NAME"
    return ValueType(accepted=accepted, read=read, show=show_secret)


def database_name() -> ValueType:
    """A name of letters, digits, `-` and `_`, fit for a database."""
    accepted = "a name of at most 60 small letters, digits, - and _"

    def read(value: object, key_path: KeyPath) -> str:
        name = read_text(value, key_path).strip()
        if not re.fullmatch(r"[a-z_][a-z0-9_-]{0,59}", name):
            raise InvalidValue(f"is {describe_value(value)}")
        return name

    return ValueType(accepted=accepted, read=read)


def header_map() -> ValueType:
    """HTTP headers by name; every value may be a key, so none is shown."""

    def read(value: object, key_path: KeyPath) -> dict[str, Secret]:
        if not isinstance(value, Mapping):
            raise InvalidValue(f"is {describe_kind(value)}")
        found: dict[str, Secret] = {}
        for name, item in cast("Mapping[str, object]", value).items():
            if not re.fullmatch(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", name):
                raise InvalidValue("has a name that no header has")
            at = KeyPath(key=f"{key_path.key}.{name}", context=key_path.context)
            if (held := read_secret(item, at)) is not None:
                found[name] = held
        return found

    def show(value: object) -> object:
        items = cast("Mapping[str, object]", value).items()
        return {name: show_secret(item) for name, item in items}

    return ValueType(accepted="an object of header texts", read=read, show=show)


def sent(value_type: ValueType) -> ValueType:
    """What says what is sent where: while it is wrong, no provider is asked."""
    return value_type.or_else(IfWrong.ASK_NOBODY)


def without_secrets(value: object) -> object:
    """Show an address without login, query and fragment; an absolute path as it is.

    >>> without_secrets("https://me:key@host:80/v1?key=1")
    'https://host:80/v1'
    """
    if not isinstance(value, str) or value.startswith("/"):
        return value
    return without_logins(re.sub(_ADDRESS, r"\1\2", value, count=1))
