import time

import pytest

from notewell.links import Link, read_links


def targets(text: str) -> list[str]:
    return [link.target for link in read_links(text.split("\n"))]


@pytest.mark.parametrize(
    ("written", "target", "fragment"),
    [
        ("[[Tide pool]]", "Tide pool", ""),
        ("![[Tide pool]]", "Tide pool", ""),
        ("[[Tide pool|the pool]]", "Tide pool", ""),
        ("[[Tide pool#Pump#Valve|it]]", "Tide pool", "Pump#Valve"),
        ("[[Tide pool#^b1]]", "Tide pool", "^b1"),
        ("| a | [[Tide pool\\|it]] |", "Tide pool", ""),
        ("# In a heading [[v1.2]]", "v1.2", ""),
        ("- [ ] a task of [[Node.js]]", "Node.js", ""),
        ("[it](ports.md)", "ports.md", ""),
        ("[it](../net/ports.md#open-ends 'title')", "../net/ports.md", "open-ends"),
        ("[it](<tide pool (old).md>)", "tide pool (old).md", ""),
        ("[it](tide_(old).md)", "tide_(old).md", ""),
        ("[it](tide%20pool.md#Open%20ends)", "tide pool.md", "Open ends"),
        ("[it](a\\(b.md)", "a(b.md", ""),
        ("[it](a&amp;b.md)", "a&b.md", ""),
        ("[a [b] c](ports)", "ports", ""),
        ("[![a picture](p.png)](ports.md)", "ports.md", ""),
        ("[[1]](ports.md)", "ports.md", ""),
        ("[over\ntwo lines](ports.md)", "ports.md", ""),
        ("[it][Ref]\n\n[ref]: ports.md#x 'title'", "ports.md", "x"),
        ("[Ref][]\n\n[ref]: <tide pool.md>", "tide pool.md", ""),
        ("[Ref] alone\n\n> [ref]: ports.md", "ports.md", ""),
        ("[Ref]: ports.md\n[ref]: other.md\n\n[ref]", "ports.md", ""),
        ("---\nup: '[[Tide pool]]'\n---\n", "Tide pool", ""),
    ],
)
def test_a_link_to_a_note_is_read(written: str, target: str, fragment: str) -> None:
    [link] = read_links(written.split("\n"))

    assert (link.target, link.fragment) == (target, fragment)
    assert link.wiki == ("[[" in written and "]](" not in written)


@pytest.mark.parametrize(
    "written",
    [
        "`[[code]]`",
        "a `span that goes\non [[code]]` here",
        "``[[code]] ` [[code]]``",
        "```\n[[code]]\n```",
        "- ```\n  [[code]]\n  ```",
        "    [[code]]",
        "<div>\n[[html]]\n</div>",
        "<!-- [[said to nobody]] -->",
        "said <!-- [[said to nobody]] --> aloud",
        "$$\n[[math]]\n$$",
        "\\[[escaped]]",
        "\\[it](ports.md)",
        "[it](https://example.org/a.md)",
        "[it](mailto:a@example.org)",
        "[it](//example.org/a.md)",
        "[it](C:\\a.md)",
        "[it](main.py)",
        "[it](folder/)",
        "[it](#same-note)",
        "[[#same note]]",
        "![[photo.PNG]]",
        "![p](photo.png)",
        "[undefined] and [x] and [ ]",
        "[^1]: a footnote\n\n[^1]",
        "[it](a%00b.md)",
        "[[ ]]",
        "[[1]](https://example.org)",
        "no link at all",
        "",
    ],
)
def test_what_leads_to_no_note_is_not_read(written: str) -> None:
    assert read_links(written.split("\n")) == []


def test_links_tell_their_lines_and_come_in_their_order() -> None:
    lines = ["see [[a]]", "", "- [b](b.md) and [[c]]", "  [d\n", "e](d.md)"]

    found = read_links(lines)

    assert [(link.target, link.line) for link in found] == [
        ("a", 0),
        ("b.md", 2),
        ("c", 2),
        ("d.md", 3),
    ]


def test_code_in_one_item_of_a_list_hides_nothing_in_another() -> None:
    assert targets("- a ` sign\n- [[a]] and ` again") == ["a"]
    assert targets("| ` | [[a]] |\n| ` | [[b]] |") == ["a", "b"]


@pytest.mark.parametrize(
    ("note", "link", "path"),
    [
        ("memory/net/a.md", Link(0, "../ports.md"), "memory/ports.md"),
        ("memory/a.md", Link(0, "deep/b.md"), "memory/deep/b.md"),
        ("memory/a.md", Link(0, "/top.md"), "top.md"),
        ("memory/a.md", Link(0, "b", wiki=True), "b"),
        ("memory/a.md", Link(0, "./b", wiki=True), "memory/b"),
    ],
)
def test_a_link_says_what_to_ask_for(note: str, link: Link, path: str) -> None:
    assert link.as_path(note) == path


@pytest.mark.parametrize(
    "piece",
    [
        "[[",
        "[](a",
        "[a](<",
        '[a](b "',
        "<!--",
        "[[a]]",
        "[a][b",
        "![x",
        "[x]: <",
        "`` `",
    ],
)
def test_hostile_links_are_read_in_a_time_that_their_length_bounds(piece: str) -> None:
    def seconds(times: int) -> float:
        text = (piece * times).split("\n")
        begun = time.process_time()
        read_links(text)
        return time.process_time() - begun

    seconds(100)
    short = min(seconds(4_000) for _ in range(2))

    assert seconds(32_000) < 8 * 4 * short + 0.1
