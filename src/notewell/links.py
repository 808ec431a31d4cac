"""The links that stand in a note: Markdown's and those of wikis.

Inline, reference and embedded links are read as CommonMark has them, and `[[Note]]`,
`[[Note#Heading|shown]]` and `![[Note]]` as Obsidian and Logseq have them; in front matter
those of the second kind alone. What stands in code, in HTML and behind a backslash is no
link, and neither is what leads to the web, to a file that is no note, or to the same note.
"""

import posixpath
import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple
from urllib.parse import unquote

from notewell.markdown import Structure, read_structure

# Each way begins with a letter of its own: so `re` skips quickly what is no sign.
_SIGNS: Final = re.compile(r"\\.|``*|<!--|!\[|\[|\]", re.DOTALL)
_WIKI: Final = re.compile(r"\[\[([^\[\]\n]{1,1000})\]\](?!\()")
_SHOWN_AS: Final = re.compile(r"\\?\|")
_TITLE: Final = (
    r"(?:\"(?:[^\"\\]|\\.){0,999}\"|'(?:[^'\\]|\\.){0,999}'|\((?:[^()\\]|\\.){0,999}\))"
)
_BARE: Final = r"(?:[^\s()\\]|\\.|\((?:[^\s()\\]|\\.){0,999}\)){0,2000}"
_INLINE: Final = re.compile(
    rf"\(\s*(?:<([^<>\n]{{0,2000}})>|({_BARE}))(?:\s+{_TITLE})?\s*\)"
)
_LABEL: Final = re.compile(r"\[((?:[^\[\]\\]|\\.){0,999})\]")
_DEFINITION: Final = re.compile(
    r"^[ \t>]{0,20}\[(?!\^)((?:[^\[\]\\]|\\.){1,999})\]:[ \t]*\n?[ \t>]*"
    rf"(?:<([^<>\n]{{0,2000}})>|([^\s<]\S{{0,2000}}))(?:\s+{_TITLE})?[ \t]*$",
    re.MULTILINE,
)
_BEGINS: Final = re.compile(r"[ \t>]*(?:#{1,6}[ \t]|\||(?:[*+-]|\d{1,9}[.)])[ \t])")
"""What surely goes on with nothing: a heading, a row of a table, an item of a list."""

_ESCAPED: Final = re.compile(r"\\([!-/:-@\[-`{-~])")
_ELSEWHERE: Final = re.compile(r"[a-z][a-z0-9+.-]*:|//|\\", re.IGNORECASE)
_FILE: Final = re.compile(r"\.(?=\d*[a-z])[a-z0-9]{1,8}\Z", re.IGNORECASE)
_ATTACHED: Final = re.compile(
    r"\.(?:png|jpe?g|gif|svg|webp|bmp|avif|heic|tiff?|mp[34]|m4a|wav|ogg|ogv|3gp|flac|mov"
    r"|mkv|webm|pdf|canvas|base|csv|tsv|xlsx?|docx?|pptx?|zip|txt|json|ya?ml)\Z",
    re.IGNORECASE,
)
_MOST_OPEN: Final = 1_000


class Link(NamedTuple):
    """A link to a note, as it is written.

    Attributes:
        line: The line in which it begins, counted from 0.
        target: The name or the path of the note, without escapes and `#`.
        fragment: What stands behind the `#`: headings, or `^` and the id of a block.
        wiki: It is `[[target]]`: by name. The others are relative to their note.
    """

    line: int
    target: str
    fragment: str = ""
    wiki: bool = False

    def as_path(self, note: str) -> str:
        """Return what to ask `get` for, of a link in a note.

        >>> Link(0, "../ports.md").as_path("memory/net/a.md")
        'memory/ports.md'
        """
        if self.target[:1] == "/":
            return self.target[1:]
        if self.wiki and not self.target.startswith(("./", "../")):
            return self.target
        return posixpath.normpath(posixpath.join(posixpath.dirname(note), self.target))


def read_links(lines: Sequence[str], structure: Structure | None = None) -> list[Link]:
    """Read the links of a note, given its lines without their ends.

    Its structure is read too, where it has not been.

    >>> read_links(["See [[Tide pool#Pump|it]] and [ports](../net%20b.md)."])
    [Link(line=0, target='Tide pool', fragment='Pump', wiki=True), \
Link(line=0, target='../net b.md', fragment='', wiki=False)]
    """
    text = "\n".join(lines)
    if not ("[[" in text or "](" in text or "]:" in text):
        return []
    structure = structure or read_structure(lines)
    found = list(_in_front_matter(lines[: structure.front_matter]))
    closed = {n for start, end in structure.opaque for n in range(start, end)}
    parts = list(_parts(lines, structure.front_matter, closed))
    if not any("[" in text for _, text in parts):
        return found
    defined = dict(_definitions(parts))
    for first, text in parts:
        if "[" in text:
            found += _Reader(first, text, defined).links()
    return found


