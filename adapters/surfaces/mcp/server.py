"""What the server offers, in the SDK's terms: tools, notes, a prompt for the flush.

A note is the resource `memory:` and its path, as in a search result. Nothing here knows
the transport.
"""

from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from urllib.parse import quote, unquote

import orjson
from mcp import MCPError, types
from mcp.server.lowlevel.server import Server

from notewell._version import __version__
from notewell.adapters.surfaces import wire
from notewell.adapters.surfaces.mcp import Offer
from notewell.adapters.surfaces.mcp.conversations import Conversations
from notewell.adapters.surfaces.mcp.startup import (
    INSTRUCTIONS,
    SERVER_NAME,
    tool_shapes,
)
from notewell.adapters.surfaces.tools import MemoryTools, ToolResult
from notewell.adapters.surfaces.tools.readable import failure_text
from notewell.backends.loops import off_the_loop
from notewell.errors import NotewellError, UsageError
from notewell.flush import flush_prompts
from notewell.memory import Memory
from notewell.workspace import scan
from notewell.workspace.days import daily_note
from notewell.zones import moment_in

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    Context: TypeAlias = ServerRequestContext[Any, Any]

_MARKDOWN: Final = "text/markdown"
_SCHEME: Final = "memory:"
_TEMPLATE: Final = "memory:{+path}"
_MOST_CHARS: Final = 200_000
"""Characters of a note that a resource may have; memory_get reads parts of any."""

_PROMPT: Final = "memory_flush"
_PROMPT_TITLE: Final = "Write down what should be remembered"
_PROMPT_DESCRIPTION: Final = (
    "Before a conversation is compacted or ends: have the agent append what will matter "
    "later to today's log."
)
_WITH_TOOL: Final = "Use the tool memory_write, which appends to that file."


def make_server(memory: Memory, offer: Offer) -> Server[None]:
    """Return a server for a memory, which it opens at the first use and closes.

    Args:
        memory: Not open yet.
        write: Offer memory_write.
    """
    conversations = Conversations(memory)
    handlers = _Handlers(conversations, offer)

    @asynccontextmanager
    async def lifespan(_server: Server[None]) -> AsyncGenerator[None]:
        try:
            yield
        finally:
            await conversations.close()

    return Server(
        SERVER_NAME,
        version=__version__,
        title=SERVER_NAME,
        instructions=INSTRUCTIONS,
        lifespan=lifespan,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_resource_templates,
        on_read_resource=handlers.read_resource,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
    )


