"""Asks a memory over MCP, as an agent does: a client starts the server and calls a tool.

    python examples/ask_over_mcp.py WORKSPACE QUESTION

It needs the extra: `pip install '.[mcp]'`.
"""

import asyncio
import os
import sys

from mcp import Client, StdioServerParameters, types


async def ask(workspace: str, question: str) -> None:
    """Print which tools an agent is offered, and what one of them answers."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "notewell", "mcp", "--workspace", workspace],
        env=dict(os.environ),  # the SDK would hand on only a part of it
    )
    async with Client(server) as client:
        tools = (await client.list_tools()).tools
        print("tools:", ", ".join(tool.name for tool in tools), end="\n\n")
        called = await client.call_tool(
            "memory_search", {"query": question, "maxResults": 1}
        )
    for content in called.content:
        if isinstance(content, types.TextContent):
            print(content.text)


if __name__ == "__main__":
    asyncio.run(ask(*sys.argv[1:]))
