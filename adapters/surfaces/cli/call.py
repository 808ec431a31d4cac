"""One call of a command: its common options, and the settings and memory they name."""

import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Self, cast

import click

from notewell.adapters.surfaces.cli.options import given_options
from notewell.adapters.surfaces.cli.output import CommandOutput
from notewell.values import dataclass

if TYPE_CHECKING:
    from notewell.adapters.surfaces.cli.screen import Screen
    from notewell.config import Settings
    from notewell.memory import SyncMemory


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandCall:
    """One call of a command: where to write, and the options that all have."""

    output: CommandOutput
    workspace: str | None = None
    config: str | None = None
    agent: str | None = None
    backend: str | None = None
    session_key: str | None = None

    @classmethod
    def of(cls, context: click.Context) -> Self:
        """Collect what was said before and after the command; the later wins."""
        given = dict(given_options(context))
        output = cast("CommandOutput", context.find_object(CommandOutput))
        output.json = bool(given.pop("json", False))
        output.verbose = bool(given.pop("verbose", False))
        return cls(output=output, **given)


def settings_of(call: CommandCall) -> "Settings":
    """Resolve every setting, with the flags of this call over them.

    Raises:
        ConfigError: the file cannot be read, or a value makes no sense.
    """
    from notewell.config import load_settings  # late: `--help` needs none of it

    return load_settings(
        config_file=Path(call.config) if call.config else None,
        environ=os.environ,
        home=user_home(),
        overrides=_overrides(call),
    )


def user_home() -> Path:
    """Return what `~` stands for, also where nobody says who we are."""
    return Path(os.path.abspath(os.path.expanduser("~")))


def agents_of(call: CommandCall) -> list[str | None]:
    """Return the agents that `index` and `status` cover; None is the default agent.

    A folder that is named with --workspace is one memory, not one for each agent.
    """
    if call.agent or call.workspace:
        return [call.agent]
    agents = settings_of(call).agents
    return [agent.id for agent in agents] if len(agents) > 1 else [None]


def _overrides(call: CommandCall) -> Mapping[str, object]:
    given = {
        "memory.backend": call.backend,
        "agents.defaults.workspace": call.workspace,
    }
    return {key: value for key, value in given.items() if value is not None}


def screen_of(call: CommandCall) -> "Screen":
    """Return the screen that the answer is for."""
    from notewell.adapters.surfaces.cli.screen import Screen

    host = call.output.host
    return Screen.described(host.environ, host.columns) if host else Screen.of()


@contextmanager
def memory_of(
    call: CommandCall, *, agent: str | None = None
) -> Generator["SyncMemory"]:
    """Open the memory that the options of a call name; `agent` beats them."""
    if (host := call.output.host) is not None:
        with host.memory_of(call) as lent:
            yield lent
        return
    from notewell.memory import open_memory_sync  # late: `--help` needs none of it

    with open_memory_sync(
        workspace=call.workspace,
        config=call.config,
        agent=agent or call.agent,
        backend=call.backend,
        session_key=call.session_key,
    ) as memory:
        for notice in memory.notices:
            call.output.note(notice)
        yield memory
