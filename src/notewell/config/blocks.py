"""Blocks: the JSON objects of ours, as frozen structs that know their keys.

A block's fields are its keys. A field annotated with a ValueType and a sentence is a
leaf; a field whose type is a block is a branch. Reading, unknown keys, the
print-out and the reference page all follow from the fields.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Annotated, ClassVar, Final, TypeVar, cast, get_args, get_origin

import msgspec
from msgspec.structs import replace

from notewell.config.values import (
    IfWrong,
    InvalidValue,
    KeyPath,
    ReadContext,
    Secret,
    ValueType,
    describe_kind,
    describe_value,
    holds_reference,
)
from notewell.errors import ConfigError


class ConfigBlock(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True
):
    """Base of every block.

    Attributes:
        elsewhere: OpenClaw's keys that stand beside ours and that we do not use.
        others: What else may stand there is none of our business.
        exact: A key that nobody knows makes it wrong as a whole: misspelt, it would
            widen what may be read.
    """

    elsewhere: ClassVar[frozenset[str]] = frozenset()
    others: ClassVar[bool] = False
    exact: ClassVar[bool] = False


NOBODY_ASKED: Final = "no provider is asked until it is right"
"""What a wrong key does that says what is sent where."""

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
        asks_nobody: It is wrong, and no provider may be asked without it.
    """

    value: object
    key: str
    origin: str
    written: object = None
    asks_nobody: bool = False

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

    A wrong value costs its key, with a warning, but for those that decide what may be
    answered.

    Raises:
        ConfigError: one of these is wrong, or anything where the context is strict.
    """
    if (error := _not_that_block(block, raw, at)) is not None:
        return _read_no_block(block, error, at=at, context=context, origin=origin)
    found: dict[str, GivenValue] = {}
    for key, value in cast("dict[str, object]", raw).items():
        member = members(block).get(key)
        key_path = KeyPath(key=f"{at}.{key}", context=context)
        if member is None:
            _note_unknown_key(block, key, key_path)
        elif isinstance(member, Leaf):
            given = read_leaf(member, value, key_path=key_path, origin=origin)
            found.update({} if given is None else {key: given})
        else:
            inner = read_block(
                member.block, value, at=key_path.key, context=context, origin=origin
            )
            found.update({f"{key}.{name}": given for name, given in inner.items()})
    return found


def read_leaf(
    leaf: Leaf, raw: object, *, key_path: KeyPath, origin: str
) -> GivenValue | None:
    """Read one value; None where it is wrong and is left out.

    null means unset where unset is the default.

    Raises:
        ConfigError: the value is wrong, and nothing can stand in its place.
    """
    if raw is None and leaf.default is None:
        return GivenValue(value=None, key=key_path.key, origin=origin)
    accepted = leaf.value_type.accepted
    try:
        value = leaf.value_type.read(raw, key_path)
    except InvalidValue as exc:
        error = ConfigError(key_path.key, str(exc), accepted=accepted)
    else:
        measured = isinstance(raw, str) and isinstance(value, int | float)
        written = raw if measured or holds_reference(raw) else None
        return GivenValue(value=value, key=key_path.key, origin=origin, written=written)
    if key_path.context.strict or leaf.value_type.if_wrong is IfWrong.REFUSE:
        raise error
    given = _instead(leaf, key_path.key, origin)
    effect = _effect([given] if given else [], key_path.key)
    warn_of(error, key_path.context, effect)
    return given


def warn_of(
    error: ConfigError, context: ReadContext, effect: str = "it is left out"
) -> None:
    """Warn of a wrong value, with what counts until it is right."""
    context.warnings.append(f"{error.message}; {effect}; {error.remedy}")


def _effect(instead: Iterable[GivenValue], at: str) -> str:
    """Say what counts in the place of what stands at a key."""
    instead = list(instead)
    if any(given.asks_nobody for given in instead):
        return NOBODY_ASKED
    counted = [
        f"{given.key.removeprefix(f'{at}.').replace(at, 'it')} counts as"
        f" {_as_json(given.value)}"
        for given in instead
    ]
    return ", ".join(counted) or "it is left out"


def _not_that_block(
    block: type[ConfigBlock], raw: object, at: str
) -> ConfigError | None:
    """Return what is wrong when something else stands in the place of a block."""
    if not isinstance(raw, dict):
        problem = f"is {describe_kind(raw)}"
        return ConfigError(at, problem, accepted=_example(block, raw))
    keys = cast("dict[str, object]", raw)
    unknown = [key for key in keys if block.exact and key not in members(block)]
    if not unknown:
        return None
    problem = f"has the unknown key {_printable(unknown[0])}"
    return ConfigError(at, problem, accepted=", ".join(members(block)))


def _read_no_block(
    block: type[ConfigBlock],
    error: ConfigError,
    *,
    at: str,
    context: ReadContext,
    origin: str,
) -> dict[str, GivenValue]:
    """Return what counts where something else stands in the place of a block.

    Raises:
        ConfigError: nothing can stand in its place.
    """
    if context.strict or _refuses(block):
        raise error
    given = {
        key: instead
        for key, leaf in leaf_keys(block)
        if (instead := _instead(leaf, f"{at}.{key}", origin)) is not None
    }
    warn_of(error, context, _effect(given.values(), at))
    return given


def _instead(leaf: Leaf, key: str, origin: str) -> GivenValue | None:
    """Return what counts in the place of a wrong value; None where it is left out."""
    match leaf.value_type.if_wrong:
        case IfWrong.LEAVE_OUT | IfWrong.REFUSE:
            return None
        case IfWrong.ASK_NOBODY:
            value, asks_nobody = leaf.default, True
        case closed:
            value, asks_nobody = closed, False
    return GivenValue(value=value, key=key, origin=origin, asks_nobody=asks_nobody)


def _refuses(block: type[ConfigBlock]) -> bool:
    """Whether a wrong value somewhere in a block is an error."""
    return any(
        _refuses(member.block)
        if isinstance(member, Branch)
        else member.value_type.if_wrong is IfWrong.REFUSE
        for member in members(block).values()
    )


def _example(block: type[ConfigBlock], raw: object) -> str:
    """Say what to write in the place of a value that should be an object.

    What stands there is often meant for one of its keys: `window: 120`.
    """
    nowhere = Path()
    context = ReadContext(environ={}, home=nowhere, base=nowhere, state=nowhere)
    for key, member in members(block).items():
        if isinstance(member, Leaf) and isinstance(raw, bool | int | float):
            with suppress(InvalidValue):
                member.value_type.read(raw, KeyPath(key=key, context=context))
                return f"an object such as {{ {key}: {_as_json(raw)} }}"
    return f"an object: {{ {', '.join(f'{key}: …' for key in members(block))} }}"


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


def list_of(block: type[ConfigBlock], instead: ConfigBlock | None = None) -> ValueType:
    """A list of objects, each read as a block and checked for what it must have.

    Args:
        block: What each is.
        instead: What counts in the place of a wrong one; None: it is left out.
    """

    def read(value: object, key_path: KeyPath) -> tuple[ConfigBlock, ...]:
        if not isinstance(value, list):
            raise InvalidValue(f"is {describe_value(value)}")
        found: list[ConfigBlock] = []
        for i, item in enumerate(cast("list[object]", value)):
            at = f"{key_path.key}[{i}]"
            try:
                found.append(_record(block, item, at, key_path.context))
            except ConfigError as error:
                if key_path.context.strict:
                    raise
                effect = f"{at} is left out"
                if instead is not None:
                    found.append(instead)
                    effect = f"{at} counts as {_as_json(_shown(instead))}"
                warn_of(error, key_path.context, effect)
        return tuple(found)

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
    block: type[ConfigBlock], item: object, at: str, context: ReadContext
) -> ConfigBlock:
    strict = replace(context, strict=True)
    given_values = read_block(block, item, at=at, context=strict)
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


def _as_json(value: object) -> str:
    if isinstance(value, Secret):
        return "nothing"  # one that leads nowhere
    return msgspec.json.encode(value).decode()


def _printable(key: str) -> str:
    return key if key.isprintable() and 0 < len(key) <= 60 else ascii(key[:60])
