"""Help texts, and what to advise when a line cannot be parsed."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final, TypeAlias

import click

from notewell.adapters.surfaces.cli.output import Output

COLUMNS: Final = 80
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
Examples = Sequence[tuple[str, str]]
Rows = list[tuple[str, str]]


class Readable(click.Command):
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


class Refused(click.UsageError):
    """A usage error that knows its remedy."""

    def __init__(self, message: str, *, remedy: str) -> None:
        super().__init__(message)
        self.remedy = remedy


def _show_help(context: click.Context, _parameter: Any, value: bool) -> None:
    if value and not context.resilient_parsing:
        output = context.find_object(Output)
        assert output is not None, "the root context carries the output"
        output.text(context.get_help() + "\n")
        context.exit()


def _rows(command: Readable, context: click.Context) -> tuple[Rows, Rows]:
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
