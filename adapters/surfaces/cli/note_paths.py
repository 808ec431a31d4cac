"""What a shell completes where a note is named: the paths of the notes that there are.

The shell waits at each press of a key: the notes are walked for a moment at most, no engine
is loaded, and whatever goes wrong is nothing to complete.
"""

import os
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from notewell.adapters.surfaces.cli.call import CommandCall, settings_of, user_home
from notewell.adapters.surfaces.cli.entry import COMPLETION
from notewell.adapters.surfaces.cli.options import given_options
from notewell.adapters.surfaces.cli.output import CommandOutput

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from notewell.workspace import Workspace

_SECONDS: Final = 0.05
_MOST: Final = 500
_SPECIAL: Final = re.compile(r"([^\w@%+=:,./-])")


def complete_notes(
    context: click.Context, _parameter: click.Parameter, typed: str
) -> "list[CompletionItem]":
    """Return the notes whose path begins as was typed; else those that hold it."""
    from click.shell_completion import CompletionItem

    try:
        paths = _fitting(context, typed)
    except Exception:  # noqa: BLE001 - no message may come between a person and a line
        paths = []
    if os.environ.get(COMPLETION, "").startswith("bash"):  # others quote by themselves
        paths = [_SPECIAL.sub(r"\\\1", path) for path in paths]
    return [CompletionItem(path) for path in paths]


def _fitting(context: click.Context, typed: str) -> list[str]:
    from notewell.scope import is_hidden
    from notewell.workspace import scan

    given = dict(given_options(context))
    key = given.get("session_key")
    found = scan(_workspace(given), until=time.monotonic() + _SECONDS)
    paths = [note.path for note in found.notes if not is_hidden(note.path, key)]
    shown = [path for path in paths if path.isprintable()]
    wanted = typed.casefold()
    begun = [path for path in shown if path.casefold().startswith(wanted)]
    return (begun or [path for path in shown if wanted in path.casefold()])[:_MOST]


def _workspace(given: Mapping[str, Any]) -> "Workspace":
    """Return the folder that the options on the line name, or the configured one."""
    from notewell.workspace import Workspace, choose_workspace

    flag, agent = given.get("workspace"), None
    if flag is None:
        call = CommandCall(output=CommandOutput(json=False), config=given.get("config"))
        agent = settings_of(call).agent(given.get("agent"))
    choice = choose_workspace(
        flag=None if flag is None else Path(flag),
        configured=agent.workspace if agent else None,
        configured_explicitly=agent is not None and agent.workspace_origin != "default",
        home=user_home(),
        cwd=Path.cwd(),
        server=False,
    )
    return Workspace(root=choice.root)
