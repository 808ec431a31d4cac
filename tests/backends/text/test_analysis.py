"""What stands in a note is found by asking for it: index and query agree."""

import unicodedata
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from notewell.backends.text.analysis import LONGEST_TERM, forms_of, terms_of
from notewell.backends.text.query import MOST_QUERY_TERMS, parse_query

if TYPE_CHECKING:
    from tests.backends.conftest import NewNotebook, Notebook

SCRIPTS = (
    "abcxyzABCXYZ0189",
    "àéîõüßıİøŁæœ",
    "αβγσςΑΩ",
    "абвгдежзёйЇҐ",
    "אבגדהוֹשּׁ",
    "ابتثجحخدُّٱ",
    "अआकखगि ी्ंळ",
    "বাংলাদেশ",
    "தமிழ்",
    "กขคงำีั่",
    "ກຂຄງຳ",
    "བོདཡིག",
    "ကခဂဃိုး",
    "កខគឃាំ",
    "አማርኛ",
    "ქართული",
    "հայերեն",
    "あいうがぱっー",
    "アイウガパッー",
    "ｱｲｳｶﾞﾊﾟ",
    "漢字数据库部署京都",
    "한글말끝잇기",
    "ㅎㅏㄴㄱㅡㄹ",
    "ㄅㄆㄇ",
    "ＡＢＣａｂｃ０１２",
    "ᏣᎳᎩ",
    "ߒߞߏ",
    "😀👩🏽🚀",
)
JOINTS = "-._/:@&=+~'’\\#,"


def repeated(letter: str, times: int) -> str:
    return letter * times


WORDS = st.one_of(
    st.sampled_from(SCRIPTS).flatmap(
        lambda script: st.text(alphabet=script, min_size=1, max_size=12)
    ),
    st.lists(
        st.sampled_from(SCRIPTS).flatmap(
            lambda script: st.text(alphabet=script, min_size=1, max_size=4)
        ),
        min_size=2,
        max_size=4,
    ).flatmap(lambda parts: st.sampled_from(JOINTS).map(lambda j: j.join(parts))),
    st.text(
        alphabet=st.characters(codec="utf-8", categories=("L", "N", "M", "P", "S")),
        min_size=1,
        max_size=8,
    ),
    st.builds(repeated, st.sampled_from("aA7éж"), st.integers(90, 300)),
)


def has_letters(word: str) -> bool:
    return any(c.isalnum() for c in unicodedata.normalize("NFKC", word))


@given(texts=st.lists(st.lists(WORDS, min_size=1, max_size=6), min_size=1, max_size=12))
@settings(max_examples=40, deadline=None)
@example(texts=[["a828e60"], ["a828e6"], ["828e60"]])
@example(texts=[["ﷺ", "½", "ǅ", "ŉ", "ﬃ", "㍿"], ["m²", "10⁻³", "№7"]])
@example(
    texts=[["'tis", "rock'n'roll", "foo#", "C#", "C++", "a+++", ".NET", "node.js"]]
)
@example(texts=[["dont", "don't", "don’t"], ["1,000", "1,000,5", "a,b"]])
@example(texts=[["v2.2.15", "v2", "2.2"], ["memorySearch.query.hybrid", "XMLParser"]])
@example(texts=[["ſs", "ẞ", "ΐ", "ǰ", "İ", "ı", "ΣΑΣ", "ὈΔΥΣΣΕΎΣ"]])
def test_every_word_of_a_note_is_found_by_asking_for_it(
    new_notebook: "NewNotebook", texts: list[list[str]]
) -> None:
    notebook = new_notebook()
    notebook.write({f"memory/{n}.md": " ".join(t) for n, t in enumerate(texts)})
    notebook.refresh()

    for number, text in enumerate(texts):
        for word in " ".join(text).split():
            if has_letters(word):
                found = notebook.paths(word, limit=100, min_score=1.0)
                assert f"memory/{number}.md" in found, word


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("İstanbul", "istanbul"),
        ("istanbul", "İSTANBUL"),
        ("ISTANBUL", "ıstanbul"),
        ("Straße", "strasse"),
        ("STRASSE", "straße"),
        ("CAFÉ", "cafe"),
        ("cafe\u0301", "CAFÉ"),
        ("ΟΔΟΣ", "οδος"),
        ("ЁЛКА", "ёлка"),
        ("ＡＢＣ", "abc"),
        ("ABC", "ａｂｃ"),
        ("ﾃｽﾄ", "テスト"),
        ("テスト", "ﾃｽﾄ"),
        ("ｶﾞｽ", "ガス"),
        ("학점인정", unicodedata.normalize("NFD", "학점인정")),
        (unicodedata.normalize("NFD", "학점인정"), "학점인정"),
        ("ﬁnance", "finance"),
        ("don’t", "don't"),
        ("don't", "dont"),
        ("multi-agent", "Multi-Agent"),
        ("multi-agent", "agent"),
        ("gatewaySearch", "gateway"),
        ("memorySearch.query.hybrid", "query.hybrid"),
        ("20.04", "20.04"),
        ("10GB", "10 GB"),
        ("deployments", "deployment"),
        ("seen at src/app/main.py:42", "main.py"),
        ("重跑gen-itgc后", "itgc"),
        ("数据库部署在新加坡", "部署"),
        ("数据库部署在新加坡", "库"),
        ("今日は成語しりとりをした", "しりとり"),
        ("오늘 끝말잇기게임을 했다", "끝말잇기"),
        ("สวัสดีครับ", "ครับ"),
        ("पानी पिया", "पानी"),
    ],
)
def test_two_ways_to_write_a_word_meet(
    notebook: "Notebook", text: str, query: str
) -> None:
    notebook.write({"memory/a.md": f"before {text} after", "memory/b.md": "something"})
    notebook.refresh()

    assert notebook.paths(query) == ["memory/a.md"]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("か", "が"),
        ("が", "か"),
        ("はら", "ばら"),
        ("ハ", "パ"),
        ("ﾊ", "ﾊﾟ"),
        ("말", "발"),
        ("कि", "की"),
        ("C", "C++"),
        ("cat", "dog"),
    ],
)
def test_different_words_stay_different(
    notebook: "Notebook", text: str, query: str
) -> None:
    notebook.write({"memory/a.md": text})
    notebook.refresh()

    found = notebook.ask(query)

    assert all(query not in hit.snippet for hit in found.hits)
    assert not found.hits or query == "C++"


