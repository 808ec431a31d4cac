"""Other ways to write what is asked for: found, and weaker than what was typed."""

from typing import TYPE_CHECKING

import pytest

from notewell.backends.text.query import QueryTerm, parse_query
from notewell.backends.text.variants import ways_to_look_for, written_otherwise

if TYPE_CHECKING:
    from tests.backends.conftest import Notebook

WAYS = [
    ("会议", "會議紀錄"),
    ("開通", "开通云服务"),
    ("备份", "備份時間"),
    ("会議", "會議の記録"),
    ("國", "中国"),
    ("サクラ", "さくらを見た"),
    ("ぷりんたー", "プリンター設定"),
    ("Mueller", "Herr Müller kam."),
    ("Müller", "Herr Mueller kam."),
    ("Aarhus", "A trip to Århus."),
    ("Tromsø", "A trip to Tromsoe."),
    ("Strasse", "Die Straße ist gesperrt."),
]


@pytest.mark.parametrize(("asked", "text"), WAYS)
def test_a_thing_is_found_however_it_is_written(
    notebook: "Notebook", asked: str, text: str
) -> None:
    notebook.write({"memory/a.md": text, "memory/b.md": "Something else."})
    notebook.refresh()

    found = notebook.ask(asked)

    assert [hit.path for hit in found.hits] == ["memory/a.md"]
    assert found.warnings == ()


@pytest.mark.parametrize(
    ("asked", "other"),
    [("备份", "備份"), ("サクラ", "さくら"), ("Müller", "Mueller")],
)
def test_what_was_typed_comes_before_another_way_to_write_it(
    notebook: "Notebook", asked: str, other: str
) -> None:
    notebook.write({"memory/a.md": f"{other} 1", "memory/b.md": f"{asked} 1"})
    notebook.refresh()

    hits = notebook.ask(asked).hits

    assert [hit.path for hit in hits] == ["memory/b.md", "memory/a.md"]


def test_a_word_that_is_known_is_not_taken_for_one_with_a_mark() -> None:
    terms = parse_query("duel poem").terms
    known = {"duel": 1, "poem": 1}

    assert ways_to_look_for(terms, "duel poem", known, ()) == {}
    assert [
        way
        for ways in ways_to_look_for(terms, "duel poem", {}, ()).values()
        for way in ways
    ] == ["dul", "pom"]
    assert ways_to_look_for(terms, "duel poem", known, ["german"])


def test_few_ways_are_looked_for_however_many_there_are() -> None:
    run = QueryTerm(("台發" * 3,), in_run=True)

    assert 1 < len(written_otherwise(run, run.exact[0])) <= 6
