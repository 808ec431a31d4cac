"""Transcripts in the real QMD: copied, found, cited by the JSONL, and seen by whom."""

import json
import os
import stat
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from notewell import PathRefused, open_memory_sync
from notewell.errors import BackendFailed
from notewell.memory import SyncMemory
from notewell.sessions.programs import project_name
from notewell.types import Source

if TYPE_CHECKING:
    from tests.backends.qmd.conftest import Faulty

GROUP = "agent:main:telegram:group:-100200"
SILENT = "NO_REPLY"


class Agent:
    """An agent whose memory QMD searches, with notes and transcripts.

    Attributes:
        root: The folder of notes.
        talks: Where the transcripts are.
        home: QMD's home.
    """

    def __init__(
        self, folder: Path, command: list[str], environ: Mapping[str, str]
    ) -> None:
        folder = folder.resolve()
        self.root, state = folder / "notes", folder / "state"
        self.talks = state / "agents" / "main" / "sessions"
        self.home = state / "qmd" / "main"
        self._command = command
        self._environ = {**environ, "OPENCLAW_STATE_DIR": str(state)}
        (self.root / "memory").mkdir(parents=True)
        self.talks.mkdir(parents=True)
        (self.root / "memory" / "a.md").write_text("A walrus is no fish.\n", "utf-8")

    def opened(
        self, session_key: str | None = None, *, server: bool = False, **memory: object
    ) -> SyncMemory:
        """Open the memory, with these settings below `memory`."""
        given = {f"memory.{key.replace('_', '.')}": it for key, it in memory.items()}
        return open_memory_sync(
            environ=self._environ,
            session_key=session_key,
            server=server,
            overrides={
                "agents.defaults.workspace": str(self.root),
                "agents.defaults.memorySearch.sources": ["memory", "sessions"],
                "agents.defaults.memorySearch.sync.sessions.deltaMessages": 2,
                "memory.backend": "qmd",
                "memory.fallback": "none",
                "memory.qmd.command": self._command,
                "memory.qmd.limits.timeoutMs": 30_000,
                "memory.qmd.limits.maxResults": 20,
                "memory.qmd.transport": "cli",
                "memory.qmd.sessions.enabled": True,
                # By default groups are not answered at all.
                "memory.qmd.scope": {"default": "allow"},
                **given,
            },
        )

    def say(self, name: str, *texts: str, role: str = "assistant") -> Path:
        """Add messages to a transcript, which begins with two lines of machinery."""
        file = self.talks / name
        if not file.exists():
            file.write_text('{"type": "session"}\n{"type": "model"}\n', "utf-8")
        with file.open("a", encoding="utf-8") as opened:
            for text in texts:
                message = {"role": role, "content": text}
                opened.write(json.dumps({"type": "message", "message": message}))
                opened.write("\n")
        return file

    def copies(self) -> list[str]:
        """Return the names of the copies that QMD reads."""
        return sorted(file.name for file in self.home.glob("transcripts/*.md"))


def paths(
    memory: SyncMemory, text: str, sources: list[Source] | None = None
) -> list[str]:
    """Return the files in the answer to a question, in the order of their names."""
    return sorted({hit.path for hit in memory.search(text, sources=sources).results})


@pytest.fixture
def agent(tmp_path: Path, qmd: list[str], environ: Mapping[str, str]) -> Agent:
    """An agent with one note and no transcripts."""
    return Agent(tmp_path, qmd, environ)


def test_what_was_said_is_found_and_cited_by_its_lines_of_the_jsonl(
    agent: Agent,
) -> None:
    agent.say("s1.jsonl", "Where?", "The walrus lives\nin <|im_end|>Bergen.")

    with agent.opened() as memory:
        [hit] = memory.search("Bergen").results
        document = memory.get(hit.citation)

    assert (hit.path, hit.source) == ("sessions/s1.jsonl", "sessions")
    assert (hit.start_line, hit.match_line, hit.end_line) == (3, 4, 4)
    assert "Assistant: The walrus lives\nin Bergen." in hit.snippet
    assert (document.found, document.text) == (False, "")


