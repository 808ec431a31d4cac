"""Claude Code's and Codex's transcripts through the whole memory, when configured."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from notewell import PathRefused, open_memory_sync
from notewell.memory import SyncMemory
from notewell.sessions.programs import project_name

GROUP = "agent:main:telegram:group:-100200"
ONE = "0b7fd1c2-7a51-4a3f-9a55-1e1c2f6f2f10"


class Host:
    """A workspace, and two programs that were used in two projects."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.root = self.folder / "notes"
        (self.root / "memory").mkdir(parents=True)
        (self.root / "MEMORY.md").write_text("A walrus is no fish.\n", "utf-8")
        for project in ("shop", "bank"):
            self._claude(project)
            self._codex(project)

    def _claude(self, project: str) -> None:
        cwd = str(self.folder / project)
        file = self.folder / "c" / "projects" / project_name(cwd) / f"{ONE}.jsonl"
        file.parent.mkdir(parents=True)
        content = f"The walrus of the {project} is Odo."
        message = {"role": "user", "content": content}
        line = {"type": "user", "cwd": cwd, "message": message}
        file.write_text(json.dumps(line) + "\n", "utf-8")

    def _codex(self, project: str) -> None:
        file = self.folder / "x" / "sessions" / "2026" / "03" / "01"
        file.mkdir(parents=True, exist_ok=True)
        file /= f"rollout-2026-03-01T10-00-00-{project}.jsonl"
        payload = {"id": project, "cwd": str(self.folder / project)}
        block = {"type": "output_text", "text": f"The walrus of the {project} is Ada."}
        said = {"type": "message", "role": "assistant", "content": [block]}
        lines = [
            {"type": "session_meta", "payload": payload},
            {"type": "response_item", "payload": said},
        ]
        file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")

    def source(self, program: str, **more: object) -> dict[str, object]:
        folder = self.folder / ("c" if program == "claude-code" else "x")
        return {
            "program": program,
            "workspace": str(self.root),
            "project": str(self.folder / "shop"),
            "folder": str(folder),
            **more,
        }

    def opened(
        self,
        sources: Sequence[dict[str, object]] = (),
        session_key: str | None = None,
        workspace: Path | None = None,
    ) -> SyncMemory:
        return open_memory_sync(
            environ={"OPENCLAW_STATE_DIR": str(self.folder / "state")},
            session_key=session_key,
            workspace=workspace,
            overrides={
                "agents.defaults.workspace": str(self.root),
                "agents.defaults.memorySearch.provider": "none",
                "memory.transcripts": list(sources),
            },
        )


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


def found(memory: SyncMemory) -> list[str]:
    return sorted(hit.snippet.strip() for hit in memory.search("walrus").results)


def test_a_project_is_searched_with_the_notes_when_that_is_configured(
    host: Host,
) -> None:
    with host.opened() as memory:
        assert found(memory) == ["A walrus is no fish."]

    with host.opened([host.source("claude-code"), host.source("codex")]) as memory:
        memory.refresh()
        hits = memory.search("walrus", sources=["sessions"]).results
        told = memory.status()
        with pytest.raises(PathRefused):
            memory.get(f"../c/projects/{ONE}.jsonl")

    lines = {hit.path.split("/")[1]: (hit.source, hit.start_line) for hit in hits}
    assert lines == {"claude-code": ("sessions", 1), "codex": ("sessions", 2)}
    assert {hit.snippet.strip() for hit in hits} == {
        "User: The walrus of the shop is Odo.",
        "Assistant: The walrus of the shop is Ada.",
    }
    assert told.sources == ("memory", "sessions")

    with host.opened() as memory:  # the setting is taken back
        memory.refresh()
        assert found(memory) == ["A walrus is no fish."]


def test_another_folder_is_told_nothing(host: Host) -> None:
    other = host.folder / "other"
    other.mkdir()
    (other / "MEMORY.md").write_text("A walrus swims.\n", "utf-8")

    with host.opened([host.source("codex")], workspace=other) as memory:
        memory.refresh()
        assert found(memory) == ["A walrus swims."]


def test_a_group_finds_none_of_them(host: Host) -> None:
    sources = [host.source("claude-code"), host.source("codex")]
    with host.opened(sources) as memory:
        memory.refresh()
        assert len(found(memory)) == 3

    with host.opened(sources, GROUP) as memory:
        assert found(memory) == []


def test_what_grows_and_what_cannot_be_read_now(host: Host) -> None:
    sources = [host.source("codex")]
    [file] = (host.folder / "x").rglob("*shop.jsonl")
    with host.opened(sources) as memory:
        memory.refresh()
        block = {"type": "output_text", "text": "Its tusk is broken. " + "x" * 100_000}
        said = {"type": "message", "role": "assistant", "content": [block]}
        with file.open("a", encoding="utf-8") as opened:
            opened.write(json.dumps({"type": "response_item", "payload": said}) + "\n")
        memory.refresh()
        [hit] = memory.search("tusk").results
        assert hit.start_line == 3

        file.unlink()
        memory.refresh()
        assert found(memory) == ["A walrus is no fish."]


def test_a_wrong_entry_costs_that_entry_and_sends_nothing(host: Host) -> None:
    wrong = {**host.source("codex"), "remot": True}

    with host.opened([host.source("claude-code")]) as memory:
        memory.refresh()
        assert len(found(memory)) == 2
    config = host.folder / "openclaw.json"
    entries = [wrong, {"program": "vim", "workspace": "/x"}, host.source("claude-code")]
    config.write_text(json.dumps({"memory": {"transcripts": entries}}), "utf-8")
    with open_memory_sync(
        config=config,
        environ={"OPENCLAW_STATE_DIR": str(host.folder / "state")},
        workspace=host.root,
    ) as memory:
        warnings = memory.status().warnings
        assert sum("memory.transcripts[" in each for each in warnings) == 2
