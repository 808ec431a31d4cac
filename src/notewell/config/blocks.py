"""Blocks: the JSON objects of ours, as frozen structs that know their keys.

A block's fields are its keys. A field annotated with a Form and a sentence is a
leaf; a field whose type is a block is a branch. Reading, unknown keys, the
print-out and the reference page all follow from the fields.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Annotated, ClassVar, TypeVar, cast, get_args, get_origin

import msgspec

from notewell.config.form import Form, Place, Scene, Unfit, kind, seen
from notewell.config.references import refers
from notewell.errors import ConfigError


class Block(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Base of every block.

    Attributes:
        elsewhere: OpenClaw's keys that stand beside ours and that we do not use.
        others: What else may stand there is none of our business.
    """

    elsewhere: ClassVar[frozenset[str]] = frozenset()
    others: ClassVar[bool] = False


AnyBlock = TypeVar("AnyBlock", bound=Block)


class Leaf(msgspec.Struct, frozen=True, kw_only=True):
    """A key with a value of its own."""

    field: str
    form: Form
    about: str
    default: object


class Branch(msgspec.Struct, frozen=True, kw_only=True):
    """A key that holds a block."""

    field: str
    block: type[Block]


class Reading(msgspec.Struct, frozen=True, kw_only=True):
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


@cache
def members(block: type[Block]) -> Mapping[str, Leaf | Branch]:
    """Return what a block may hold, by key."""
    return {
        entry.encode_name: _member(entry) for entry in msgspec.structs.fields(block)
    }


def leaves(block: type[Block], prefix: str = "") -> Iterator[tuple[str, Leaf]]:
    """Yield every leaf below a block with its dotted key."""
    for key, member in members(block).items():
        if isinstance(member, Branch):
            yield from leaves(member.block, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", member


def read_block(
    block: type[Block], raw: object, *, at: str, scene: Scene, origin: str = "file"
) -> dict[str, Reading]:
    """Read an object of the file; the result is keyed relative to the block.

    Raises:
        ConfigError: it is not an object, or a value does not have its form.
    """
    found: dict[str, Reading] = {}
    for key, value in read_object(raw, at=at).items():
        member, place = members(block).get(key), Place(key=f"{at}.{key}", scene=scene)
        if member is None:
            _note_stranger(block, key, place)
        elif isinstance(member, Leaf):
            found[key] = read_leaf(member, value, place=place, origin=origin)
        else:
            inner = read_block(
                member.block, value, at=place.key, scene=scene, origin=origin
            )
            found.update({f"{key}.{name}": reading for name, reading in inner.items()})
    return found


def read_leaf(leaf: Leaf, raw: object, *, place: Place, origin: str) -> Reading:
    """Read one value. null means unset where unset is the default.

    Raises:
        ConfigError: the value does not have its form.
    """
    if raw is None and leaf.default is None:
        return Reading(value=None, key=place.key, origin=origin)
    try:
        value = leaf.form.read(raw, place)
    except Unfit as exc:
        raise ConfigError(place.key, str(exc), accepted=leaf.form.accepted) from None
    measured = isinstance(raw, str) and isinstance(value, int | float)
    written = raw if measured or refers(raw) else None
    return Reading(value=value, key=place.key, origin=origin, written=written)


def build(
    block: type[AnyBlock], readings: Mapping[str, Reading], prefix: str = ""
) -> AnyBlock:
    """Make the struct from what was read; the rest has its default."""
    values: dict[str, object] = {}
    for key, member in members(block).items():
        if isinstance(member, Branch):
            values[member.field] = build(member.block, readings, f"{prefix}{key}.")
        elif (reading := readings.get(f"{prefix}{key}")) is not None:
            values[member.field] = reading.value
    return block(**values)


def value_at(block: Block, key: str) -> object:
    """Return the value under a dotted key of a built block."""
    found = block
    for name in key.split("."):
        found = getattr(found, members(type(found))[name].field)
    return found


def records(block: type[Block]) -> Form:
    """A list of objects, each read as a block and checked for what it must have."""

    def read(value: object, place: Place) -> tuple[Block, ...]:
        if not isinstance(value, list):
            raise Unfit(f"is {seen(value)}")
        items = enumerate(cast("list[object]", value))
        return tuple(
            _record(block, item, f"{place.key}[{i}]", place) for i, item in items
        )

    def show(value: object) -> object:
        shown = cast("tuple[Block, ...] | list[object]", value)
        return [_shown(item) if isinstance(item, Block) else item for item in shown]

    keys = ", ".join(key for key, _ in leaves(block))
    return Form(accepted=f"a list of objects with {keys}", read=read, show=show)


def read_object(raw: object, *, at: str) -> dict[str, object]:
    """Return an object of the file.

    Raises:
        ConfigError: it is something else.
    """
    if isinstance(raw, dict):
        return cast("dict[str, object]", raw)
    raise ConfigError(at, f"is {kind(raw)}", accepted="an object: { … }")


def nearest(word: str, known: list[str]) -> str | None:
    """Return the known word that was probably meant."""
    from difflib import get_close_matches  # only mistakes pay for it

    return next(iter(get_close_matches(word, known, n=1, cutoff=0.5)), None)


def _member(entry: msgspec.structs.FieldInfo) -> Leaf | Branch:
    if get_origin(entry.type) is not Annotated:
        return Branch(field=entry.name, block=entry.type)
    _, form, about = get_args(entry.type)
    made = (
        None if entry.default_factory is msgspec.NODEFAULT else entry.default_factory()
    )
    default = made if entry.default is msgspec.NODEFAULT else entry.default
    return Leaf(field=entry.name, form=form, about=about, default=default)


def _record(block: type[Block], item: object, at: str, place: Place) -> Block:
    readings = read_block(block, item, at=at, scene=place.scene)
    for entry in msgspec.structs.fields(block):
        if entry.required and entry.encode_name not in readings:
            leaf = cast("Leaf", members(block)[entry.encode_name])
            key = f"{at}.{entry.encode_name}"
            raise ConfigError(key, "is missing", accepted=leaf.form.accepted)
    return build(block, readings)


def _shown(block: Block) -> dict[str, object]:
    shown: dict[str, object] = {}
    for key, member in members(type(block)).items():
        value = getattr(block, member.field)
        plain = member.form.show(value) if isinstance(member, Leaf) else _shown(value)
        if plain is not None and plain != {}:
            shown[key] = plain
    return shown


def _names(block: type[Block], prefix: str = "") -> Iterator[str]:
    """Yield every key below a block, those of blocks as well."""
    for key, member in members(block).items():
        yield f"{prefix}{key}"
        if isinstance(member, Branch):
            yield from _names(member.block, f"{prefix}{key}.")


def _note_stranger(block: type[Block], key: str, place: Place) -> None:
    """Warn of a key that nobody knows; remember one that OpenClaw knows."""
    if block.others:
        return
    if key in block.elsewhere:
        place.scene.unused.append(place.key)
        return
    parent = place.key.removesuffix(key)
    deeper = (name for name in _names(block) if name.endswith(f".{key}"))
    known = [*members(block), *block.elsewhere]
    near = next(deeper, None) or nearest(key, known)
    hint = f"did you mean {parent}{near}?" if near else f"known: {', '.join(known)}"
    place.scene.warnings.append(f"unknown key {parent}{_printable(key)}; {hint}")


def _printable(key: str) -> str:
    return key if key.isprintable() and 0 < len(key) <= 60 else ascii(key[:60])
