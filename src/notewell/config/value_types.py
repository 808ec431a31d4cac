"""The types of values: numbers, durations, sizes, words, paths, addresses, keys."""

import math
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final, cast

from notewell.config.values import (
    InvalidValue,
    KeyPath,
    ValueType,
    describe_value,
    expand_references,
)
from notewell.errors import without_logins
from notewell.files import writable_text
from notewell.types import NarrowedPath

MOST: Final = 2**53
_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
# Texts, not compiled patterns: most starts need none of them.
_DURATION: Final = r"(?:[0-9]{1,12}(?:\.[0-9]{1,6})?(?:ms|s|m|h|d))+"
_PART: Final = r"([0-9.]+)(ms|s|m|h|d)"
_BARE: Final = r"[0-9]{1,12}(?:\.[0-9]{1,6})?"
_SIZE: Final = r"([0-9]{1,12}(?:\.[0-9]{1,6})?)\s*([kmgt]?)i?b?"
_POWERS: Final = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


def boolean() -> ValueType:
    """True or false, nothing else."""

    def read(value: object, key_path: KeyPath) -> bool:
        if isinstance(value, bool):
            return value
        raise InvalidValue(f"is {describe_value(value)}")

    return ValueType(accepted="true or false", read=read)


def integer(least: int = 0, most: int = MOST) -> ValueType:
    """A whole number; JSON's 6.0 is 6."""
    limit = f"from {least} to {most}" if most < MOST else f"of at least {least}"

    def read(value: object, key_path: KeyPath) -> int:
        number = _finite(value)
        if number != int(number):
            raise InvalidValue(f"is {describe_value(value)}, not a whole number")
        return int(_within(number, least, most))

    return ValueType(accepted=f"a whole number {limit}", read=read)


def number(least: float | None = None, most: float | None = None) -> ValueType:
    """A finite number, between the limits when there are some."""
    low, high = (
        -math.inf if least is None else least,
        math.inf if most is None else most,
    )
    accepted = "a number"
    if least is not None:
        accepted += (
            f" from {least:.10g} to {most:.10g}"
            if most
            else f" of at least {least:.10g}"
        )

    def read(value: object, key_path: KeyPath) -> float:
        return float(_within(_finite(value), low, high))

    return ValueType(accepted=accepted, read=read, show=_show_number)


def time_span() -> ValueType:
    """Seconds, written as "30s", "5m" or "1h"; a bare number means minutes."""

    def read(value: object, key_path: KeyPath) -> float:
        if not isinstance(value, str):
            return _within(_finite(value), 0, MOST) * 60.0
        written = read_text(value, key_path).strip().lower()
        if re.fullmatch(_BARE, written):
            return float(written) * 60.0
        if not re.fullmatch(_DURATION, written):
            raise InvalidValue(f"is {describe_value(value)}")
        return sum(float(n) * _UNITS[unit] for n, unit in re.findall(_PART, written))

    accepted = 'a duration such as "30s", "5m" or "1h"; 0 is off'
    return ValueType(accepted=accepted, read=read, show=_show_duration)


def byte_size() -> ValueType:
    """Bytes, as a number or as a text such as "2mb"; 0 is off."""

    def read(value: object, key_path: KeyPath) -> int:
        if not isinstance(value, str):
            return int(_within(_finite(value), 0, MOST))
        found = re.fullmatch(_SIZE, read_text(value, key_path).strip().lower())
        if found is None:
            raise InvalidValue(f"is {describe_value(value)}")
        return int(_within(float(found[1]) * 1024 ** _POWERS[found[2]], 0, MOST))

    return ValueType(accepted='bytes, or a size such as "2mb"; 0 is off', read=read)


def plain_text(accepted: str = "a text that is not empty") -> ValueType:
    """Any text that says something."""
    return ValueType(accepted=accepted, read=read_text, show=_without_logins)


