"""What a person sees of a text: nothing obeyed, matches found, lines wrapped."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notewell.adapters.surfaces.cli.highlight import find_matches
from notewell.adapters.surfaces.cli.results import painted, within
from notewell.adapters.surfaces.cli.screen import Screen, cell_count, shortened, wrapped
from notewell.adapters.surfaces.plain_text import one_line, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred", "\\x1b[31mred"),
        ("\x9b31mred", "\\x9b31mred"),
        ("title\x1b]0;x\x07", "title\\x1b]0;x\\x07"),
        ("a\rb", "a\\x0db"),
        ("abc\u202ecba", "abc\\u202ecba"),
        ("a\u2066b\u2069", "a\\u2066b\\u2069"),
        ("byte \udcff", "byte \\xff"),
        ("half \ud83c", "half \\ud83c"),
        ("tab\tand\nline", "tab\tand\nline"),
        ("café 数据库 שלום 😀", "café 数据库 שלום 😀"),
    ],
)
def test_what_a_terminal_would_obey_is_spelled_out(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_a_path_stays_on_one_line() -> None:
    assert one_line("a\nb\tc") == "a\\nb\\tc"


@given(st.text(alphabet=st.characters()))
def test_no_control_character_is_ever_left(text: str) -> None:
    shown = one_line(text)

    assert not any(
        ord(character) < 32 or 127 <= ord(character) < 160 for character in shown
    )
    shown.encode("utf-8")


@pytest.mark.parametrize(
    ("text", "query", "found"),
    [
        ("The multi-agent rollout", "multi-agent", ["multi-agent"]),
        ("an agent, or multi agents", "multi-agent", ["agent", "multi", "agents"]),
        ("Ubuntu 20.04 stays", "20.04", ["20.04"]),
        ("the C++ build", "C++", ["C++"]),
        ("We migrated; the migration took", "migrate", ["migrated", "migration"]),
        ("in 2024 and 2025", "2024", ["2024"]),
        ("concatenate the cat", "cat", ["cat"]),
        ("the migration", "migrants", []),
        ("an internet", "international", []),
        ("note 20240101", "20240102", []),
        ("port of call, as it is", "is it a port of it?", ["port"]),
        ("is it so", "is it", ["is", "it"]),
        ("a cat in a category", "cats", []),
        ("CAFÉ au lait", "cafe", ["CAFÉ"]),
        ("Straße", "strasse", ["Straße"]),
        ("ＡＢＣ", "abc", ["ＡＢＣ"]),
        ("数据库部署在新加坡", "部署", ["部署"]),
        ("数据库部署", "数据仓库", ["数据"]),
        ("重跑gen-itgc后50条", "itgc", ["itgc"]),
        ("오늘 끝말잇기게임을 했다", "끝말잇기", ["끝말잇기"]),
        ("\u1106\u1161\u11af을", "말", ["\u1106\u1161\u11af"]),
        ("강", "가", []),
        ("วันนี้ประชุมที่กรุงเทพ", "กรุงเทพ", ["กรุงเทพ"]),
        ("ร้านอาหารในกรุง", "กรุงเทพ", ["กรุง"]),
        ("ខ្ញុំរៀនភាសាខ្មែរ", "ភាសា", ["ភាសា"]),
        ("學ㄅㄆㄇㄈ吧", "ㄆㄇ", ["ㄆㄇ"]),
        ("㐀𠮷野家", "𠮷野", ["𠮷野"]),
        ("हिन्दी में लिखो", "हिन्दी", ["हिन्दी"]),
        ("nothing here", "else", []),
        ("nothing here", "", []),
        ("", "word", []),
        ('signs "only"', '" * ?', []),
    ],
)
def test_words_of_the_query_are_found_for_the_eye(
    text: str, query: str, found: list[str]
) -> None:
    assert [text[start:end] for start, end in find_matches(text, query)] == found


@given(st.text(max_size=60), st.text(max_size=20))
def test_matches_lie_in_the_text_in_order(text: str, query: str) -> None:
    places = [place for span in find_matches(text, query) for place in span]

    assert places == sorted(places)
    assert all(0 <= place <= len(text) for place in places)


def test_a_line_is_wrapped_at_spaces() -> None:
    text = "the quick brown fox"

    assert [text[a:b] for a, b in wrapped(text, 10)] == ["the quick", "brown fox"]


def test_wide_characters_take_two_columns() -> None:
    text = "数据库部署"

    assert [text[a:b] for a, b in wrapped(text, 5)] == ["数据", "库部", "署"]
    assert shortened(text, 5) == "数据…"


@given(
    st.text(alphabet="ab 数\u0301", max_size=40),
    st.integers(min_value=2, max_value=12),
)
def test_wrapping_loses_nothing_but_the_space_at_a_cut(text: str, columns: int) -> None:
    pieces = [text[start:end] for start, end in wrapped(text, columns)]

    assert "".join(pieces).replace(" ", "") == text.replace(" ", "")
    assert all(cell_count(piece) <= columns for piece in pieces)


def test_a_match_across_a_cut_is_painted_on_both_lines() -> None:
    screen = Screen(terminal=True, coloured=True)
    spans = [(2, 8)]

    first = painted("abcde", within(spans, (0, 5)), screen)
    second = painted("fghij", within(spans, (5, 10)), screen)

    assert first == "ab\x1b[1;33mcde\x1b[0m"
    assert second == "\x1b[1;33mfgh\x1b[0mij"
