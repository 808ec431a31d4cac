"""Headings and code of a note, held against markdown-it-py's reading."""

import sys
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from notewell.markdown import read_structure

ORACLE = MarkdownIt("commonmark")

# Deeper indents stand before code alone: behind a quote that goes on lazily the oracle
# takes them for blocks, against the specification.
INDENTS = st.sampled_from(["", "", "", " ", "  ", "   ", "> ", "- ", "1. ", "> - "])
TEXTS = st.sampled_from(
    """# h|## h ##|###### #|####### no|#no|text|===|---|- a|* b|+ c|1. d|2) e|10. f
|- |-|```|````|~~~|```sh|``` `no`|~~~ a`b|- ```|1. ```sh|- [ ] task|- # h|> q|>|> # h
|    code|* * *|_ _ _|<!-- c|-->|<!-- c -->|<div>|</div>|<b>|<?php|?>|<pre>|</pre>||||-\tx
|-  ```|\t|     y""".replace("\n", "").split("|")
)
NOTES = st.lists(st.tuples(INDENTS, TEXTS).map("".join), max_size=12)


def outline(lines: list[str]) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return line and level of each heading, and where code begins and ends."""
    found = read_structure(lines)
    return [(heading.line, heading.level) for heading in found.headings], found.code


def expected(lines: list[str]) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    tokens = [t for t in ORACLE.parse("\n".join(lines) + "\n") if t.map]
    spans = [
        (t.type, t.tag, (t.map or [0, 0])[0], (t.map or [0, 0])[1]) for t in tokens
    ]
    headings = [(n, int(tag[1])) for kind, tag, n, _ in spans if kind == "heading_open"]
    code = [(n, end) for kind, _, n, end in spans if kind in ("fence", "code_block")]
    return headings, code


@given(NOTES)
def test_headings_and_code_are_those_of_commonmark(lines: list[str]) -> None:
    assert outline(lines) == expected(lines)


@pytest.mark.parametrize("marker", ["2. ", "- ", "* ", "- [ ] ", "> ", "1. > "])
@pytest.mark.parametrize("fence", ["```", "~~~~", "`````"])
def test_a_fence_may_open_behind_a_marker(marker: str, fence: str) -> None:
    inside = marker.replace("- [ ]", "-   ").replace("-", " ")
    inside = inside.replace("*", " ").replace("2.", "  ").replace("1.", "  ")
    lines = [
        "# Guide",
        f"{marker}{fence}bash",
        f"{inside}# no heading",
        f"{inside}{fence}",
        "",
        "## Restore",
    ]
    if marker == "- [ ] ":  # text stands before it: it is no fence there
        lines[1] = f"- {fence}bash"

    headings, code = outline(lines)

    assert headings == [(0, 1), (5, 2)]
    assert code == [(1, 4)]


def test_an_outliners_bullet_may_be_a_heading() -> None:
    lines = ["- ## Backup", "\t- daily", "- # Restore"]

    assert outline(lines) == ([(0, 2), (2, 1)], [])


def test_a_heading_may_be_underlined() -> None:
    [main, part] = read_structure(
        ["Ports", "=====", "", "All", "of them", "---"]
    ).headings

    assert (main.line, main.level, main.title) == (0, 1, "Ports")
    assert (part.line, part.level, part.title) == (3, 2, "All of them")


def test_comments_and_mathematics_hold_no_headings() -> None:
    comment = ["<!--", "# Draft", "", "-->"]
    mathematics = ["$$", "# x", "", "- y", "$$", "$$ a $$"]

    assert outline([*comment, *mathematics, "# Real"]) == ([(10, 1)], [])


@pytest.mark.parametrize("line", ["$$", "$$$ steak house", "$$ each", "a $$ b"])
def test_dollars_that_nothing_closes_hide_no_heading(line: str) -> None:
    assert outline(["$$", "# x", "$$", line, "## D"]) == ([(4, 2)], [])


@pytest.mark.parametrize(
    "lines",
    [
        ["[" + "a" * 200_000, "---"],
        ["[" + "\\a" * 100_000, "---"],
        [f"[a{n}]: /u" for n in range(20_000)] + ["---", "# h"],
        ["  " * depth + "- x" for depth in range(1_500)],
        ["> " * 20_000 + "x"],
        ["- " * 20_000 + "x"],
        ["- a", *[" " * 100_000 + "- b"] * 20],
        ["```"] * 20_001,
        ["$$"] + ["$"] * 20_000,
        ["<!--"] + ["-"] * 20_000,
    ],
    ids=[
        "a bracket that is not closed",
        "escapes in one",
        "definitions",
        "items in items",
        "quotes in quotes",
        "items in one line",
        "wide indents",
        "fences",
        "dollars",
        "a comment that is not closed",
    ],
)
def test_what_is_meant_to_take_long_does_not(lines: list[str]) -> None:
    calls = 0

    def called(_frame: FrameType, event: str, _: object) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(called)
    try:
        read_structure(lines)
    finally:
        sys.setprofile(None)

    assert calls <= 1_000 * len(lines) + 1_000


def test_carriage_returns_are_no_part_of_a_line() -> None:
    assert outline(["# A\r", "```\r", "# no\r", "```\r"]) == ([(0, 1)], [(1, 4)])


def test_a_comment_in_front_matter_is_no_heading() -> None:
    lines = ["---", "title: Router", "# reviewed", "tags: [a]", "---", "# DNS"]

    found = read_structure(lines)

    assert found.front_matter == 5
    assert [heading.title for heading in found.headings] == ["DNS"]


@given(st.text(alphabet="-+:#= \t\nab[],'\"{}", max_size=80))
def test_any_text_can_be_read(text: str) -> None:
    lines = ["---", *text.split("\n"), "---"]

    found = read_structure(lines)

    assert 0 <= found.front_matter <= len(lines)
    assert all(0 <= heading.line < len(lines) for heading in found.headings)
