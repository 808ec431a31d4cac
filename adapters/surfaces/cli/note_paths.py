"""What a shell completes where a note or a filter is named: what the notes have.

The shell waits at each press of a key: the notes are walked for a moment at most, no engine
is loaded, and whatever goes wrong is nothing to complete.
"""

import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from notewell.adapters.surfaces.cli.call import CommandCall, settings_of, user_home
from notewell.adapters.surfaces.cli.entry import COMPLETION
from notewell.adapters.surfaces.cli.options import given_options
from notewell.adapters.surfaces.cli.output import CommandOutput

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from notewell.workspace import Note, Workspace
    from notewell.workspace.metadata import NoteMetadata

_SECONDS: Final = 0.05
_READING: Final = 0.15
"""Seconds for walking the notes, and for reading what they say of themselves."""

_MOST: Final = 500
_SPECIAL: Final = re.compile(r"([^\w@%+=:,./-])")


def complete_notes(
    context: click.Context, _parameter: click.Parameter, typed: str
) -> "list[CompletionItem]":
    """Return the notes whose path begins as was typed; else those that hold it."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(each) for each in _offered(context, typed, _paths)]


def complete_tags(
    context: click.Context, _parameter: click.Parameter, typed: str
) -> "list[CompletionItem]":
    """Return the tags of the notes that fit what was typed."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(each) for each in _offered(context, typed, _tags)]


def complete_properties(
    context: click.Context, _parameter: click.Parameter, typed: str
) -> "list[CompletionItem]":
    """Return `key=value` for each that stands in front matter and fits."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(each) for each in _offered(context, typed, _properties)]


def _offered(
    context: click.Context,
    typed: str,
    words: "Callable[[Sequence[Note]], Iterable[str]]",
) -> list[str]:
    try:
        found = _fitting(words(_notes(context)), typed)
    except Exception:  # noqa: BLE001 - no message may come between a person and a line
        found = []
    if os.environ.get(COMPLETION, "").startswith("bash"):  # others quote by themselves
        found = [_SPECIAL.sub(r"\\\1", each) for each in found]
    return found


def _notes(context: click.Context) -> "list[Note]":
    from notewell.scope import is_hidden
    from notewell.workspace import scan

    given = dict(given_options(context))
    key = given.get("session_key")
    found = scan(_workspace(given), until=time.monotonic() + _SECONDS)
    return [note for note in found.notes if not is_hidden(note.path, key)]


def _paths(notes: "Sequence[Note]") -> list[str]:
    return [note.path for note in notes]


def _tags(notes: "Sequence[Note]") -> list[str]:
    return sorted({tag for said in _metadata(notes) for tag in said.tags})


def _properties(notes: "Sequence[Note]") -> list[str]:
    pairs = (pair for said in _metadata(notes) for pair in said.values.items())
    return sorted({f"{key}={text}" for key, texts in pairs for text in texts if text})


def _metadata(notes: "Sequence[Note]") -> "Iterator[NoteMetadata]":
    """Read what notes say of themselves, for a moment."""
    from notewell.workspace import read_note, split_lines
    from notewell.workspace.metadata import note_metadata

    until = time.monotonic() + _READING
    for note in notes:
        if time.monotonic() > until:
            return
        with suppress(OSError, ValueError):
            yield note_metadata(note.path, split_lines(read_note(note.file).text))


def _fitting(words: "Iterable[str]", typed: str) -> list[str]:
    shown = [each for each in words if each.isprintable()]
    wanted = typed.casefold()
    begun = [each for each in shown if each.casefold().startswith(wanted)]
    return (begun or [each for each in shown if wanted in each.casefold()])[:_MOST]


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
