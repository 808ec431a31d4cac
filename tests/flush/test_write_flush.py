"""Writing what a flush says."""

import os
from datetime import date
from pathlib import Path

import pytest

from notewell.flush import FlushOutcome, write_flush
from notewell.workspace import Workspace

FIRST = date(2026, 3, 1)
SECOND = date(2026, 3, 2)
A = "The gateway moved to port 18790.\nIt was Noor's idea."
B = "- The backup ran."


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace in which the first of March has a log."""
    memory = tmp_path / "w" / "memory"
    memory.mkdir(parents=True)
    (memory / "2026-03-01.md").write_text(f"{A}\n", encoding="utf-8")
    return tmp_path / "w"


def flush(
    root: Path,
    reply: str,
    *,
    planned: date = FIRST,
    today: date = FIRST,
    path: str | None = None,
) -> FlushOutcome:
    return write_flush(
        Workspace(root=root),
        reply,
        planned=planned,
        today=today,
        state_dir=root.parent / "state",
        path=path,
    )


def text(root: Path, day: str) -> str:
    return (root / "memory" / f"{day}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("between", ["\n", "\n\n"])
def test_what_the_log_says_already_is_not_repeated(root: Path, between: str) -> None:
    outcome = flush(root, f"{A}{between}{B}", path="memory/2026-03-01.md")

    assert text(root, "2026-03-01") == f"{A}\n\n{B}\n"
    assert (outcome.succeeded, outcome.written, outcome.start_line) == (True, True, 4)


def test_nothing_is_lost_when_midnight_has_passed(root: Path) -> None:
    outcome = flush(root, B, today=SECOND, path="memory/2026-03-02.md")

    assert outcome.path == "memory/2026-03-02.md"
    assert text(root, "2026-03-02") == f"# 2026-03-02\n\n{B}\n"
    assert text(root, "2026-03-01") == f"{A}\n"


def test_a_flush_after_midnight_does_not_repeat_the_log_it_was_planned_for(
    root: Path,
) -> None:
    flush(root, f"{A}\n\n{B}", today=SECOND, path="memory/2026-03-02.md")

    assert text(root, "2026-03-02") == f"# 2026-03-02\n\n{B}\n"


@pytest.mark.parametrize(
    "path",
    [
        "memory/2026-03-01-1709.md",
        "2026-03-01.md",
        "memory/notes/x.md",
        "MEMORY.md",
        "../outside.md",
        "/etc/passwd",
        "memory/2025-01-01.md",
        "",
        None,
    ],
)
def test_another_name_leads_to_the_log_of_the_day(root: Path, path: str | None) -> None:
    outcome = flush(root, B, path=path)

    assert outcome.path == "memory/2026-03-01.md"
    assert text(root, "2026-03-01") == f"{A}\n\n{B}\n"
    assert [file.name for file in (root / "memory").iterdir()] == ["2026-03-01.md"]
    assert os.listdir(root) == ["memory"]


@pytest.mark.parametrize("reply", ["NO_REPLY", "  ", f"{A}\n\nNO_REPLY"])
def test_a_flush_with_nothing_to_say_has_succeeded(root: Path, reply: str) -> None:
    outcome = flush(root, reply)

    assert (outcome.succeeded, outcome.written) == (True, False)
    assert text(root, "2026-03-01") == f"{A}\n"


def test_a_failing_flush_is_an_outcome_and_not_an_error(root: Path) -> None:
    log = root / "memory" / "2026-03-01.md"
    log.unlink()
    log.symlink_to(root / "elsewhere.md")

    outcome = flush(root, B)

    assert not outcome.succeeded
    assert "symbolic links" in str(outcome.problem)


def test_a_folder_in_the_place_of_the_log_is_an_outcome_too(root: Path) -> None:
    (root / "memory" / "2026-03-02.md").mkdir()

    outcome = flush(root, B, today=SECOND, path="memory/2026-03-02.md")

    assert not outcome.succeeded
