"""Writing something down: it stands at the end of a note, and is found from then on."""

import asyncio
import json
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from notewell import (
    NoteNotWritten,
    PathRefused,
    UsageError,
    open_memory,
    open_memory_sync,
)

GROUP = "agent:main:telegram:group:-100200"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A workspace with one long-term note."""
    root = tmp_path / "notes"
    (root / "memory").mkdir(parents=True)
    (root / "MEMORY.md").write_text("Bertrand is the cat.\n", encoding="utf-8")
    return root


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """An environment whose state folder is empty."""
    return {"OPENCLAW_STATE_DIR": str(tmp_path / "state")}


def configure(environ: dict[str, str], settings: object) -> None:
    state = Path(environ["OPENCLAW_STATE_DIR"])
    state.mkdir(exist_ok=True)
    (state / "openclaw.json").write_text(json.dumps(settings), encoding="utf-8")


async def test_what_was_remembered_is_found_at_once(
    notes: Path, environ: dict[str, str]
) -> None:
    async with open_memory(workspace=notes, environ=environ) as memory:
        await memory.search("cat")
        remembered = await memory.remember("The lease ends in Quimperlé.")
        answer = await memory.search("Quimperlé")

        [hit] = answer.results
        document = await memory.get(remembered.citation)
    assert hit.path == remembered.path
    assert hit.start_line <= remembered.start_line <= hit.end_line
    assert document.text == "The lease ends in Quimperlé."
    assert (remembered.written, remembered.indexed) == (True, True)


def test_it_goes_to_the_log_of_the_users_day(
    notes: Path, environ: dict[str, str]
) -> None:
    zone = "Pacific/Kiritimati"  # a day ahead of most of the world
    configure(environ, {"agents": {"defaults": {"userTimezone": zone}}})

    with open_memory_sync(workspace=notes, environ=environ) as memory:
        remembered = memory.remember("- a")

    day = datetime.now(ZoneInfo(zone)).date().isoformat()
    assert remembered.path == f"memory/{day}.md"
    text = (notes / remembered.path).read_text(encoding="utf-8")
    assert text == f"# {day}\n\n- a\n"


def test_what_lasts_goes_to_the_long_term_note(
    notes: Path, environ: dict[str, str]
) -> None:
    with open_memory_sync(workspace=notes, environ=environ) as memory:
        first = memory.remember("He is seven.", long_term=True)
        second = memory.remember("Bertrand is the cat.", long_term=True)

    assert (first.citation, first.written) == ("MEMORY.md#L3", True)
    assert (second.citation, second.written) == ("MEMORY.md#L1", False)
    text = (notes / "MEMORY.md").read_text(encoding="utf-8")
    assert text == "Bertrand is the cat.\n\nHe is seven.\n"


def test_the_long_term_note_may_have_the_older_name(
    notes: Path, environ: dict[str, str]
) -> None:
    (notes / "MEMORY.md").rename(notes / "memory.md")

    with open_memory_sync(workspace=notes, environ=environ) as memory:
        remembered = memory.remember("He is seven.", long_term=True)

    assert remembered.path == "memory.md"


def test_a_group_neither_writes_to_the_long_term_note_nor_learns_of_it(
    notes: Path, environ: dict[str, str]
) -> None:
    with open_memory_sync(
        workspace=notes, environ=environ, session_key=GROUP
    ) as memory:
        with pytest.raises(PathRefused, match="denied"):
            memory.remember("Bertrand is the cat.", long_term=True)
        remembered = memory.remember("Lunch is at noon.")

    assert remembered.written


@pytest.mark.parametrize("text", ["", "  \n\t\n"])
def test_there_must_be_something_to_remember(
    text: str, notes: Path, environ: dict[str, str]
) -> None:
    with (
        open_memory_sync(workspace=notes, environ=environ) as memory,
        pytest.raises(ValueError, match="empty"),
    ):
        memory.remember(text)


def test_a_memory_that_is_switched_off_takes_nothing(
    notes: Path, environ: dict[str, str]
) -> None:
    configure(environ, {"plugins": {"slots": {"memory": "none"}}})

    with (
        open_memory_sync(workspace=notes, environ=environ) as memory,
        pytest.raises(UsageError, match="switched off"),
    ):
        memory.remember("a")


def test_a_folder_that_is_read_whole_does_not_lose_its_notes_to_a_log(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "cat.md").write_text("Bertrand\n", encoding="utf-8")

    with open_memory_sync(workspace=vault, environ=environ) as memory:
        with pytest.raises(UsageError, match="read whole"):
            memory.remember("a")

        assert [hit.path for hit in memory.search("Bertrand").results] == ["cat.md"]
    assert not (vault / "memory").exists()


def test_a_vault_is_written_to_where_a_setting_says_and_nowhere_else(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    vault = tmp_path / "vault"
    (vault / ".obsidian").mkdir(parents=True)
    (vault / "cat.md").write_text("Bertrand\n", encoding="utf-8")
    (vault / ".obsidian/daily-notes.json").write_text(
        '{"folder": "Daily", "format": "MMMM Do, YYYY"}', encoding="utf-8"
    )
    with open_memory_sync(workspace=vault, environ=environ) as memory:
        with pytest.raises(UsageError) as raised:
            memory.remember("a")

        assert (
            'memorySearch: {dailyNotes: "Daily/MMMM Do, YYYY"}' in raised.value.remedy
        )

    key = {"dailyNotes": "Daily/MMMM Do, YYYY"}
    configure(environ, {"agents": {"defaults": {"memorySearch": key}}})
    with open_memory_sync(workspace=vault, environ=environ) as memory:
        noted = memory.remember("Ann has moved to Oslo.")
        found = memory.search("Who has moved today?")

        assert noted.path.startswith("Daily/")
        assert [hit.path for hit in found.results] == [noted.path]
        assert [part.path for part in memory.session_context().parts] == [noted.path]
        with pytest.raises(UsageError, match="only that would be read"):
            memory.remember("b", long_term=True)
    assert not (vault / "memory").exists()


def test_an_empty_folder_becomes_a_workspace(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    (tmp_path / "new").mkdir()

    with open_memory_sync(workspace=tmp_path / "new", environ=environ) as memory:
        memory.remember("Bertrand is the cat.")

        assert memory.search("Bertrand").results


def test_without_a_place_for_the_lock_nothing_is_written(
    notes: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    environ = {"OPENCLAW_STATE_DIR": str(tmp_path / "file" / "state")}

    with (
        open_memory_sync(workspace=notes, environ=environ) as memory,
        pytest.raises(NoteNotWritten, match="no lock"),
    ):
        memory.remember("a")

    assert list((notes / "memory").iterdir()) == []


async def test_many_tasks_write_one_after_the_other(
    notes: Path, environ: dict[str, str]
) -> None:
    async with open_memory(workspace=notes, environ=environ) as memory:
        found = await asyncio.gather(
            *(memory.remember(f"- item {number}") for number in range(20))
        )

    lines = (notes / found[0].path).read_text(encoding="utf-8").splitlines()
    assert sorted(lines[2:]) == sorted(f"- item {number}" for number in range(20))
