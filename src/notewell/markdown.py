"""The structure of a Markdown note: headings, code, front matter, by line.

Blocks are read as CommonMark 0.31 has them (https://spec.commonmark.org/0.31.2/), with
their containers: a fence may open after a list marker or in a quote, and the line that
closes it closes it there. Nothing inside a line is read. Beyond CommonMark there are
front matter (YAML, TOML) at the top and blocks of mathematics (`$$`), as Obsidian,
Pandoc and Jekyll have them.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from notewell.front_matter import front_matter_lines

_ATX: Final = re.compile(r"(#{1,6})(?=[ \t\r]|$)")
_FENCE: Final = re.compile(r"(`{3,})[^`]*$|(~{3,})")
_SETEXT: Final = re.compile(r"(=+|-+)[ \t]*$")
_BREAK: Final = re.compile(r"(?:(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}|(?:-[ \t]*){3,})$")
_MARKER: Final = re.compile(r"(?:[*+-]|(\d{1,9})[.)])(?=[ \t]|$)")
_DEFINITION: Final = re.compile(
    r"\[(?=\s*[^\s\]])(?:[^\[\]\\]|\\.){1,999}\]:[ \t]*\n?[ \t]*"
    r"(?:<[^<>\n]*>|[^\s<]\S*)"
    r"(?:(?:[ \t]+|[ \t]*\n[ \t]*)"
    r"(?:\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|\((?:[^()\\]|\\.)*\)))?[ \t]*(?:\n|$)"
)
"""A link reference definition; a paragraph of nothing else is no heading."""

_BLOCK_TAGS: Final = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd"
    "|details|dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset"
    "|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|menuitem|nav|noframes|ol"
    "|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title"
    "|tr|track|ul"
)
_ATTRIBUTE: Final = (
    r"(?:\s+[A-Za-z_:][\w.:-]*(?:\s*=\s*(?:[^\s\"'=<>`]+|'[^']*'|\"[^\"]*\"))?)"
)
_BLANK: Final = re.compile(r"^\s*$")
_HTML: Final = tuple(
    (re.compile(begin, re.IGNORECASE), re.compile(end, re.IGNORECASE))
    for begin, end in (
        (
            r"<(?:script|pre|textarea|style)(?:\s|>|$)",
            r"</(?:script|pre|textarea|style)>",
        ),
        (r"<!--", r"-->"),
        (r"<\?", r"\?>"),
        (r"<![A-Z]", r">"),
        (r"<!\[CDATA\[", r"\]\]>"),
        (rf"</?(?:{_BLOCK_TAGS})(?:\s|/?>|$)", r"^\s*$"),
    )
)
"""How the seven kinds of HTML blocks begin and end; the seventh follows."""
_ANY_TAG: Final = re.compile(
    rf"(?:<[A-Za-z][\w-]*{_ATTRIBUTE}*\s*/?>|</[A-Za-z][\w-]*\s*>)\s*$"
)

_TAB: Final = 4
_CODE_INDENT: Final = 4
_CODE: Final = ("fence", "code")
_OPAQUE: Final = (*_CODE, "html", "mathematics")
_LONGEST_MARKER_SPACE: Final = 4
_WIDEST: Final = 24
"""Columns; no marker with the spaces around it takes more."""
_MOST_OPEN: Final = 100
"""Containers in one another; what is nested deeper is text."""


class Heading(NamedTuple):
    """A heading of a note.

    Attributes:
        line: Its first line, counted from 0.
        level: 1 to 6.
        title: What it says, as it is written.
    """

    line: int
    level: int
    title: str


@dataclass(slots=True)
class Structure:
    """What the lines of a note are.

    Attributes:
        headings: In the order of their lines.
        code: First and last + 1 line of each block of code, counted from 0, fences
            included.
        opaque: The same of HTML, mathematics and code: what is in them is no Markdown.
        front_matter: How many lines at the top are front matter; 0 for none.
    """

    headings: list[Heading] = field(default_factory=list[Heading])
    code: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    opaque: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    front_matter: int = 0


def read_structure(lines: Sequence[str]) -> Structure:
    """Read the structure of a note, given its lines without their ends.

    >>> found = read_structure(["1. ```sh", "   # no heading", "   ```", "# Ports"])
    >>> found.headings, found.code
    ([Heading(line=3, level=1, title='Ports')], [(0, 3)])
    """
    reader = _Reader()
    reader.found.front_matter = front_matter_lines(lines)
    reader.read(lines)
    return reader.found


class _Container:
    """A block quote or a list item that is open."""

    __slots__ = ("empty", "width")

    def __init__(self, width: int, *, empty: bool = False) -> None:
        self.width = width  # columns before the text of an item; 0 for a quote
        self.empty = empty  # an item with nothing after its marker so far


class _Line:
    """What is left of one line, its tabs counted in columns."""

    __slots__ = ("column", "rest")

    def __init__(self, text: str) -> None:
        self.rest = text
        self.column = 0

    @property
    def indent(self) -> int:
        """How many columns of white space it begins with, as far as that matters."""
        column = self.column
        for character in self.rest:
            if character == " ":
                column += 1
            elif character == "\t":
                column += _TAB - column % _TAB
            else:
                break
            if column - self.column > _WIDEST:
                break
        return column - self.column

    def skip(self, columns: int) -> None:
        """Leave out columns of white space; of a tab that is parted spaces stay."""
        end = self.column + columns
        used = 0
        while self.column < end and used < len(self.rest):
            character = self.rest[used]
            if character not in " \t":
                break
            self.column += 1 if character == " " else _TAB - self.column % _TAB
            used += 1
        self.rest = " " * (self.column - end) + self.rest[used:]
        self.column = min(self.column, end)

    def take(self, characters: int) -> None:
        """Leave out characters that are no white space."""
        self.rest = self.rest[characters:]
        self.column += characters


class _Reader:
    """Reads lines, keeping the blocks that are open; `leaf` is the innermost."""

    def __init__(self) -> None:
        self.found = Structure()
        self._open: list[_Container] = []
        self._leaf = ""
        self._first = 0  # the line where the leaf began
        self._last = 0  # after the last line that surely belongs to it
        self._said: list[str] = []  # the lines of a paragraph
        self._end = _BLANK  # what ends a leaf that is not a paragraph
        self._depth = 0  # how many containers go on in the line being read
        self._fresh = False  # whether the line has begun a container of its own
        self._lines: Sequence[str] = ()
        self._last_mathematics = -1  # the last line with a `$$`; 0 for none

    def read(self, lines: Sequence[str]) -> None:
        """Read all lines of a note.

        Most lines are read here at once: one that begins with a letter, or with `- `
        and a letter, goes on with no container that is open; so it begins a paragraph,
        or goes on with one. The rest is for `_line`.
        """
        self._lines = lines
        for index in range(self.found.front_matter, len(lines)):
            text = lines[index]
            if self._leaf and self._leaf != "paragraph":
                self._line(index, text)
            elif text[:1].isalpha():
                if self._leaf:
                    self._said.append(text)
                    continue
                self._open.clear()
                self._leaf, self._first, self._said = "paragraph", index, [text]
            elif text[:2] == "- " and text[2:3].isalpha():
                self._open[:] = (_Container(2),)
                self._leaf, self._first, self._said = "paragraph", index, [text[2:]]
            elif text or self._open:
                self._line(index, text)
            else:
                self._leaf = ""
        self._end_leaf()

    def _line(self, index: int, text: str) -> None:
        plain = not self._open and self._leaf not in _OPAQUE
        if plain and (heading := _ATX.match(text)):
            title = text[heading.end() :].strip(" \t\r")
            title = _title(title) if title[-1:] == "#" else title
            self.found.headings.append(Heading(index, len(heading[1]), title))
            self._leaf = ""
            return
        line = _Line(text.rstrip("\r"))
        self._depth = self._matched(line) if self._open else 0
        self._fresh = False
        if self._goes_on(index, line):
            return
        if not self._new_blocks(index, line):
            self._text(index, line)

    def _end_leaf(self) -> None:
        """End the innermost block; code and what else is opaque is kept."""
        if self._leaf in _OPAQUE:
            self.found.opaque.append((self._first, self._last))
            if self._leaf in _CODE:
                self.found.code.append((self._first, self._last))
        self._leaf = ""

    def _matched(self, line: _Line) -> int:
        """Leave out what belongs to open containers; return how many go on."""
        for depth, container in enumerate(self._open):
            indent = line.indent
            rest = line.rest.lstrip(" \t")
            if not container.width:
                if indent >= _CODE_INDENT or rest[:1] != ">":
                    return depth
                _leave_out_quote(line)
            elif not rest:
                if container.empty:
                    return depth
            elif indent < container.width:
                return depth
            else:
                line.skip(container.width)
        return len(self._open)

    def _goes_on(self, index: int, line: _Line) -> bool:
        """Give the line to code, HTML or mathematics that is open, if it is theirs."""
        if self._leaf in ("", "paragraph"):
            return False
        if self._depth < len(self._open):
            self._close()
            return False
        if self._leaf == "code":
            return self._code_goes_on(index, line)
        self._last = index + 1
        text = line.rest
        if self._leaf == "fence":
            text = text.lstrip(" \t") if line.indent < _CODE_INDENT else ""
        if self._end.match(text) if self._leaf == "fence" else self._end.search(text):
            self._end_leaf()
        return True

    def _code_goes_on(self, index: int, line: _Line) -> bool:
        blank = not line.rest.strip(" \t")
        if not blank and line.indent < _CODE_INDENT:
            self._end_leaf()
            return False
        if not blank:
            self._last = index + 1
        return True

    def _new_blocks(self, index: int, line: _Line) -> bool:
        """Open the containers that begin here; say whether a leaf took the rest."""
        while True:
            indent = 0 if line.rest[:1] not in (" ", "\t") else line.indent
            rest = line.rest.lstrip(" \t")
            if not rest or indent >= _CODE_INDENT:
                return bool(rest) and self._begin_code(index)
            start = rest[0]
            if start.isalpha() or len(self._open) >= _MOST_OPEN:
                return False
            if start == ">":
                self._begin(_Container(0))
                _leave_out_quote(line)
            elif self._begin_leaf(index, start, rest):
                return True
            elif not self._begin_item(line, indent, rest):
                return False

    def _begin_code(self, index: int) -> bool:
        if self._leaf == "paragraph":
            return False
        self._begin_block("code", index)
        return True

    def _begin_leaf(self, index: int, start: str, rest: str) -> bool:
        if start == "#" and (found := _ATX.match(rest)):
            self._close()
            level = len(found[1])
            self.found.headings.append(Heading(index, level, _title(rest[level:])))
        elif start in "`~" and (found := _FENCE.match(rest)):
            self._begin_block("fence", index)
            fence = found[1] or found[2]
            self._end = re.compile(rf"{fence[0]}{{{len(fence)},}}[ \t]*$")
        elif start == "<" and (end := self._html_end(rest)):
            self._begin_block("html", index)
            self._end = end
            if end.search(rest):
                self._end_leaf()
        elif rest.rstrip(" \t") == "$$" and self._closes_mathematics(index):
            self._begin_block("mathematics", index)
            self._end = re.compile(r"\$\$")
        elif start in "=-" and self._underlines(index, rest):
            pass
        elif start in "*_-" and _BREAK.match(rest):
            self._close()
        else:
            return False
        return True

    def _closes_mathematics(self, index: int) -> bool:
        """Say whether a line below one ends what it would begin."""
        if self._last_mathematics < 0:
            last = range(len(self._lines) - 1, 0, -1)
            self._last_mathematics = next(
                (n for n in last if "$$" in self._lines[n]), 0
            )
        return index < self._last_mathematics

    def _html_end(self, rest: str) -> re.Pattern[str] | None:
        """Return what ends the HTML that begins here; None if none does."""
        for begin, end in _HTML:
            if begin.match(rest):
                return end
        if self._leaf != "paragraph" and _ANY_TAG.match(rest):
            return _BLANK
        return None

    def _underlines(self, index: int, rest: str) -> bool:
        """Make a heading of the paragraph above if this line underlines it."""
        above = self._leaf == "paragraph" and self._depth == len(self._open)
        if not above or self._fresh or not (found := _SETEXT.match(rest)):
            return False
        said = "\n".join(line.strip(" \t\r") for line in self._said)
        begin = 0
        while defined := _DEFINITION.match(said, begin):
            begin = defined.end()
        if begin == len(said):
            return False
        skipped = said.count("\n", 0, begin)
        level = 1 if found[1][0] == "=" else 2
        title = " ".join(said[begin:].split())
        self.found.headings.append(Heading(self._first + skipped, level, title))
        self._end_leaf()
        return True

    def _begin_item(self, line: _Line, indent: int, rest: str) -> bool:
        found = _MARKER.match(rest)
        if not found:
            return False
        after = rest[found.end() :]
        interrupts = self._leaf == "paragraph" and self._depth == len(self._open)
        if interrupts and (not after.strip(" \t") or found[1] not in (None, "1")):
            return False
        line.skip(indent)
        line.take(found.end())
        space = line.indent
        empty = not line.rest.strip(" \t")
        if empty or space > _LONGEST_MARKER_SPACE:
            space = 1
        self._begin(_Container(indent + found.end() + space, empty=empty))
        line.skip(space)
        return True

    def _begin(self, container: _Container) -> None:
        self._close()
        self._open.append(container)
        self._depth += 1
        self._fresh = True

    def _begin_block(self, leaf: str, index: int) -> None:
        self._close()
        self._leaf, self._first, self._last = leaf, index, index + 1

    def _close(self) -> None:
        """End the leaf, and the containers that do not go on in this line."""
        self._end_leaf()
        del self._open[self._depth :]
        for container in self._open:
            container.empty = False

    def _text(self, index: int, line: _Line) -> None:
        text = line.rest.strip(" \t")
        if not text:
            empty = bool(self._open) and self._open[-1].empty
            if not (self._fresh and empty):
                self._end_leaf()
                del self._open[self._depth :]
        elif self._leaf == "paragraph":
            self._said.append(text)  # also lazily, outside its container
        else:
            self._begin_block("paragraph", index)
            self._said = [text]


def _leave_out_quote(line: _Line) -> None:
    line.skip(line.indent)
    line.take(1)
    if line.rest[:1] in (" ", "\t"):
        line.skip(1)


def _title(text: str) -> str:
    """Return what stands after the opening hashes, without closing ones.

    >>> _title(" Ports ## "), _title(" C#"), _title(" ##")
    ('Ports', 'C#', '')
    """
    text = text.strip(" \t\r")
    bare = text.rstrip("#")
    return bare.rstrip(" \t") if not bare or bare[-1] in " \t" else text
