"""`notewell config`: every setting, where it comes from, and how to set one."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from notewell.adapters.surfaces.cli.call import CommandCall, settings_of
from notewell.adapters.surfaces.cli.one_setting import find_setting, spelled
from notewell.adapters.surfaces.cli.options import COLUMNS, Command
from notewell.adapters.surfaces.cli.screen import Look, Screen, cell_count, wrapped
from notewell.adapters.surfaces.plain_text import one_line

if TYPE_CHECKING:
    from notewell.config import ResolvedValue, Settings

_TEXT: Final = """Show every setting and where it comes from, or one and how to set it.

A flag beats the environment, which beats the configuration file, which beats the
default. `get KEY` shows one setting; the end of its key is enough, if only one
ends so. API keys are never shown.
"""
_EXAMPLES: Final = (
    ("notewell config", "everything, as it is now"),
    ("notewell config --changed", "only what somebody set"),
    ("notewell config get memory.offline", "one setting, and how to set it"),
    ("notewell config --config ./openclaw.json", "check a file"),
    ("notewell config --json", "one JSON object, for programs"),
)
_WIDEST_VALUE: Final = 44


@click.command("config", cls=Command, help=_TEXT, examples=_EXAMPLES)
@click.argument("action", type=click.Choice(["get"]), required=False, metavar="[get")
@click.argument("key", required=False, metavar="KEY]")
@click.option("--changed", is_flag=True, help="Only what is not the default.")
@click.pass_context
def config_command(
    context: click.Context, action: str | None, key: str | None, changed: bool
) -> None:
    """Print the settings, grouped as in the file."""
    call = CommandCall.of(context)
    settings = settings_of(call)
    if call.agent is not None:
        settings.agent(call.agent)  # an unknown one is an error here too
    if action is not None:
        _show_one(call, settings, key)
        return
    warnings = _warnings(settings)
    values = _values(settings, changed=changed)
    if call.output.json:
        call.output.value(_shape(settings, values, warnings))
        return
    call.output.text(_drawn(settings, values, Screen.of()))
    for warning in warnings:
        call.output.note(f"warning: {one_line(warning)}")


def _show_one(call: CommandCall, settings: "Settings", key: str | None) -> None:
    """Print one setting."""
    if key is None:
        raise click.MissingParameter(param_hint="KEY", param_type="argument")
    found = find_setting(settings, key)
    if call.output.json:
        call.output.value(found.shape())
    else:
        call.output.text(found.drawn(Screen.of()))


def _values(settings: "Settings", *, changed: bool) -> "list[ResolvedValue]":
    from notewell.config.listing import list_settings

    return [
        value
        for value in list_settings(settings)
        if not (changed and value.origin == "default")
    ]


def _warnings(settings: "Settings") -> list[str]:
    """What a person should know of the file, and what this version does not do."""
    from notewell.backends.registry import policy_of
    from notewell.config import unused_settings

    said = list(settings.warnings)
    for agent in settings.agents:
        said += policy_of(settings, agent).remarks
        said += unused_settings(settings, agent)
    return list(dict.fromkeys(said))


def _shape(
    settings: "Settings", values: "Sequence[ResolvedValue]", warnings: list[str]
) -> dict[str, object]:
    return {
        "file": settings.file,
        "ownFile": settings.own_file,
        "values": [
            {"key": value.key, "value": value.value, "origin": value.origin}
            for value in values
        ],
        "warnings": warnings,
    }


def _drawn(
    settings: "Settings", values: "Sequence[ResolvedValue]", screen: Screen
) -> str:
    file = one_line(str(settings.file)) if settings.file else "none"
    lines = [f"{screen.paint('file', 'bold')} {file}"]
    if settings.own_file:
        own = one_line(str(settings.own_file))
        lines.append(f"{screen.paint('laid over it', 'bold')} {own}")
    for group, members in groupby(values, key=_group):
        lines += ["", screen.paint(one_line(group), "bold"), *_rows(members, screen)]
    if not values:
        lines += ["", "Nothing is set; every setting has its default."]
    lines += [
        "",
        "`notewell config get KEY` says what a setting does and how to set it.",
    ]
    return "\n".join(lines) + "\n"


def _rows(group: "Iterator[ResolvedValue]", screen: Screen) -> Iterator[str]:
    rows = [
        (one_line(value.key.rpartition(".")[2]), spelled(value.value), _origin(value))
        for value in group
    ]
    names = max(cell_count(name) for name, _, _ in rows)
    values = min(max(cell_count(value) for _, value, _ in rows), _WIDEST_VALUE)
    columns = screen.columns or COLUMNS
    for name, value, origin in rows:
        named = f"  {name}{' ' * (names - cell_count(name))}  "
        padded = value + " " * (values - cell_count(value))
        look: Look = "dim" if origin.startswith("default") else "good"
        if cell_count(f"{named}{padded}  {origin}") <= columns:
            yield f"{named}{padded}  {screen.paint(origin, look)}"
            continue
        indent = " " * cell_count(named)  # what does not fit goes below
        pieces = list(wrapped(value, columns - len(indent)))
        for start, end in pieces:
            yield f"{named if start == 0 else indent}{value[start:end]}"
        for start, end in wrapped(origin, columns - len(indent)):
            yield indent + screen.paint(origin[start:end], look)


def _origin(value: "ResolvedValue") -> str:
    """Where a value comes from, and what a default means that does not say it."""
    unnamed = value.key.endswith(".workspace") and value.origin == "default"
    if unnamed and not Path(str(value.value)).expanduser().is_dir():
        return "default (not there; the current folder is read)"
    said = f"{value.origin} ({value.meaning})" if value.meaning else value.origin
    return one_line(said)


def _group(value: "ResolvedValue") -> str:
    return value.key.rpartition(".")[0]
