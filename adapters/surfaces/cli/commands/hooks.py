"""`notewell hooks`: what makes other agents' programs use the memory by themselves."""

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from notewell.adapters.surfaces.cli.call import CommandCall, settings_of, user_home
from notewell.adapters.surfaces.cli.options import (
    Command,
    CommandUsageError,
    whole_number,
)
from notewell.adapters.surfaces.cli.output import STDIN, CommandOutput
from notewell.adapters.surfaces.plain_text import one_line, visible
from notewell.values import dataclass

if TYPE_CHECKING:
    from notewell.adapters.surfaces.hooks.settings_file import ProgramSettings
    from notewell.memory.setup import Setup

_PROGRAMS: Final = ("claude-code", "codex", "openclaw")
_SECONDS: Final = 1.5
"""Of the two that a hook has, Python has taken some to start."""

_TEXT: Final = """Print what makes another agent's program use the memory by itself.

PROGRAM is claude-code, codex or openclaw. When a session starts, its agent gets what
`notewell context` prints; when the context is nearly full, it is asked to write down
what matters, before the conversation is compacted. Nothing else is written, unless
--remember-turns is given.

What is printed belongs into the program's settings. With --write it is put there:
the difference is shown first, and --yes agrees to it. Only entries that notewell wrote
are ever changed, --remove takes them out again, and the file as it was is kept beside
it. OpenClaw keeps its settings itself: for it this only prints.

Each entry names the workspace, ends within two seconds and never fails.
"""
_EXAMPLES: Final = (
    ("notewell hooks claude-code --workspace ~/notes", "see what it would be"),
    ("notewell hooks claude-code --workspace ~/notes --write", "put it there"),
    ("notewell hooks codex --project . --write --yes", "for one project, unasked"),
    ("notewell hooks codex --remove --yes", "take it out again"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HookOptions:
    """What was said after `notewell hooks`."""

    program: str
    run: bool
    write: bool
    remove: bool
    yes: bool
    remember_turns: bool
    project: str | None
    context_window: int | None


@click.command("hooks", cls=Command, help=_TEXT, examples=_EXAMPLES)
@click.argument("program", type=click.Choice(_PROGRAMS), metavar="PROGRAM")
@click.option("--write", is_flag=True, help="Put the entries into the settings.")
@click.option("--remove", is_flag=True, help="Take our entries out of the settings.")
@click.option(
    "--yes", is_flag=True, help="Agree to the difference without being asked."
)
@click.option(
    "--project",
    metavar="DIR",
    type=click.Path(file_okay=False),
    help="The settings of this project, instead of yours for all of them.",
)
@click.option(
    "--remember-turns",
    is_flag=True,
    help="Also write each turn, shortened, into the day's log.",
)
@click.option(
    "--context-window",
    callback=whole_number(),
    metavar="N",
    help="Tokens that the model takes, where the program does not tell: 200,000.",
)
@click.option("--run", is_flag=True, hidden=True)
@click.pass_context
def hooks_command(context: click.Context, /, **given: object) -> int:
    """Print, write, remove or answer hooks."""
    options = HookOptions(**given)  # type: ignore[arg-type]
    if options.run:
        _answer(context, options)
        return 0
    call = CommandCall.of(context)
    if options.write and options.remove:
        raise CommandUsageError(
            "--write and --remove exclude each other", remedy="give one of them"
        )
    if options.program == "openclaw":
        _print_for_host(call, options)
        return 0
    _change(call, options)
    return 0


def _answer(context: click.Context, options: HookOptions) -> None:
    """Answer a program's hook; whatever goes wrong, nothing is said."""
    _end_in_time()
    from notewell.adapters.surfaces.hooks import answers

    with suppress(Exception):
        call = CommandCall.of(context)
        with open(STDIN, "rb", closefd=False) as opened:
            raw = opened.read(answers.MOST_INPUT)
        moment = answers.read_moment(
            options.program, raw, context_window=options.context_window
        )
        if moment is None:
            return
        reply = answers.hook_reply(
            _setup(call), moment, remembers=options.remember_turns
        )
        if reply.value is not None:
            call.output.value(reply.value)
        elif reply.text:
            call.output.text(reply.text + "\n")


def _end_in_time() -> None:
    """End this process before the program would, whatever holds it up: a disk, a pipe."""
    import threading

    timer = threading.Timer(_SECONDS, os._exit, (0,))
    timer.daemon = True
    timer.start()


def _setup(call: CommandCall) -> "Setup":
    from notewell.memory.setup import set_up

    return set_up(
        workspace=call.workspace,
        agent=call.agent,
        config=call.config,
        backend=call.backend,
        server=True,
        environ=None,
        overrides={},
    )


def _change(call: CommandCall, options: HookOptions) -> None:
    """Print the entries, or write them into the settings, or take them out."""
    from notewell.adapters.surfaces.hooks import programs
    from notewell.adapters.surfaces.hooks.settings_file import ProgramSettings

    project = Path(os.path.realpath(options.project)) if options.project else None
    place = programs.hook_place(options.program, os.environ, user_home(), project)
    groups: Mapping[str, object] = {}
    root = None
    if not options.remove:
        root = _setup(call).workspace.root
        command = programs.hook_command(
            options.program, _program_words(), _options_of(call, options, root)
        )
        groups = programs.hook_groups(
            options.program, command, remembers=options.remember_turns
        )
    if not (options.write or options.remove):
        shown = programs.with_our_hooks({}, groups)
        _print(call, shown, options.program, str(place.file), str(root))
        return
    settings = ProgramSettings.read(place.file)
    document = (
        programs.with_our_hooks(settings.document, groups)
        if options.write
        else programs.without_our_hooks(settings.document)
    )
    _write(call, options, settings, settings.changed_to(document))


def _write(
    call: CommandCall, options: HookOptions, settings: "ProgramSettings", after: bytes
) -> None:
    """Show the difference, ask, and write it."""
    same = after == settings.raw or (settings.raw is None and options.remove)
    backup = None
    if not same:
        for line in settings.difference(after):
            call.output.note(line)
        if not (options.yes or _agrees(call.output)):
            raise CommandUsageError(
                "nothing was written", remedy="--yes agrees to the difference"
            )
        backup = settings.write(after, state_dir=settings_of(call).state_dir)
    if call.output.json:
        call.output.value(
            {
                "program": options.program,
                "file": str(settings.file),
                "changed": not same,
                "backup": None if backup is None else str(backup),
            }
        )
        return
    if backup is not None:
        call.output.note(one_line(f"as it was: {backup}"))
    if options.write and not same and options.program == "codex":
        call.output.note("note: Codex runs new hooks when you have agreed: see /hooks")
    said = "nothing to change in" if same else "changed"
    call.output.text(one_line(f"{said} {settings.file}") + "\n")


def _agrees(output: CommandOutput) -> bool:
    """Ask the person at the terminal; nobody there has not agreed."""
    streams = (sys.stdin, sys.stderr)
    if not all(stream is not None and stream.isatty() for stream in streams):
        return False
    output.note("Write this? [y/N]")
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _print(
    call: CommandCall,
    settings: Mapping[str, object],
    program: str,
    file: str,
    root: str,
) -> None:
    if call.output.json:
        call.output.value(
            {"program": program, "workspace": root, "file": file, "settings": settings}
        )
        return
    import json

    call.output.note(one_line(f"note: this belongs into {file}"))
    text = json.dumps(settings, indent=2, ensure_ascii=False)
    call.output.text(visible(text) + "\n")


def _print_for_host(call: CommandCall, options: HookOptions) -> None:
    """Print what OpenClaw needs, which has a turn of its own before a compaction."""
    if options.write or options.remove:
        raise CommandUsageError(
            "OpenClaw keeps its settings itself, so this only prints",
            remedy="put in by hand what `notewell hooks openclaw` prints",
        )
    from notewell.config.file import FILE_NAME

    root = str(_setup(call).workspace.root)
    file = settings_of(call).state_dir / FILE_NAME
    defaults = {
        "workspace": root,
        "compaction": {"memoryFlush": {"enabled": True}},
    }
    shown = {"agents": {"defaults": defaults}}
    _print(call, shown, "openclaw", str(file), root)


def _program_words() -> list[str]:
    """Return what starts notewell as it was started now, from any folder."""
    started = Path(sys.argv[0] or "-")
    if started.name == "notewell" and started.is_file() and os.access(started, os.X_OK):
        return [str(started.absolute())]
    return [sys.executable, "-m", "notewell"]


def _options_of(call: CommandCall, options: HookOptions, root: Path) -> list[str]:
    window = options.context_window
    given = {
        "--workspace": str(root),
        "--config": os.path.abspath(call.config) if call.config else None,
        "--agent": call.agent,
        "--context-window": str(window) if window else None,
    }
    words = [word for name, value in given.items() if value for word in (name, value)]
    return [*words, "--remember-turns"] if options.remember_turns else words