def test_what_was_said_in_another_program_is_found_where_that_is_configured(
    agent: Agent,
) -> None:
    project = agent.root.parent / "shop"
    file = agent.root.parent / "c" / "projects" / project_name(str(project)) / "a.jsonl"
    file.parent.mkdir(parents=True)
    message = {"role": "user", "content": "The walrus of the shop is Odo."}
    line = {"type": "user", "cwd": str(project), "message": message}
    file.write_text(f'{{"type": "summary"}}\n{json.dumps(line)}\n', "utf-8")
    agent.say("own.jsonl", "The walrus of the agent is Ada.")
    source = {
        "program": "claude-code",
        "workspace": str(agent.root),
        "project": str(project),
        "folder": str(file.parents[2]),
    }

    with agent.opened(qmd_sessions_enabled=False, transcripts=[source]) as memory:
        memory.refresh()
        found = memory.search("walrus", sources=["sessions"]).results

    assert [(hit.path, hit.start_line) for hit in found] == [
        (f"sessions/claude-code/{file.parent.name}/a.jsonl", 2)
    ]
    with agent.opened(GROUP, transcripts=[source]) as memory:
        assert paths(memory, "walrus", ["sessions"]) == []


def test_of_a_long_transcript_the_message_is_cited_that_holds_the_word(
    agent: Agent,
) -> None:
    for number in range(120):
        agent.say("s1.jsonl", f"We count basin {number} and rinse it. " * 12)
    agent.say("s1.jsonl", "The heron saw basin 60.")

    with agent.opened() as memory:
        last = memory.search("heron").results[0]
        inside = memory.search('"basin 77"').results[0]

    assert len(agent.copies()) > 3
    assert (last.match_line, last.end_line) == (123, 123)
    assert inside.start_line <= inside.match_line == 80 <= inside.end_line


def test_archives_of_a_reset_are_searched_and_the_machinery_is_not(
    agent: Agent,
) -> None:
    agent.say("s1.jsonl.reset.2026-01-01T04-00-00.000Z", "The walrus was called Odo.")
    agent.say("s1.jsonl.deleted.2026-01-01T04", "The walrus was called Bo.")
    agent.say("s2.jsonl", SILENT)

    with agent.opened() as memory:
        found = paths(memory, "walrus", sources=["sessions"])
        details = memory.status().index.details["transcripts"]

    assert found == ["sessions/s1.jsonl.reset.2026-01-01T04-00-00.000Z"]
    assert details.startswith("1 of 2 in ")
    assert details.endswith("nothing to search in sessions/s2.jsonl")


def test_a_source_is_searched_alone_however_many_the_other_one_has(
    agent: Agent,
) -> None:
    for number in range(30):
        agent.say(f"s{number}.jsonl", f"walrus walrus walrus {number}")

    with agent.opened() as memory:
        notes = paths(memory, "walrus", sources=["memory"])
        transcripts = paths(memory, "walrus", sources=["sessions"])

    assert notes == ["memory/a.md"]
    assert len(transcripts) == 20
    assert "memory/a.md" not in transcripts


def test_a_group_finds_its_own_transcript_however_much_others_said(
    agent: Agent,
) -> None:
    for number in range(30):
        agent.say(f"s{number}.jsonl", "walrus walrus walrus")
    agent.say("club.jsonl", "We once met a walrus, far away, on a quiet day.")
    store = {GROUP: {"sessionId": "club"}, "agent:main:main": {"sessionId": "s1"}}
    (agent.talks / "sessions.json").write_text(json.dumps(store), "utf-8")

    with agent.opened(GROUP) as memory:
        both = paths(memory, "walrus")
        own = paths(memory, "When did we meet a walrus?", sources=["sessions"])
    with agent.opened("agent:main:telegram:group:-1") as memory:
        stranger = paths(memory, "walrus")

    assert both == ["memory/a.md", "sessions/club.jsonl"]
    assert own == ["sessions/club.jsonl"]
    assert stranger == ["memory/a.md"]


def test_a_transcript_is_copied_again_when_enough_is_new_and_in_no_search(
    agent: Agent,
) -> None:
    agent.say("s1.jsonl", "first")

    with agent.opened() as memory:
        memory.refresh()
        agent.say("s1.jsonl", "heron")
        little = memory.refresh(), paths(memory, "heron")
        agent.say("s1.jsonl", "ibis")
        before = paths(memory, "ibis"), memory.status().index.pending
        enough = memory.refresh(), paths(memory, "ibis")
        later = memory.refresh()

    assert (little[0].changed, little[1]) == (0, [])
    assert before == ([], 1)
    assert (enough[0].changed, enough[1]) == (1, ["sessions/s1.jsonl"])
    assert (later.changed, later.pending) == (0, 0)


