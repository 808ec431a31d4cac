"""What a note says of itself as a whole: its day, its tags, the keys at its top."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Final

from notewell.dates import day_in_name, read_range
from notewell.front_matter import front_matter_values
from notewell.markdown import Structure, read_structure

_DAY_KEYS: Final = ("date", "created")
_TAG_KEYS: Final = ("tags", "tag")

_ISO_FIRST: Final = re.compile(r"\s*(\d{4}-\d{2}-\d{2})(?:[T\s].*)?\Z", re.DOTALL)
_LONGEST_DAY: Final = 40

_TAG: Final = re.compile(
    r"(?<![^\s(\[{\"',;:，。、；：（「])#(?:\[\[([^\[\]\n]{1,200})\]\]|([\w/-]{1,200}))"
)
_CODE: Final = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")
_NUMBER: Final = re.compile(r"[\d/_-]+\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteMetadata:
    """What a note says of itself.

    Attributes:
        day: The day in its name, else that in its front matter; None: neither has one.
        tags: Those in the front matter and in the text, as written, without `#`.
        values: The keys of the front matter in lower case, each with its texts.
    """

    day: date | None = None
    tags: frozenset[str] = frozenset()
    values: Mapping[str, Sequence[str]] = field(default_factory=dict[str, list[str]])


def note_metadata(
    path: str, lines: Sequence[str], structure: Structure | None = None
) -> NoteMetadata:
    """Read what a note says of itself.

    >>> found = note_metadata("plan.md", ["---", "date: 2026-03-03", "---", "a #work/home"])
    >>> found.day, sorted(found.tags)
    (datetime.date(2026, 3, 3), ['work/home'])

    Args:
        path: Of the note, as cited.
        lines: Of the note.
        structure: Of the note, where it has been read.
    """
    values = front_matter_values(lines)
    return NoteMetadata(
        day=_day_given(path, values),
        tags=frozenset(
            [*(_tags_given(values) if values else ()), *_tags_inside(lines, structure)]
        ),
        values=values,
    )


def day_of_note(path: str, lines: Sequence[str], mtime_ns: int) -> date | None:
    """Return the day in a note's name, else in its front matter, else of its last change."""
    return _day_given(path, front_matter_values(lines)) or day_of_file(mtime_ns)


def _day_given(path: str, values: Mapping[str, Sequence[str]]) -> date | None:
    named = day_in_name(path)
    if named is not None:
        return named
    given = (text for key in _DAY_KEYS for text in values.get(key, ()))
    return next(filter(None, map(day_in, given)), None)


def day_of_file(mtime_ns: int) -> date | None:
    """Return the day on which a file was last changed, by this machine's clock."""
    try:
        return date.fromtimestamp(mtime_ns / 1_000_000_000)
    except (OverflowError, OSError, ValueError):
        return None


def day_in(text: str) -> date | None:
    """Return the day that a value is, in any form that needs no today.

    >>> [str(day_in(text)) for text in ("2026-03-03T10:00:00Z", "May 9th, 2023", "7d")]
    ['2026-03-03', '2023-05-09', 'None']
    """
    if found := _iso(_ISO_FIRST.match(text)):
        return found
    if len(text) > _LONGEST_DAY or not any(map(str.isdigit, text)):
        return None
    days = read_range(text, date.min)
    if days is None or days.first != days.last or days.first.year == 1:
        return None
    return days.first


def _iso(found: re.Match[str] | None) -> date | None:
    try:
        return date.fromisoformat(found[1]) if found else None
    except ValueError:
        return None


def _tags_given(values: Mapping[str, Sequence[str]]) -> Iterator[str]:
    for key in _TAG_KEYS:
        texts = values.get(key, ())
        for text in texts:
            parts = re.split(r"[,\s]+", text) if len(texts) == 1 else [text]
            for part in (text, *parts):
                if tag := part.strip().lstrip("#").strip("/"):
                    yield tag


def _tags_inside(lines: Sequence[str], structure: Structure | None) -> Iterator[str]:
    """Yield the tags in the text; in code there are none, and numbers alone are none."""
    tagged = [number for number, line in enumerate(lines) if "#" in line]
    tagged = [number for number in tagged if _TAG.search(lines[number])]
    if not tagged:
        return
    structure = structure or read_structure(lines)
    code = {at for first, end in structure.code for at in range(first, end)}
    for number in tagged:
        if number < structure.front_matter or number in code:
            continue
        for named, plain in _TAG.findall(_CODE.sub(" ", lines[number])):
            tag = named or plain.strip("/-")
            if tag and not _NUMBER.match(tag):
                yield tag
