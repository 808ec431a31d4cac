"""What the SDK's own client gets from the server, over both transports."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest
from mcp import MCPError, types

if TYPE_CHECKING:
    from tests.adapters.surfaces.mcp.conftest import Connect


def said(result: types.CallToolResult) -> str:
    """The readable text of a result."""
    [content] = result.content
    assert isinstance(content, types.TextContent)
    return content.text


def value(result: types.CallToolResult) -> dict[str, Any]:
    """The structured content of a result."""
    content: object = result.structured_content
    assert isinstance(content, dict)
    return cast("dict[str, Any]", content)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_client_asks_reads_on_and_is_told_what_it_did_wrong(
    connect: "Connect", mode: str
) -> None:
    async with connect("--structured", mode=mode) as client:
        info = client.server_info
        tools = (await client.list_tools()).tools
        found = await client.call_tool("memory_search", {"query": "gateway port"})
        read = await client.call_tool("memory_get", {"path": "MEMORY.md", "from": 3})
        missing = await client.call_tool("memory_get", {"path": "no.md"})
        outside = await client.call_tool("memory_get", {"path": "../secret.md"})
        wrong = await client.call_tool("memory_search", {"q": "gateway"})

    assert info is not None
    assert info.name == "notewell"
    assert [tool.name for tool in tools] == [
        "memory_search",
        "memory_get",
        "memory_links",
    ]
    assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools)
    assert all(tool.output_schema for tool in tools)  # and the client held all to it
    [hit] = value(found)["results"]
    assert hit["citation"] == "MEMORY.md#L1-L3"
    assert "> The gateway port is 18789." in said(found).splitlines()
    assert "> Source: MEMORY.md#L1-L3" in said(found).splitlines()
    assert "never instructions" in said(found)
    assert value(read)["text"] == "The gateway port is 18789."
    assert (missing.is_error, value(missing)["found"]) == (False, False)
    assert outside.is_error
    assert value(outside)["error"]["type"] == "path-refused"
    assert wrong.is_error
    assert "it takes query, maxResults, minScore, source" in said(wrong)


async def test_a_model_is_given_what_was_found_once_and_as_text(
    connect: "Connect",
) -> None:
    async with connect() as client:
        tools = (await client.list_tools()).tools
        found = await client.call_tool("memory_search", {"query": "gateway port"})
        wrong = await client.call_tool("memory_get", {"path": "../secret.md"})

    assert not any(tool.output_schema for tool in tools)
    assert found.structured_content is None
    assert "> The gateway port is 18789." in said(found).splitlines()
    assert wrong.structured_content is None
    assert wrong.is_error


async def test_an_agent_may_write_only_where_that_is_allowed(
    connect: "Connect", notes: Path
) -> None:
    async with asyncio.timeout(300), connect("--write", "--structured") as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        noted = await client.call_tool(
            "memory_write", {"text": "- The heron is called Otto.", "longTerm": True}
        )
        found = await client.call_tool("memory_search", {"query": "heron"})
        while not value(found)["results"]:  # a first index may still be in the making
            found = await client.call_tool("memory_search", {"query": "heron"})

    assert names == ["memory_search", "memory_get", "memory_links", "memory_write"]
    assert value(noted)["citation"] == "MEMORY.md#L5"
    assert value(found)["results"][0]["path"] == "MEMORY.md"
    text = (notes / "MEMORY.md").read_text(encoding="utf-8")
    assert text.endswith("The gateway port is 18789.\n\n- The heron is called Otto.\n")


async def test_without_leave_there_is_no_tool_that_writes(
    connect: "Connect", notes: Path
) -> None:
    before = (notes / "MEMORY.md").read_bytes()

    async with connect() as client:
        refused = await client.call_tool("memory_write", {"text": "- no"})

    assert refused.is_error
    assert "there is no tool 'memory_write' here" in said(refused)
    assert (notes / "MEMORY.md").read_bytes() == before


async def test_notes_are_resources_and_the_flush_is_a_prompt(
    connect: "Connect",
) -> None:
    async with connect("--write") as client:
        listed = (await client.list_resources()).resources
        [template] = (await client.list_resource_templates()).resource_templates
        read = await client.read_resource("memory:memory/%E6%97%A5%E8%A8%98.md")
        with pytest.raises(MCPError, match="outside the workspace"):
            await client.read_resource("memory:../secret.md")
        with pytest.raises(MCPError, match="no address of a note"):
            await client.read_resource("file:///etc/passwd")
        [prompt] = (await client.list_prompts()).prompts
        flush = await client.get_prompt(prompt.name)

    uris = {resource.name: resource.uri for resource in listed}
    assert uris == {
        "MEMORY.md": "memory:MEMORY.md",
        "memory/2026-01-10.md": "memory:memory/2026-01-10.md",
        "memory/日記.md": "memory:memory/%E6%97%A5%E8%A8%98.md",
    }
    assert template.uri_template == "memory:{+path}"
    [content] = read.contents
    assert isinstance(content, types.TextResourceContents)
    assert content.text == "数据库部署在新加坡"
    [message] = flush.messages
    assert isinstance(message.content, types.TextContent)
    assert "NO_REPLY" in message.content.text
    assert message.content.text.endswith("appends to that file.")


async def test_a_group_sees_no_personal_notes_and_no_citations(
    connect: "Connect",
) -> None:
    async with connect("--chat-type", "group", "--structured") as client:
        personal = await client.call_tool("memory_search", {"query": "gateway"})
        shared = await client.call_tool("memory_search", {"query": "C++"})
        refused = await client.call_tool("memory_get", {"path": "MEMORY.md"})
        listed = [each.name for each in (await client.list_resources()).resources]
        with pytest.raises(MCPError, match="denied in this conversation"):
            await client.read_resource("memory:MEMORY.md")

    assert value(personal)["results"] == []
    [hit] = value(shared)["results"]
    assert "citation" not in hit
    assert "Source:" not in said(shared)
    assert refused.is_error
    assert listed == ["memory/2026-01-10.md", "memory/日記.md"]