def test_a_transcript_that_is_gone_or_too_old_is_forgotten(agent: Agent) -> None:
    gone = agent.say("gone.jsonl", "gone walrus")
    old = agent.say("old.jsonl", "old walrus")
    agent.say("new.jsonl", "new walrus")

    with agent.opened(qmd_sessions_retentionDays=7) as memory:
        first = paths(memory, "walrus", sources=["sessions"])
        week_ago = time.time() - 8 * 86_400
        os.utime(old, (week_ago, week_ago))
        gone.unlink()
        report = memory.refresh()
        then = paths(memory, "walrus", sources=["sessions"])

    assert first == [f"sessions/{name}.jsonl" for name in ("gone", "new", "old")]
    assert (then, report.pending) == (["sessions/new.jsonl"], 0)
    assert agent.copies() == ["new.md"]


def test_without_the_switch_copies_are_removed_and_nothing_is_found(
    agent: Agent,
) -> None:
    agent.say("s1.jsonl", "heron")
    with agent.opened() as memory:
        memory.refresh()
    copied = agent.copies()

    with agent.opened(qmd_sessions_enabled=False) as memory:
        memory.refresh()
        answer = memory.search("heron", sources=["sessions"])

    assert (copied, agent.copies()) == (["s1.md"], [])
    assert (answer.results, answer.reason) == ((), "source-disabled")
    assert any("memory.qmd.sessions.enabled" in said for said in answer.warnings)


def test_copies_in_a_folder_of_ones_own_are_no_notes_for_anybody(
    agent: Agent, tmp_path: Path
) -> None:
    shared = tmp_path.resolve() / "vault" / "talks"
    agent.say("s1.jsonl", "heron")

    with agent.opened(qmd_sessions_exportDir=str(shared)) as memory:
        memory.refresh()
        found = paths(memory, "heron")
    with open_memory_sync(
        workspace=shared.parent, environ={"OPENCLAW_STATE_DIR": str(tmp_path / "s")}
    ) as vault:
        theirs = paths(vault, "heron")
        with pytest.raises(PathRefused):
            vault.get("talks/main/s1.md")

    copy = shared / "main" / "s1.md"
    assert found == ["sessions/s1.jsonl"]
    assert theirs == []
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert stat.S_IMODE(copy.parent.stat().st_mode) == 0o700


def test_no_copies_are_written_among_the_notes_and_every_answer_says_so(
    agent: Agent,
) -> None:
    place = agent.root / "memory" / "talks"
    agent.say("s1.jsonl", "heron")

    with agent.opened(qmd_sessions_exportDir=str(place)) as memory:
        memory.refresh()
        answer, status = memory.search("heron"), memory.status()
        notes = paths(memory, "walrus")

    assert not place.exists()
    assert answer.results == ()
    assert notes == ["memory/a.md"]
    for said in (answer.warnings, status.warnings):
        assert any("memory.qmd.sessions.exportDir" in one for one in said)


def test_a_folder_that_holds_something_else_is_left_as_it_is(
    agent: Agent, tmp_path: Path
) -> None:
    theirs = tmp_path / "vault" / "main"
    theirs.mkdir(parents=True)
    kept = {".notewellignore": "drafts/\n", "s1.md": "A wren.\n"}
    for name, text in kept.items():
        (theirs / name).write_text(text, encoding="utf-8")
    agent.say("s1.jsonl", "heron")

    with agent.opened(qmd_sessions_exportDir=str(theirs.parent)) as memory:
        memory.refresh()
        answer = memory.search("heron")
    with agent.opened(qmd_sessions_enabled=False) as memory:
        memory.refresh()

    assert any("holds something else" in said for said in answer.warnings)
    left = {file.name: file.read_text(encoding="utf-8") for file in theirs.iterdir()}
    assert left == kept


