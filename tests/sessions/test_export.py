"""Transcripts as lines of text, and as Markdown in a folder of copies."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notewell.sessions import (
    ExportReport,
    TranscriptMessage,
    export_text,
    export_transcripts,
    list_transcripts,
    transcript_text,
)

NOW = 1_772_359_200 * 10**9
DAY = 86_400 * 10**9
MESSAGES = st.lists(
    st.tuples(st.sampled_from(["user", "assistant"]), st.text(min_size=1)), max_size=6
)


def said(text: str, role: str = "user") -> str:
    record = {"type": "message", "message": {"role": role, "content": text}}
    return json.dumps(record) + "\n"


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """A state folder in which `main` has two sessions, of today and of last week."""
    folder = tmp_path / "agents" / "main" / "sessions"
    folder.mkdir(parents=True)
    for name, age in (("new", 0), ("old", 7)):
        file = folder / f"{name}.jsonl"
        file.write_text(
            '{"type": "session"}\n'
            + said(f"Where is the {name} rack?")
            + said("In the attic.\n\nAs ever.", "assistant"),
            encoding="utf-8",
        )
        os.utime(file, ns=(NOW - age * DAY, NOW - age * DAY))
    return tmp_path


def export(state: Path, retention_days: float | None = None) -> ExportReport:
    return export_transcripts(
        list_transcripts(state, "main").found,
        state / "copies",
        now_ns=NOW,
        retention_days=retention_days,
    )


def copies(state: Path) -> list[str]:
    return sorted(file.name for file in (state / "copies").iterdir())


def test_lines_of_text_know_their_lines_of_the_transcript() -> None:
    flat = transcript_text(
        [
            TranscriptMessage(line=2, role="user", text="Where?\nAnd why?"),
            TranscriptMessage(line=40, role="assistant", text="In the attic."),
        ]
    )

    assert flat.text == "User: Where?\nAnd why?\n\nAssistant: In the attic.\n"
    assert flat.origins == (2, 2, 2, 40)
    assert flat.origins[3] == 40
    assert (flat.origins[1], flat.origins[3]) == (2, 40)


@given(MESSAGES)
def test_later_messages_change_no_line_of_earlier_ones(
    spoken: list[tuple[str, str]],
) -> None:
    messages = [
        TranscriptMessage(
            line=at, role="user" if role == "user" else "assistant", text=text
        )
        for at, (role, text) in enumerate(spoken, start=1)
    ]
    whole = transcript_text(messages)

    for count in range(len(messages)):
        part = transcript_text(messages[:count])
        assert whole.lines[: len(part.lines)] == part.lines
        assert whole.origins[: len(part.origins)] == part.origins
    assert all("\n" not in line and len(line) <= 2_000 for line in whole.lines)


def test_a_paste_without_line_ends_becomes_lines_of_bounded_width() -> None:
    flat = transcript_text(
        [TranscriptMessage(line=7, role="user", text="word " * 2_000)]
    )

    assert max(map(len, flat.lines)) <= 2_000
    assert "".join(flat.lines) == "User: " + "word " * 2_000
    assert set(flat.origins) == {7}


def test_each_transcript_becomes_a_file_of_its_owners_alone(state: Path) -> None:
    report = export(state)

    assert (report.written, copies(state)) == (2, ["new.md", "old.md"])
    assert (state / "copies" / "new.md").read_text(encoding="utf-8") == (
        "<!-- notewell: a copy of a transcript, derived from sessions/new.jsonl -->\n"
        "\n# Session new\n\nUser: Where is the new rack?\n\n"
        "Assistant: In the attic.\n\nAs ever.\n"
    )
    assert (state / "copies" / "new.md").stat().st_mode & 0o777 == 0o600
    assert (state / "copies").stat().st_mode & 0o777 == 0o700


def test_a_line_of_a_copy_leads_back_to_the_transcript(state: Path) -> None:
    [new, _] = list_transcripts(state, "main").found
    flat = export_text(new, [TranscriptMessage(line=9, role="user", text="Where?")])

    assert flat.lines[4] == "User: Where?"
    assert flat.origins[4] == 9
    assert (flat.origins[0], flat.origins[4]) == (9, 9)


def test_what_has_not_changed_is_not_written_again(state: Path) -> None:
    export(state)
    before = (state / "copies" / "new.md").stat()

    report = export(state)

    assert (report.written, report.kept) == (0, 2)
    assert (state / "copies" / "new.md").stat().st_mtime_ns == before.st_mtime_ns


def test_copies_that_are_too_old_or_lost_their_transcript_are_removed(
    state: Path,
) -> None:
    export(state)
    (state / "agents" / "main" / "sessions" / "new.jsonl").unlink()

    report = export(state, retention_days=3)

    assert (report.removed, copies(state)) == (2, [])


def test_files_that_are_not_ours_are_left_alone(state: Path) -> None:
    (state / "copies").mkdir()
    for name in ("mine.md", "new.md"):
        (state / "copies" / name).write_text("mine\n", encoding="utf-8")

    report = export(state, retention_days=1)

    assert copies(state) == ["mine.md", "new.md"]
    assert (state / "copies" / "new.md").read_text(encoding="utf-8") == "mine\n"
    assert [skipped.reason for skipped in report.skipped] == ["duplicate"]


def test_a_pipe_among_the_copies_is_neither_read_nor_removed(state: Path) -> None:
    export(state)
    pipe = state / "copies" / "pipe.md"
    os.mkfifo(pipe)
    opened = os.open(pipe, os.O_RDWR)
    os.write(opened, (state / "copies" / "new.md").read_bytes())

    report = export(state)

    os.close(opened)
    assert pipe.is_fifo()
    assert report.removed == 0


def test_a_session_that_was_set_aside_keeps_its_messages(state: Path) -> None:
    live = state / "agents" / "main" / "sessions" / "new.jsonl"
    live.rename(live.with_name("new.jsonl.reset.2026-03-01T04-00-00.000Z"))

    export(state)

    assert copies(state) == ["new.reset.2026-03-01T04-00-00.000Z.md", "old.md"]
    copy = state / "copies" / "new.reset.2026-03-01T04-00-00.000Z.md"
    assert "Where is the new rack?" in copy.read_text(encoding="utf-8")


def test_a_transcript_of_which_nothing_is_left_is_named(state: Path) -> None:
    file = state / "agents" / "main" / "sessions" / "quiet.jsonl"
    file.write_text(said("NO_REPLY", "assistant"), encoding="utf-8")

    report = export(state)

    assert report.empty == ("sessions/quiet.jsonl",)
    assert "quiet.md" not in copies(state)


def test_a_long_transcript_becomes_parts_of_which_only_the_last_one_changes(
    state: Path,
) -> None:
    file = state / "agents" / "main" / "sessions" / "long.jsonl"
    file.write_text("".join(said(f"word {n} " * 100) for n in range(40)), "utf-8")
    export(state)
    before = {name: (state / "copies" / name).read_bytes() for name in copies(state)}
    with file.open("a", encoding="utf-8") as opened:
        opened.write(said("and so on " * 300) * 3)

    export(state)
    after = {name: (state / "copies" / name).read_bytes() for name in copies(state)}

    parts = sorted(name for name in before if name.startswith("long"))
    assert parts[:2] == ["long.md", "long.part-0002.md"]
    assert len(parts) < len([name for name in after if name.startswith("long")])
    assert all(after[name] == before[name] for name in set(before) - {parts[-1]})
    assert max(map(len, after.values())) < 15_000
    for number in range(40):
        assert sum(f"word {number} ".encode() in text for text in after.values()) == 1


def test_what_is_settled_is_not_looked_into_and_keeps_its_copy(state: Path) -> None:
    file = state / "agents" / "main" / "sessions" / "long.jsonl"
    file.write_text("".join(said(f"word {n} " * 100) for n in range(40)), "utf-8")
    export(state)
    before = copies(state)

    found = list_transcripts(state, "main").found
    report = export_transcripts(
        found, state / "copies", now_ns=NOW, settled={each.path for each in found}
    )

    assert (report.written, report.removed, report.read) == (0, 0, {})
    assert copies(state) == before
