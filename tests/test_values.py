"""Values behave as the standard library's dataclasses do."""

import copy
import dataclasses
import pickle
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from notewell.types import Hit
from notewell.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Ours:
    """Made by us."""

    name: str
    count: int = 0
    tags: tuple[str, ...] = ()
    extra: dict[str, int] = dataclasses.field(default_factory=dict[str, int])
    secret: str = dataclasses.field(default="s", repr=False)
    cache: list[int] = dataclasses.field(default_factory=list[int], compare=False)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Theirs:
    """Made by the standard library."""

    name: str
    count: int = 0
    tags: tuple[str, ...] = ()
    extra: dict[str, int] = dataclasses.field(default_factory=dict[str, int])
    secret: str = dataclasses.field(default="s", repr=False)
    cache: list[int] = dataclasses.field(default_factory=list[int], compare=False)


@dataclass(frozen=True, slots=True)
class Point:
    """One that takes its fields by place."""

    x: int
    y: int = 2


@dataclass(slots=True)
class Mutable:
    """One that may change."""

    value: int = 1


BOTH = [pytest.param(Ours, id="ours"), pytest.param(Theirs, id="theirs")]


def outcome(act: Callable[[], object]) -> object:
    """What came of it: a value, or the type of the error."""
    try:
        return act()
    except (TypeError, ValueError) as error:
        return type(error)


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"name": "a"},
        {"name": "a", "count": 2, "extra": {"b": 1}, "cache": [3]},
        {"name": "a", "colour": "red"},
        {"count": 2},
    ],
    ids=str,
)
def test_arguments_are_taken_and_refused_as_by_a_dataclass(
    arguments: dict[str, Any],
) -> None:
    ours = outcome(lambda: dataclasses.asdict(Ours(**arguments)))
    theirs = outcome(lambda: dataclasses.asdict(Theirs(**arguments)))

    assert ours == theirs


def test_fields_are_shown_but_those_that_are_kept_back() -> None:
    assert repr(Ours(name="a")) == repr(Theirs(name="a")).replace("Theirs", "Ours")
    assert "secret" not in repr(Ours(name="a", secret="t"))


@pytest.mark.parametrize("made", BOTH)
def test_equality_leaves_out_what_is_not_compared(made: Any) -> None:
    assert made(name="a", cache=[1]) == made(name="a", cache=[2])
    assert made(name="a") != made(name="a", count=1)
    assert made(name="a") != "a"
    assert made(name="a").__eq__("a") is NotImplemented


@pytest.mark.parametrize("made", BOTH)
def test_a_default_that_is_made_is_made_anew(made: Any) -> None:
    first, second = made(name="a"), made(name="b")

    assert first.extra == second.extra == {}
    assert first.extra is not second.extra


@pytest.mark.parametrize("made", BOTH)
def test_a_frozen_value_cannot_be_changed(made: Any) -> None:
    value = made(name="a")

    with pytest.raises(dataclasses.FrozenInstanceError):
        value.name = "b"
    with pytest.raises(dataclasses.FrozenInstanceError):
        del value.name
    with pytest.raises((dataclasses.FrozenInstanceError, TypeError)):
        value.colour = "red"
    assert value.name == "a"


def test_frozen_values_hash_by_their_fields_and_others_do_not() -> None:
    assert hash(Point(1)) == hash(Point(1, 2)) != hash(Point(2, 1))
    with pytest.raises(TypeError):
        hash(Mutable())


def test_fields_are_taken_by_place_where_they_may_be() -> None:
    assert Point(1, y=3) == Point(1, 3) == Point(y=3, x=1)
    for wrong in ((1, 2, 3), ()):
        with pytest.raises(TypeError):
            Point(*wrong)  # type: ignore[arg-type, call-arg, misc, unused-ignore]  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError):
        Point(1, x=1)  # type: ignore[misc]  # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError):
        Ours("a")  # type: ignore[misc]  # pyright: ignore[reportCallIssue]


def test_values_are_copied_replaced_and_pickled() -> None:
    value = Ours(name="a", extra={"b": 1})

    assert dataclasses.is_dataclass(value)
    assert dataclasses.replace(value, count=3) == Ours(
        name="a", count=3, extra={"b": 1}
    )
    assert copy.copy(value) == copy.deepcopy(value) == value
    assert pickle.loads(pickle.dumps(value)) == value
    assert copy.copy(Mutable(4)) == Mutable(4)


def test_a_value_that_may_change_changes() -> None:
    value = Mutable()
    value.value += 1

    assert value == Mutable(2)


def test_patterns_match_by_place() -> None:
    match Point(1, 5):
        case Point(x, y):
            assert (x, y) == (1, 5)


def test_a_value_has_slots_alone() -> None:
    assert not hasattr(Ours(name="a"), "__dict__")
    with pytest.raises(TypeError):
        weakref.ref(Point(1))


def test_a_value_checks_itself_when_it_is_made() -> None:
    @dataclass(frozen=True, slots=True, kw_only=True)
    class Positive:
        number: int

        def __post_init__(self) -> None:
            if self.number < 1:
                raise ValueError("not positive")

    with pytest.raises(ValueError, match="not positive"):
        Positive(number=0)
    with pytest.raises(ValueError, match="score must lie"):
        Hit(path="a", start_line=1, end_line=1, match_line=1, snippet="", score=3.0)
    assert Positive(number=1).number == 1
