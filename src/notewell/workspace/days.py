"""Daily logs: which file belongs to a day.

A day has its log, `memory/2026-01-10.md`, and may have further notes with a slug,
`memory/2026-01-10-vendor-call.md`, which other programs write at the end of a session.
"""

import os
import re
from datetime import date
from typing import Final

from notewell.dates import day_in_name
from notewell.workspace.daily_format import USUAL_PATTERN, daily_format
from notewell.workspace.layout import MEMORY_FOLDER, Workspace, as_listed, is_markdown

_DAY: Final = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})(-.*)?\.(?:md|markdown)\Z", re.IGNORECASE | re.DOTALL
)


def log_of(day: date) -> str:
    """Return the path of a day's log.

    >>> log_of(date(2026, 1, 10))
    'memory/2026-01-10.md'
    """
    return f"{MEMORY_FOLDER}/{day.isoformat()}.md"


def day_of(name: str) -> date | None:
    """Return the day that a file's name begins with, with or without a slug.

    >>> day_of("2026-01-10-vendor-call.md")
    datetime.date(2026, 1, 10)
    """
    found = _DAY.match(name)
    try:
        return date.fromisoformat(found[1]) if found else None
    except ValueError:
        return None


def is_log_name(name: str) -> bool:
    """Whether a file's name is a day and nothing else: that of a log."""
    found = _DAY.match(name)
    return found is not None and found[2] is None


def daily_note(workspace: Workspace, day: date) -> str:
    """Return the path of the note that a day is written down in."""
    form = daily_format(workspace)
    return form.path_of(day) if form else log_of(day)


def daily_title(path: str, day: date) -> str | None:
    """Return the first line of a new daily note; in a vault its name is its title."""
    return f"# {day.isoformat()}" if path == log_of(day) else None


def notes_of_day(workspace: Workspace, day: date) -> list[str]:
    """Return the paths of a day's log and of its other notes beside it, the log first.

    In a vault they are where its daily notes are; see `notewell.workspace.daily_format`.
    """
    form = daily_format(workspace)
    if form is None:
        return []
    listed = as_listed(str(workspace.root), form.path_of(day))
    folder, _, log = listed.rpartition("/")
    try:
        names = os.listdir(os.path.join(workspace.root, *folder.split("/")))
    except OSError:
        return []
    is_usual = form.pattern == USUAL_PATTERN
    own = [
        name
        for name in names
        if is_markdown(name)
        and (name == log or (day_of(name) if is_usual else day_in_name(name)) == day)
    ]
    own.sort(key=lambda name: (name != log, not is_log_name(name), name))
    return [f"{folder}/{name}" if folder else name for name in own]
