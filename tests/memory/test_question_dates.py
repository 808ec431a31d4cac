"""Days in questions: by whose clock they are read, and how the answer tells it."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import orjson
import pytest

from notewell import SyncMemory, open_memory_sync
from notewell.adapters.surfaces import wire
from notewell.adapters.surfaces.sentences import reading_sentence
from notewell.types import Understood, UnderstoodDate

NOW = datetime(2026, 12, 1, 23, 30, tzinfo=UTC)
DAYS = ("2026-03-03", "2026-11-24", "2026-11-30", "2026-12-01")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("dates")
    (root / "notes/memory").mkdir(parents=True)
    for day, tree in zip(DAYS, ("alder", "birch", "cedar", "elder"), strict=True):
        text = f"We decided that the gateway moves, said {tree}.\n"
        (root / f"notes/memory/{day}.md").write_text(text, encoding="utf-8")
    return root


def environ_of(root: Path, zone: str) -> dict[str, str]:
    state = root / zone.replace("/", "-")
    state.mkdir(exist_ok=True)
    settings = {"agents": {"defaults": {"userTimezone": zone}}}
    (state / "openclaw.json").write_bytes(orjson.dumps(settings))
    return {"OPENCLAW_STATE_DIR": str(state), "CI": "1"}


@pytest.fixture(scope="module")
def memory(root: Path) -> Iterator[SyncMemory]:
    with open_memory_sync(
        workspace=root / "notes", environ=environ_of(root, "UTC")
    ) as memory:
        yield memory


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("What did we decide last week about the gateway?", "2026-11-24"),
        ("gateway, decided yesterday", "2026-11-30"),
        ("gateway on March 3rd", "2026-03-03"),
        ("昨天 gateway", "2026-11-30"),
        ("Was haben wir heute entschieden? gateway", "2026-12-01"),
    ],
)
def test_notes_of_the_day_come_first_and_no_other_is_hidden(
    memory: SyncMemory, question: str, first: str
) -> None:
    answer = memory.search(question, now=NOW)

    assert answer.results[0].path == f"memory/{first}.md"
    assert {hit.path for hit in answer.results} == {f"memory/{day}.md" for day in DAYS}


def test_the_answer_says_how_a_day_was_read(memory: SyncMemory) -> None:
    answer = memory.search("the gateway last week, or in May, or 1/2/2024", now=NOW)
    told = memory.search("the gateway last week", now=NOW)

    assert told.understood == Understood(
        dates=(
            UnderstoodDate(text="last week", since="2026-11-23", until="2026-11-29"),
        )
    )
    assert reading_sentence(told) == '"last week" is read as 2026-11-23 to 2026-11-29'
    assert reading_sentence(answer) == (
        '"May" is read as 05-01 to 05-31 of any year, '
        '"1/2/2024" is read as 2024-02-01 or 2024-01-02'
    )
    assert wire.answer_json(told)["understood"] == {
        "dates": [{"text": "last week", "since": "2026-11-23", "until": "2026-11-29"}]
    }


def test_a_question_without_a_day_says_nothing_of_it(memory: SyncMemory) -> None:
    answer = memory.search("Which port does the gateway have?", now=NOW)

    assert answer.understood is None
    assert "understood" not in wire.answer_json(answer)


@pytest.mark.parametrize(
    ("zone", "day"), [("Asia/Tokyo", "2026-12-01"), ("America/Lima", "2026-11-30")]
)
def test_yesterday_is_that_of_the_users_clock(root: Path, zone: str, day: str) -> None:
    with open_memory_sync(
        workspace=root / "notes", environ=environ_of(root, zone)
    ) as memory:
        answer = memory.search("gateway yesterday", now=NOW)

    assert answer.understood is not None
    assert answer.understood.dates[0].since == day
    assert answer.results[0].path == f"memory/{day}.md"


def test_a_note_is_of_the_day_that_its_front_matter_names(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    named = {"alder": "2026-01-05", "birch": "2026-03-03", "cedar": "2026-06-05"}
    for name, day in named.items():
        text = (
            f"---\ndate: {day}\n---\nWe decided that the gateway moves, said {name}.\n"
        )
        (tmp_path / f"memory/{name}.md").write_text(text, encoding="utf-8")

    with open_memory_sync(
        workspace=tmp_path, environ=environ_of(tmp_path, "UTC")
    ) as memory:
        answer = memory.search("the gateway on March 3rd", now=NOW)

    assert answer.results[0].path == "memory/birch.md"
    assert len(answer.results) == 3


def test_from_a_folder_of_a_vault_that_folder_alone_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "vault/.obsidian").mkdir(parents=True)
    for folder in ("boats", "cats"):
        (tmp_path / "vault" / folder).mkdir()
        note = tmp_path / "vault" / folder / "x.md"
        note.write_text("Bertrand sleeps.\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path / "vault/cats")
    monkeypatch.setenv("HOME", str(tmp_path))

    with open_memory_sync(
        environ={"OPENCLAW_STATE_DIR": str(tmp_path / "s")}
    ) as memory:
        answer = memory.search("Bertrand")

        assert [hit.path for hit in answer.results] == ["cats/x.md"]
        assert answer.understood == Understood(within="cats")
        assert memory.get("boats/x.md").found
        assert "reading the folder cats of" in memory.notices[0]
