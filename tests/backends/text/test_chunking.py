"""The laws of chunking: everything is covered, nothing is too long, lines are exact."""

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from notewell.backends.text.analysis import QUARTERS_PER_TOKEN, token_quarters
from notewell.backends.text.chunking import Chunk, cut_chunks
from notewell.workspace import split_lines


def repeated(word: str, times: int) -> str:
    return word * times


LINES = st.one_of(
    st.sampled_from(["", " ", "\t", "\r", "# A", "## B ##", "```", "~~~", "- x"]),
    st.text(
        alphabet=st.characters(blacklist_characters="\n", codec="utf-8"), max_size=30
    ),
    st.builds(
        repeated,
        st.sampled_from(["a", "word ", "漢", "：", "é", "👩‍💻", "한 ", "# "]),
        st.integers(min_value=1, max_value=400),
    ),
)

GRAPHEMES = (
    "👨‍👩‍👧‍👦",  # a family: four people, three joiners
    "🧑🏽‍🤝‍🧑🏻",  # two people with skin tones
    "🏴󠁧󠁢󠁥󠁮󠁧󠁿",  # England: a flag and five letters
    "🇩🇪",
    "❤️",
    "e\u0301",
    "각",  # Hangul in three parts
    "नि",
    "กำ",
    "ｶﾞ",
    "Z" + "\u0335" * 40,
)


def text_of(lines: Sequence[str], chunk: Chunk) -> str:
    return "\n".join(lines[chunk.start_line - 1 : chunk.end_line])


@given(
    lines=st.lists(LINES, max_size=60),
    tokens=st.integers(min_value=16, max_value=120),
    share=st.floats(min_value=0, max_value=0.95),
)
@settings(max_examples=300, deadline=None)
@example(lines=["a" * 63, "b", "a" * 64, "c", "a" * 65], tokens=16, share=0.5)
@example(lines=["# A", "# B", "", "# C", "text"] * 20, tokens=16, share=0.9)
def test_every_chunk_is_whole_lines_or_a_piece_of_one_and_nothing_is_left_out(
    lines: list[str], tokens: int, share: float
) -> None:
    chunks = cut_chunks(lines, tokens=tokens, overlap=int(tokens * share))

    covered: dict[int, list[Chunk]] = {}
    for chunk in chunks:
        assert 1 <= chunk.start_line <= chunk.end_line <= len(lines)
        if chunk.text != text_of(lines, chunk):
            assert chunk.start_line == chunk.end_line
            assert chunk.text in lines[chunk.start_line - 1]
        assert token_quarters(chunk.text) <= tokens * QUARTERS_PER_TOKEN
        assert chunk.text.strip()
        for number in range(chunk.start_line, chunk.end_line + 1):
            covered.setdefault(number, []).append(chunk)
    for number, line in enumerate(lines, start=1):
        if line.strip():
            check_covered(lines, number, covered[number])


def check_covered(lines: list[str], number: int, chunks: list[Chunk]) -> None:
    """Every character of a line stands in one of the chunks that cite it."""
    line = lines[number - 1]
    if any(chunk.text == text_of(lines, chunk) for chunk in chunks):
        return
    end = 0
    for piece in (chunk.text for chunk in chunks):
        # White space alone needs no piece; of several places take the furthest.
        reach = len(line) - len(line[end:].lstrip())
        at = line.rfind(piece, 0, reach + len(piece))
        assert at >= 0, "a part of the line is in no piece"
        end = max(end, at + len(piece))
    assert not line[end:].strip()


@given(
    lines=st.lists(LINES, max_size=60), tokens=st.integers(min_value=16, max_value=120)
)
@settings(max_examples=100, deadline=None)
def test_chunks_come_in_order_and_repeat_no_more_than_the_overlap(
    lines: list[str], tokens: int
) -> None:
    overlap = tokens // 5

    chunks = cut_chunks(lines, tokens=tokens, overlap=overlap)

    for left, right in pairwise(chunks):
        assert left.start_line <= right.start_line
        assert left.end_line <= right.end_line
        repeated = lines[right.start_line - 1 : left.end_line]
        if left.start_line < left.end_line:
            assert token_quarters("\n".join(repeated)) <= overlap * QUARTERS_PER_TOKEN


