"""Blocks: the JSON objects of ours, as frozen structs that know their keys.

A block's fields are its keys. A field annotated with a ValueType and a sentence is a
leaf; a field whose type is a block is a branch. Reading, unknown keys, the
print-out and the reference page all follow from the fields.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Annotated, ClassVar, TypeVar, cast, get_args, get_origin

import msgspec

from notewell.config.values import (
    InvalidValue,
    KeyPath,
    ReadContext,
    ValueType,
    describe_kind,
    describe_value,
    holds_reference,
)
from notewell.errors import ConfigError


class ConfigBlock(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Base of every block.

    Attributes:
        elsewhere: OpenClaw's keys that stand beside ours and that we do not use.
        others: What else may stand there is none of our business.
    """

    elsewhere: ClassVar[frozenset[str]] = frozenset()
    others: ClassVar[bool] = False


AnyBlock = TypeVar("AnyBlock", bound=ConfigBlock)


class Leaf(msgspec.Struct, frozen=True, kw_only=True):
    """A key with a value of its own."""

    field: str
    value_type: ValueType
    about: str
    default: object


class Branch(msgspec.Struct, frozen=True, kw_only=True):
    """A key that holds a block."""

    field: str
    block: type[ConfigBlock]


class GivenValue(msgspec.Struct, frozen=True, kw_only=True):
    """A value that somebody gave.

    Attributes:
        value: The setting.
        key: The full key where it stands.
        origin: `file`, `flag` or `environment NAME`.
        written: What stands in the file, when that is what should be shown:
            references to variables, and sizes such as "2mb".
    """

    value: object
    key: str
    origin: str
    written: object = None

    def __repr__(self) -> str:
        return f"GivenValue(key={self.key!r}, …)"  # the value may hold a key


@cache
def members(block: type[ConfigBlock]) -> Mapping[str, Leaf | Branch]:
    """Return what a block may hold, by key."""
    return {
        entry.encode_name: _member(entry) for entry in msgspec.structs.fields(block)
    }


