"""Which headings stand above a line."""

import pytest

from notewell.backends.text.chunking import Headings, cut_chunks


def above_last(*lines: str) -> str:
    return Headings(lines).above(len(lines) - 1)


def test_headings_are_nested_by_their_level() -> None:
    lines = ["# A", "## B", "### C", "## D", "x"]

    assert [Headings(lines).above(n) for n in range(5)] == [
        "A",
        "A > B",
        "A > B > C",
        "A > D",
        "A > D",
    ]


def test_a_line_before_the_first_heading_has_none() -> None:
    assert Headings(["x", "# A"]).above(0) == ""


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("# Ports", "Ports"),
        ("   ### Ports ###  ", "Ports"),
        ("# Ports\r", "Ports"),
        ("#\tPorts", "Ports"),
        ("# C#", "C#"),
        ("# 部署 #", "部署"),
        ("#", ""),
        ("## ##", ""),
    ],
)
def test_an_atx_heading_is_read(line: str, title: str) -> None:
    assert above_last(line) == title


@pytest.mark.parametrize("line", ["#ports", "    # code", "####### seven", "a # b"])
def test_what_only_looks_like_a_heading_is_none(line: str) -> None:
    assert above_last("# A", line) == "A"


@pytest.mark.parametrize("fence", ["```", "~~~", "````"])
def test_a_comment_in_code_is_no_heading(fence: str) -> None:
    assert above_last("# A", f"{fence}sh", "# not one", "x") == "A"
    assert above_last("# A", fence, "# no", fence, "# B", "x") == "B"


def test_a_shorter_fence_does_not_close_a_longer_one() -> None:
    assert above_last("# A", "````", "```", "# no", "````", "x") == "A"


def test_a_title_that_is_a_whole_text_is_cut_so_that_passages_do_not_repeat_it() -> (
    None
):
    lines = ["# " + "very long title " * 10_000, *(f"line {n}" for n in range(2000))]

    chunks = cut_chunks(lines, tokens=400, overlap=80)

    assert all(len(chunk.heading) <= 200 for chunk in chunks)


def test_white_space_in_a_heading_costs_no_more_than_its_length() -> None:
    line = "# x" + " #" * 20_000 + " " * 100_000 + "y"

    assert above_last(line).startswith("x # #")
