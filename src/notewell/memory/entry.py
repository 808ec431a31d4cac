"""`open_memory`: from what a caller names to a memory."""

from collections.abc import Mapping
from pathlib import Path

from notewell.memory.facade import Memory
from notewell.memory.opening import prepare


def open_memory(
    *,
    workspace: Path | str | None = None,
    agent: str | None = None,
    config: Path | str | None = None,
    backend: str | None = None,
    session_key: str | None = None,
    server: bool = False,
    environ: Mapping[str, str] | None = None,
    overrides: Mapping[str, object] = {},
) -> Memory:
    """Open an agent's memory: `async with open_memory(...) as memory`.

    Args:
        workspace: The folder of notes; by default the configured one.
        agent: The agent's id; by default the default agent.
        config: The configuration file; by default OpenClaw's.
        backend: The engine, instead of the configured one.
        session_key: The conversation; group chats do not see personal notes.
        server: The program stays: the first answer does not wait for an index.
        environ: The environment to read; by default the process's own.
        overrides: Settings that beat the file, by their full key.

    Raises:
        ConfigError: a setting makes no sense.
        UsageError: there is no such agent or workspace.
    """
    opening = prepare(
        workspace=workspace,
        agent=agent,
        config=config,
        backend=backend,
        server=server,
        environ=environ,
        overrides=overrides,
    )
    return Memory(opening, session_key=session_key, server=server)
