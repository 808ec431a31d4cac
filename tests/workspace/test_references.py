import pytest

from notewell.errors import PathRefused
from notewell.workspace.references import read_reference


@pytest.mark.parametrize(
    ("given", "path", "lines", "part"),
    [
        ("memory/a.md", "memory/a.md", None, ""),
        ("memory/a", "memory/a.md", None, ""),
        ("v1.2", "v1.2.md", None, ""),
        ("memory/a.md#L3-L9", "memory/a.md", (3, 9), ""),
        ("a.md#L3C1-L9C4", "a.md", (3, 9), ""),
        ("a.md:12", "a.md", (12, 12), ""),
        ("a.md:12-20", "a.md", (12, 20), ""),
        ("a.md:12:5", "a.md", (12, 12), ""),
        ("a.md:12:5:", "a.md", (12, 12), ""),
        ("2. memory/a.md, lines 3 to 9, score 0.82", "memory/a.md", (3, 9), ""),
        ("Source: memory/a.md#L3", "memory/a.md", (3, 3), ""),
        ("[[a]]", "a.md", None, ""),
        ("![[a|shown]]", "a.md", None, ""),
        ("[[a\\|shown]]", "a.md", None, ""),
        ("[[area/a#One#Two|x]]", "area/a.md", None, "One#Two"),
        ("[[a#^b1]]", "a.md", None, "^b1"),
        ("a#One", "a.md", None, "One"),
        ("a.md#one-two", "a.md", None, "one-two"),
        ("[shown](memory/a%20b.md#one 'title')", "memory/a b.md", None, "one"),
        ("[shown](<a b.md>)", "a b.md", None, ""),
        ("memory%2Fa%20b.md", "memory/a b.md", None, ""),
        ("`memory/a.md`", "memory/a.md", None, ""),
        ("'a.md:3'", "a.md", (3, 3), ""),
        ("<a.md>", "a.md", None, ""),
        ("- a.md.", "a.md", None, ""),
        ("memory:memory/a%20b.md", "memory/a b.md", None, ""),
        ("file:///notes/a%20b.md", "/notes/a b.md", None, ""),
        ("  a.md\n", "a.md", None, ""),
    ],
)
def test_the_last_reading_is_what_an_agent_means(
    given: str, path: str, lines: tuple[int, int] | None, part: str
) -> None:
    last = read_reference(given)[-1]

    cited = None if last.first is None else (last.first, last.last)
    assert (last.path, cited, last.part) == (path, lines, part)


@pytest.mark.parametrize("given", ["[[a]]", "a%20b.md", "a#b.md", "a.md:3", "`a`"])
def test_the_first_reading_is_the_literal_one(given: str) -> None:
    assert read_reference(given)[0].path in (given, f"{given}.md")


@pytest.mark.parametrize(
    "given", ["", " ", "a\0.md", "\ud83c.md", "a.md#L9-L3", "[[a]]#L9-L3", "a.md:9-3"]
)
def test_what_no_disk_can_have_is_refused(given: str) -> None:
    with pytest.raises(PathRefused):
        read_reference(given)


@pytest.mark.parametrize(
    "given", ["a%00.md", "a%0a.md", "[[a\x01]]", "memory/%E9.md", "a%1b[31m.md"]
)
def test_no_reading_but_the_literal_one_has_what_cannot_be_printed(given: str) -> None:
    assert all(each.path.isprintable() for each in read_reference(given)[1:])


@pytest.mark.parametrize(
    "given",
    [
        *("../a", "[[../a]]", "..%2fa", "/a.md", "~/a.md", "a\\b", "C:/a.md", "C:\\a"),
        *("a/../../b", "./../b", ".git/a", "file:///a.md", "[x](../a.md)"),
    ],
)
def test_what_leads_out_of_a_folder_is_the_name_of_no_note(given: str) -> None:
    assert read_reference(given)[-1].name is None


def test_a_text_of_any_length_is_read_at_once() -> None:
    assert len(read_reference("[[" * 100_000)) == 1
