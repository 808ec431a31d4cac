"""How a folder names its daily notes: `memory/2026-03-01.md`, `Daily/March 1st, 2026.md`.

Agents have `memory/YYYY-MM-DD.md`. In a vault the program that it belongs to has written
down where its daily notes go: Obsidian in its settings or those of its plugin Periodic
Notes, Logseq in `config.edn`. Where nobody has, the names that are there tell. A setting,
`memorySearch.dailyNotes`, comes before all of them.

A pattern is a path without `.md`, in the tokens of moment.js, as Obsidian has them. A word
that is not made of tokens alone stands for itself: the D of `Daily` is no day.
"""

import os
import re
from collections import Counter
from collections.abc import Iterable
from datetime import date
from typing import Final, NamedTuple

from notewell.dates import day_in_name
from notewell.files import read_regular
from notewell.foreign import read_json, read_member
from notewell.workspace.layout import (
    MEMORY_FOLDER,
    Workspace,
    has_workspace_layout,
    without_suffix,
)

USUAL_PATTERN: Final = f"{MEMORY_FOLDER}/YYYY-MM-DD"

_LEAST_NOTES: Final = 3
"""Dated notes of one form that are no chance any more."""

_MOST_BYTES: Final = 1_000_000

_TOKENS: Final = "YYYY|YY|MMMM|MMM|MM|Mo|M|DDDD|DDD|Do|DD|D|dddd|ddd|dd|d|Q"
_PART: Final = re.compile(r"\[([^\]]*)\]|([A-Za-z]+)|.")
_NO_NAME: Final = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
_MONTHS: Final = str.split(
    "January February March April May June July August September October November December"
)
_WEEKDAYS: Final = str.split("Monday Tuesday Wednesday Thursday Friday Saturday Sunday")

_COMMON: Final = (
    "YYYY/MM/YYYY-MM-DD",
    "YYYY/MM-MMMM/YYYY-MM-DD",
    "YYYY/MM-MMMM/YYYY-MM-DD-dddd",
    "YYYY/YYYY-MM/YYYY-MM-DD",
    "YYYY/YYYY-MM-DD",
    "YYYY-MM/YYYY-MM-DD",
    "YYYY/MM/DD",
    "YYYY-MM-DD dddd",
    "YYYY-MM-DD-dddd",
    "YYYY-MM-DD ddd",
    "YYYY-MM-DD",
    "YYYY_MM_DD",
    "YYYY.MM.DD",
    "YYYYMMDD",
    "DD.MM.YYYY",
    "D.M.YYYY",
    "DD-MM-YYYY",
    "MMMM Do, YYYY",
    "MMM Do, YYYY",
    "MMMM D, YYYY",
    "MMM D, YYYY",
    "D MMMM YYYY",
    "dddd, MMMM Do, YYYY",
    "dddd, MMMM D, YYYY",
    "YYYY年M月D日",
    "YYYY年MM月DD日",
)
"""Forms of names that are looked for, with their folders where these change by the day."""


class DailyFormat(NamedTuple):
    """Where a folder has its daily notes.

    Attributes:
        pattern: The path of a day's note without `.md`, in moment's tokens.
        origin: Who says so, for a person.
    """

    pattern: str
    origin: str

    def path_of(self, day: date) -> str:
        """Return the path of a day's note, relative to the folder.

        >>> DailyFormat("Daily/MMMM Do, YYYY", "").path_of(date(2026, 3, 1))
        'Daily/March 1st, 2026.md'
        """
        return f"{written_day(self.pattern, day)}.md"


def daily_format(workspace: Workspace) -> DailyFormat | None:
    """Return how a workspace names its daily notes; None: it has none that one could see."""
    root = str(workspace.root)
    said = workspace.daily_notes
    if has_workspace_layout(root):  # in which nothing else is read
        if said is not None and said.startswith(f"{MEMORY_FOLDER}/"):
            return DailyFormat(said, "memorySearch.dailyNotes")
        return DailyFormat(USUAL_PATTERN, f"the folder {MEMORY_FOLDER}/")
    if said is not None and pattern_problem(said) is None:
        return DailyFormat(said, "memorySearch.dailyNotes")
    return _of_obsidian(root) or _of_logseq(root) or _of_names(workspace)


def pattern_problem(pattern: str) -> str | None:
    """Say why a text is no pattern of daily notes; None: it is one.

    >>> pattern_problem("Journal/YYYY-MM-DD"), pattern_problem("Journal/MM-DD")
    (None, 'names no year, month and day: YYYY, MM and DD')
    """
    parts = pattern.split("/")
    if pattern.startswith(("/", "~")) or ".." in parts or "\\" in pattern:
        return "leads out of the folder of notes"
    if any(not part.strip() or part.startswith(".") for part in parts):
        return "has an empty or hidden part"
    if _NO_NAME.search(pattern):
        return "holds a character that no name has"
    days = [date(2001, 2, 3), date(2002, 2, 3), date(2001, 3, 3), date(2001, 2, 4)]
    if len({written_day(pattern, day) for day in days}) < len(days):
        return "names no year, month and day: YYYY, MM and DD"
    return None


def written_day(pattern: str, day: date) -> str:
    """Return a day as a pattern writes it, with English names."""
    return "".join(_written(found, day) for found in _PART.finditer(pattern))


def _written(found: re.Match[str], day: date) -> str:
    if found[1] is not None:
        return found[1]
    if found[2] is None or not _is_made_of_tokens(found[2]):
        return found[0]
    return "".join(_token(token, day) for token in re.findall(_TOKENS, found[2]))


