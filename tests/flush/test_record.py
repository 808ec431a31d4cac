"""The record of flushes: what counts, and for how long."""

import json
from pathlib import Path

import pytest

from notewell.flush import FlushRecord, note_flush, read_record

KEY = "agent:main:main"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where OpenClaw keeps an agent's sessions."""
    return tmp_path / "state" / "agents" / "main" / "sessions"


def note(folder: Path, cycle: int, *, succeeded: bool, session: str = "s1") -> None:
    note_flush(
        folder,
        KEY,
        session_id=session,
        cycle=cycle,
        succeeded=succeeded,
        now=1000.0 + cycle,
        state_dir=folder.parents[2],
    )


def test_a_success_counts_for_its_cycle(folder: Path) -> None:
    note(folder, 2, succeeded=True)

    record = read_record(folder, KEY, "s1")

    assert (record.flushed_cycle, record.failures) == (2, 0)


def test_a_failure_leaves_the_cycle_open_and_is_counted(folder: Path) -> None:
    note(folder, 1, succeeded=True)
    note(folder, 2, succeeded=False)
    note(folder, 2, succeeded=False)

    record = read_record(folder, KEY, "s1")

    assert (record.flushed_cycle, record.failed_cycle, record.failures) == (1, 2, 2)


def test_failures_of_an_earlier_cycle_are_forgotten(folder: Path) -> None:
    note(folder, 1, succeeded=False)
    note(folder, 2, succeeded=False)

    assert read_record(folder, KEY, "s1").failures == 1


def test_a_session_that_began_anew_has_no_record(folder: Path) -> None:
    note(folder, 0, succeeded=True, session="old")

    assert read_record(folder, KEY, "new") == FlushRecord(session_id="new")


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"[]",
        b"{",
        b'{"agent:main:main": 3}',
        b'{"agent:main:main": {"failures": "x"}}',
    ],
)
def test_a_record_that_cannot_be_read_is_none(folder: Path, raw: bytes) -> None:
    folder.mkdir(parents=True)
    (folder / "notewell-flush.json").write_bytes(raw)

    assert read_record(folder, KEY, "s1") == FlushRecord(session_id="s1")
    note(folder, 1, succeeded=True)
    assert read_record(folder, KEY, "s1").flushed_cycle == 1


def test_the_record_lies_beside_the_file_of_openclaw_and_leaves_that_alone(
    folder: Path,
) -> None:
    folder.mkdir(parents=True)
    store = folder / "sessions.json"
    store.write_text('{"agent:main:main": {}}', encoding="utf-8")

    note(folder, 1, succeeded=True)

    assert store.read_text(encoding="utf-8") == '{"agent:main:main": {}}'
    assert sorted(file.name for file in folder.iterdir()) == [
        "notewell-flush.json",
        "sessions.json",
    ]
    assert (folder / "notewell-flush.json").stat().st_mode & 0o777 == 0o600


def test_the_record_does_not_grow_for_ever(folder: Path) -> None:
    folder.mkdir(parents=True)
    many = {f"agent:main:{number}": {"at": 0.0} for number in range(1_200)}
    (folder / "notewell-flush.json").write_text(json.dumps(many), encoding="utf-8")

    note(folder, 1, succeeded=True)

    kept = json.loads((folder / "notewell-flush.json").read_text(encoding="utf-8"))
    assert len(kept) == 1_000
    assert list(kept)[-1] == KEY
