"""Front matter: the metadata at the top of a note, as YAML or TOML, and the names in it.

Of both formats what notes use is read: keys with text, and lists of text in either of
their forms. What is nested deeper is passed over.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

_FENCES: Final = {
    "---": (
        ("---", "..."),
        re.compile(r"[^\s:#-][^:]*:(?:\s|$)"),
        re.compile(r"\s*$|\s*#|\s+\S|-(?:\s|$)|[\]}]"),
    ),
    "+++": (
        ("+++",),
        re.compile(r"\[|[\w\"'.-]+\s*="),
        re.compile(r"\s*$|\s*#|\s+\S|[\]}]"),
    ),
}
"""By what opens it: what closes it, a line with a key, and every other line in it."""

_KEY: Final = re.compile(r"([^\s:=#-][^:=]*?)\s*(?::(?=\s|$)|=)(.*)$")
_ITEM: Final = re.compile(r"\s*-\s+(.*)$")
_QUOTED: Final = re.compile(
    r"""\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^']|'')*)')\s*(?:#.*)?$"""
)
_COMMENT: Final = re.compile(r"(?:^|\s)#.*$")
_ENTRY: Final = re.compile(r"""\s*("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^,]*)\s*(?:,|$)""")
_NO_TEXT: Final = "{[&*|>"
"""What begins a value that is no text."""

_NAMES: Final = ("title", "aliases", "alias")


def front_matter_lines(lines: Sequence[str]) -> int:
    """Return how many lines at the top are front matter, its fences included.

    It begins on the first line and every line in it could be YAML (or TOML): a note
    that begins with a horizontal rule has none.
    """
    opening = lines[0].rstrip() if lines else ""
    if opening not in _FENCES:
        return 0
    closing, key, other = _FENCES[opening]
    keys = 0
    for index in range(1, len(lines)):
        line = lines[index].rstrip()
        if line in closing:
            return index + 1 if keys else 0
        if key.match(line):
            keys += 1
        elif not other.match(line) or (not keys and line[:1].isspace()):
            return 0
    return 0


def front_matter_values(lines: Sequence[str]) -> dict[str, list[str]]:
    """Read the keys of front matter whose values are text or lists of text.

    Nested values are left out. Keys are in lower case.

    >>> lines = ["---", "title: 'Router'", "tags: [net, home]", "aliases:", "- Box"]
    >>> front_matter_values([*lines, "---"])
    {'title': ['Router'], 'tags': ['net', 'home'], 'aliases': ['Box']}
    """
    values: dict[str, list[str]] = {}
    for key, written in _entries(lines[1 : max(front_matter_lines(lines) - 1, 1)]):
        values[key] = _list(written) if written[0].startswith("[") else _texts(written)
    return {key: value for key, value in values.items() if value}


def names_in_front_matter(lines: Sequence[str]) -> tuple[str, ...]:
    """Return what a note calls itself at its top: its `title` and its `aliases`.

    An alias that is a text and no list may be several, parted by commas. Front matter
    that goes on below `lines` is read as far as they go.

    >>> names_in_front_matter(["---", "title: PRJ-7", "alias: Tango, the kitchen", "---"])
    ('PRJ-7', 'Tango, the kitchen', 'Tango', 'the kitchen')
    """
    if not lines or lines[0].rstrip() not in _FENCES:
        return ()
    values = front_matter_values(lines) or front_matter_values([*lines, lines[0]])
    names = [name for key in _NAMES for name in values.get(key, ())]
    for key in _NAMES[1:]:
        if len(values.get(key, ())) == 1:
            names += [part.strip() for part in values[key][0].split(",")]
    return tuple(name for name in dict.fromkeys(names) if name)


def _entries(lines: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield each key, with what stands after it and on the lines below."""
    key, written = "", [""]
    for line in lines:
        if found := _KEY.match(line):
            if key:
                yield key, written
            key, written = found[1].strip("\"' ").lower(), [found[2].strip()]
        else:
            written.append(line)
    if key:
        yield key, written


def _texts(written: Sequence[str]) -> list[str]:
    """Return the text after a key, or the texts of a list below it."""
    items = (found[1] for line in written[1:] if (found := _ITEM.match(line)))
    return [text for value in (written[0], *items) if (text := _text(value))]


def _list(written: Sequence[str]) -> list[str]:
    """Return the texts of a list in brackets, on one line or several."""
    bare = (
        line if "'" in line or '"' in line else _COMMENT.sub("", line)
        for line in written
    )
    inside = " ".join(bare).strip()[1:].rpartition("]")[0]
    return [text for entry in _ENTRY.findall(inside) if (text := _text(entry))]


def _text(value: str) -> str:
    """Return a plain or quoted text; nothing if it is no text."""
    if quoted := _QUOTED.match(value):
        if quoted[1] is not None:
            return re.sub(r"\\(.)", r"\1", quoted[1])
        return quoted[2].replace("''", "'")
    text = _COMMENT.sub("", value).strip()
    return "" if text[:1] in _NO_TEXT else text
