"""The options of a filter, which `search` and `recent` share."""

from collections.abc import Callable, Mapping
from datetime import date
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from notewell.adapters.surfaces.cli.note_paths import (
    complete_notes,
    complete_properties,
    complete_tags,
)
from notewell.adapters.surfaces.plain_text import decode_argument

if TYPE_CHECKING:
    from notewell.filters import Filter

_Function = TypeVar("_Function", bound=Callable[..., Any])

_DAY: Final = "DAY"
_OPTIONS: Final = (
    (
        "path",
        "GLOB",
        True,
        "Only notes at such a path: projects, *.md, memory/2026-**.",
    ),
    ("exclude", "GLOB", True, "No notes at such a path."),
    (
        "since",
        _DAY,
        False,
        "Only from this day on: 2026-03-03, 2026-03, yesterday, 7d.",
    ),
    ("until", _DAY, False, "Only up to this day."),
    ("on", _DAY, False, "Only of this day, month or year, or of `last week`."),
    ("tag", "TAG", True, "Only notes with this tag; project is also project/a."),
    ("where", "KEY=VALUE", True, "Only notes whose front matter says so."),
    ("phrase", "TEXT", True, "Only passages in which this stands."),
    ("without", "TEXT", True, "Only passages in which this does not stand."),
)


_COMPLETED: Final = {
    "path": complete_notes,
    "exclude": complete_notes,
    "tag": complete_tags,
    "where": complete_properties,
}


def filter_options(command: _Function) -> _Function:
    """Give a command the options of a filter; their values come as keywords."""
    for name, metavar, multiple, text in reversed(_OPTIONS):
        given = click.option(
            f"--{name}",
            name,
            multiple=multiple,
            metavar=metavar,
            help=text,
            shell_complete=_COMPLETED.get(name),
        )
        command = given(command)
    return command


def narrows(given: Mapping[str, Any]) -> bool:
    """Whether the options say anything."""
    return any(value not in (None, ()) for value in given.values())


def filter_of(given: Mapping[str, Any], today: date) -> "Filter | None":
    """Return the filter that the options say; None if they say nothing.

    Args:
        given: The values by the names of the options.
        today: The day on the user's calendar, to which `yesterday` is relative.

    Raises:
        UsageError: a value makes no sense.
    """
    said = {name: value for name, value in given.items() if value not in (None, ())}
    if not said:
        return None
    from notewell.filters import read_filter

    return read_filter(
        {
            name: decode_argument(value)
            if isinstance(value, str)
            else [decode_argument(each) for each in value]
            for name, value in said.items()
        },
        today,
    )
