"""Commands with their help pages and options, and what to advise on a wrong line.

Every command takes the common options, before or after its name.
"""

import math
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar, cast

import click

from notewell.adapters.surfaces.cli.output import CommandOutput

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    Completing: TypeAlias = Callable[
        [click.Context, click.Parameter, str], list[CompletionItem]
    ]

Examples = Sequence[tuple[str, str]]
Rows = list[tuple[str, str]]
Read = TypeVar("Read")
Reader: TypeAlias = Callable[[click.Context, click.Parameter, str | None], Read]

COLUMNS: Final = 80
_META: Final = "notewell.common"
_MOST: Final = 2**31 - 1
_Names: TypeAlias = Mapping[str, tuple[str, ...]]
# Our options, each with what other programs call it: for all commands, then for one.
_ELSEWHERE: Final[_Names] = {
    "--workspace": ("-w", "-C", "-d", "--dir", "--directory", "--folder", "--root"),
    "--config": ("-c",),
    "--json": ("-j",),
    "--verbose": ("-v",),
}
_MEANT: Final[Mapping[str, _Names]] = {
    "search": {
        "--max-results": ("-n", "-k", "--limit", "--count", "--top", "--top-k", "--max")
    },
    "get": {"--lines": ("-n", "--limit", "--count"), "--from": ("--start", "--offset")},
}


class CommandWithHelp(click.Command):
    """A command whose help ends with examples and sets common options apart.

    Attributes:
        examples: Pairs of a command line and what it is good for.
        common: Names of the parameters that every command has.
    """

    examples: Examples = ()
    common: frozenset[str] = frozenset()

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """Our own, since click's writes through `print` and the locale."""
        return self.help_option

    @cached_property
    def help_option(self) -> click.Option:
        """The same object each time: click compares parameters by identity."""
        return click.Option(
            ["-h", "--help", "_help"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_show_help,
            help="Show this page.",
        )

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write usage, text, commands, options, common options, examples."""
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        self.format_options(ctx, formatter)
        self.format_examples(formatter)

    def format_options(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """Write the options of this command, then those that all have."""
        own, common = _rows(self, ctx)
        _section(formatter, "Options", own)
        _section(formatter, "Common options, before or after the command", common)

    def format_examples(self, formatter: click.HelpFormatter) -> None:
        """Write each example with what it is good for below it."""
        if not self.examples:
            return
        with formatter.section("Examples"):
            for line, purpose in self.examples:
                formatter.write(f"  {line}\n      {purpose}\n")


class Command(CommandWithHelp):
    """A subcommand: its own options, and the common ones."""

    def __init__(self, *args: Any, examples: Examples = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = examples
        add_common(self)


def add_common(command: CommandWithHelp) -> None:
    """Give a command the options that every command has, unless it has its own."""
    own = {name for parameter in command.params for name in parameter.opts}
    options = [each for each in _common_options() if own.isdisjoint(each.opts)]
    command.params.extend(options)
    command.common = frozenset(str(option.name) for option in options)


def _common_options() -> list[click.Option]:
    return [
        _named("--workspace", "DIR", "The folder with the notes.", completed="dir"),
        _named("--config", "FILE", "The configuration file to read.", completed="file"),
        _named("--agent", "ID", "Whose memory; the default agent otherwise."),
        _named("--backend", "NAME", "The engine, instead of the configured one."),
        _named("--session-key", "KEY", "The conversation that scope rules look at."),
        _flag("--json", "Print one JSON object."),
        _flag("--verbose", "Show everything, faults in full."),
    ]


def _named(
    name: str, metavar: str, text: str, *, completed: str = "plain"
) -> click.Option:
    return click.Option(
        [name],
        metavar=metavar,
        help=text,
        expose_value=False,
        callback=_keep_option,
        shell_complete=completing(completed),
    )


def completing(kind: str) -> "Completing | None":
    """Return what has the shell itself complete a value: a `dir` or a `file`."""
    if kind == "plain":
        return None

    def complete(
        _context: click.Context, _parameter: click.Parameter, typed: str
    ) -> "list[CompletionItem]":
        from click.shell_completion import CompletionItem

        return [CompletionItem(typed, type=kind)]

    return complete


def _flag(name: str, text: str) -> click.Option:
    return click.Option(
        [name], is_flag=True, help=text, expose_value=False, callback=_keep_option
    )


def _keep_option(context: click.Context, option: click.Parameter, value: Any) -> None:
    if value == "":
        raise click.BadParameter("it is empty", ctx=context, param=option)
    if value:
        given_options(context)[str(option.name)] = value


def given_options(context: click.Context) -> MutableMapping[str, Any]:
    """Return the common options that were said, wherever they stood."""
    meta = cast("MutableMapping[str, Any]", context.meta)
    return cast("MutableMapping[str, Any]", meta.setdefault(_META, {}))


def whole_number(most: int = _MOST, *, least: int = 1) -> Reader[int | None]:
    """Return a reader of whole numbers from `least` to `most`."""

    def read(
        context: click.Context, option: click.Parameter, value: str | None
    ) -> int | None:
        if value is None:
            return None
        try:
            number = int(value)
        except ValueError:
            number = least - 1
        if least <= number <= most:
            return number
        problem = f"{value!r} is no whole number from {least} to {most:,}"
        raise click.BadParameter(problem, ctx=context, param=option)

    return read


def fraction(
    context: click.Context, option: click.Parameter, value: str | None
) -> float | None:
    """Read a number from 0 to 1."""
    if value is None:
        return None
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if 0.0 <= number <= 1.0:  # false for NaN
        return number
    problem = f"{value!r} is no number from 0 to 1"
    raise click.BadParameter(problem, ctx=context, param=option)


class CommandUsageError(click.UsageError):
    """A usage error that knows its remedy."""

    def __init__(self, message: str, *, remedy: str) -> None:
        super().__init__(message)
        self.remedy = remedy


def advice(error: click.UsageError) -> str:
    """Return what a person can do about a line that makes no sense."""
    remedy = getattr(error, "remedy", None)
    if isinstance(remedy, str):
        return remedy
    command = error.ctx.command_path if error.ctx else "notewell"
    see = f"see `{command} --help`"
    name = command.rpartition(" ")[2]
    if isinstance(error, click.NoSuchOption):
        if meant := _meant(name, error.option_name):
            return f"did you mean {meant}? {see}"
        if name == "search":
            return f"words that begin with `-` go after `--`, or use --query=...; {see}"
    if error.message.startswith("Got unexpected extra argument") and name != "get":
        return f"a folder of notes is named with --workspace DIR; {see}"
    return see


def _meant(command: str, option: str) -> str | None:
    """The option that other programs call `option`."""
    table = {**_ELSEWHERE, **_MEANT.get(command, {})}
    return next((ours for ours, theirs in table.items() if option in theirs), None)


def _show_help(context: click.Context, _parameter: Any, value: bool) -> None:
    if value and not context.resilient_parsing:
        output = context.find_object(CommandOutput)
        assert output is not None, "the root context carries the output"
        output.text(context.get_help() + "\n")
        context.exit()


def _rows(command: CommandWithHelp, context: click.Context) -> tuple[Rows, Rows]:
    own: Rows = []
    common: Rows = []
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None and isinstance(parameter, click.Option):
            (common if parameter.name in command.common else own).append(record)
    return own, common


def _section(formatter: click.HelpFormatter, title: str, rows: Rows) -> None:
    if rows:
        with formatter.section(title):
            formatter.write_dl(rows, col_max=26)
