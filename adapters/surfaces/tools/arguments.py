"""What a model calls a tool with: checked, with sentences that it can act on."""

import math
from collections.abc import Mapping
from typing import Final

from notewell.adapters.surfaces.tools.definitions import Parameter, ToolDefinition
from notewell.errors import UsageError

_KINDS: Final = {
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
}


def read_arguments(
    tool: ToolDefinition, given: Mapping[str, object] | str | None
) -> dict[str, object]:
    """Return the arguments that were given, each of its parameter's type.

    Models are not exact: `null` stands for nothing, and `"6"` or `6.0` for 6.

    Args:
        tool: What is called.
        given: A mapping, or its JSON as some APIs hand it over.

    Raises:
        UsageError: an argument is unknown, missing or not what the tool takes.
    """
    named = _mapping(tool, given)
    known = {each.name: each for each in tool.parameters}
    for name in named:
        if name not in known:
            raise _refused(tool, f"it has no parameter {name!r}")
    read = {
        name: _value(tool, known[name], value)
        for name, value in named.items()
        if value is not None
    }
    for each in tool.parameters:
        if each.required and each.name not in read:
            raise _refused(tool, f"{each.name!r} is missing")
    return read


def _mapping(
    tool: ToolDefinition, given: Mapping[str, object] | str | None
) -> Mapping[str, object]:
    if isinstance(given, str):
        import json

        try:
            given = json.loads(given or "{}")
        except (ValueError, RecursionError):
            raise _refused(tool, "its arguments are no JSON") from None
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise _refused(tool, "its arguments are no JSON object")
    return given


def _value(tool: ToolDefinition, parameter: Parameter, value: object) -> object:
    read = _typed(parameter, value)
    if read is None:
        wanted = _KINDS[parameter.kind]
        raise _refused(tool, f"{parameter.name!r} must be {wanted}")
    if parameter.choices and read not in parameter.choices:
        choices = " or ".join(parameter.choices)
        raise _refused(tool, f"{parameter.name!r} must be {choices}")
    size = len(read) if isinstance(read, str) else float(read)
    least, most = parameter.least, parameter.most
    if (least is not None and size < least) or (most is not None and size > most):
        raise _refused(tool, f"{parameter.name!r} must be {_range(parameter)}")
    return read


def _typed(parameter: Parameter, value: object) -> str | float | None:
    """Return the value in the parameter's type, or None."""
    if parameter.kind == "string":
        return value if isinstance(value, str) else None
    if parameter.kind == "boolean":
        words = {"true": True, "false": False}
        found = words.get(value.lower()) if isinstance(value, str) else value
        return found if isinstance(found, bool) else None
    return _number(value, whole=parameter.kind == "integer")


def _number(value: object, *, whole: bool) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    if not math.isfinite(number) or (whole and number != int(number)):
        return None
    return int(number) if whole else number


def _range(parameter: Parameter) -> str:
    if parameter.kind == "string":
        return "a text that is not empty"
    if parameter.most is None:
        return f"at least {parameter.least:g}"
    return f"from {parameter.least:g} to {parameter.most:,g}"


def _refused(tool: ToolDefinition, problem: str) -> UsageError:
    names = ", ".join(each.name for each in tool.parameters)
    return UsageError(
        f"{tool.name}: {problem}", remedy=f"call it again; it takes {names}"
    )