@pytest.mark.parametrize("overlap", [0, 80, 399])
@pytest.mark.parametrize(
    "note",
    [
        pytest.param(("lorem ipsum dolor " * 200)[:3000], id="3,000 ASCII characters"),
        pytest.param("a" * 3000, id="3,000 letters without a space"),
        pytest.param("：" * 3000, id="3,000 full-width colons"),
        pytest.param("汉" * 1600, id="1,600 Han characters"),
        pytest.param("👩‍💻" * 500, id="500 emoji"),
        pytest.param("short\n" * 20 + "x" * 3000, id="short lines, then a long one"),
        pytest.param("x" * 3000 + "\nshort" * 20, id="a long line, then short ones"),
    ],
)
def test_no_chunk_is_longer_than_the_bound_with_its_overlap(
    note: str, overlap: int
) -> None:
    lines = split_lines(note)

    chunks = cut_chunks(lines, tokens=400, overlap=overlap)

    assert max(token_quarters(chunk.text) for chunk in chunks) <= 1600
    assert {line.strip() for line in lines} >= {
        chunks[0].text.split("\n")[0].strip()
    } or (chunks[0].text in lines[0])
    cited = {n for c in chunks for n in range(c.start_line, c.end_line + 1)}
    assert cited == set(range(1, len(lines) + 1))


@pytest.mark.parametrize("tokens", [30, 57, 400])
@pytest.mark.parametrize("grapheme", GRAPHEMES)
def test_an_endless_line_is_not_cut_inside_a_character(
    grapheme: str, tokens: int
) -> None:
    line = grapheme * (12 * tokens // len(grapheme))

    chunks = cut_chunks([line], tokens=tokens, overlap=tokens // 5)

    assert len(chunks) > 1
    for chunk in chunks:
        assert chunk.text == grapheme * (len(chunk.text) // len(grapheme))


def test_a_character_that_is_longer_than_a_passage_is_cut_all_the_same() -> None:
    zalgo = "Z" + "\u0335" * 1000

    chunks = cut_chunks([zalgo], tokens=16, overlap=3)

    assert chunks[0].text.startswith("Z")
    assert all(token_quarters(chunk.text) <= 64 for chunk in chunks)


def test_a_long_line_is_cut_between_words() -> None:
    line = "otters " * 600

    chunks = cut_chunks([line], tokens=100, overlap=20)

    words = {word for chunk in chunks for word in chunk.text.split()}
    assert words == {"otters"}


def test_crlf_changes_neither_lines_nor_cuts() -> None:
    lines = [f"line {n} of some text" for n in range(300)]
    unix, windows = "\n".join(lines) + "\n", "\r\n".join(lines) + "\r\n"

    ours, theirs = (
        cut_chunks(split_lines(text), tokens=1000, overlap=200)
        for text in (unix, windows)
    )

    assert "\r\n" in theirs[0].text
    assert [line.rstrip("\r") for c in theirs[:1] for line in c.text.split("\n")][
        :100
    ] == ours[0].text.split("\n")[:100]
    assert theirs[-1].end_line == ours[-1].end_line == 300


def test_only_lf_ends_a_line() -> None:
    lines = split_lines("one\x0c\u2028two\x85\nthree")

    [chunk] = cut_chunks(lines, tokens=400, overlap=80)

    assert (chunk.start_line, chunk.end_line) == (1, 2)
    assert chunk.text == "one\x0c\u2028two\x85\nthree"


def test_a_note_without_text_has_no_chunks() -> None:
    assert cut_chunks([], tokens=400, overlap=80) == []
    assert cut_chunks(["", " \t", "\r", "\u2003"], tokens=400, overlap=80) == []


def test_many_small_bullets_share_chunks() -> None:
    bullets = [
        f"- bullet {n:02} with about sixty-five characters of generic text"
        for n in range(50)
    ]

    chunks = cut_chunks(bullets, tokens=400, overlap=80)

    assert len(chunks) <= 4


def test_a_section_starts_a_chunk_of_its_own_and_repeats_nothing() -> None:
    first = ["# Ports", *(f"port {n} is open to the north" for n in range(40))]
    second = ["# Herons", "They stand."]

    *_, last = cut_chunks([*first, *second], tokens=300, overlap=60)

    assert last.text == "# Herons\nThey stand."
    assert last.heading == "Herons"