def test_a_folder_is_given_back_as_it_was_found(agent: Agent, tmp_path: Path) -> None:
    agent.say("s1.jsonl", "heron")
    with agent.opened(qmd_sessions_exportDir=str(tmp_path / "talks")) as memory:
        memory.refresh()
    (tmp_path / "talks" / "main" / "own.md").write_text("A wren.\n", encoding="utf-8")
    with agent.opened(qmd_sessions_enabled=False) as memory:
        memory.refresh()

    assert os.listdir(tmp_path / "talks" / "main") == ["own.md"]


def test_copies_that_qmd_never_read_are_removed_as_well(
    agent: Agent, faulty: "Faulty", tmp_path: Path
) -> None:
    place = tmp_path / "talks"
    agent.say("s1.jsonl", "heron")
    faulty.mood("sys.exit(1)")
    with (
        agent.opened(
            qmd_command=faulty.command, qmd_sessions_exportDir=str(place)
        ) as memory,
        pytest.raises(BackendFailed),
    ):
        memory.refresh()
    copied = os.path.exists(place / "main" / "s1.md")

    with agent.opened(qmd_sessions_enabled=False) as memory:
        memory.refresh()

    assert copied
    assert os.listdir(place) == []


def test_a_copy_that_somebody_deleted_is_made_again(agent: Agent) -> None:
    agent.say("s1.jsonl", "heron")

    with agent.opened() as memory:
        memory.refresh()
        (agent.home / "transcripts" / "s1.md").unlink()
        memory.refresh()
        found = paths(memory, "heron")

    assert found == ["sessions/s1.jsonl"]
    assert agent.copies() == ["s1.md"]


def test_while_qmd_is_not_there_builtin_answers_from_transcripts_as_well(
    agent: Agent,
) -> None:
    agent.say("s1.jsonl", "A heron stood there.")

    with agent.opened(qmd_command="/nonexistent/qmd", fallback="builtin") as memory:
        answer = memory.search("heron")

    assert [hit.path for hit in answer.results] == ["sessions/s1.jsonl"]
    assert answer.backend == "builtin"


def test_in_a_program_that_stays_a_new_transcript_is_found_without_an_update(
    agent: Agent,
) -> None:
    with agent.opened(
        server=True, qmd_update_debounceMs=50, qmd_update_interval=0
    ) as memory:
        end = time.monotonic() + 60
        while not paths(memory, "walrus") and time.monotonic() < end:
            threading.Event().wait(0.1)
        agent.say("s1.jsonl", "A heron stood there.")
        while not (found := paths(memory, "heron")) and time.monotonic() < end:
            threading.Event().wait(0.1)

    assert found == ["sessions/s1.jsonl"]


def test_a_question_about_notes_looks_at_no_transcript(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent.say("s1.jsonl", "heron")
    with agent.opened() as memory:
        memory.refresh()
        looked: list[str] = []
        real = os.scandir

        def scandir(path: str) -> object:
            looked.append(str(path))
            return real(path)

        monkeypatch.setattr(os, "scandir", scandir)
        notes = paths(memory, "walrus", sources=["memory"])
        nothing = paths(memory, "heron", sources=["memory"])

    assert (notes, nothing) == (["memory/a.md"], [])
    assert str(agent.root) in looked
    assert str(agent.talks) not in looked


@pytest.mark.parametrize(
    ("days", "found"), [(2, ["sessions/new.jsonl"]), (0, None), (None, None)]
)
@pytest.mark.parametrize("missing", [False, True])
def test_what_is_older_than_the_retention_comes_from_nobody(
    missing: bool, days: int | None, found: list[str] | None, agent: Agent
) -> None:
    long_ago = time.time() - 5 * 86_400
    os.utime(agent.say("old.jsonl", "A walrus, walrus/tusk~9."), (long_ago, long_ago))
    agent.say("new.jsonl", "A walrus.")
    settings: dict[str, Any] = {"fallback": "builtin"}
    if days is not None:
        settings["qmd_sessions_retentionDays"] = days
    if missing:
        settings["qmd_command"] = ["/nowhere/qmd"]

    with agent.opened(**settings) as memory:
        memory.refresh()
        everything = paths(memory, "walrus", ["sessions"])
        signs = paths(memory, "walrus/tusk~9", ["sessions"])

    assert everything == (found or ["sessions/new.jsonl", "sessions/old.jsonl"])
    assert ("sessions/old.jsonl" in signs) is (found is None)
