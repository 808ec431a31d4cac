import pytest

from notewell.workspace.sections import lines_of_part, nearest_headings

NOTE = """\
# Pool

intro

## Open ends

one
two

### Pump *old*

three

## Notes

four ^four

- item one
- item two
  goes on ^two

table

^table

Open ends
---------

five
# Last
six
"""


@pytest.mark.parametrize(
    ("part", "lines"),
    [
        ("Pool", (1, 29)),
        ("pool", (1, 29)),
        ("Open ends", (5, 13)),
        ("open-ends", (5, 13)),
        ("open-ends-1", (26, 29)),
        ("Pump old", (10, 13)),
        ("pump-old", (10, 13)),
        ("Pool#Pump old", (10, 13)),
        ("Open ends#Pump old", (10, 13)),
        ("Last", (30, 31)),
        ("^four", (16, 16)),
        ("^two", (19, 20)),
        ("^table", (22, 24)),
    ],
)
def test_a_part_of_a_note_is_found(part: str, lines: tuple[int, int]) -> None:
    assert lines_of_part(NOTE.split("\n"), part) == lines


@pytest.mark.parametrize(
    "part", ["Nothing", "Last#Pump old", "Pool#Pool", "^", "^fou", "open-ends-7", "#"]
)
def test_a_part_that_is_not_there_is_not_found(part: str) -> None:
    assert lines_of_part(NOTE.split("\n"), part) is None


def test_of_a_heading_that_is_not_there_the_nearest_are_told() -> None:
    near = nearest_headings(NOTE.split("\n"), "open end")

    assert near[0] == "Open ends"
    assert nearest_headings(["no heading"], "x") == []


def test_a_heading_in_code_begins_no_section() -> None:
    assert lines_of_part(["# A", "```", "# B", "```", "x"], "B") is None
    assert lines_of_part(["# A", "```", "# B", "```", "x"], "A") == (1, 5)
