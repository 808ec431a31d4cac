"""What a session starts with, and what it never starts with."""

from datetime import date, datetime
from pathlib import Path

import pytest

from notewell import open_memory_sync
from notewell.memory.context import SessionContext
from notewell.scope import ConversationKind

GROUP = "agent:main:telegram:group:-100200"
NOW = datetime(2026, 3, 2, 12).astimezone()  # noon by the clock of this machine
FILES = {
    "MEMORY.md": "Bertrand is the cat.\n",
    "USER.md": "Call her Ann.\n",
    "DREAMS.md": "A dream.\n",
    "memory/2026-02-28.md": "too old\n",
    "memory/2026-03-01.md": "yesterday\n",
    "memory/2026-03-01-call.md": "the call\n",
    "memory/2026-03-02.md": "# 2026-03-02\n\ntoday\n",
    "memory/2026-03-03.md": "tomorrow\n",
}
LOGS = ["memory/2026-03-01.md", "memory/2026-03-01-call.md", "memory/2026-03-02.md"]


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A workspace of today's kind."""
    root = tmp_path / "notes"
    (root / "memory").mkdir(parents=True)
    for name, text in FILES.items():
        (root / name).write_text(text, encoding="utf-8")
    return root


def context(
    notes: Path,
    *,
    session_key: str | None = None,
    kind: ConversationKind | None = None,
    max_chars: int | None = None,
) -> SessionContext:
    environ = {"OPENCLAW_STATE_DIR": str(notes.parent / "state")}
    with open_memory_sync(
        workspace=notes, environ=environ, session_key=session_key
    ) as memory:
        return memory.session_context(kind, max_chars=max_chars, now=NOW)


def paths(found: SessionContext) -> list[str]:
    return [part.path for part in found.parts]


@pytest.mark.parametrize("key", [None, "agent:main:main", "main"])
def test_the_main_session_gets_the_user_the_facts_and_two_days(
    notes: Path, key: str | None
) -> None:
    found = context(notes, session_key=key)

    assert paths(found) == ["USER.md", "MEMORY.md", *LOGS]
    assert (found.kind, found.day) == ("main", date(2026, 3, 2))
    assert [part.citation for part in found.parts][-1] == "memory/2026-03-02.md#L1-L3"
    assert found.parts[-1].text == "# 2026-03-02\n\ntoday"


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        (GROUP, "group"),
        ("agent:main:discord:channel:7", "channel"),
        ("agent:main:telegram:dm:42", "direct"),
        ("agent:main:subagent:5", "direct"),
        ("agent:main:cron:nightly", "direct"),
    ],
)
def test_any_other_session_gets_the_days_alone(
    notes: Path, key: str, kind: str
) -> None:
    found = context(notes, session_key=key)

    assert (paths(found), found.kind) == (LOGS, kind)


def test_a_loop_may_know_better_which_session_is_the_main_one(notes: Path) -> None:
    found = context(notes, session_key="agent:main:telegram:dm:42", kind="main")

    assert "MEMORY.md" in paths(found)


@pytest.mark.parametrize("key", [GROUP, "agent:main:discord:channel:7"])
def test_no_loop_opens_the_personal_notes_to_a_group(notes: Path, key: str) -> None:
    assert paths(context(notes, session_key=key, kind="main")) == LOGS


def test_a_long_log_keeps_its_end_and_a_long_note_its_beginning(notes: Path) -> None:
    lines = [f"line {number:03}" for number in range(100)]
    for name in ("MEMORY.md", "memory/2026-03-02.md"):
        (notes / name).write_text("\n".join(lines), encoding="utf-8")

    found = context(notes, max_chars=400)

    parts = {part.path: part for part in found.parts}
    facts, log = parts["MEMORY.md"], parts["memory/2026-03-02.md"]
    assert (facts.start_line, log.end_line) == (1, 100)
    assert facts.truncated
    assert log.truncated
    assert log.text == "\n".join(lines[log.start_line - 1 :])
    assert sum(len(part.text) for part in found.parts) <= 400
    assert parts["USER.md"].text == "Call her Ann."


def test_a_note_of_which_no_line_fits_is_named(notes: Path) -> None:
    (notes / "MEMORY.md").write_text("x" * 1000, encoding="utf-8")

    found = context(notes, max_chars=200)

    assert [skipped.path for skipped in found.skipped] == ["MEMORY.md"]
    assert "MEMORY.md" not in paths(found)


def test_a_link_is_named_and_not_followed(notes: Path) -> None:
    (notes / "MEMORY.md").unlink()
    (notes / "MEMORY.md").symlink_to(notes / "memory" / "2026-02-28.md")

    found = context(notes)

    assert [skipped.path for skipped in found.skipped] == ["MEMORY.md"]
    assert not any("too old" in part.text for part in found.parts)


def test_of_two_long_term_notes_the_one_that_is_searched_is_loaded(notes: Path) -> None:
    (notes / "memory.md").write_text("older\n", encoding="utf-8")

    both = paths(context(notes))
    (notes / "MEMORY.md").unlink()
    (notes / "memory.md").write_text("older\n", encoding="utf-8")

    assert both == ["USER.md", "MEMORY.md", *LOGS]
    assert paths(context(notes)) == ["USER.md", "memory.md", *LOGS]


def test_without_notes_it_says_so(tmp_path: Path) -> None:
    (tmp_path / "notes" / "memory").mkdir(parents=True)

    found = context(tmp_path / "notes")

    assert (found.parts, found.reason) == ((), "no-notes")


def test_there_must_be_room_for_something(notes: Path) -> None:
    with pytest.raises(ValueError, match="max_chars"):
        context(notes, max_chars=0)
