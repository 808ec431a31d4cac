"""A small workspace with judged queries, and who listens to a run."""

import os
from pathlib import Path

import pytest
from tests.backends.qmd.conftest import command_of

from notewell.backends.base import Upload
from notewell.bench.contenders import UserSettings
from notewell.bench.metrics import LineRange
from notewell.bench.queries import JudgedQuery

NOTES = {
    "MEMORY.md": "# Facts\n\nThe gateway port is 18789.\n",
    "memory/2026-01-10.md": "# Rollout\n\nThe multi-agent rollout went well.\n",
    "memory/birds.md": "# Birds\n\nA heron stands in the pond.\n\nIt waits.\n",
}
QUERIES = (
    JudgedQuery(
        id="port",
        text="gateway port",
        category="a",
        right=(LineRange("MEMORY.md", 3, 3),),
    ),
    JudgedQuery(
        id="heron",
        text="heron",
        category="b",
        right=(LineRange("memory/birds.md", 3, 3),),
    ),
    JudgedQuery(
        id="whale",
        text="whale",
        category="b",
        right=(LineRange("memory/birds.md", 5, 5),),
    ),
)


class Quiet:
    """A listener that remembers the parts of a run."""

    def __init__(self) -> None:
        self.stages: list[str] = []
        self.uploads: list[Upload] = []

    def stage(self, title: str, noun: str) -> None:
        self.stages.append(title)

    def moved(self, done: int, total: int) -> None:
        assert 0 <= done <= total

    def embedding(self, done: int, total: int) -> None:
        assert 0 <= done <= total

    def fetching(self, have: int, total: int | None) -> None:
        assert have >= 0

    def uploading(self, upload: Upload) -> None:
        self.uploads.append(upload)


@pytest.fixture
def judged() -> tuple[JudgedQuery, ...]:
    """Three queries; nothing in the notes shares a word with the last."""
    return QUERIES


@pytest.fixture
def listener() -> Quiet:
    """Who is told how a run goes."""
    return Quiet()


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A workspace of three notes."""
    root = tmp_path / "notes"
    for path, text in NOTES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text.encode())
    return root


@pytest.fixture
def user(notes: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> UserSettings:
    """That workspace with nobody's settings: neither files nor keys of this machine."""
    for name in list(os.environ):
        if name.startswith(("OPENCLAW_", "NOTEWELL_")) or name.endswith("_API_KEY"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("OPENCLAW_STATE_DIR", str(tmp_path / "users-state"))
    return UserSettings(environ=dict(os.environ), workspace=notes)


@pytest.fixture(scope="session")
def qmd() -> list[str]:
    """`memory.qmd.command` for the real QMD; skips the test without it."""
    return command_of("2.8.3")
