"""The links of a note, and several notes at once."""

import sqlite3
from pathlib import Path

import pytest

from notewell import NoteLinks, SyncMemory, open_memory_sync
from notewell.errors import PathRefused
from notewell.memory import links as links_module

GROUP = "agent:main:discord:group:42"
NOTES = {
    "MEMORY.md": "---\ntitle: Private facts\n---\nThe key is under [[Pump]].\n",
    "memory/2026-03-03.md": "Looked at [[pump#Parts|it]], `[[Valve]]` and [[Gone]].\n",
    "memory/net/Valve.md": "---\naliases: [V-7]\n---\nFeeds the [pump](../Pump.md#Parts)"
    " and [[two]].\n",
    "memory/Pump.md": "# Pump\n\nSee [[V-7]], [[Private facts]] and [a](2026-03-03.md).\n"
    "\n## Parts\n\nseal\n",
    "memory/x/two.md": "",
    "memory/y/two.md": "",
}


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    root = tmp_path / "notes"
    for path, text in NOTES.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return root


def opened(notes: Path, backend: str = "builtin", key: str | None = None) -> SyncMemory:
    state = notes.parent / "state"
    return open_memory_sync(
        workspace=notes,
        backend=backend,
        session_key=key,
        environ={"OPENCLAW_STATE_DIR": str(state), "PATH": str(state)},
    )


def told(found: NoteLinks) -> tuple[list[tuple[int, str | None]], list[str]]:
    out = [(link.line, link.to) for link in found.outgoing]
    return out, [link.citation for link in found.backlinks]


PUMP = (
    [(3, "memory/net/Valve.md"), (3, "MEMORY.md"), (3, "memory/2026-03-03.md")],
    ["MEMORY.md#L4", "memory/2026-03-03.md#L1", "memory/net/Valve.md#L4"],
)


@pytest.mark.parametrize("backend", ["builtin", "qmd", "in-memory"])
def test_links_are_told_out_and_back_with_and_without_an_index(
    notes: Path, backend: str
) -> None:
    with opened(notes, backend) as memory:
        before = memory.links("[[Pump]]")
        memory.refresh(vectors=None)
        after = memory.links("memory/Pump.md")

    assert told(before) == told(after) == PUMP
    assert (
        after.outgoing[0].text
        == "See [[V-7]], [[Private facts]] and [a](2026-03-03.md)."
    )
    assert [link.target for link in after.backlinks] == [
        "Pump",
        "pump#Parts",
        "../Pump.md#Parts",
    ]
    assert (before.warnings, after.warnings) == ((), ())


def test_a_link_that_leads_nowhere_or_to_several_says_so(notes: Path) -> None:
    with opened(notes) as memory:
        day = memory.links("2026-03-03")
        valve = memory.links("valve")

    assert [(link.target, link.to) for link in day.outgoing] == [
        ("pump#Parts", "memory/Pump.md"),
        ("Gone", None),
    ]
    assert valve.outgoing[1].to is None
    assert valve.outgoing[1].candidates == ("memory/x/two.md", "memory/y/two.md")


def test_what_changed_since_the_index_was_made_is_read_as_it_is(notes: Path) -> None:
    with opened(notes) as memory:
        memory.refresh(vectors=None)
        (notes / "memory" / "2026-03-03.md").write_text("nothing\n", encoding="utf-8")
        (notes / "memory" / "new.md").write_text(
            "---\ntitle: Fresh\n---\n[[Pump]] [[Fresh]]\n", encoding="utf-8"
        )

        found = memory.links("Pump")
        fresh = memory.links("memory/new.md")

    assert [link.citation for link in found.backlinks] == [
        "MEMORY.md#L4",
        "memory/net/Valve.md#L4",
        "memory/new.md#L4",
    ]
    assert fresh.outgoing[1].to == "memory/new.md"


def test_in_a_group_links_name_no_personal_note(notes: Path) -> None:
    for indexed in (False, True):
        with opened(notes, key=GROUP) as memory:
            if indexed:
                memory.refresh(vectors=None)
            found = memory.links("Pump")
            near = memory.get("Private fact")
            by_title = memory.get("[[Private facts]]")
            with pytest.raises(PathRefused, match="denied"):
                memory.links("MEMORY.md")

        out, back = told(found)
        assert (out[1], back) == ((3, None), PUMP[1][1:])
        assert not any("MEMORY" in path for path in near.nearest)
        assert by_title.found is False


def test_notes_that_were_not_read_in_time_are_told(
    notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(links_module, "_SECONDS", -1.0)

    with opened(notes) as memory:
        found = memory.links("memory/Pump.md")

    assert found.found
    assert "6 of 6 notes" in found.warnings[0]
    assert "notewell index" in found.warnings[0]


def test_an_index_of_another_version_is_told_and_the_notes_are_read(
    notes: Path,
) -> None:
    with opened(notes) as memory:
        memory.refresh(vectors=None)
    [index] = (notes.parent / "state" / "memory").glob("*.sqlite")
    with sqlite3.connect(index) as connection:
        connection.execute("update nw_meta set value = 1 where key = 'schema'")
    connection.close()

    with opened(notes) as memory:
        found = memory.links("Pump")
        titled = memory.get("V-7")

    assert told(found) == PUMP
    assert "another version" in found.warnings[0]
    assert titled.path == "memory/net/Valve.md"


def test_without_an_index_a_title_is_read_in_the_encoding_of_its_note(
    notes: Path,
) -> None:
    titled = notes / "memory" / "b.md"
    titled.write_text("---\ntitle: Weißdorn\n---\nhedge\n", encoding="utf-16")

    with opened(notes) as memory:
        found = memory.get("[[Weißdorn]]")

    assert (found.found, found.path) == (True, "memory/b.md")


def test_a_note_that_is_not_there_has_no_links(notes: Path) -> None:
    with opened(notes) as memory:
        missing = memory.links("Pumpe")
        with pytest.raises(PathRefused):
            memory.links("../x.md")

    assert (missing.found, missing.reason) == (False, "not-found")
    assert missing.nearest[0] == "memory/Pump.md"


def test_several_notes_are_read_at_once_within_one_limit(notes: Path) -> None:
    paths = ["Pump#Parts", "../x.md", "nope", "V-7", "V-7", "2026-03-03"]

    with opened(notes) as memory:
        part, refused, missing, valve, day = memory.get_many(paths, max_chars=60)
        full, left_out = memory.get_many(["Pump#Parts", "V-7"], max_chars=14)

    assert part.text == "## Parts\n\nseal"
    assert (refused.found, refused.text) == (False, "")
    assert (refused.reason or "").startswith("path-refused: ")
    assert missing.reason == "not-found"
    assert (valve.truncated, day.truncated) == (True, True)
    assert (full.truncated, left_out.text, left_out.truncated) == (False, "", True)
    assert left_out.next_from == 1
    assert sum(len(each.text) for each in (part, valve, day)) <= 60


@pytest.mark.parametrize("paths", [[], ["a.md"] * 51])
def test_none_and_too_many_notes_at_once_are_the_callers_error(
    notes: Path, paths: list[str]
) -> None:
    with opened(notes) as memory, pytest.raises(ValueError, match="from 1 to 50"):
        memory.get_many(paths)


def test_a_document_names_the_notes_to_which_its_lines_link(notes: Path) -> None:
    with opened(notes) as memory:
        whole = memory.get("memory/net/Valve.md")
        part = memory.get("memory/Pump.md", 5)

    assert whole.links == ("memory/Pump.md", "two")
    assert part.links == ()