class _Handlers:
    """The handlers of one server."""

    def __init__(self, conversations: Conversations, offer: Offer) -> None:
        self._conversations = conversations
        self._offer = offer

    async def list_tools(
        self, context: "Context", _page: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        """List the tools that this conversation has."""
        with _told_to_client():
            tools = await self._tools(context)
        schemas = tool_shapes(tools, self._offer)
        return types.ListToolsResult(
            tools=[types.Tool.model_validate(each) for each in schemas]
        )

    async def call_tool(
        self, context: "Context", params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        """Call a tool; a failure is told to the model, which may do better."""
        try:
            tools = await self._tools(context)
            result = await tools.call(params.name, params.arguments)
        except NotewellError as error:
            result = ToolResult.of(error)
        # A client that is given both shows a model the one, the other, or both.
        value = (
            orjson.loads(wire.dump(result.value)) if self._offer.structured else None
        )
        return types.CallToolResult(
            content=[types.TextContent(text=result.text)],
            structured_content=value,
            is_error=result.failed,
        )

    async def list_resources(
        self, context: "Context", _page: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        """List the notes that this conversation may see."""
        with _told_to_client():
            paths = await note_paths(await self._memory(context))
        listed = [
            types.Resource(name=path, uri=note_uri(path), mime_type=_MARKDOWN)
            for path in paths
        ]
        return types.ListResourcesResult(resources=listed)

    async def list_resource_templates(
        self, _context: "Context", _page: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        """Say how the address of a note is made."""
        template = types.ResourceTemplate(
            name="note",
            uri_template=_TEMPLATE,
            description="A note, by its path as in a search result.",
            mime_type=_MARKDOWN,
        )
        return types.ListResourceTemplatesResult(resource_templates=[template])

    async def read_resource(
        self, context: "Context", params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        """Return a whole note."""
        with _told_to_client():
            text = await note_text(await self._memory(context), params.uri)
        found = types.TextResourceContents(
            uri=params.uri, text=text, mime_type=_MARKDOWN
        )
        return types.ReadResourceResult(contents=[found])

    async def list_prompts(
        self, _context: "Context", _page: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        """List the one prompt."""
        prompt = types.Prompt(
            name=_PROMPT, title=_PROMPT_TITLE, description=_PROMPT_DESCRIPTION
        )
        return types.ListPromptsResult(prompts=[prompt])

    async def get_prompt(
        self, context: "Context", params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        """Return the prompt, with today's date in it."""
        if params.name != _PROMPT:
            said = f"there is no prompt {params.name!r}; there is {_PROMPT}"
            raise MCPError(types.INVALID_PARAMS, said)
        with _told_to_client():
            memory = await self._memory(context)
        text = flush_prompt(memory, write=self._offer.write)
        message = types.PromptMessage(role="user", content=types.TextContent(text=text))
        return types.GetPromptResult(
            description=_PROMPT_DESCRIPTION, messages=[message]
        )

    async def _tools(self, context: "Context") -> MemoryTools:
        return MemoryTools(await self._memory(context), write=self._offer.write)

    async def _memory(self, context: "Context") -> Memory:
        """Return the memory as this client sees it; over stdio there are no headers."""
        request = context.request
        headers: Mapping[str, str] = {} if request is None else request.headers
        return await self._conversations.of(headers)


@contextmanager
def _told_to_client() -> Generator[None]:
    """Turn an error of ours into one that the protocol carries."""
    try:
        yield
    except NotewellError as error:
        raise MCPError(types.INVALID_PARAMS, failure_text(error)) from error


async def note_paths(memory: Memory) -> list[str]:
    """Return the notes that this conversation may see, by path."""
    if not memory.enabled:
        return []
    found = await off_the_loop(scan, memory.workspace)
    return [
        note.path
        for note in found.notes
        if not memory.hides(note.path) and not memory.leaves_out(note.path)
    ]


def note_uri(path: str) -> str:
    """Return the address of a note.

    >>> note_uri("memory/京都.md")
    'memory:memory/%E4%BA%AC%E9%83%BD.md'
    """
    return _SCHEME + quote(path)


async def note_text(memory: Memory, uri: str) -> str:
    """Return the whole text of a note.

    Raises:
        UsageError: it is no address of a note, or the note is too long.
        PathRefused: not a note of this workspace, or closed in this conversation.
    """
    path = unquote(uri.removeprefix(_SCHEME))
    if not uri.startswith(_SCHEME) or not path:
        raise UsageError(
            "that is no address of a note",
            remedy=f"it looks like {note_uri('MEMORY.md')}",
        )
    found = await memory.get(path, max_chars=_MOST_CHARS)
    if not found.found:
        raise UsageError(
            f"there is no note {path!r}", remedy="list the resources, or search"
        )
    if found.truncated:
        raise UsageError(
            f"{path!r} has more than {_MOST_CHARS:,} characters",
            remedy="read parts of it with memory_get",
        )
    return found.text


def flush_prompt(memory: Memory, *, write: bool) -> str:
    """Return the prompt, the configured one or our own, with today's date in it.

    Args:
        memory: Whose notes are written to.
        write: Whether the agent has the tool memory_write.
    """
    settings = memory.settings
    now = moment_in(settings.user_timezone, None)
    path = daily_note(memory.workspace, now.date())
    prompts = flush_prompts(settings.compaction.memory_flush, now, path)
    parts = (prompts.system, prompts.user, _WITH_TOOL if write else "")
    return "\n\n".join(filter(None, parts))
