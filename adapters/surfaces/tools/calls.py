"""Calls of the tools by name, for any loop around a model.

What a model calls a tool with is checked, with sentences that it can act on.
"""

import math
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Self, cast

from notewell.adapters.surfaces import wire
from notewell.adapters.surfaces.tools import readable
from notewell.adapters.surfaces.tools.definitions import (
    ALL_TOOLS,
    MEMORY_GET,
    MEMORY_SEARCH,
    Parameter,
    Style,
    ToolDefinition,
)
from notewell.adapters.surfaces.wire import Json
from notewell.backends.policy import MOST_CHARS
from notewell.errors import NotewellError, UsageError
from notewell.scope import chat_type
from notewell.types import SearchAnswer

if TYPE_CHECKING:
    from notewell.filters import Filter
    from notewell.memory import Memory

_KIND_WORDS: Final = {
    "string": "a text",
    "strings": "a list of texts",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "object": "an object",
}
_MOST_RESULTS: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What a tool gives back.

    Attributes:
        text: For the model; what stands in notes is quoted in it.
        value: The same as a JSON object, in camelCase.
        failed: The call went wrong; `text` says how to do better.
    """

    text: str
    value: Json
    failed: bool = False

    @classmethod
    def of(cls, error: NotewellError) -> Self:
        """Return the result that tells a model of an error."""
        text = readable.failure_text(error)
        return cls(text=text, value=wire.failure_json(error), failed=True)


class MemoryTools:
    """The tools of one memory, as a model sees them.

    Examples:
        >>> from notewell import MemoryTools, open_memory
        >>> async def turn(name: str, arguments: str) -> str:
        ...     async with open_memory(workspace="notes", server=True) as memory:
        ...         tools = MemoryTools(memory)
        ...         print(tools.schemas("anthropic"))
        ...         return (await tools.call(name, arguments)).text
    """

    def __init__(self, memory: "Memory", *, write: bool = False) -> None:
        """Offer the tools of an open memory; `write` adds memory_write."""
        self._memory = memory
        self._write = write
        self._calls: Mapping[str, Callable[[Json], Awaitable[ToolResult]]] = {
            "memory_search": self._search,
            "memory_get": self._get,
            "memory_links": self._links,
            "memory_write": self._remember,
        }

    @property
    def definitions(self) -> tuple[ToolDefinition, ...]:
        """The tools that there are; none where memory is switched off."""
        if not self._memory.enabled:
            return ()
        return tuple(tool for tool in ALL_TOOLS if self._write or not tool.writes)

    def schemas(self, style: Style) -> list[Json]:
        """Return the tools as a provider's API takes them.

        Args:
            style: `openai` (Chat Completions), `openai-responses`, `anthropic`, `mcp`.

        Raises:
            ValueError: there is no such style.
        """
        return [tool.schema(style) for tool in self.definitions]

    async def call(
        self, name: str, arguments: Mapping[str, object] | str | None = None
    ) -> ToolResult:
        """Call a tool. What the model did wrong is a result that says so.

        Args:
            name: As in the schemas.
            arguments: A mapping, or its JSON as some APIs hand it over.
        """
        try:
            tool = self._find(name)
            return await self._calls[tool.name](read_arguments(tool, arguments))
        except NotewellError as error:
            return ToolResult.of(error)

    def _find(self, name: str) -> ToolDefinition:
        for tool in self.definitions:
            if tool.name == name:
                return tool
        names = ", ".join(tool.name for tool in self.definitions) or "none"
        raise UsageError(
            f"there is no tool {name!r} here", remedy=f"there are: {names}"
        )

    async def _search(self, given: Json) -> ToolResult:
        named = cast("dict[str, Any]", given)
        source, said = named.get("source"), named.get("filter")
        if not named["query"] and not said:
            raise _refused(MEMORY_SEARCH, "'query' must be a text that is not empty")
        answer = await self._memory.search(
            named["query"],
            max_results=_few(named.get("maxResults")),
            min_score=named.get("minScore"),
            sources=None if source is None else {source},
            filter=_filter_of(said) if said else None,
        )
        cited = shows_citations(self._memory)
        shown = readable.fit_snippets(
            answer, cited=cited, most=self._memory.policy.max_injected_chars
        )
        return ToolResult(
            text=readable.search_text(shown),
            value={"notice": readable.UNTRUSTED, **_search_value(shown, cited=cited)},
            failed=shown.reason == "unavailable",
        )

    async def _get(self, given: Json) -> ToolResult:
        named = cast("dict[str, Any]", given)
        if ("path" in named) == ("paths" in named):
            raise _refused(MEMORY_GET, "it takes either 'path' or 'paths'")
        if "paths" in named:
            return await self._get_many(named)
        found = await self._memory.get(
            named["path"], named.get("from", 1), named.get("lines"), MOST_CHARS
        )
        return ToolResult(
            text=readable.document_text(found),
            value={"notice": readable.UNTRUSTED, **wire.document_json(found)},
        )

    async def _get_many(self, named: "dict[str, Any]") -> ToolResult:
        if "from" in named or "lines" in named:
            said = "lines of several notes are named in 'paths', as in a.md#L3-L9"
            raise _refused(MEMORY_GET, said)
        found = await self._memory.get_many(named["paths"], MOST_CHARS)
        return ToolResult(
            text=readable.documents_text(found),
            value={"notice": readable.UNTRUSTED, **wire.documents_json(found)},
        )

    async def _links(self, given: Json) -> ToolResult:
        named = cast("dict[str, Any]", given)
        found = await self._memory.links(named["path"])
        return ToolResult(
            text=readable.links_text(found),
            value={"notice": readable.UNTRUSTED, **wire.links_json(found)},
        )

    async def _remember(self, given: Json) -> ToolResult:
        named = cast("dict[str, Any]", given)
        if not named["text"].strip():
            raise UsageError(
                "memory_write: the text is blank", remedy="write what is to be kept"
            )
        noted = await self._memory.remember(
            named["text"], long_term=named.get("longTerm", False)
        )
        text = readable.remembered_text(noted)
        return ToolResult(text=text, value=wire.remembered_json(noted))


def _few(wanted: int | None) -> int | None:
    """Return how many results to look for: more than an answer holds are not shown."""
    return None if wanted is None else min(wanted, _MOST_RESULTS)


def _filter_of(said: Mapping[str, object]) -> "Filter":
    """Return the filter that a model gives, by the words that surfaces use.

    Raises:
        UsageError: it makes no sense.
    """
    from notewell.filters import read_filter

    try:
        return read_filter(said)
    except UsageError as error:
        raise UsageError(
            f"{MEMORY_SEARCH.name}: filter: {error.message}", remedy=error.remedy
        ) from None


def shows_citations(memory: "Memory") -> bool:
    """Whether an agent is shown citations in this conversation."""
    wanted = memory.settings.memory.citations
    if wanted == "auto":
        return chat_type(memory.session_key) == "direct"
    return wanted == "on"


def _search_value(shown: SearchAnswer, *, cited: bool) -> Json:
    """Return the answer as JSON; where it is not cited, no hit has a citation."""
    value = wire.answer_json(shown)
    if not cited:
        for hit in cast("list[Json]", value["results"]):
            del hit["citation"]
    return value


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
    known = {each.name: each for each in tool.parameters}
    named = _renamed(_mapping(tool, given), known)
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


def _renamed(
    given: Mapping[str, object], known: Collection[str]
) -> Mapping[str, object]:
    """Return arguments by our names, where OpenClaw has another one for the same."""
    if "corpus" not in given or "corpus" in known or "source" not in known:
        return given
    named = dict(given)
    corpus = named.pop("corpus")
    return {"source": None if corpus == "all" else corpus, **named}


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
        wanted = _KIND_WORDS[parameter.kind]
        raise _refused(tool, f"{parameter.name!r} must be {wanted}")
    if parameter.choices and read not in parameter.choices:
        choices = " or ".join(parameter.choices)
        raise _refused(tool, f"{parameter.name!r} must be {choices}")
    if isinstance(read, dict):
        return read
    size = len(read) if isinstance(read, str | list) else float(read)
    least, most = parameter.least, parameter.most
    if (least is not None and size < least) or (most is not None and size > most):
        raise _refused(tool, f"{parameter.name!r} must be {_range(parameter)}")
    return read


def _typed(
    parameter: Parameter, value: object
) -> str | list[str] | float | dict[str, object] | None:
    """Return the value in the parameter's type, or None."""
    if parameter.kind == "strings":
        return _texts(value)
    if parameter.kind == "object":
        return _object(value)
    if parameter.kind == "string":
        return value if isinstance(value, str) else None
    if parameter.kind == "boolean":
        words = {"true": True, "false": False}
        found = words.get(value.lower()) if isinstance(value, str) else value
        return found if isinstance(found, bool) else None
    return _number(value, whole=parameter.kind == "integer")


def _texts(value: object) -> list[str] | None:
    """Return several texts; one alone stands for a list of one."""
    several = cast("list[object]", value if isinstance(value, list) else [value])
    texts = [each for each in several if isinstance(each, str) and each]
    return texts if len(texts) == len(several) else None


def _object(value: object) -> dict[str, object] | None:
    """Return an object, also one that was given as its JSON; what is null is not said."""
    if isinstance(value, str):
        import json

        with suppress(ValueError, RecursionError):
            value = json.loads(value)
    if not isinstance(value, Mapping):
        return None
    members = cast("Mapping[object, object]", value)
    return {str(name): each for name, each in members.items() if each is not None}


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
    if parameter.kind == "strings":
        return f"a list of 1 to {parameter.most:,g} texts"
    if parameter.most is None:
        return f"at least {parameter.least:g}"
    return f"from {parameter.least:g} to {parameter.most:,g}"


def _refused(tool: ToolDefinition, problem: str) -> UsageError:
    names = ", ".join(each.name for each in tool.parameters)
    return UsageError(
        f"{tool.name}: {problem}", remedy=f"call it again; it takes {names}"
    )
