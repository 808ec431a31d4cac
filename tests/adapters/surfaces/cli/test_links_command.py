"""`notewell links`, and `notewell get` of several notes."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.adapters.surfaces.conftest import Notewell

PUMP = "# Pump\n\nSee [[day]] and [[gone]].\n"


@pytest.fixture(autouse=True)
def linked(notes: Path) -> None:
    (notes / "memory" / "Pump.md").write_text(PUMP, encoding="utf-8")
    (notes / "memory" / "day.md").write_text(
        "[it](Pump.md)\x1b[31m\n", encoding="utf-8"
    )


def test_links_are_shown_out_and_back_with_their_lines(run: "Notewell") -> None:
    ran = run("links", "[[pump]]")

    assert ran.code == 0
    assert ran.text.splitlines() == [
        "links to (2)",
        "  3  See [[day]] and [[gone]].",
        "     → memory/day.md",
        "     → gone (no such note)",
        "",
        "linked from (1)",
        "  memory/day.md#L1",
        r"    [it](Pump.md)\x1b[31m",
    ]
    assert ran.said == "note: read as memory/Pump.md\n"


def test_links_are_one_json_object(run: "Notewell") -> None:
    found = run("links", "memory/Pump.md", "--json").value
    alone = run("links", "MEMORY.md", "--json").value

    assert [link["to"] for link in found["outgoing"]] == ["memory/day.md", None]
    assert [link["path"] for link in found["backlinks"]] == ["memory/day.md"]
    assert (alone["found"], alone["outgoing"], alone["backlinks"]) == (True, [], [])


def test_a_note_that_is_not_there_is_told_with_the_nearest(run: "Notewell") -> None:
    ran = run("links", "Pumpe")

    assert (ran.code, ran.text) == (0, "")
    assert ran.said == "Pumpe.md: not found\nnearest: memory/Pump.md\n"


def test_links_of_a_path_outside_are_refused(run: "Notewell") -> None:
    ran = run("links", "../x.md")

    assert (ran.code, ran.text) == (2, "")


def test_several_notes_are_printed_one_after_the_other(run: "Notewell") -> None:
    ran = run("get", "pump#pump", "memory/day.md:1", "nope", "../x.md")

    assert ran.code == 2
    assert ran.text == (
        f"==> memory/Pump.md <==\n{PUMP}==> memory/day.md <==\n[it](Pump.md)\x1b[31m\n"
    )
    assert "nope.md: not found" in ran.said
    assert "lies outside the workspace" in ran.said


def test_several_notes_are_one_json_object(run: "Notewell") -> None:
    ran = run("get", "memory/day.md", "nope", "--json")

    assert ran.code == 0
    assert [each["found"] for each in ran.value["documents"]] == [True, False]
    assert ran.value["documents"][0]["links"] == ["memory/Pump.md"]
    assert "links" not in ran.value["documents"][1]


def test_a_range_of_several_notes_makes_no_sense(run: "Notewell") -> None:
    ran = run("get", "memory/day.md", "MEMORY.md", "--lines", "1")

    assert ran.code == 2
    assert "#L3-L9" in ran.said
