"""What of a text is new to a note."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import notewell
from notewell.writing.blocks import LineRuns, find_new_text, joined_lines, split_blocks

LOG = """\
# 2026-03-01

## Decisions
- The gateway moved to port 18790.

## People
- Noor is away until Monday.
"""

LINES = st.lists(
    st.sampled_from(
        ["# T", "## A", "## B", "- a", "- b", "  more", "", "one", "two:", "```", "x "]
    ),
    max_size=12,
)


def fresh(text: str, note: str = LOG, known: str = "") -> list[str]:
    part = find_new_text(
        text.splitlines(), note.splitlines(), known=[known.splitlines()]
    )
    return list(part.lines)


def with_find_new_text(text: list[str], note: list[str]) -> list[str]:
    part = find_new_text(text, note)
    is_apart = (
        bool(part.lines) and not part.tight and bool(note) and note[-1].strip() != ""
    )
    return [*note, *([""] if is_apart else []), *part.lines]


@pytest.mark.parametrize(
    "text",
    [
        LOG,
        "- Noor is away until Monday.",
        "- Noor is away until Monday.   ",
        "## People\n\n- Noor is away until Monday.",
        "## Decisions",
    ],
)
def test_what_stands_in_the_note_is_not_repeated(text: str) -> None:
    assert fresh(text) == []


def test_only_the_new_item_of_a_list_is_kept() -> None:
    text = "- Noor is away until Monday.\n- The backup ran."

    assert fresh(text) == ["- The backup ran."]


def test_a_copy_of_the_note_with_an_addition_is_the_addition() -> None:
    assert fresh("first\nsecond\nthird", note="first\nsecond\n") == ["third"]


def test_a_heading_is_repeated_where_it_is_needed() -> None:
    text = "# 2026-03-01\n\n## Decisions\n- No more cron jobs."

    assert fresh(text) == ["## Decisions", "- No more cron jobs."]


def test_a_heading_is_not_repeated_where_the_note_ends_below_it() -> None:
    assert fresh("## People\n- Ann is back.") == ["- Ann is back."]


def test_a_line_that_introduces_a_list_goes_with_the_list() -> None:
    note = "Open:\n- the invoice\n"

    assert fresh("Open:\n- the invoice\n- the lease", note) == ["- the lease"]
    assert fresh("Open:\n- the lease", f"{note}\nAll else is done.\n") == [
        "Open:",
        "- the lease",
    ]


def test_a_new_heading_with_nothing_below_it_is_not_lost() -> None:
    assert fresh("## Empty\n## Other\n- x") == ["## Empty", "## Other", "- x"]


def test_an_item_keeps_its_indented_paragraphs() -> None:
    item = "- Incident:\n\n      Fatal: locked\n\n  The lock was stale."

    assert fresh(item) == item.splitlines()
    assert fresh(item, note=f"# Day\n\n{item}\n- other") == []


def test_code_is_compared_whole() -> None:
    code = "```sh\nmake all\n\nmake test\n```"

    assert fresh(code) == code.splitlines()
    assert fresh(code, note=code) == []
    assert fresh("```sh\nmake all\n\nmake clean\n```", note=code) != []


def test_a_part_of_a_line_is_no_repetition() -> None:
    assert fresh("- Noor is away") == ["- Noor is away"]


def test_what_another_note_says_is_not_repeated_either() -> None:
    assert fresh("- a\n- b", known="- a\n") == ["- b"]


@given(LINES, LINES)
def test_every_line_of_a_text_stands_in_the_note_afterwards(
    text: list[str], note: list[str]
) -> None:
    after = with_find_new_text(text, note)

    standing = {line.rstrip() for line in after}
    assert {line.rstrip() for line in text} - {""} <= standing


@given(LINES, LINES)
def test_nothing_is_new_the_second_time(text: list[str], note: list[str]) -> None:
    after = with_find_new_text(text, note)

    again = find_new_text(text, after)

    # An unclosed fence makes other blocks of the same lines.
    assert "```" in [*text, *note] or not again.lines


@given(LINES)
def test_blocks_hold_every_line_once_and_in_order(lines: list[str]) -> None:
    held = [
        line for block in split_blocks(lines) for line in block.lines if line.strip()
    ]

    assert held == [line for line in lines if line.strip()]


def test_lines_are_compared_without_what_nobody_sees() -> None:
    assert joined_lines(["cafe\u0301  "]) == joined_lines(["caf\u00e9"])


@given(LINES, LINES, LINES)
def test_a_run_of_lines_is_found_wherever_it_stands(
    text: list[str], note: list[str], other: list[str]
) -> None:
    runs = [block.lines for block in split_blocks(text)]
    standing = LineRuns(runs)

    standing.read(note)
    standing.read(other)

    for run in runs:
        expected = any(
            joined_lines(run) in joined_lines(lines) for lines in (note, other)
        )
        assert standing.stands(run) == expected


LARGE = """
import resource
resource.setrlimit(resource.RLIMIT_CPU, (30, 30))  # comparing all with all takes 120
from notewell.writing.blocks import find_new_text

note = [f"- entry {number} with some more words to be long" for number in range(350_000)]
text = [f"- item number {number}" for number in range(20_000)]
same = ["# Title"] * 20_000
nested = ["#" * (number % 6 + 1) + f" {number}" for number in range(20_000)]
print(*(len(find_new_text(lines, note).lines) for lines in (text, same, nested, note)))
"""


def test_a_large_text_is_compared_with_a_large_note_in_one_pass() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", LARGE],
        env={**os.environ, "PYTHONPATH": str(Path(notewell.__file__).parents[1])},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )

    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.split()[0] == "20000"
    assert ran.stdout.split()[-1] == "0"


@pytest.mark.parametrize(
    "fence",
    [
        ["- ```sh", "  a", "", "  # no heading", "  ```"],
        ["1. ~~~", "   a", "", "   - no item", "   ~~~"],
        ["> ```", "> a", ">", "> # no heading", "> ```"],
        ["````", "```", "", "# no heading", "````"],
    ],
    ids=["in a list", "with tildes", "in a quote", "nested"],
)
def test_a_fence_is_one_block_wherever_it_opens(fence: list[str]) -> None:
    blocks = list(split_blocks([*fence, "# Ports", "text"]))

    assert [block.lines for block in blocks] == [tuple(fence), ("# Ports",), ("text",)]
