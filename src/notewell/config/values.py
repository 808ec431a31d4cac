"""What a value of the file is: how it is read and shown, its references, its secrets."""

import re
from collections.abc import Callable, Mapping
from enum import Enum
from pathlib import Path
from typing import Final, Self, cast

import msgspec
from msgspec.structs import replace

HIDDEN: Final = "[redacted]"

# OpenClaw replaces names in capitals only, and `$${NAME}` stands for itself.
_INSIDE: Final = r"(\$?)\$\{([A-Z_][A-Z0-9_]*)\}"

_WHOLE: Final = r"env:([A-Za-z_][A-Za-z0-9_]*)"
_ALONE: Final = r"\$\{[A-Z_][A-Z0-9_]*\}|env:[A-Za-z_][A-Za-z0-9_]*"


class ReadContext(msgspec.Struct, frozen=True, kw_only=True):
    """What the meaning of a written value depends on.

    Attributes:
        environ: The environment variables.
        home: What `~` stands for.
        base: What a relative path is relative to.
        state: What `<state>` stands for.
        strict: A wrong value is an error, and not a warning.
        warnings: Gathered while settings are read.
        unused: Gathered keys that are OpenClaw's and that notewell does not use.
    """

    environ: Mapping[str, str]
    home: Path
    base: Path
    state: Path
    strict: bool = False
    warnings: list[str] = []
    unused: list[str] = []


class KeyPath(msgspec.Struct, frozen=True, kw_only=True):
    """Where a value stands: its full key, and the context."""

    key: str
    context: ReadContext


class InvalidValue(Exception):
    """A value has a wrong type or makes no sense; the message says why, without secrets."""


def show_plain(value: object) -> object:
    """Show a value as it is; tuples become lists."""
    if isinstance(value, tuple):
        return list(cast("tuple[object, ...]", value))
    return value


class IfWrong(Enum):
    """What becomes of a key whose value is wrong."""

    LEAVE_OUT = "as if the key were not there"
    REFUSE = "an error: without it nobody knows what may be answered"
    ASK_NOBODY = "no provider is asked: nobody knows what would be sent where"


class ValueType(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of value.

    Attributes:
        accepted: What is accepted, in words.
        read: From a JSON value to the setting; raises InvalidValue.
        show: From the setting, or the text in the file, to what may be printed.
        if_wrong: What becomes of a wrong value, or what counts in its place.
    """

    accepted: str
    read: Callable[[object, KeyPath], object]
    show: Callable[[object], object] = show_plain
    if_wrong: object = IfWrong.LEAVE_OUT

    def or_else(self, if_wrong: object) -> Self:
        """Return the same type with something else for a wrong value."""
        return replace(self, if_wrong=if_wrong)


def describe_value(value: object) -> str:
    """Say what stands there instead: short, and safe for any value.

    >>> [describe_value(v) for v in (True, "soon", [1], 10**5000)]
    ['true', "'soon'", 'a list', 'a huge number']
    """
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return ascii(value) if len(value) <= 40 else "a long text"
    if isinstance(value, int) and value.bit_length() > 64:
        return "a huge number"
    if isinstance(value, int | float):
        return repr(value)
    return "an object" if isinstance(value, Mapping) else "a list"


def describe_kind(value: object) -> str:
    """Say what kind of value stands there, but not which: it may be a key.

    >>> describe_kind("sk-123"), describe_kind(123), describe_kind([1])
    ('a text', 'a number', 'a list')
    """
    if isinstance(value, str):
        return "a text"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "a number"
    return describe_value(value)


class Secret:
    """An API key or another confidential text; only `reveal` shows it.

    >>> Secret("sk-123")
    Secret([redacted])
    >>> f"{Secret('sk-123')}"
    '[redacted]'
    """

    __slots__ = ("__text",)

    def __init__(self, text: str) -> None:
        self.__text = text

    def reveal(self) -> str:
        """Return the text itself, for the one place that sends it."""
        return self.__text

    def __repr__(self) -> str:
        return f"Secret({HIDDEN})"

    def __str__(self) -> str:
        return HIDDEN

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other.__text == self.__text

    def __hash__(self) -> int:
        return hash(self.__text)

    def __reduce__(self) -> str:
        raise TypeError("a Secret is not serialised")


class MissingVariable(InvalidValue):
    """A variable that a text refers to is not set; carries its name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the environment variable {name} is not set")
        self.name = name


def holds_reference(value: object) -> bool:
    """Whether a JSON value holds a text that refers to a variable."""
    if isinstance(value, str):
        return _may_refer(value) and bool(
            re.fullmatch(_WHOLE, value) or re.search(_INSIDE, value)
        )
    if isinstance(value, list):
        return any(holds_reference(item) for item in cast("list[object]", value))
    return False


def expand_references(text: str, key_path: KeyPath) -> str:
    """Return the text with every reference replaced.

    Raises:
        MissingVariable: a variable is not set, or empty.
    """
    if not _may_refer(text):
        return text
    environ = key_path.context.environ
    if whole := re.fullmatch(_WHOLE, text):
        return _variable(environ, whole[1])
    return re.sub(
        _INSIDE,
        lambda match: match[0][1:] if match[1] else _variable(environ, match[2]),
        text,
    )


def read_secret(value: object, key_path: KeyPath) -> Secret | None:
    """Return a key; None, with a warning, when its variable is not set.

    Raises:
        InvalidValue: the value is neither a text nor OpenClaw's reference object.
    """
    if isinstance(value, Mapping):
        return _referenced(cast("Mapping[str, object]", value), key_path)
    if not isinstance(value, str) or not value.strip():
        raise InvalidValue("is not a text" if value else "is empty")
    try:
        text = expand_references(value, key_path).strip()
    except MissingVariable as exc:
        key_path.context.warnings.append(f"{key_path.key} is left out: {exc}")
        return None
    _check_sendable(text)
    return Secret(text)


def show_secret(value: object) -> object:
    """Show a reference as it is written, and of anything else only that it exists."""
    if value is None or (isinstance(value, str) and re.fullmatch(_ALONE, value)):
        return value
    return HIDDEN


def _may_refer(text: str) -> bool:
    """Whether a text is worth a look for references; most are not."""
    return "${" in text or text.startswith("env:")


def _variable(environ: Mapping[str, str], name: str) -> str:
    if found := environ.get(name):
        return found
    raise MissingVariable(name)


def _check_sendable(text: str) -> None:
    """Refuse what no HTTP header can carry; it would fail with the key in the error."""
    if not text.isprintable() or not text.isascii():
        raise InvalidValue("holds characters that no key has")


def _referenced(value: Mapping[str, object], key_path: KeyPath) -> Secret | None:
    source, name = value.get("source"), value.get("id")
    if not isinstance(source, str) or not isinstance(name, str):
        raise InvalidValue('is an object without "source" and "id"')
    if source == "env":
        return read_secret(f"env:{name}", key_path)
    key_path.context.warnings.append(
        f"{key_path.key} is left out: notewell reads keys from the file and the "
        f"environment, not from a secret store ({source[:20]!a})"
    )
    return None
