"""What the server offers, in the SDK's terms. Nothing here knows the transport."""

from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import orjson
from mcp import MCPError, types
from mcp.server.lowlevel.server import Server

from notewell._version import __version__
from notewell.adapters.surfaces import wire
from notewell.adapters.surfaces.mcp import flushing, notes
from notewell.adapters.surfaces.mcp.conversations import Conversations
from notewell.adapters.surfaces.mcp.greeting import INSTRUCTIONS, NAME
from notewell.adapters.surfaces.tools import MemoryTools, ToolResult
from notewell.errors import NotewellError
from notewell.memory import Memory

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    Context: TypeAlias = ServerRequestContext[Any, Any]

_MARKDOWN: Final = "text/markdown"


def make_server(memory: Memory, *, write: bool) -> Server[None]:
    """Return a server for a memory, which it opens at the first use and closes.

    Args:
        memory: Not open yet.
        write: Offer memory_write.
    """
    conversations = Conversations(memory)
    offered = _Offered(conversations, write=write)

    @asynccontextmanager
    async def lifespan(_server: Server[None]) -> AsyncGenerator[None]:
        try:
            yield
        finally:
            await conversations.close()

    return Server(
        NAME,
        version=__version__,
        title=NAME,
        instructions=INSTRUCTIONS,
        lifespan=lifespan,
        on_list_tools=offered.list_tools,
        on_call_tool=offered.call_tool,
        on_list_resources=offered.list_resources,
        on_list_resource_templates=offered.list_resource_templates,
        on_read_resource=offered.read_resource,
        on_list_prompts=offered.list_prompts,
        on_get_prompt=offered.get_prompt,
    )


class _Offered:
    """The handlers of one server."""

    def __init__(self, conversations: Conversations, *, write: bool) -> None:
        self._conversations = conversations
        self._write = write

    async def list_tools(
        self, context: "Context", _page: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        """List the tools that this conversation has."""
        with _told_to_client():
            tools = await self._tools(context)
        listed = [types.Tool.model_validate(each) for each in tools.schemas("mcp")]
        return types.ListToolsResult(tools=listed)

    async def call_tool(
        self, context: "Context", params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        """Call a tool; a failure is told to the model, which may do better."""
        try:
            tools = await self._tools(context)
            result = await tools.call(params.name, params.arguments)
        except NotewellError as error:
            result = ToolResult.of(error)
        return types.CallToolResult(
            content=[types.TextContent(text=result.text)],
            structured_content=orjson.loads(wire.dump(result.value)),
            is_error=result.failed,
        )

    async def list_resources(
        self, context: "Context", _page: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        """List the notes that this conversation may see."""
        with _told_to_client():
            paths = await notes.note_paths(await self._memory(context))
        listed = [
            types.Resource(name=path, uri=notes.uri_of(path), mime_type=_MARKDOWN)
            for path in paths
        ]
        return types.ListResourcesResult(resources=listed)

    async def list_resource_templates(
        self, _context: "Context", _page: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        """Say how the address of a note is made."""
        template = types.ResourceTemplate(
            name="note",
            uri_template=notes.TEMPLATE,
            description="A note, by its path as in a search result.",
            mime_type=_MARKDOWN,
        )
        return types.ListResourceTemplatesResult(resource_templates=[template])

    async def read_resource(
        self, context: "Context", params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        """Return a whole note."""
        with _told_to_client():
            text = await notes.note_text(await self._memory(context), params.uri)
        found = types.TextResourceContents(
            uri=params.uri, text=text, mime_type=_MARKDOWN
        )
        return types.ReadResourceResult(contents=[found])

    async def list_prompts(
        self, _context: "Context", _page: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        """List the one prompt."""
        prompt = types.Prompt(
            name=flushing.NAME, title=flushing.TITLE, description=flushing.DESCRIPTION
        )
        return types.ListPromptsResult(prompts=[prompt])

    async def get_prompt(
        self, context: "Context", params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        """Return the prompt, with today's date in it."""
        if params.name != flushing.NAME:
            said = f"there is no prompt {params.name!r}; there is {flushing.NAME}"
            raise MCPError(types.INVALID_PARAMS, said)
        with _told_to_client():
            memory = await self._memory(context)
        text = flushing.flush_prompt(memory, write=self._write)
        message = types.PromptMessage(role="user", content=types.TextContent(text=text))
        return types.GetPromptResult(
            description=flushing.DESCRIPTION, messages=[message]
        )

    async def _tools(self, context: "Context") -> MemoryTools:
        return MemoryTools(await self._memory(context), write=self._write)

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
        said = f"{error.message}; {error.remedy}"
        raise MCPError(types.INVALID_PARAMS, said) from error
