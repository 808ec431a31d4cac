"""Transcripts through the whole memory: who may see them, and what switches them on."""

import json
from pathlib import Path
from typing import Any

import pytest

from notewell import PathRefused, open_memory_sync
from notewell.memory import SyncMemory

GROUP = "agent:main:telegram:group:-100200"
OTHER = "agent:main:telegram:group:-100300"
SESSIONS = {
    "agent:main:main": ("private", "The walrus of the owner is called Odo."),
    GROUP: ("club", "The walrus of the club is called Ada."),
    OTHER: ("guild", "The walrus of the guild is called Bo."),
}


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """The environment of an agent with three conversations and one archive."""
    state = tmp_path / "state"
    folder = state / "agents" / "main" / "sessions"
    folder.mkdir(parents=True)
    for name, text in SESSIONS.values():
        write(folder / f"{name}.jsonl", text)
    write(folder / "old.jsonl.reset.2026-01-01T04", "An older walrus was called Cy.")
    store = {key: {"sessionId": name} for key, (name, _) in SESSIONS.items()}
    (folder / "sessions.json").write_text(json.dumps(store), encoding="utf-8")
    other = state / "agents" / "tea" / "sessions"
    other.mkdir(parents=True)
    write(other / "tea.jsonl", "The walrus of another agent is called Dot.")
    notes = tmp_path / "notes"
    (notes / "memory").mkdir(parents=True)
    (notes / "MEMORY.md").write_text("A walrus is no fish.\n", encoding="utf-8")
    return {"OPENCLAW_STATE_DIR": str(state)}


def write(file: Path, text: str) -> None:
    """Write a transcript of one message."""
    record = {"type": "message", "message": {"role": "user", "content": text}}
    file.write_text(json.dumps(record) + "\n", encoding="utf-8")


def opened(
    environ: dict[str, str], *, session_key: str | None = None, **search: object
) -> SyncMemory:
    """Open the memory with transcripts as a source, unless `search` says otherwise."""
    state = Path(environ["OPENCLAW_STATE_DIR"])
    keys: dict[str, object] = {
        "sources": ["memory", "sessions"],
        "experimental.sessionMemory": True,
        **search,
    }
    return open_memory_sync(
        environ=environ,
        session_key=session_key,
        overrides={
            "agents.defaults.workspace": str(state.parent / "notes"),
            **{f"agents.defaults.memorySearch.{k}": v for k, v in keys.items()},
        },
    )


def test_the_owner_finds_what_was_said_to_this_agent_and_to_no_other(
    environ: dict[str, str],
) -> None:
    with opened(environ) as memory:
        answer = memory.search("walrus")

    assert {hit.path for hit in answer.results} == {
        "MEMORY.md",
        "sessions/private.jsonl",
        "sessions/club.jsonl",
        "sessions/guild.jsonl",
        "sessions/old.jsonl.reset.2026-01-01T04",
    }


@pytest.mark.parametrize(("key", "path"), [(GROUP, "club"), (OTHER, "guild")])
def test_a_group_finds_its_own_transcripts_alone(
    environ: dict[str, str], key: str, path: str
) -> None:
    with opened(environ, session_key=key) as memory:
        answer = memory.search("walrus")

    assert [hit.path for hit in answer.results] == [f"sessions/{path}.jsonl"]


def test_a_group_that_nobody_has_a_transcript_of_finds_none(
    environ: dict[str, str],
) -> None:
    with opened(environ, session_key="agent:main:telegram:group:-1") as memory:
        answer = memory.search("walrus")

    assert (answer.results, answer.reason) == ((), "no-match")


def test_a_transcript_is_quoted_and_not_read_out(environ: dict[str, str]) -> None:
    with opened(environ) as memory:
        [hit] = memory.search("walrus", sources=["sessions"], max_results=1).results
        document = memory.get(hit.citation)

    assert (document.found, document.text) == (False, "")
    assert document.reason
    with opened(environ) as memory, pytest.raises(PathRefused):
        memory.get("sessions/../../state/agents/main/sessions/private.jsonl")


@pytest.mark.parametrize(
    ("keys", "switch"),
    [
        ({"experimental.sessionMemory": False}, "experimental.sessionMemory"),
        ({"sources": ["memory"]}, "sources"),
    ],
)
def test_the_switch_that_is_missing_is_named(
    environ: dict[str, str], keys: dict[str, Any], switch: str
) -> None:
    with opened(environ, **keys) as memory:
        answer = memory.search("walrus", sources=["sessions"])
        status = memory.status()

    assert (answer.results, answer.reason) == ((), "source-disabled")
    assert any(switch in said for said in answer.warnings)
    assert any(switch in said for said in status.warnings)


def test_a_folder_that_is_not_the_agents_own_is_searched_without_its_transcripts(
    environ: dict[str, str], tmp_path: Path
) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "walrus.md").write_text("A walrus.\n", encoding="utf-8")
    keys = {"sources": ["memory", "sessions"], "experimental.sessionMemory": True}
    overrides = {f"agents.defaults.memorySearch.{k}": v for k, v in keys.items()}

    with open_memory_sync(
        workspace=vault, environ=environ, overrides=overrides
    ) as memory:
        answer = memory.search("walrus")

    assert [hit.path for hit in answer.results] == ["walrus.md"]
