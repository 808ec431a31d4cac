"""`dataclass` without the compiling: for values that are loaded by every command.

`dataclasses.dataclass` writes the source of up to seven methods and compiles each, 0.8 to
1.7 ms a class on Python 3.11; the classes that a search loads took a third of its
time. Here the fields are collected by `dataclasses` as ever, so that `fields`, `replace`, `asdict` and
`is_dataclass` work, and the methods are closures over them. An instance costs two or three
microseconds more: a class of which a search makes thousands stays with `dataclasses`.

To a type checker it is `dataclasses.dataclass`.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from dataclasses import dataclass
    from typing import Any

    __all__ = ["dataclass"]
else:

    def dataclass(*, frozen: bool = False, slots: bool = False, kw_only: bool = False):
        """Return a decorator that makes a class a dataclass; see `dataclasses`.

        A class may define `__repr__`, `__eq__` or `__hash__` itself.
        """

        def made(cls: type) -> type:
            cls = dataclasses.dataclass(
                init=False, repr=False, eq=False, slots=slots, kw_only=kw_only
            )(cls)
            for name, method in _methods(cls, frozen=frozen).items():
                if name not in cls.__dict__:
                    setattr(cls, name, method)
            return cls

        return made


def _methods(cls: type[Any], *, frozen: bool) -> Mapping[str, object]:
    """Return the methods of a dataclass, those that it has itself among them."""
    fields = dataclasses.fields(cls)
    compared = tuple(field.name for field in fields if field.compare)
    shown = tuple(field.name for field in fields if field.repr)

    def key(self: object) -> tuple[object, ...]:
        return tuple([getattr(self, name) for name in compared])

    def equal(self: object, other: object) -> object:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return key(self) == key(other)

    def hashed(self: object) -> int:
        return hash(key(self))

    def represented(self: object) -> str:
        parts = ", ".join([f"{name}={getattr(self, name)!r}" for name in shown])
        return f"{self.__class__.__qualname__}({parts})"

    methods: dict[str, object] = {
        "__init__": _initialiser(
            fields, cls.__match_args__, getattr(cls, "__post_init__", _accept)
        ),
        "__eq__": equal,
        "__hash__": hashed if frozen else None,
        "__repr__": represented,
    }
    if frozen:
        methods |= {
            "__setattr__": _refuse_assignment,
            "__delattr__": _refuse_deletion,
            "__getstate__": _state,
            "__setstate__": _restore,
        }
    return methods


def _initialiser(
    fields: tuple[dataclasses.Field[Any], ...],
    positional: tuple[str, ...],
    check: Callable[[Any], None],
) -> Callable[..., None]:
    """Return an `__init__` that takes the fields, the positional ones also by place.

    Args:
        check: The `__post_init__` of the class, or what accepts everything.
    """
    names = frozenset(field.name for field in fields)
    defaults = {
        field.name: field.default
        for field in fields
        if field.default is not dataclasses.MISSING
    }
    factories = [
        (field.name, field.default_factory)
        for field in fields
        if field.default_factory is not dataclasses.MISSING
    ]
    assign = object.__setattr__

    def __init__(self: object, /, *values: object, **given: object) -> None:
        if values:
            given = _by_name(self, positional, values, given)
        if strange := given.keys() - names:
            raise TypeError(
                f"{_name(self)}() got an unexpected keyword argument {min(strange)!r}"
            )
        state = {**defaults, **given}
        for name, factory in factories:
            if name not in given:
                state[name] = factory()
        if len(state) < len(names):
            lacking = ", ".join(repr(f.name) for f in fields if f.name not in state)
            raise TypeError(f"{_name(self)}() lacks the arguments: {lacking}")
        for name, value in state.items():
            assign(self, name, value)
        check(self)

    return __init__


def _accept(made: object) -> None:
    pass


def _by_name(
    self: object,
    positional: tuple[str, ...],
    values: tuple[object, ...],
    given: dict[str, object],
) -> dict[str, object]:
    """Return the arguments by name.

    Raises:
        TypeError: too many were given by place, or one twice.
    """
    if len(values) > len(positional):
        raise TypeError(
            f"{_name(self)}() takes {len(positional)} positional arguments,"
            f" {len(values)} were given"
        )
    placed = dict(zip(positional, values, strict=False))
    if twice := placed.keys() & given.keys():
        raise TypeError(f"{_name(self)}() got {min(twice)!r} twice")
    return placed | given


def _name(self: object) -> str:
    return f"{self.__class__.__qualname__}.__init__"


def _refuse_assignment(self: object, name: str, value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_deletion(self: object, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[object]:
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _restore(self: Any, state: list[object]) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)
