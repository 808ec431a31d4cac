"""`notewell mcp`: memory for every agent that speaks the Model Context Protocol."""

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from notewell.adapters.surfaces.cli.call import CommandCall
from notewell.adapters.surfaces.cli.options import Command, completing, whole_number
from notewell.adapters.surfaces.cli.serving import CommandServer
from notewell.adapters.surfaces.mcp import Offer
from notewell.errors import UsageError

if TYPE_CHECKING:
    from notewell.memory import Memory

_TEXT: Final = """Serve the memory to agents by the Model Context Protocol.

A client starts this and speaks to it over standard input and output. With --http it
listens on 127.0.0.1 instead, for clients that send the token in the token file as
`Authorization: Bearer`. The tools are memory_search, memory_get and memory_links.

The conversation is the owner's own, unless --session-key or --chat-type says
otherwise. Where the server has none, a client may name its own over HTTP, in the
headers Notewell-Session-Key and Notewell-Chat-Type.
"""
_EXAMPLES: Final = (
    ("notewell mcp --workspace ~/notes", "over stdio, as clients start it"),
    ("notewell mcp --write", "agents may write to the memory, too"),
    ("notewell mcp --http 8765", "over HTTP, for several clients"),
    ("notewell mcp --chat-type group", "without personal notes"),
)


@click.command("mcp", cls=Command, help=_TEXT, examples=_EXAMPLES)
@click.option(
    "--http",
    "http_port",
    callback=whole_number(65_535, least=0),
    metavar="PORT",
    help="Listen on 127.0.0.1; 0 takes a free port.",
)
@click.option(
    "--token-file",
    metavar="FILE",
    shell_complete=completing("file"),
    help="Where the token is; made if it is not there. By default it is "
    "notewell-mcp-token in the state folder.",
)
@click.option(
    "--replace-openclaw",
    is_flag=True,
    help='Serve in the place of OpenClaw\'s own memory, which plugins.slots.memory: "none" '
    "switches off. Nothing else that is switched off is switched on.",
)
@click.option("--write", is_flag=True, help="Offer memory_write, which only appends.")
@click.option(
    "--structured",
    is_flag=True,
    help="Give results as JSON, too; a client may show a model that alone.",
)
@click.option(
    "--chat-type",
    type=click.Choice(["direct", "group", "channel"]),
    metavar="TYPE",
    help="The kind of chat, where the session key does not say so: direct, group or "
    "channel.",
)
@click.pass_context
def mcp_command(
    context: click.Context,
    http_port: int | None,
    token_file: str | None,
    replace_openclaw: bool,
    write: bool,
    structured: bool,
    chat_type: str | None,
) -> int:
    """Serve until the client leaves, or a signal comes."""
    call = CommandCall.of(context)
    if find_spec("mcp") is None:
        from notewell.installing import install_extra

        raise UsageError(
            "the MCP server needs the package mcp", remedy=install_extra("mcp")
        )
    overrides = {"memory.enabled": True} if replace_openclaw else {}
    memory = _memory_of(call, chat_type, overrides)
    offer = Offer(write=write, structured=structured)
    with CommandServer(memory.setup):
        if http_port is None:
            from notewell.adapters.surfaces.mcp.stdio import serve_stdio

            return serve_stdio(memory, offer)
        from notewell.adapters.surfaces.mcp.http import read_token, serve_http

        file = Path(token_file) if token_file else _token_file(memory)
        return serve_http(
            memory,
            offer,
            port=http_port,
            token=read_token(file, with_folder=not token_file),
            ready=lambda url: call.output.note(
                f"serving {url}; the token is in {file}"
            ),
        )


def _memory_of(
    call: CommandCall, chat_type: str | None, overrides: Mapping[str, object]
) -> "Memory":
    """Read the configuration now, so that a mistake in it is told at once."""
    from notewell.adapters.surfaces.mcp.conversations import conversation_key
    from notewell.memory import open_memory

    memory = open_memory(
        workspace=call.workspace,
        config=call.config,
        agent=call.agent,
        backend=call.backend,
        session_key=conversation_key(call.session_key, chat_type),
        server=True,
        overrides=overrides,
    )
    for notice in memory.notices:
        call.output.note(notice)
    return memory


def _token_file(memory: "Memory") -> Path:
    return memory.settings.state_dir / "notewell-mcp-token"
