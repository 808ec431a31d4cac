"""What a form is: how one setting is read from the file and shown again."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import cast

import msgspec


class Scene(msgspec.Struct, frozen=True, kw_only=True):
    """What the meaning of a written value depends on.

    Attributes:
        environ: The environment variables.
        home: What `~` stands for.
        base: What a relative path is relative to.
        state: What `<state>` stands for.
        warnings: Gathered while settings are read.
        unused: Gathered keys that are OpenClaw's and that notewell does not use.
    """

    environ: Mapping[str, str]
    home: Path
    base: Path
    state: Path
    warnings: list[str] = []
    unused: list[str] = []


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Where a value stands: its full key, and the scene."""

    key: str
    scene: Scene


class Unfit(Exception):
    """A value does not have its form; the message says why, without secrets."""


def as_written(value: object) -> object:
    """Show a value as it is; tuples become lists."""
    if isinstance(value, tuple):
        return list(cast("tuple[object, ...]", value))
    return value


class Form(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of value.

    Attributes:
        accepted: What is accepted, in words.
        read: From a JSON value to the setting; raises Unfit.
        show: From the setting, or the text in the file, to what may be printed.
    """

    accepted: str
    read: Callable[[object, Place], object]
    show: Callable[[object], object] = as_written


def seen(value: object) -> str:
    """Say what stands there instead: short, and safe for any value.

    >>> seen(True), seen("soon"), seen([1]), seen(10**5000)
    ('true', "'soon'", 'a list', 'a huge number')
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


def kind(value: object) -> str:
    """Say what kind of value stands there, but not which: it may be a key.

    >>> kind("sk-123"), kind(123), kind([1])
    ('a text', 'a number', 'a list')
    """
    if isinstance(value, str):
        return "a text"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "a number"
    return seen(value)
