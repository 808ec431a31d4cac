"""`notewell config`: every setting, and where it comes from."""

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from notewell.adapters.surfaces.cli.call import CommandCall, settings_of
from notewell.adapters.surfaces.cli.options import Command
from notewell.adapters.surfaces.cli.screen import Look, Screen, cell_count
from notewell.adapters.surfaces.plain_text import one_line

if TYPE_CHECKING:
    from notewell.config import ResolvedValue, Settings

_TEXT: Final = """Show every setting and where it comes from.

A flag beats the environment, which beats the configuration file, which beats the
default. API keys are never shown.
"""
_EXAMPLES: Final = (
    ("notewell config", "everything, as it is now"),
    ("notewell config --config ./openclaw.json", "check a file"),
    ("notewell config --json", "one JSON object, for programs"),
)


@click.command("config", cls=Command, help=_TEXT, examples=_EXAMPLES)
@click.pass_context
def config_command(context: click.Context) -> None:
    """Print the settings, grouped as in the file."""
    call = CommandCall.of(context)
    settings = settings_of(call)
    if call.agent is not None:
        settings.agent(call.agent)  # an unknown one is an error here too
    warnings = _warnings(settings)
    if call.output.json:
        call.output.value(_shape(settings, warnings))
        return
    call.output.text(_drawn(settings, Screen.of()))
    for warning in warnings:
        call.output.note(f"warning: {one_line(warning)}")


def _warnings(settings: "Settings") -> list[str]:
    """What a person should know of the file, and what this version does not do."""
    from notewell.backends.registry import policy_of
    from notewell.config import unused_settings

    said = list(settings.warnings)
    for agent in settings.agents:
        said += policy_of(settings, agent).remarks
        said += unused_settings(settings, agent)
    return list(dict.fromkeys(said))


def _shape(settings: "Settings", warnings: list[str]) -> dict[str, object]:
    from notewell.config.listing import list_settings

    values = [
        {"key": value.key, "value": value.value, "origin": value.origin}
        for value in list_settings(settings)
    ]
    return {
        "file": settings.file,
        "ownFile": settings.own_file,
        "values": values,
        "warnings": warnings,
    }


def _drawn(settings: "Settings", screen: Screen) -> str:
    from notewell.config.listing import list_settings

    file = one_line(str(settings.file)) if settings.file else "none"
    lines = [f"{screen.paint('file', 'bold')} {file}"]
    if settings.own_file:
        own = one_line(str(settings.own_file))
        lines.append(f"{screen.paint('laid over it', 'bold')} {own}")
    for group, values in groupby(list_settings(settings), key=_group):
        lines += ["", screen.paint(one_line(group), "bold"), *_rows(values, screen)]
    return "\n".join(lines) + "\n"


def _rows(group: "Iterator[ResolvedValue]", screen: Screen) -> Iterator[str]:
    rows = [
        (one_line(value.key.rpartition(".")[2]), _spelled(value.value), _origin(value))
        for value in group
    ]
    names, values = (max(cell_count(row[place]) for row in rows) for place in (0, 1))
    values = min(values, 44)
    for name, value, origin in rows:
        named = name + " " * (names - cell_count(name))
        padded = value + " " * (values - cell_count(value))
        look: Look = "dim" if origin.startswith("default") else "good"
        yield f"  {named}  {padded}  {screen.paint(one_line(origin), look)}".rstrip()


def _origin(value: "ResolvedValue") -> str:
    """Where a value comes from, and what a default means that does not say it."""
    unnamed = value.key.endswith(".workspace") and value.origin == "default"
    if unnamed and not Path(str(value.value)).expanduser().is_dir():
        return "default (not there; the current folder is read)"
    return f"{value.origin} ({value.meaning})" if value.meaning else value.origin


def _group(value: "ResolvedValue") -> str:
    return value.key.rpartition(".")[0]


def _spelled(value: object) -> str:
    from notewell.adapters.surfaces import wire

    return one_line(wire.dump({"": value})[4:-2].decode("utf-8"))
