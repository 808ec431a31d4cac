"""An agent with transcripts beside its notes."""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from notewell.backends.base import Findings, Query, Run, Site
from notewell.backends.builtin.engine import Engine
from notewell.config import load_settings
from notewell.types import IndexReport, Source
from notewell.workspace import Workspace

BOTH: frozenset[Source] = frozenset({"memory", "sessions"})
_AT = datetime(2026, 2, 11, 9, 30, tzinfo=UTC).timestamp()


class Talks:
    """A folder of notes and an agent's transcripts, with the builtin engine on them.

    Attributes:
        root: The folder of notes.
        folder: Where the transcripts are.
        engine: The engine; it may be replaced by `reopen`.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        self.root = self._folder / "notes"
        self.folder = self._folder / "state" / "agents" / "main" / "sessions"
        (self.root / "memory").mkdir(parents=True)
        self.folder.mkdir(parents=True)
        self.engine = Engine(self.site())

    def site(self, **search: object) -> Site:
        """Return where the engine works, with these keys of `memorySearch`."""
        state = self._folder / "state"
        keys = {f"agents.defaults.memorySearch.{k}": v for k, v in search.items()}
        settings = load_settings(
            config_file=None,
            environ={"OPENCLAW_STATE_DIR": str(state)},
            home=state,
            overrides={"agents.defaults.workspace": str(self.root), **keys},
        )
        return Site(
            workspace=Workspace(root=self.root),
            agent=settings.agent(None),
            memory=settings.memory,
            state_dir=state,
            transcripts=True,
        )

    def reopen(self, **search: object) -> None:
        """Close the engine and open another, with these keys of `memorySearch`."""
        self.engine.close()
        self.engine = Engine(self.site(**search))

    @staticmethod
    def said(text: str, role: str = "user", *, day: int = 0) -> str:
        """Return a line of a transcript, with its end."""
        block = {"type": "text", "text": text}
        at = int((_AT + day * 86_400) * 1000)
        message = {"role": role, "content": [block], "timestamp": at}
        return json.dumps({"type": "message", "message": message}) + "\n"

    def note(self, path: str, text: str) -> None:
        """Write a note."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def write(self, name: str, *lines: str) -> Path:
        """Write a transcript: lines with their ends."""
        file = self.folder / name
        file.write_text("".join(lines), encoding="utf-8")
        return file

    def add(self, name: str, *lines: str) -> None:
        """Let a transcript grow."""
        with (self.folder / name).open("a", encoding="utf-8") as file:
            file.write("".join(lines))

    def keys(self, sessions: Mapping[str, str]) -> None:
        """Write `sessions.json`: which session belongs to which key."""
        store = {key: {"sessionId": one} for key, one in sessions.items()}
        file = self.folder / "sessions.json"
        file.write_text(json.dumps(store), encoding="utf-8")

    def refresh(self, *, force: bool = False) -> IndexReport:
        """Bring the index up to date."""
        return self.engine.refresh(Run(force=force))

    def ask(
        self, text: str, *, limit: int = 6, sources: frozenset[Source] = BOTH
    ) -> Findings:
        """Put a question; every hit is held against the transcript that it cites."""
        found = self.engine.search(Query(text=text, limit=limit, sources=sources))
        assert bool(found.hits) == (found.reason is None)
        for hit in found.hits:
            assert hit.source in sources
            if hit.source == "sessions":
                self._check(hit.path, hit.start_line, hit.end_line, hit.snippet)
        return found

    def _check(self, path: str, start: int, end: int, snippet: str) -> None:
        """Every line of a snippet stands in the lines of the JSONL that are cited."""
        file = self.folder / path.removeprefix("sessions/")
        raw = file.read_bytes().split(b"\n")[start - 1 : end]
        cited = "\n".join(
            block["text"]
            for line in raw
            if line.startswith(b'{"type": "message"') and b"toolResult" not in line
            for block in json.loads(line)["message"]["content"]
        )
        for line in snippet.split("\n"):
            bare = line.removeprefix("User: ").removeprefix("Assistant: ")
            assert bare.strip() in cited


@pytest.fixture(scope="session")
def talks_in() -> type[Talks]:
    """Makes agents, also within one test, for properties with many examples."""
    return Talks


@pytest.fixture
def talks(tmp_path: Path) -> Iterator[Talks]:
    """An agent without notes and transcripts, and no index yet."""
    made = Talks(tmp_path)
    yield made
    made.engine.close()