def test_a_name_of_a_file_is_found_by_its_date_its_parts_and_as_a_whole(
    notebook: "Notebook",
) -> None:
    notebook.write(
        {
            "memory/2026-03-16.md": "lunch",
            "memory/My Recipe_Notes.md": "soup",
            "memory/a828e60bcd.md": "hash",
            "memory/猫咪日记.md": "quiet",
            f"memory/{unicodedata.normalize('NFD', '규정 학점인정')}.md": "credits",
        }
    )
    notebook.refresh()

    assert notebook.paths("2026-03-16.md")[0] == "memory/2026-03-16.md"
    assert notebook.paths("2026-03-16")[0] == "memory/2026-03-16.md"
    assert notebook.paths("recipe") == ["memory/My Recipe_Notes.md"]
    assert notebook.paths("a828e60") == ["memory/a828e60bcd.md"]
    assert notebook.paths("猫") == ["memory/猫咪日记.md"]
    assert notebook.paths("日记") == ["memory/猫咪日记.md"]
    [credits_note] = notebook.paths("학점인정")
    assert unicodedata.normalize("NFC", credits_note) == "memory/규정 학점인정.md"


@given(text=st.text(max_size=200))
@settings(max_examples=200, deadline=None)
def test_no_character_of_a_query_is_syntax_and_no_text_breaks_the_terms(
    text: str,
) -> None:
    terms = terms_of(text)

    assert all(0 < len(term) <= LONGEST_TERM for term in terms)
    assert not any('"' in term or " " in term for term in terms)
    for want in parse_query(text).terms:
        assert all(want.exact)
        assert 0 < want.weight <= 1


@given(left=st.text(max_size=30), right=st.text(max_size=30))
@settings(max_examples=200, deadline=None)
def test_terms_of_a_text_are_the_terms_of_its_words(left: str, right: str) -> None:
    assert terms_of(f"{left} {right}") == terms_of(left) | terms_of(right)


def test_a_cache_of_words_does_not_change_their_terms() -> None:
    fresh = [tuple(forms_of(f"Word{n}-x")) for n in range(50)]

    assert [tuple(forms_of(f"Word{n}-x")) for n in range(50)] == fresh


def test_a_query_of_thousands_of_words_is_cut_and_says_so(
    notebook: "Notebook",
) -> None:
    notebook.write({"memory/a.md": "word17 stands here"})
    notebook.refresh()

    found = notebook.ask(" ".join(f"word{n}" for n in range(5000)))

    assert len(parse_query("x " * 5000 + "y" * 30_000).terms) <= MOST_QUERY_TERMS
    assert [hit.path for hit in found.hits] == ["memory/a.md"]
    assert found.warnings


def test_a_long_question_keeps_its_words_with_content(notebook: "Notebook") -> None:
    notebook.write({"memory/a.md": "kumquat"})
    notebook.refresh()

    assert notebook.paths("is it so that we have the " * 500 + "kumquat")[:1] == [
        "memory/a.md"
    ]


@pytest.mark.parametrize(
    "line",
    [
        "a-" * 200_000,
        "अ" * 200_000,
        "_" * 400_000,
        "漢" * 100_000,
        "'" * 200_000 + "a",
        "a.b" * 100_000,
        "aB" * 200_000,
        "😀" * 50_000,
        "e\u0301" * 100_000,
        "#" * 300_000,
    ],
    ids=lambda line: line[:3],
)
def test_an_odd_line_of_some_hundred_kilobytes_is_indexed_and_asked_for(
    notebook: "Notebook", line: str
) -> None:
    notebook.write({"memory/a.md": line, "memory/b.md": "kiwi"})

    report = notebook.refresh()

    assert report.files == 2
    assert notebook.paths("kiwi") == ["memory/b.md"]
    notebook.ask(line)
