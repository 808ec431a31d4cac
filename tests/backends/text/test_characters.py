"""Characters that are written in several ways, or not seen, do not hide a word."""

import sys
import unicodedata
from typing import TYPE_CHECKING

import pytest

from notewell.backends.text.analysis import forms_of, terms_of
from notewell.backends.text.folding import compose, fold

if TYPE_CHECKING:
    from tests.backends.conftest import Notebook

SEEN_FORMATS = {
    *range(0x0600, 0x0606),  # signs of Arabic numbers
    *(0x06DD, 0x0890, 0x0891, 0x08E2, 0x110BD, 0x110CD),
    *range(0x13430, 0x13440),  # joiners of hieroglyphs
}


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("back\u00adpack", "backpack"),
        ("back\u200bpack\u2060er", "backpacker"),
        ("\ufeffback\u200dpack\u200e", "backpack"),
        ("f\u2061(x) back\u2064pack", "backpack"),
        ("backpack", "back\u00adpack"),
        ("葛\U000e0100城", "葛城"),
        ("Đorđe Šarić", "dorde saric"),
        ("Ħamrun", "hamrun"),
        ("Œuvre", "oeuvre"),
        ("encyclopædia", "Encyclopaedia"),
        ("Þingvellir", "thingvellir"),
        ("Seyðisfjörður", "seydisfjordur"),
        ("Ŋaadda", "naadda"),
        ("Łódź", "lodz"),
        ("قلـــم", "قلم"),
        ("مكتبة", "مكتبه"),
        ("مصطفى", "مصطفي"),
        ("کیف", "كيف"),
        ("ٱلكتاب", "الكتاب"),
        ("کتاب\u200cخانه", "کتاب خانه"),
        ("کتاب\u200cخانه", "کتابخانه"),
        ("کتابخانه", "کتاب\u200cخانه"),
        ("کتاب\u200cخانه", "خانه"),
        ("ক্ষ্\u200dয", "ক্ষ্য"),
        ("ശ്രീ\u200dലങ്ക", "ശ്രീലങ്ക"),
        ("അവന്\u200d", "അവൻ"),
        ("ज़मीन", "जमीन"),
        ("सड़क", "सडक"),
        ("عام ١٩٨٤", "1984"),
        ("سال ۱۳۷۰", "1370"),
        ("वर्ष १९४७", "1947"),
        ("ปี ๒๕๖๗", "2567"),
        ("1984", "١٩٨٤"),
        *((f"O{mark}Malley", "o'malley") for mark in "’‘‛ʼʻ´′＇"),
        ("O'Malley", "OʼMalley"),
        ("co\u2011author", "co-author"),
        ("back**pack**er", "backpacker"),
        ("*b*ackpack", "backpack"),
        ("back~~pack~~", "backpack"),
        ("back**pack**er", "pack"),
        ("<b>b</b>ackpack", "backpack"),
        ("CO<sub>2</sub>", "co2"),
        ("take the back-\npack along", "backpack"),
        ("take the long-\nterm view", "long-term"),
        ("> take the back-\n> pack along", "backpack"),
    ],
)
def test_a_word_is_found_however_its_characters_are_written(
    notebook: "Notebook", text: str, query: str
) -> None:
    notebook.write({"memory/a.md": f"before {text} after", "memory/b.md": "something"})
    notebook.refresh()

    assert notebook.paths(query) == ["memory/a.md"]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("கடல்", "கடலை"),
        ("2*3*4", "234"),
        ("a - \nlist", "alist"),
        ("<td>one</td><td>two</td>", "onetwo"),
        ("Ends-\nHere", "endshere"),
    ],
)
def test_words_that_only_stand_together_are_not_joined(text: str, query: str) -> None:
    assert terms_of(text).isdisjoint(form.body[0] for form in forms_of(query))


def test_no_character_that_is_not_seen_is_left_in_a_word() -> None:
    left = {
        code
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code)) == "Cf" and chr(code) in compose(chr(code))
    }

    assert left <= SEEN_FORMATS


def test_the_decimal_digits_of_every_script_are_digits() -> None:
    for code in range(sys.maxunicode + 1):
        value = unicodedata.decimal(chr(code), None)
        if value is not None:
            assert fold(chr(code)) == str(value)


def test_a_family_and_a_flag_stay_pictographs() -> None:
    forms = list(forms_of("👩‍👩‍👧 🏴\U000e0067\U000e0062\U000e007f"))

    assert [form.body for form in forms] == [("👩", "👩", "👧"), ("🏴",)]