def day_path() -> ValueType:
    """The path of a day's note, relative to the folder of notes: `Journal/YYYY-MM-DD`."""

    def read(value: object, key_path: KeyPath) -> str:
        path = read_text(value, key_path).strip().removesuffix(".md").strip("/")
        parts = path.split("/")
        leads_out = path.startswith("~") or "\\" in path or ".." in parts
        tokens = re.sub(r"\[[^\]]*\]", "", path)
        if leads_out or not all(each in tokens for each in ("YY", "M", "D")):
            raise InvalidValue(f"is {describe_value(value)}")
        return path

    accepted = 'a path with a year, month and day, such as "Journal/YYYY-MM-DD"'
    return ValueType(accepted=accepted, read=read)


def one_of(*words: str, also: Mapping[str, str] | None = None) -> ValueType:
    """One of a few words; `also` maps older spellings to them."""
    older = also or {}

    def read(value: object, key_path: KeyPath) -> str:
        word = read_text(value, key_path).strip()
        if (word := older.get(word, word)) in words:
            return word
        raise InvalidValue(f"is {describe_value(value)}")

    return ValueType(accepted=_listed(words), read=read)


def several_of(*words: str) -> ValueType:
    """A list of some of a few words, each once; without one it is the first of all."""
    single = one_of(*words)
    accepted = f"a list of {_listed(words)}"

    def read(value: object, key_path: KeyPath) -> tuple[str, ...]:
        found: list[str] = []
        warnings = key_path.context.warnings
        for i, item in enumerate(read_list(value)):
            try:
                found.append(str(single.read(item, key_path)))
            except InvalidValue as exc:
                if key_path.context.strict:
                    raise
                at = f"{key_path.key}[{i}]"
                warnings.append(
                    f"{at}: {exc}; it is left out; accepted: {single.accepted}"
                )
        if not found:
            counts = f"names none, so {words[0]!r} counts"
            warnings.append(f"{key_path.key}: {counts}; accepted: {accepted}")
        return tuple(dict.fromkeys(found)) or words[:1]

    return ValueType(accepted=accepted, read=read)


def file_path() -> ValueType:
    """A path; `~` is the home folder, a relative one starts at the file's folder."""

    def read(value: object, key_path: KeyPath) -> Path:
        written = read_home(read_text(value, key_path), key_path)
        return Path(os.path.normpath(key_path.context.base / written))

    return ValueType(
        accepted="a path: absolute, with ~, or relative", read=read, show=_str
    )


def index_path() -> ValueType:
    """As a file path, with `<state>` and `{agentId}`; the agent is filled in later."""
    plain = file_path()

    def read(value: object, key_path: KeyPath) -> object:
        written = read_text(value, key_path)
        return plain.read(
            written.replace("<state>", str(key_path.context.state)), key_path
        )

    accepted = f"{plain.accepted}; may hold <state> and {{agentId}}"
    return ValueType(accepted=accepted, read=read, show=_str)


def workspace_path() -> ValueType:
    """A path that starts at the workspace when it is relative; only `~` is replaced."""

    def read(value: object, key_path: KeyPath) -> str:
        return read_home(read_text(value, key_path).strip(), key_path)

    return ValueType(
        accepted="a path: absolute, with ~, or from the workspace", read=read
    )


def session_key_prefix() -> ValueType:
    """How a session key begins, without its agent.

    OpenClaw takes one that begins with `agent:` for the beginning of the whole key,
    and so do we; but it is not what the name says.
    """

    def read(value: object, key_path: KeyPath) -> str:
        prefix = read_text(value, key_path).strip()
        if is_whole_key(prefix):
            key_path.context.warnings.append(
                f"{key_path.key} begins with agent: and is compared with the whole session"
                " key, as in OpenClaw; rawKeyPrefix is the name for that"
            )
        return prefix

    return ValueType(accepted="a text that is not empty", read=read)


def is_whole_key(prefix: str) -> bool:
    """Whether a `keyPrefix` means the whole session key.

    >>> is_whole_key("Agent:main:"), is_whole_key("discord:")
    (True, False)
    """
    return prefix.lower().startswith("agent:")


