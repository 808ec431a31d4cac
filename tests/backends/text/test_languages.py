"""Notes in other languages than English: which it is, and forms of their words."""

from typing import TYPE_CHECKING

import pytest

from notewell.backends.text.languages import language_of, marked_stems

if TYPE_CHECKING:
    from tests.backends.conftest import Notebook

FORMS = {
    "german": ("Haus", "Die Häuser sind verkauft und der Preis ist nicht bekannt."),
    "dutch": ("factuur", "De facturen zijn betaald."),
    "french": ("journal", "Les journaux sont dans la cuisine avec les lettres."),
    "spanish": ("canción", "Las canciones que más escuchamos son de los noventa."),
    "portuguese": ("declaração", "As declarações foram enviadas para o contador."),
    "italian": ("fattura", "Le fatture che sono pagate non si trovano più."),
    "swedish": ("bil", "Bilarna är sålda och vi har inte en enda kvar."),
    "danish": ("hus", "Husene er solgt, og jeg har ikke set dem af og til."),
    "norwegian": ("hus", "Husene er solgt, og jeg har ikke sett dem etter det."),
    "finnish": ("talossa", "Talot ovat myytävänä, mutta se ei ole halpa."),
    "hungarian": ("számla", "A számlák nem érkeztek meg, mert az egy hiba volt."),
    "romanian": ("factura", "Facturile sunt platite și nu mai este nimic de la ei."),
    "turkish": ("kitap", "Kitaplar satıldı ve bir sonraki için not aldım."),
}


@pytest.mark.parametrize("language", FORMS)
def test_a_note_is_found_by_another_form_of_a_word_of_its_language(
    notebook: "Notebook", language: str
) -> None:
    asked, text = FORMS[language]
    notebook.write(
        {"memory/a.md": text, "memory/b.md": "The plan of the house is here."}
    )
    notebook.refresh()

    found = notebook.ask(asked)

    assert language_of(text.split()) == language
    assert [hit.path for hit in found.hits] == ["memory/a.md"]
    assert found.warnings == ()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The notes of Maria de la Cruz are in the box at La Plaza.",
        "Notes on Los Angeles",
        "Van der Berg and de Vries called",
        "def main(): return os.path.join(a, b)",
        "数据库重启后",
    ],
)
def test_names_and_code_do_not_make_another_language_of_a_note(text: str) -> None:
    assert language_of(text.split()) == ""


def test_stems_of_one_language_do_not_find_words_of_another(
    notebook: "Notebook",
) -> None:
    notebook.write(
        {
            "memory/a.md": "Las canciones que más escuchamos son de los noventa.",
            "memory/b.md": "This is not what was asked for by the team.",
        }
    )
    notebook.refresh()

    assert notebook.paths("notes") == []  # whose Spanish stem is `not`


def test_the_word_itself_comes_before_its_forms(notebook: "Notebook") -> None:
    notebook.write(
        {
            "memory/a.md": "Die Häuser sind verkauft und der Preis ist gut.",
            "memory/b.md": "Das Haus ist verkauft und der Preis ist gut.",
        }
    )
    notebook.refresh()

    assert notebook.paths("Haus") == ["memory/b.md", "memory/a.md"]
    assert notebook.paths("Häuser") == ["memory/a.md", "memory/b.md"]


def test_a_word_has_the_stems_with_and_without_its_accents() -> None:
    assert marked_stems("declarações", "portuguese") == (
        "declar\u00b6\u00b6portuguese",
        "declaraco\u00b6\u00b6portuguese",
    )
    assert marked_stems("x1 数据 9", "german") == ()
