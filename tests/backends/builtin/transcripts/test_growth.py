"""A transcript that grows is read on from where one stopped, when it is worth it."""

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from notewell.backends.base import Run

if TYPE_CHECKING:
    from tests.backends.builtin.transcripts.conftest import Talks

HEAD = '{"type": "session", "id": "s1", "version": 3}\n'
AT_ONCE: dict[str, object] = {
    "sync.sessions.deltaBytes": 0,
    "sync.sessions.deltaMessages": 0,
}


def test_a_new_transcript_is_indexed_however_short_it_is(talks: "Talks") -> None:
    talks.write("s1.jsonl", HEAD, talks.said("The walrus is called Odo."))

    report = talks.refresh()

    assert (report.changed, report.pending) == (1, 0)
    assert talks.ask("walrus").hits


@pytest.mark.parametrize(("messages", "read"), [(49, False), (50, True)])
def test_a_transcript_is_read_on_after_so_many_messages(
    talks: "Talks", messages: int, read: bool
) -> None:
    talks.write("s1.jsonl", HEAD, talks.said("The walrus is called Odo."))
    talks.refresh()
    talks.add("s1.jsonl", *(talks.said(f"And narwhal {n}.") for n in range(messages)))

    report = talks.refresh()

    assert report.changed == read
    assert bool(talks.ask("narwhal").hits) == read
    assert not talks.engine.status().pending


@pytest.mark.parametrize(("size", "read"), [(50_000, False), (100_000, True)])
def test_a_transcript_is_read_on_after_so_many_bytes(
    talks: "Talks", size: int, read: bool
) -> None:
    talks.write("s1.jsonl", HEAD, talks.said("The walrus is called Odo."))
    talks.refresh()
    talks.add("s1.jsonl", talks.said("narwhal " * (size // 8)))

    talks.refresh()

    assert bool(talks.ask("narwhal").hits) == read


def test_a_forced_run_reads_everything(talks: "Talks") -> None:
    talks.write("s1.jsonl", HEAD, talks.said("The walrus is called Odo."))
    talks.refresh()
    talks.add("s1.jsonl", talks.said("The narwhal is called Ada."))

    talks.refresh(force=True)

    assert talks.ask("narwhal").hits


def test_a_reset_loses_nothing(talks: "Talks") -> None:
    file = talks.write("s1.jsonl", HEAD, talks.said("The walrus is called Odo."))
    talks.refresh()
    talks.add("s1.jsonl", talks.said("The narwhal is called Ada."))
    file.rename(file.with_name("s1.jsonl.reset.2026-02-12T04-00-00.000Z"))
    talks.write("s1.jsonl", HEAD, talks.said("Good morning."))

    talks.refresh(force=True)

    [hit] = talks.ask("narwhal").hits
    assert hit.path == "sessions/s1.jsonl.reset.2026-02-12T04-00-00.000Z"


def test_a_transcript_that_was_removed_or_is_no_source_any_more_is_forgotten(
    talks: "Talks",
) -> None:
    talks.note("MEMORY.md", "Notes stay.\n")
    talks.write("s1.jsonl", HEAD, talks.said("The walrus is called Odo."))
    file = talks.write("s2.jsonl", HEAD, talks.said("The walrus is called Ada."))
    talks.refresh()

    file.unlink()
    report = talks.refresh()

    assert (report.files, report.changed) == (2, 1)
    assert [hit.path for hit in talks.ask("walrus").hits] == ["sessions/s1.jsonl"]


def test_an_unreadable_transcript_is_named_and_stops_nothing(talks: "Talks") -> None:
    (talks.folder / "s0.jsonl").symlink_to("/etc/hostname")
    talks.write("s1.jsonl", HEAD, talks.said("The walrus is called Odo."))
    (talks.folder / "s2.jsonl").mkdir()

    report = talks.refresh()

    assert talks.ask("walrus").hits
    assert {each.path: each.reason for each in report.skipped} == {
        "sessions/s0.jsonl": "symlink",
        "sessions/s2.jsonl": "not-a-file",
    }


WORDS = ("walrus", "narwhal", "basin", "salt", "heron", "tide", "kelp", "otter")
TEXTS = st.lists(
    st.text("ab \n#`é京", max_size=60)
    | st.sampled_from(["kelp " * 500, "# Kelp\nsalt"]),
    max_size=6,
)


@settings(max_examples=40, deadline=None)
@given(grown=st.lists(TEXTS, min_size=1, max_size=5), whole=st.booleans())
def test_however_a_transcript_has_grown_every_word_is_found_where_it_was_said(
    tmp_path_factory: pytest.TempPathFactory,
    talks_in: "type[Talks]",
    grown: list[list[str]],
    whole: bool,
) -> None:
    talks = talks_in(tmp_path_factory.mktemp("talks"))
    talks.reopen(**AT_ONCE)
    said: dict[str, int] = {}
    lines = [HEAD]
    for texts in grown:
        for text in [*texts, "said last"]:
            word = f"word{len(lines)}x"
            said[word] = len(lines) + 1
            lines.append(talks.said(f"{text} {word}"))
        everything = "".join(lines)
        # A line may be half written when it is read.
        talks.write("s1.jsonl", everything if whole else everything[:-1])
        talks.refresh()

    for word, line in said.items():
        hits = talks.ask(word).hits
        assert [hit.match_line for hit in hits][:1] == [line]
    talks.engine.close()


def test_status_counts_passages_and_names_transcripts_without_any(
    talks: "Talks",
) -> None:
    talks.write("s1.jsonl", HEAD, talks.said("Walrus. " * 900))
    talks.write(
        "s2.jsonl.reset.2026-01-01T04", HEAD, talks.said("NO_REPLY", "assistant")
    )
    for number in range(3, 7):
        talks.write(f"s{number}.jsonl", HEAD)

    report = talks.refresh()

    assert talks.engine.status().details["transcripts"] == (
        f"6 with {report.chunks} passages; nothing to search in"
        " sessions/s2.jsonl.reset.2026-01-01T04, sessions/s3.jsonl, sessions/s4.jsonl"
        " and 2 more"
    )
    assert report.chunks > 1


def test_a_run_that_ends_early_says_how_many_are_left(talks: "Talks") -> None:
    for number in range(300):
        talks.write(f"s{number}.jsonl", HEAD, talks.said(f"walrus {number}"))

    first = talks.engine.refresh(Run(within=0.0))
    status = talks.engine.status()
    second = talks.refresh()

    assert first.pending == 300 - first.changed > 0
    assert status.pending > 0
    assert (second.files, second.pending) == (300, 0)


def test_a_question_about_notes_looks_at_no_transcript(
    talks: "Talks", monkeypatch: pytest.MonkeyPatch
) -> None:
    talks.note("memory/a.md", "A walrus.\n")
    talks.write("s1.jsonl", HEAD, talks.said("A heron."))
    talks.refresh()
    looked: list[str] = []
    real = os.scandir

    def scandir(path: str) -> object:
        looked.append(str(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    talks.note("memory/b.md", "Late.\n")
    found = talks.ask("walrus", sources=frozenset({"memory"}))
    nothing = talks.ask("heron", sources=frozenset({"memory"}))

    assert found.hits
    assert (nothing.reason, nothing.freshness.pending) == ("no-match", 1)
    assert str(talks.folder) not in looked
    assert str(talks.root) in looked