def _in_front_matter(lines: Sequence[str]) -> Iterator[Link]:
    for number, line in enumerate(lines):
        for inner in _WIKI.findall(line):
            if link := _wiki_link(number, inner):
                yield link


def _parts(
    lines: Sequence[str], first: int, closed: set[int]
) -> Iterator[tuple[int, str]]:
    """Yield the runs of lines in which a link or a span of code may go on."""
    begun = first
    for number in range(first, len(lines)):
        line = lines[number]
        ends = number in closed or not line.strip()
        if ends or _BEGINS.match(line):
            if begun < number:
                yield begun, "\n".join(lines[begun:number])
            begun = number + 1 if ends else number
    if begun < len(lines):
        yield begun, "\n".join(lines[begun:])


def _definitions(parts: Sequence[tuple[int, str]]) -> Iterator[tuple[str, str]]:
    """Yield the labels that lead somewhere; the first of a name counts."""
    for _, text in reversed(parts):
        if "]:" in text:
            for found in reversed(list(_DEFINITION.finditer(text))):
                yield _label(found[1]), found[2] if found[3] is None else found[3]


def _label(text: str) -> str:
    return " ".join(text.split()).casefold()


class _Reader:
    """Reads the links of one run of lines, from left to right."""

    def __init__(self, first: int, text: str, defined: Mapping[str, str]) -> None:
        self._first = first
        self._text = text
        self._defined = defined
        self._runs: dict[int, list[int]] = {}  # of backticks, by their length
        if "`" in text:
            for run in re.finditer("`+", text):
                self._runs.setdefault(len(run[0]), []).append(run.start())
        self._ends = [found.start() for found in re.finditer("\n", text)]
        self._comments = text.rfind("-->")
        spans = _DEFINITION.finditer(text) if "]:" in text else ()
        self._defining = {found.start(): found.end() for found in spans}

    def links(self) -> list[Link]:
        """Return the links in the order in which they end."""
        found: list[Link] = []
        opened: list[int] = []
        at = 0
        while sign := _SIGNS.search(self._text, at):
            begin = sign.start()
            at = self._after(sign)
            if sign[0] == "]":
                if opened:
                    start = opened.pop()
                    at = self._closed(start, begin, found, opened)
            elif sign[0] in ("[", "![") and at == sign.end():
                link = _WIKI.match(self._text, at - 1)
                if link:
                    at = link.end()
                    _keep(_wiki_link(self._line(begin), link[1]), found)
                elif len(opened) < _MOST_OPEN:
                    opened.append(at)
        return found

    def _line(self, at: int) -> int:
        return self._first + bisect_left(self._ends, at)

    def _after(self, sign: re.Match[str]) -> int:
        """Return where to go on after a sign: behind code, comments and definitions."""
        word, begin, end = sign[0], sign.start(), sign.end()
        if word[0] == "`":
            runs = self._runs.get(len(word), [])
            place = bisect_left(runs, end)
            return runs[place] + len(word) if place < len(runs) else end
        if word == "<!--" and begin < self._comments:
            return self._text.index("-->", begin) + 3
        if word == "[" and self._defining:
            line = self._text.rfind("\n", 0, begin) + 1
            return self._defining.get(line, end) if begin - line <= 20 else end
        return end

    def _closed(
        self, start: int, end: int, found: list[Link], opened: list[int]
    ) -> int:
        """Read what follows a closing bracket; return where to go on."""
        after = end + 1
        target: str | None = None
        if inline := _INLINE.match(self._text, after):
            target = inline[2] if inline[1] is None else inline[1]
            after = inline.end()
        elif self._defined:
            label = _LABEL.match(self._text, after)
            said = label[1] if label and label[1].strip() else self._text[start:end]
            target = self._defined.get(_label(said)) if len(said) < 1_000 else None
            if label and target is not None:
                after = label.end()
        if target is not None:
            _keep(_markdown_link(self._line(start), target), found)
            if self._text[max(start - 2, 0) : start - 1] != "!":
                opened.clear()  # there is no link in a link, but pictures are
        return after


def _keep(link: Link | None, found: list[Link]) -> None:
    if link:
        found.append(link)


def _wiki_link(line: int, inner: str) -> Link | None:
    said = _SHOWN_AS.split(inner, maxsplit=1)[0]
    target, _, fragment = said.partition("#")
    target = target.strip()
    if not target or "\0" in target or _ATTACHED.search(target) or "://" in target:
        return None
    return Link(line, target, fragment.strip(), wiki=True)


def _markdown_link(line: int, written: str) -> Link | None:
    if "\\" in written:
        written = _ESCAPED.sub(r"\1", written)
    if "&" in written:
        from html import unescape  # rare

        written = unescape(written)
    if _ELSEWHERE.match(written):
        return None
    target, _, fragment = written.partition("#")
    if "%" in target:
        target = unquote(target, errors="surrogateescape")
    target = target.strip()
    is_note = target.lower().endswith((".md", ".markdown")) or not _FILE.search(target)
    if not is_note or not target.isprintable() or target[-1:] in ("", "/"):
        return None
    return Link(line, target, unquote(fragment))