def path_list() -> ValueType:
    """Paths that belong to a workspace: only `~` is replaced. Each may have a pattern."""

    def read(value: object, key_path: KeyPath) -> tuple[str | NarrowedPath, ...]:
        found: list[str | NarrowedPath] = []
        for i, item in enumerate(read_list(value)):
            at = KeyPath(key=f"{key_path.key}[{i}]", context=key_path.context)
            try:
                found.append(_extra_path(item, at))
            except InvalidValue as exc:
                if key_path.context.strict:
                    raise
                accepted = "a path, or { path: …, pattern: … }"
                warning = f"{at.key}: {exc}; it is left out; accepted: {accepted}"
                key_path.context.warnings.append(warning)
        return tuple(found)

    def show(value: object) -> object:
        items = cast("tuple[object, ...]", value)
        return [
            item._asdict() if isinstance(item, NarrowedPath) else item for item in items
        ]

    accepted = "a list of paths, or of objects with path, pattern"
    return ValueType(accepted=accepted, read=read, show=show)


def _extra_path(item: object, key_path: KeyPath) -> str | NarrowedPath:
    """Read a path, alone or with a pattern.

    Raises:
        InvalidValue: it is no path. A slip in the pattern's name would read the whole
            folder, so an entry with a key that nobody knows is none.
    """
    if not isinstance(item, Mapping):
        return read_home(read_text(item, key_path), key_path)
    entry = cast("Mapping[str, object]", item)
    unknown = sorted(entry.keys() - {"path", "pattern"})
    if unknown:
        raise InvalidValue(f"has the unknown key {describe_value(unknown[0])}")
    path = read_home(read_text(entry.get("path"), key_path), key_path)
    if "pattern" not in entry:
        return path
    return NarrowedPath(path, read_text(entry["pattern"], key_path).strip())


def program() -> ValueType:
    """An executable, or a list of it and its first arguments."""

    def read(value: object, key_path: KeyPath) -> tuple[str, ...]:
        items = [value] if isinstance(value, str) else read_list(value)
        words = [read_text(item, key_path) for item in items]
        if not words:
            raise InvalidValue("is an empty list")
        return (read_home(words[0], key_path), *words[1:])

    def show(value: object) -> object:
        words = cast("tuple[str, ...]", (value,) if isinstance(value, str) else value)
        return words[0] if len(words) == 1 else list(words)

    return ValueType(
        accepted="an executable, or a list of arguments", read=read, show=show
    )


def read_text(value: object, key_path: KeyPath) -> str:
    """Return a text with its references replaced.

    Raises:
        InvalidValue: not a text, empty, or not writable as UTF-8.
    """
    if not isinstance(value, str):
        raise InvalidValue(f"is {describe_value(value)}")
    found = expand_references(value, key_path)
    if not found.strip():
        raise InvalidValue("is empty")
    if writable_text(found) != found:
        raise InvalidValue("holds a character that cannot be written")
    return found


def read_list(value: object) -> list[object]:
    """Return a list.

    Raises:
        InvalidValue: it is something else.
    """
    if isinstance(value, list):
        return cast("list[object]", value)
    raise InvalidValue(f"is {describe_value(value)}")


def read_home(written: str, key_path: KeyPath) -> str:
    """Replace a leading `~`.

    Raises:
        InvalidValue: it asks for another user's home.
    """
    if not written.startswith("~"):
        return written
    if written[1:2] not in ("", "/"):
        raise InvalidValue("asks for the home folder of another user")
    return str(key_path.context.home) + written[1:]


def _finite(value: object) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidValue(f"is {describe_value(value)}")
    if not math.isfinite(value) if isinstance(value, float) else abs(value) > MOST:
        raise InvalidValue(f"is {describe_value(value)}")
    return value


def _within(value: float, least: float, most: float) -> float:
    if least <= value <= most:
        return value
    raise InvalidValue(f"is {describe_value(value)}")


def _show_duration(value: object) -> object:
    """Show seconds in the largest unit that divides them, as OpenClaw's defaults do."""
    if not isinstance(value, float):
        return value
    if not value:
        return 0
    for unit in ("m", "s", "ms"):
        count = value / _UNITS[unit]
        if count == int(count):
            return f"{int(count)}{unit}"
    return f"{value:g}s"


def _show_number(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _listed(words: tuple[str, ...]) -> str:
    *first, last = (f'"{word}"' for word in words)
    return f"{', '.join(first)} or {last}" if first else last


def _without_logins(value: object) -> object:
    return without_logins(value) if isinstance(value, str) else value


def _str(value: object) -> object:
    return None if value is None else str(value)
