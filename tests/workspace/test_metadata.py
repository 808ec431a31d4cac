"""What a note says of itself: its day, its tags, the keys at its top."""

from datetime import date

import pytest

from notewell.workspace.metadata import note_metadata


@pytest.mark.parametrize(
    ("path", "top", "day"),
    [
        ("memory/2026-03-01.md", [], "2026-03-01"),
        ("memory/2026-03-01-call.md", ["date: 2025-01-01"], "2026-03-01"),
        ("a.md", ["date: 2026-03-02"], "2026-03-02"),
        ("a.md", ["created: 2026-03-03T10:00:00Z"], "2026-03-03"),
        ("a.md", ["created: 2026-03-04", "date: 2026-03-05 09:00"], "2026-03-05"),
        ("a.md", ["date: someday", "created: 2026-03-06"], "2026-03-06"),
        ("a.md", ["date: 2026-02-30"], "None"),
        ("a.md", ["date: 3"], "None"),
        ("a.md", [], "None"),
    ],
)
def test_the_day_is_that_of_the_name_then_that_at_the_top(
    path: str, top: list[str], day: str
) -> None:
    lines = ["---", *top, "---", "text"] if top else ["text"]

    assert str(note_metadata(path, lines).day) == day


def test_tags_stand_at_the_top_and_in_the_text_but_not_in_code() -> None:
    text = """---
tags: [home, "#net"]
---
# Title
#work/x and `#no` (#paren) x#y #123 ##no
```
#code
```
#[[two words]] 標籤，#标签 http://a/#frag #a."""

    assert note_metadata("a.md", text.split("\n")).tags == {
        "home",
        "net",
        "work/x",
        "paren",
        "two words",
        "标签",
        "a",
    }


def test_one_text_of_tags_is_several() -> None:
    tags = note_metadata("a.md", ["---", "tags: work, home", "---"]).tags

    assert {"work", "home"} <= tags


def test_a_note_without_anything_says_nothing() -> None:
    found = note_metadata("a.md", ["text"])

    assert (found.day, found.tags, dict(found.values)) == (None, frozenset(), {})
    assert note_metadata("2026-03-03.md", []).day == date(2026, 3, 3)
