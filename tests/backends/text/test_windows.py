"""Passages in windows: every line in one, whole where that is possible."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notewell.backends.text.analysis import token_quarters
from notewell.backends.text.windows import MOST_WINDOWS, cut_name, cut_windows

TEXTS = st.lists(
    st.text(st.sampled_from("ab é数\u0301 \t"), max_size=60), min_size=1, max_size=60
).map("\n".join)
CUT = cut_name(12, 4)


@given(text=TEXTS, tokens=st.integers(1, 40), overlap=st.integers(0, 40))
def test_every_line_with_text_stands_in_windows_that_cite_it(
    text: str, tokens: int, overlap: int
) -> None:
    lines = text.split("\n")

    found = cut_windows(text, cut_name(tokens, overlap))

    shown: dict[int, str] = {}
    for window in found:
        parts = window.text.split("\n")
        assert len(parts) == window.last_line - window.first_line + 1
        for number, part in enumerate(parts, window.first_line):
            assert part in lines[number]
            shown[number] = shown.get(number, "") + part
    for number, line in enumerate(lines):
        if line.strip():
            assert set(line) - set(" \t") <= set(shown[number])


@given(text=TEXTS)
def test_windows_come_in_order_and_each_brings_something_new(text: str) -> None:
    found = cut_windows(text, CUT)

    spans = [(window.first_line, window.last_line) for window in found]
    assert spans == sorted(spans)
    assert len({(*window,) for window in found}) == len(found) or "\n" not in text


@given(text=TEXTS)
def test_a_middle_line_is_a_line_of_its_window(text: str) -> None:
    for window in cut_windows(text, CUT):
        assert window.first_line <= window.middle_line <= window.last_line


def test_a_short_passage_is_one_window() -> None:
    text = "# Title\n\nA few words.\n"

    [window] = cut_windows(text, cut_name(120, 40))

    assert window == (0, 3, text)


def test_without_a_cut_a_passage_is_one_window() -> None:
    text = "words\n" * 1_000

    assert cut_windows(text, "") == [(0, 1_000, text)]


def test_a_passage_of_usual_lines_has_about_four() -> None:
    line = "Some words of a line that somebody wrote down."
    text = "\n".join([line] * 34)

    found = cut_windows(text, cut_name(120, 40))

    assert len(found) == 4
    assert all(300 < token_quarters(window.text) <= 640 for window in found)


@pytest.mark.parametrize("text", ["word " * 320, "数" * 400, "x" * 1_600])
def test_an_endless_line_is_cut_into_parts_that_overlap(text: str) -> None:
    found = cut_windows(text, cut_name(120, 40))

    assert len(found) in (4, 5)
    assert all(window.text in text for window in found)
    assert all((w.first_line, w.last_line) == (0, 0) for w in found)
    assert sum(len(window.text) for window in found) > len(text)


def test_a_passage_without_end_has_windows_that_can_be_counted() -> None:
    text = "a line of some words\n" * 20_000

    found = cut_windows(text, cut_name(16, 4))

    assert len(found) == MOST_WINDOWS
    assert found[-1].last_line == 19_999
