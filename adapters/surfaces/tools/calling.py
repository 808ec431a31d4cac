"""Calls the tools by name, for any loop around a model."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Self, cast

from notewell.adapters.surfaces import wire
from notewell.adapters.surfaces.tools import readable
from notewell.adapters.surfaces.tools.arguments import read_arguments
from notewell.adapters.surfaces.tools.definitions import (
    ALL,
    Json,
    Style,
    ToolDefinition,
)
from notewell.errors import NotewellError, UsageError
from notewell.scope import chat_type
from notewell.types import SearchAnswer

if TYPE_CHECKING:
    from notewell.memory import Memory

MOST_CHARS: Final = 12_000
"""Characters of a note that one call of memory_get gives to a model."""


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
        return cls(text=text, value=wire.failure(error), failed=True)


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
            "memory_write": self._remember,
        }

    @property
    def definitions(self) -> tuple[ToolDefinition, ...]:
        """The tools that there are; none where memory is switched off."""
        if not self._memory.enabled:
            return ()
        return tuple(tool for tool in ALL if self._write or not tool.writes)

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
        source = named.get("source")
        answer = await self._memory.search(
            named["query"],
            max_results=named.get("maxResults"),
            min_score=named.get("minScore"),
            sources=None if source is None else {source},
        )
        cited = cites(self._memory)
        shown = readable.shown(
            answer, cited=cited, most=self._memory.policy.max_injected_chars
        )
        return ToolResult(
            text=readable.search_text(shown),
            value={"notice": readable.UNTRUSTED, **_search_value(shown, cited=cited)},
            failed=shown.reason == "unavailable",
        )

    async def _get(self, given: Json) -> ToolResult:
        named = cast("dict[str, Any]", given)
        found = await self._memory.get(
            named["path"], named.get("from", 1), named.get("lines"), MOST_CHARS
        )
        return ToolResult(
            text=readable.document_text(found),
            value={"notice": readable.UNTRUSTED, **wire.document(found)},
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
        return ToolResult(text=text, value=wire.remembered(noted))


def cites(memory: "Memory") -> bool:
    """Whether an agent is shown citations in this conversation."""
    wanted = memory.settings.memory.citations
    if wanted == "auto":
        return chat_type(memory.session_key) == "direct"
    return wanted == "on"


def _search_value(shown: SearchAnswer, *, cited: bool) -> Json:
    """Return the answer as JSON; where it is not cited, no hit has a citation."""
    value = wire.search_answer(shown)
    if not cited:
        for hit in cast("list[Json]", value["results"]):
            del hit["citation"]
    return value
