"""Options that every command has, wherever they stand, and the kinds of values."""

import math
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Self, TypeAlias, TypeVar, cast

import click

from notewell.adapters.surfaces.cli.output import Output
from notewell.adapters.surfaces.cli.usage import Examples, Readable

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    Completing: TypeAlias = Callable[
        [click.Context, click.Parameter, str], list[CompletionItem]
    ]

Read = TypeVar("Read")
Reader: TypeAlias = Callable[[click.Context, click.Parameter, str | None], Read]

_META: Final = "notewell.common"
_MOST: Final = 2**31 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of a command: where to write, and the options that all have."""

    output: Output
    workspace: str | None = None
    config: str | None = None
    agent: str | None = None
    backend: str | None = None
    session_key: str | None = None

    @classmethod
    def of(cls, context: click.Context) -> Self:
        """Collect what was said before and after the command; the later wins."""
        given = dict(_given(context))
        output = cast("Output", context.find_object(Output))
        output.json = bool(given.pop("json", False))
        output.verbose = bool(given.pop("verbose", False))
        return cls(output=output, **given)


class Command(Readable):
    """A subcommand: its own options, and the common ones."""

    def __init__(self, *args: Any, examples: Examples = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = examples
        add_common(self)


def count(most: int = _MOST, *, least: int = 1) -> Reader[int | None]:
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


def share(
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


def add_common(command: Readable) -> None:
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
        callback=_remember,
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
        [name], is_flag=True, help=text, expose_value=False, callback=_remember
    )


def _remember(context: click.Context, option: click.Parameter, value: Any) -> None:
    if value == "":
        raise click.BadParameter("it is empty", ctx=context, param=option)
    if value:
        _given(context)[str(option.name)] = value


def _given(context: click.Context) -> MutableMapping[str, Any]:
    meta = cast("MutableMapping[str, Any]", context.meta)
    return cast("MutableMapping[str, Any]", meta.setdefault(_META, {}))