def leaf_keys(block: type[ConfigBlock], prefix: str = "") -> Iterator[tuple[str, Leaf]]:
    """Yield every leaf below a block with its dotted key."""
    for key, member in members(block).items():
        if isinstance(member, Branch):
            yield from leaf_keys(member.block, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", member


def read_block(
    block: type[ConfigBlock],
    raw: object,
    *,
    at: str,
    context: ReadContext,
    origin: str = "file",
) -> dict[str, GivenValue]:
    """Read an object of the file; the result is keyed relative to the block.

    Raises:
        ConfigError: it is not an object, or a value has a wrong type or value.
    """
    found: dict[str, GivenValue] = {}
    for key, value in read_object(raw, at=at).items():
        member, key_path = (
            members(block).get(key),
            KeyPath(key=f"{at}.{key}", context=context),
        )
        if member is None:
            _note_unknown_key(block, key, key_path)
        elif isinstance(member, Leaf):
            found[key] = read_leaf(member, value, key_path=key_path, origin=origin)
        else:
            inner = read_block(
                member.block, value, at=key_path.key, context=context, origin=origin
            )
            found.update({f"{key}.{name}": given for name, given in inner.items()})
    return found


def read_leaf(leaf: Leaf, raw: object, *, key_path: KeyPath, origin: str) -> GivenValue:
    """Read one value. null means unset where unset is the default.

    Raises:
        ConfigError: the value has a wrong type or value.
    """
    if raw is None and leaf.default is None:
        return GivenValue(value=None, key=key_path.key, origin=origin)
    try:
        value = leaf.value_type.read(raw, key_path)
    except InvalidValue as exc:
        raise ConfigError(
            key_path.key, str(exc), accepted=leaf.value_type.accepted
        ) from None
    measured = isinstance(raw, str) and isinstance(value, int | float)
    written = raw if measured or holds_reference(raw) else None
    return GivenValue(value=value, key=key_path.key, origin=origin, written=written)


def build_block(
    block: type[AnyBlock], given_values: Mapping[str, GivenValue], prefix: str = ""
) -> AnyBlock:
    """Make the struct from what was read; the rest has its default."""
    values: dict[str, object] = {}
    for key, member in members(block).items():
        if isinstance(member, Branch):
            values[member.field] = build_block(
                member.block, given_values, f"{prefix}{key}."
            )
        elif (given := given_values.get(f"{prefix}{key}")) is not None:
            values[member.field] = given.value
    return block(**values)


def value_at(block: ConfigBlock, key: str) -> object:
    """Return the value under a dotted key of a built block."""
    found = block
    for name in key.split("."):
        found = getattr(found, members(type(found))[name].field)
    return found


def list_of(block: type[ConfigBlock]) -> ValueType:
    """A list of objects, each read as a block and checked for what it must have."""

    def read(value: object, key_path: KeyPath) -> tuple[ConfigBlock, ...]:
        if not isinstance(value, list):
            raise InvalidValue(f"is {describe_value(value)}")
        items = enumerate(cast("list[object]", value))
        return tuple(
            _record(block, item, f"{key_path.key}[{i}]", key_path) for i, item in items
        )

    def show(value: object) -> object:
        shown = cast("tuple[ConfigBlock, ...] | list[object]", value)
        return [
            _shown(item) if isinstance(item, ConfigBlock) else item for item in shown
        ]

    keys = ", ".join(key for key, _ in leaf_keys(block))
    return ValueType(accepted=f"a list of objects with {keys}", read=read, show=show)


def read_object(raw: object, *, at: str) -> dict[str, object]:
    """Return an object of the file.

    Raises:
        ConfigError: it is something else.
    """
    if isinstance(raw, dict):
        return cast("dict[str, object]", raw)
    raise ConfigError(at, f"is {describe_kind(raw)}", accepted="an object: { … }")


def closest_name(word: str, known: list[str]) -> str | None:
    """Return the known word that was probably meant."""
    from difflib import get_close_matches  # only mistakes pay for it

    return next(iter(get_close_matches(word, known, n=1, cutoff=0.5)), None)


def _member(entry: msgspec.structs.FieldInfo) -> Leaf | Branch:
    if get_origin(entry.type) is not Annotated:
        return Branch(field=entry.name, block=entry.type)
    _, value_type, about = get_args(entry.type)
    made = (
        None if entry.default_factory is msgspec.NODEFAULT else entry.default_factory()
    )
    default = made if entry.default is msgspec.NODEFAULT else entry.default
    return Leaf(field=entry.name, value_type=value_type, about=about, default=default)


def _record(
    block: type[ConfigBlock], item: object, at: str, key_path: KeyPath
) -> ConfigBlock:
    given_values = read_block(block, item, at=at, context=key_path.context)
    for entry in msgspec.structs.fields(block):
        if entry.required and entry.encode_name not in given_values:
            leaf = cast("Leaf", members(block)[entry.encode_name])
            key = f"{at}.{entry.encode_name}"
            raise ConfigError(key, "is missing", accepted=leaf.value_type.accepted)
    return build_block(block, given_values)


def _shown(block: ConfigBlock) -> dict[str, object]:
    shown: dict[str, object] = {}
    for key, member in members(type(block)).items():
        value = getattr(block, member.field)
        plain = (
            member.value_type.show(value) if isinstance(member, Leaf) else _shown(value)
        )
        if plain is not None and plain != {}:
            shown[key] = plain
    return shown


def _names(block: type[ConfigBlock], prefix: str = "") -> Iterator[str]:
    """Yield every key below a block, those of blocks as well."""
    for key, member in members(block).items():
        yield f"{prefix}{key}"
        if isinstance(member, Branch):
            yield from _names(member.block, f"{prefix}{key}.")


def _note_unknown_key(block: type[ConfigBlock], key: str, key_path: KeyPath) -> None:
    """Warn of a key that nobody knows; remember one that OpenClaw knows."""
    if block.others:
        return
    if key in block.elsewhere:
        key_path.context.unused.append(key_path.key)
        return
    parent = key_path.key.removesuffix(key)
    deeper = (name for name in _names(block) if name.endswith(f".{key}"))
    known = [*members(block), *block.elsewhere]
    near = next(deeper, None) or closest_name(key, known)
    hint = f"did you mean {parent}{near}?" if near else f"known: {', '.join(known)}"
    key_path.context.warnings.append(f"unknown key {parent}{_printable(key)}; {hint}")


def _printable(key: str) -> str:
    return key if key.isprintable() and 0 < len(key) <= 60 else ascii(key[:60])
