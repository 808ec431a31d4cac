"""The flush of a memory: planned, written, put on record, and done once a cycle."""

import json
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest

from notewell import SyncMemory, open_memory, open_memory_sync

KEY = "agent:main:main"
BEFORE = datetime(2026, 3, 1, 23, 59, tzinfo=UTC)
AFTER = datetime(2026, 3, 2, 0, 1, tzinfo=UTC)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A workspace."""
    (tmp_path / "notes" / "memory").mkdir(parents=True)
    return tmp_path / "notes"


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """An environment whose state folder has a configuration."""
    state = tmp_path / "state"
    state.mkdir()
    flush = {"softThresholdTokens": 4000, "forceFlushTranscriptBytes": "1kb"}
    defaults = {"userTimezone": "UTC", "compaction": {"memoryFlush": flush}}
    settings = json.dumps({"agents": {"defaults": defaults}})
    (state / "openclaw.json").write_text(settings, encoding="utf-8")
    return {"OPENCLAW_STATE_DIR": str(state)}


def sessions(environ: dict[str, str], entry: dict[str, object]) -> Path:
    folder = Path(environ["OPENCLAW_STATE_DIR"]) / "agents" / "main" / "sessions"
    folder.mkdir(parents=True, exist_ok=True)
    store = json.dumps({KEY: entry})
    (folder / "sessions.json").write_text(store, encoding="utf-8")
    return folder


@pytest.fixture
def memory(notes: Path, environ: dict[str, str]) -> SyncMemory:
    """A memory that is never closed: it holds nothing open before a search."""
    return open_memory_sync(workspace=notes, environ=environ)


def reason(memory: SyncMemory, compactions: int = 0) -> str:
    plan = memory.flush.plan(
        context_window=200_000, tokens=180_000, compactions=compactions
    )
    return plan.decision.reason


async def test_what_a_flush_writes_is_found(
    notes: Path, environ: dict[str, str]
) -> None:
    async with open_memory(workspace=notes, environ=environ) as memory:
        plan = await memory.flush.plan(context_window=200_000, tokens=180_000)
        outcome = await memory.flush.finish(plan, "- The lease ends in Quimperlé.")
        answer = await memory.search("Quimperlé")

    assert plan.due
    assert outcome.written
    assert [hit.path for hit in answer.results] == [outcome.path]


def test_it_is_done_once_in_a_cycle_whatever_process_asks(
    memory: SyncMemory, notes: Path, environ: dict[str, str]
) -> None:
    plan = memory.flush.plan(context_window=200_000, tokens=180_000)
    memory.flush.finish(plan, "NO_REPLY")
    other = open_memory_sync(workspace=notes, environ=environ)

    assert reason(memory) == reason(other) == "done-this-cycle"
    assert reason(other, compactions=1) == "near-compaction"


def test_a_turn_that_failed_does_not_count_and_is_not_tried_at_once(
    memory: SyncMemory,
) -> None:
    plan = memory.flush.plan(context_window=200_000, tokens=180_000)
    outcome = memory.flush.finish(plan, None)

    assert not outcome.succeeded
    assert reason(memory) == "backing-off"
    assert reason(memory, compactions=1) == "near-compaction"


def test_the_turn_of_a_flush_does_not_start_another(memory: SyncMemory) -> None:
    plan = memory.flush.plan(context_window=200_000, tokens=180_000)

    assert plan.due
    assert reason(memory) == "running"
    memory.flush.finish(plan, "- a")
    assert reason(memory) == "done-this-cycle"


def test_a_plan_that_is_held_binds_its_own_session_alone(memory: SyncMemory) -> None:
    plan = partial(memory.flush.plan, context_window=200_000, tokens=180_000)

    held = plan(session_id="one")
    again = plan(session_id="one")
    other = plan(session_id="two")
    memory.flush.finish(other, "- b")
    still = plan(session_id="one")

    assert held.due
    assert again.decision.reason == "running"
    assert other.due
    assert still.decision.reason == "running"


@pytest.mark.parametrize(
    ("sandbox", "key", "due"),
    [
        ({"workspaceAccess": "ro"}, None, False),
        ({"workspaceAccess": "none"}, None, False),
        ({"workspaceAccess": "rw", "mode": "all"}, None, True),
        ({"workspaceAccess": "ro", "mode": "off"}, None, True),
        ({"workspaceAccess": "ro", "mode": "non-main"}, None, True),
        ({"workspaceAccess": "ro", "mode": "non-main"}, KEY + ":thread:1", False),
        ({"mode": "all"}, None, False),
        ({"workspaceAccess": "read"}, None, False),
        ({}, None, True),
    ],
)
@pytest.mark.parametrize("at", ["defaults", "list"])
def test_a_sandbox_that_is_not_writable_skips_the_flush(
    notes: Path,
    environ: dict[str, str],
    sandbox: dict[str, str],
    key: str | None,
    *,
    due: bool,
    at: str,
) -> None:
    given = {"sandbox": sandbox}
    agents = (
        {"defaults": given} if at == "defaults" else {"list": [{"id": "main", **given}]}
    )
    file = Path(environ["OPENCLAW_STATE_DIR"]) / "openclaw.json"
    file.write_text(json.dumps({"agents": agents}), encoding="utf-8")
    memory = open_memory_sync(workspace=notes, environ=environ, session_key=key)

    plan = memory.flush.plan(context_window=200_000, tokens=180_000)

    assert plan.due is due
    assert due or plan.decision.reason == "not-writable"


def test_midnight_between_plan_and_end_loses_nothing(
    memory: SyncMemory, notes: Path
) -> None:
    plan = memory.flush.plan(context_window=200_000, tokens=180_000, now=BEFORE)

    outcome = memory.flush.finish(
        plan, "- late", path="memory/2026-03-02.md", now=AFTER
    )

    assert plan.prompts.path == "memory/2026-03-01.md"
    text = (notes / outcome.path).read_text(encoding="utf-8")
    assert text == "# 2026-03-02\n\n- late\n"


def test_what_the_loop_does_not_know_is_read_from_openclaw(
    memory: SyncMemory, environ: dict[str, str]
) -> None:
    entry: dict[str, object] = {
        "sessionId": "s1",
        "totalTokens": 180_000,
        "contextTokens": 200_000,
        "compactionCount": 4,
    }
    folder = sessions(environ, entry)
    before = (folder / "sessions.json").read_bytes()

    plan = memory.flush.plan()
    memory.flush.finish(plan, "NO_REPLY")

    assert (plan.due, plan.cycle, plan.session_id) == (True, 4, "s1")
    assert memory.flush.plan().decision.reason == "done-this-cycle"
    assert (folder / "sessions.json").read_bytes() == before


def test_a_session_that_began_anew_is_flushed_again(
    memory: SyncMemory, environ: dict[str, str]
) -> None:
    sizes: dict[str, object] = {"totalTokens": 180_000, "contextTokens": 200_000}
    sessions(environ, {**sizes, "sessionId": "s1"})
    memory.flush.finish(memory.flush.plan(), "NO_REPLY")

    sessions(environ, {**sizes, "sessionId": "s2"})

    assert memory.flush.plan().due


def test_a_count_that_is_out_of_date_is_no_count(
    memory: SyncMemory, environ: dict[str, str]
) -> None:
    sessions(
        environ,
        {"totalTokens": 180_000, "totalTokensFresh": False, "contextTokens": 200_000},
    )

    assert memory.flush.plan().decision.reason == "unknown-size"


def test_the_size_of_the_transcript_is_looked_up(
    memory: SyncMemory, environ: dict[str, str]
) -> None:
    folder = sessions(environ, {"sessionId": "s1"})
    (folder / "s1.jsonl").write_bytes(b"x" * 2_000)

    assert memory.flush.plan().decision.reason == "transcript-size"


@pytest.mark.parametrize("raw", ["", "[1]", '{"agent:main:main": 5}', "{"])
def test_a_file_of_openclaw_that_makes_no_sense_hinders_nobody(
    memory: SyncMemory, environ: dict[str, str], raw: str
) -> None:
    folder = sessions(environ, {})
    (folder / "sessions.json").write_text(raw, encoding="utf-8")

    assert reason(memory) == "near-compaction"


def test_a_folder_that_is_read_whole_is_not_flushed_into(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "cat.md").write_text("Bertrand\n", encoding="utf-8")

    assert reason(open_memory_sync(workspace=vault, environ=environ)) == "not-writable"


def test_a_memory_that_is_switched_off_does_not_flush(
    notes: Path, environ: dict[str, str]
) -> None:
    settings = {"agents": {"defaults": {"memorySearch": {"enabled": False}}}}
    state = Path(environ["OPENCLAW_STATE_DIR"])
    (state / "openclaw.json").write_text(json.dumps(settings), encoding="utf-8")

    off = open_memory_sync(workspace=notes, environ=environ)

    assert reason(off) == "memory-disabled"


def test_a_record_that_cannot_be_written_is_told_and_does_not_raise(
    memory: SyncMemory, environ: dict[str, str]
) -> None:
    plan = memory.flush.plan(context_window=200_000, tokens=180_000)
    (Path(environ["OPENCLAW_STATE_DIR"]) / "agents").write_bytes(b"")

    outcome = memory.flush.finish(plan, "- a")

    assert outcome.succeeded
    assert "could not be written" in str(outcome.problem)


def test_a_loop_that_names_its_sessions_is_flushed_in_each(memory: SyncMemory) -> None:
    for name in ("morning", "evening"):
        plan = memory.flush.plan(
            context_window=200_000, tokens=180_000, session_id=name
        )
        memory.flush.finish(plan, "NO_REPLY")
        assert plan.due