def _is_made_of_tokens(word: str) -> bool:
    return re.fullmatch(f"(?:{_TOKENS})+", word) is not None


def _token(token: str, day: date) -> str:
    month, weekday = _MONTHS[day.month - 1], _WEEKDAYS[day.weekday()]
    sunday_first = day.isoweekday() % 7
    values = {
        "YYYY": f"{day.year:04}",
        "YY": f"{day.year % 100:02}",
        "MMMM": month,
        "MMM": month[:3],
        "MM": f"{day.month:02}",
        "Mo": _ordinal(day.month),
        "M": str(day.month),
        "DDDD": f"{day.timetuple().tm_yday:03}",
        "DDD": str(day.timetuple().tm_yday),
        "DD": f"{day.day:02}",
        "Do": _ordinal(day.day),
        "D": str(day.day),
        "dddd": weekday,
        "ddd": weekday[:3],
        "dd": weekday[:2],
        "d": str(sunday_first),
        "Q": str((day.month + 2) // 3),
    }
    return values[token]


def _ordinal(number: int) -> str:
    teens = number % 100 in (11, 12, 13)
    return f"{number}{'th' if teens else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


def _of_obsidian(root: str) -> DailyFormat | None:
    """Read Obsidian's settings; the plugin comes first where it is switched on."""
    plugin = ".obsidian/plugins/periodic-notes/data.json"
    daily = read_member(_json(root, plugin), "daily")
    if daily is not None and read_member(daily, "enabled") is not False:
        return _in_folder(
            read_member(daily, "folder"), read_member(daily, "format"), plugin
        )
    core = ".obsidian/daily-notes.json"
    settings = _json(root, core)
    if settings is not None:
        folder, form = read_member(settings, "folder"), read_member(settings, "format")
        return _in_folder(folder, form, core)
    return None


def _of_logseq(root: str) -> DailyFormat | None:
    """Read Logseq's settings, whose tokens are those of Java."""
    name = "logseq/config.edn"
    raw = _read(root, name)
    if raw is None:
        return None
    text = re.sub(r'("(?:\\.|[^"\\])*")|;[^\n]*', r"\1", raw.decode("utf-8", "replace"))

    def setting(key: str) -> str | None:
        found = re.search(rf':{key}\s+"((?:\\.|[^"\\])*)"', text)
        return found[1] if found else None

    form = setting("journal/file-name-format") or "yyyy_MM_dd"
    folder = setting("journals-directory") or "journals"
    return _in_folder(folder, _from_java(form), name)


def _from_java(form: str) -> str:
    """Return a format of Java's as one of moment's.

    >>> _from_java("EEEE, MMM do, yyyy"), _from_java("yyyy'年'MM")
    ('dddd, MMM Do, YYYY', 'YYYY[年]MM')
    """
    tokens = re.finditer(r"'([^']*)'|y+|M+|do|d+|E+|.", form)
    return "".join(map(_moment_token, tokens))


def _moment_token(found: re.Match[str]) -> str:
    token = found[0]
    if found[1] is not None:
        return f"[{found[1]}]"
    if token[0] == "y":
        return "YY" if len(token) == 2 else "YYYY"
    if token[0] == "E":
        return "dddd" if len(token) > 3 else "ddd"
    return {"do": "Do", "dd": "DD", "d": "D"}.get(token, token)


def _in_folder(folder: object, form: object, origin: str) -> DailyFormat | None:
    folder = folder.strip().strip("/") if isinstance(folder, str) else ""
    form = form.strip().strip("/") if isinstance(form, str) else ""
    form = form.removesuffix(".md") or "YYYY-MM-DD"
    pattern = f"{_literal(folder)}/{form}" if folder else form
    return DailyFormat(pattern, origin) if pattern_problem(pattern) is None else None


def _literal(folder: str) -> str:
    """Return a folder as a pattern in which it stands for itself."""
    return re.sub(
        "[A-Za-z]+",
        lambda word: f"[{word[0]}]" if _is_made_of_tokens(word[0]) else word[0],
        folder,
    )


def _of_names(workspace: Workspace) -> DailyFormat | None:
    """Return the form that most dated notes have, in the folder where most are."""
    from notewell.workspace.scan import scan

    found: Counter[str] = Counter()
    for note in scan(workspace).notes:
        if (day := day_in_name(note.path)) is not None:
            found.update(_forms(note.path, day))
    if not found:
        return None
    # Where several forms fit as many notes, the one that says most of the path.
    pattern, count = max(found.items(), key=lambda each: (each[1], len(each[0])))
    if count < _LEAST_NOTES or pattern_problem(pattern) is not None:
        return None
    return DailyFormat(pattern, f"the names of {count} notes")


def _forms(path: str, day: date) -> Iterable[str]:
    """Yield the patterns that give this path on that day."""
    stem = without_suffix(path)
    for form in _COMMON:
        written = written_day(form, day)
        if stem == written:
            yield form
        elif stem.endswith(f"/{written}"):
            folder = stem[: -len(written) - 1]
            if day_in_name(folder) is None and not re.search(r"\d{4}", folder):
                yield f"{_literal(folder)}/{form}"


def _json(root: str, name: str) -> object:
    raw = _read(root, name)
    try:
        return None if raw is None else read_json(raw)
    except ValueError:
        return None


def _read(root: str, name: str) -> bytes | None:
    """Read a settings file of a vault; None: it is not there, or is no plain file."""
    try:
        raw = read_regular(os.path.join(root, *name.split("/")))
    except OSError:
        return None
    return raw if len(raw) <= _MOST_BYTES else None
