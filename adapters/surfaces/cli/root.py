"""The command `notewell` itself: finds subcommands by name, loads one at a time.

Shells complete it with click's own parts.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, cast

import click

from notewell.adapters.surfaces.cli.options import (
    COLUMNS,
    CommandUsageError,
    CommandWithHelp,
    add_common,
)
from notewell.adapters.surfaces.cli.output import CommandOutput

if TYPE_CHECKING:
    from click.shell_completion import ShellComplete

SHELLS: Final = ("bash", "zsh", "fish")
_PACKAGE: Final = "notewell.adapters.surfaces.cli"
COMMANDS: Final[Mapping[str, str]] = {
    "search": "Find the passages that answer a question.",
    "recent": "Show what was written last.",
    "get": "Print lines of notes.",
    "links": "Show what a note links to, and what links to it.",
    "open": "Open a note in an editor, at the line.",
    "remember": "Write something down in today's log.",
    "context": "Print what an agent loads when a session starts.",
    "index": "Make the index agree with the notes.",
    "watch": "Keep the index up to date until it is ended.",
    "status": "Show what is indexed, and what is not.",
    "config": "Show every setting and where it comes from.",
    "doctor": "Check this machine, and say what to do.",
    "bench": "Measure engines side by side, on your own notes.",
    "models": "Fetch the embedding model, once.",
    "postgres": "Prepare a PostgreSQL server, and check it.",
    "mcp": "Serve the memory to agents by MCP.",
    "hooks": "Print what makes other programs use the memory by themselves.",
    "completion": "Print what makes a shell complete commands.",
}
_TEXT: Final = """Memory search for AI agents over plain Markdown files.

The files are the truth: notewell reads MEMORY.md, memory/ and any other folder of
Markdown, and answers with passages and the lines they come from.
"""
_EXAMPLES: Final = (
    ('notewell search "gateway port" --workspace ~/notes', "ask a folder of notes"),
    ("notewell get memory/2026-01-10.md --from 3 --lines 7", "read around a hit"),
    ("notewell status", "see what is indexed"),
)


class Root(CommandWithHelp, click.Group):
    """The group of all commands."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order in which people meet them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a command by its name."""
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"{_PACKAGE}.commands.{cmd_name}")
        return cast("click.Command", getattr(module, f"{cmd_name}_command"))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or say which one was probably meant."""
        if args[0] == "memory" and args[1:2] and args[1] in COMMANDS:
            args = args[1:]  # `openclaw memory status`: the habit of the host's users
        name = args[0]
        if name == "help":
            return self._resolve_help(ctx, args[1:])
        if name not in COMMANDS and not name.startswith("-"):
            raise _unknown(name)
        output = cast("CommandOutput | None", ctx.obj)  # none where a shell completes
        if output is not None and output.host is not None:
            output.host.accept(name)
        return super().resolve_command(ctx, args)

    def _resolve_help(
        self, ctx: click.Context, words: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Read `help search` as `search --help`, and `help` as `--help`."""
        for name in words:
            if not name.startswith("-"):
                return self.resolve_command(ctx, [name, "--help"])
        cast("CommandOutput", ctx.obj).text(ctx.get_help() + "\n")
        ctx.exit()

    def format_options(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """Write the commands before the options."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))
        CommandWithHelp.format_options(self, ctx, formatter)


def invoke(words: list[str], output: CommandOutput) -> int:
    """Parse the words and run the command.

    Raises:
        click.UsageError: the words make no sense.
        NotewellError: the command could not do its work.
    """
    with root().make_context("notewell", list(words), obj=output) as context:
        result = context.command.invoke(context)
    return result if isinstance(result, int) else 0


def root() -> Root:
    """Return the command `notewell`."""
    command = Root(
        "notewell",
        help=_TEXT,
        callback=_without_command,
        invoke_without_command=True,
        subcommand_metavar="COMMAND ...",
        params=[_version_option()],
        context_settings={"terminal_width": COLUMNS},
    )
    command.examples = _EXAMPLES
    add_common(command)
    return command


@click.pass_context
def _without_command(context: click.Context) -> None:
    """Show the help to whoever says only `notewell`."""
    if context.invoked_subcommand is not None:
        return
    output = cast("CommandOutput", context.obj)
    if output.json:
        raise CommandUsageError("no command is given", remedy="see `notewell --help`")
    output.text(context.get_help() + "\n")


def _version_option() -> click.Option:
    return click.Option(
        ["--version"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_show_version,
        help="Show the version.",
    )


def _show_version(context: click.Context, _parameter: Any, value: bool) -> None:
    if not value or context.resilient_parsing:
        return
    from notewell._version import __version__

    output = cast("CommandOutput", context.obj)
    if output.json:
        output.value({"version": __version__})
    else:
        output.text(f"notewell {__version__}\n")
    context.exit()


def _unknown(name: str) -> CommandUsageError:
    import difflib  # only for a word that is no command

    near = difflib.get_close_matches(name.lower(), COMMANDS, n=1)
    if near:
        remedy = f"did you mean `notewell {near[0]}`?"
    else:
        remedy = "to ask your notes: notewell search QUERY; see `notewell --help`"
    return CommandUsageError(f"there is no command {name!r}", remedy=remedy)


def completion_script(shell: str, variable: str) -> str:
    """Return what a shell reads when it starts.

    Args:
        shell: One of SHELLS.
        variable: The name of what it sets in the environment when it asks.
    """
    completer = _completer(shell, variable)
    # `source` of bash would start a bash to look at its version first.
    return (completer.source_template % completer.source_vars()).strip()


def completions(request: str, variable: str) -> str:
    """Return what fits what was typed so far, in the form of the shell that asks.

    Args:
        request: The value of the variable; what was typed is in the environment, too.
        variable: Its name.
    """
    shell, _, wanted = request.partition("_")
    if shell not in SHELLS or wanted != "complete":
        return ""
    try:
        return _completer(shell, variable).complete() + "\n"
    except (KeyError, ValueError):  # not called by our script
        return ""


def _completer(shell: str, variable: str) -> "ShellComplete":
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    assert found is not None, "click has all three"
    return found(root(), {}, "notewell", variable)
