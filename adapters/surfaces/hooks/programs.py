"""Which hooks a program gets, in the form of its own settings.

Claude Code and Codex read the same form of JSON: events, groups with a matcher, and
commands. Ours end with a comment for the shell, by which they are known again.
"""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

from notewell.errors import UsageError
from notewell.foreign import read_items, read_member
from notewell.memory.hooks import HOOK_SECONDS

MARK: Final = "# notewell hooks"
"""With which every command of ours ends, and nobody else's."""

PROGRAMS: Final = ("claude-code", "codex", "openclaw")

_EVERY_START: Final = "startup|resume|clear|compact"
_EVENTS: Final[Mapping[str, Mapping[str, str | None]]] = {
    "claude-code": {
        "SessionStart": _EVERY_START,
        "UserPromptSubmit": None,
        "PreCompact": "manual|auto",
    },
    # Nothing that Codex is told before a compaction reaches its model.
    "codex": {"SessionStart": _EVERY_START, "UserPromptSubmit": None},
}
_REMEMBERING: Final = "Stop"


@dataclass(frozen=True, slots=True, kw_only=True)
class HookPlace:
    """Where a program keeps its hooks.

    Attributes:
        file: Its settings.
        folder: The folder of the program in which they are.
    """

    file: Path
    folder: Path


def hook_place(
    program: str, environ: Mapping[str, str], home: Path, project: Path | None
) -> HookPlace:
    """Return the settings of a person, or those of a project of theirs.

    Of a project it is what stays on this machine, where a program keeps that apart:
    the path of a workspace is nobody else's.
    """
    name = "settings.json" if program == "claude-code" else "hooks.json"
    variable = "CLAUDE_CONFIG_DIR" if program == "claude-code" else "CODEX_HOME"
    usual = ".claude" if program == "claude-code" else ".codex"
    if project is None:
        chosen = environ.get(variable)
        folder = Path(chosen).expanduser().absolute() if chosen else home / usual
    else:
        folder = project / usual
        name = name.replace("settings.json", "settings.local.json")
    return HookPlace(file=folder / name, folder=folder)


def hook_command(program: str, words: Sequence[str], options: Sequence[str]) -> str:
    """Return the line of a shell that answers a hook, and ends well whatever happens.

    Args:
        program: Whose hook it is.
        words: What starts notewell.
        options: What names the workspace and the rest.
    """
    line = shlex.join([*words, "hooks", program, "--run", *options])
    if any(character in line for character in "\n\r\0"):
        raise UsageError(
            "a path with a line break cannot stand in a hook",
            remedy="name the folder by another path, such as a link",
        )
    return f"{line} 2>/dev/null || true {MARK}"


def hook_groups(program: str, command: str, *, remembers: bool) -> dict[str, object]:
    """Return what the settings get below `hooks`: for each event one group.

    Args:
        program: Claude Code or Codex.
        command: What `hook_command` says.
        remembers: Also at the end of a turn.
    """
    events = dict(_EVENTS[program])
    if remembers:
        events[_REMEMBERING] = None
    handler = {"type": "command", "command": command, "timeout": HOOK_SECONDS}
    return {
        event: {
            **({} if matcher is None else {"matcher": matcher}),
            "hooks": [dict(handler)],
        }
        for event, matcher in events.items()
    }


def is_our_hook(handler: object) -> bool:
    """Whether a handler in somebody's settings was written by us."""
    command = read_member(handler, "command")
    return isinstance(command, str) and command.rstrip().endswith(MARK)


def without_our_hooks(document: Mapping[str, object]) -> dict[str, object]:
    """Return settings without what we wrote; what is empty then goes with it."""
    kept: dict[str, object] = {}
    for event, groups in _events_of(document).items():
        left = _without_ours(groups)
        if left or left == groups:
            kept[event] = left
    rest = dict(document)
    if kept or ("hooks" in document and not _events_of(document)):
        rest["hooks"] = kept
    else:
        rest.pop("hooks", None)
    return rest


def with_our_hooks(
    document: Mapping[str, object], groups: Mapping[str, object]
) -> dict[str, object]:
    """Return settings with our groups, in the place of those that we wrote before.

    Raises:
        UsageError: something else stands where hooks are to be.
    """
    rest = without_our_hooks(document)
    events = _events_of(rest)
    for event, group in groups.items():
        before = events.get(event, [])
        if not isinstance(before, list):
            raise _wrong(f"hooks.{event}", "a list")
        events[event] = [*cast("list[object]", before), group]
    return {**rest, "hooks": events}


def _events_of(document: Mapping[str, object]) -> dict[str, object]:
    events = document.get("hooks", {})
    if not isinstance(events, dict):
        raise _wrong("hooks", "an object")
    return dict(cast("dict[str, object]", events))


def _without_ours(groups: object) -> object:
    if not isinstance(groups, list):
        return groups
    left: list[object] = []
    for group in cast("list[object]", groups):
        handlers = read_items(read_member(group, "hooks"))
        others = [each for each in handlers if not is_our_hook(each)]
        if len(others) == len(handlers):
            left.append(group)
        elif others:
            left.append({**cast("dict[str, object]", group), "hooks": others})
    return left


def _wrong(key: str, wanted: str) -> UsageError:
    return UsageError(
        f"`{key}` in these settings is not {wanted}",
        remedy="mend that first; nothing was changed",
    )
